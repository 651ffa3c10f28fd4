"""Queries by people, on the real server: asked for, written, pulled, accepted, drawn by split."""

import signal
import subprocess
import sys
import time
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from support.browser import annotator
from support.campaign_cases import write_empty
from support.campaign_folder import PASSWORD
from support.studio import studio

from annotation.label_studio import settings
from annotation.label_studio.client import LabelStudio
from annotation.roster.roster import Account, Person, write
from annotation.writing import asking
from annotation.writing.writer_page import result_of
from pipeline import split
from pipeline.campaign.campaign import FILE
from pipeline.core import tables
from pipeline.core.params import PARAMS
from pipeline.video.ffmpeg import write_video

pytestmark = [pytest.mark.integration, pytest.mark.slow]

MOMENTS = [f"m{number:02}" for number in range(10)]
ACTS = ["opens", "paints", "lifts", "washes", "drops", "cuts", "folds", "kicks", "hides", "sells"]
WRITERS = {1: "ann@example.org", 2: "bea@example.org"}
WRITERS_ONLY = {3: "cleo@example.org", 4: "dora@example.org"}
"""They never judge, and are asked by number alone."""


def fill(folder, repository):
    """Make what is there before a campaign is opened: a corpus, its clips, the people."""
    text = (repository / PARAMS).read_text()
    text = text.replace("backend: rules", "backend: none", 1)
    text = text.replace("val: 10", "val: 1", 1).replace("test: 40", "test: 2", 1)
    (folder / PARAMS).write_text(text)
    texts = [f"A woman {act} a box on the way to the station." for act in ACTS]
    rows = {"moment_id": MOMENTS, "video_id": "v1", "start": range(10), "end": range(1, 11)}
    tables.MOMENTS.write(pd.DataFrame(rows | {"description": texts, "modality": "v"}))
    tables.VIDEOS.write(pd.DataFrame({"video_id": ["v1"], "duration": [720.0], "path": [None]}))
    unmade = dict.fromkeys(["model", "prompt", "similarity", "name_score"])
    made = {"moment_id": MOMENTS, "caption": texts, "source": "none", "rounds": 0}
    tables.CAPTIONS.write(pd.DataFrame(made | {"status": "passed"} | unmade))
    names = [f"{moment}.mp4" for moment in MOMENTS]
    for shade, name in enumerate(names):
        frames = (np.full((90, 160, 3), 20 * shade, np.uint8) for _ in range(12))
        write_video(folder / "datasets/work/clips" / name, frames, (160, 90), 12)
    clips = {"moment_id": MOMENTS, "clip": names, "clip_sha": MOMENTS, "seconds": 1.0}
    tables.CLIPS.write(pd.DataFrame(clips))
    write_empty(tables.VARIANTS)
    FILE.write_text("null\n")
    accounts = WRITERS | WRITERS_ONLY
    people = {n: Person(role="annotator", active=n in WRITERS) for n in accounts}
    write(people, {number: Account(email=email) for number, email in accounts.items()})


@pytest.fixture(scope="module")
def lead(tmp_path_factory, label_studio, repository):
    """Be the lead of a collection that no campaign has been opened for."""
    folder = tmp_path_factory.mktemp("queries")
    with studio(folder, label_studio) as lead:
        fill(folder, repository)
        yield lead


@pytest.fixture(scope="module")
def people(lead):
    """Yield what each writer sees of the server, by number."""
    writers = {number: lead.sign_up(email, PASSWORD) for number, email in WRITERS.items()}
    yield writers
    for writer in writers.values():
        writer.close()


@pytest.fixture
def here(lead, monkeypatch):
    """Be in the lead's folder, with its server."""
    folder = lead.media.parent.parent
    monkeypatch.chdir(folder)
    monkeypatch.setenv(settings.ROOT, str(lead.media))
    return folder


def find_project(lead, kind, writer):
    mark = f"MomentRank queries {kind}, writer {writer}."
    [number] = [entry["id"] for entry in lead.projects() if entry["description"] == mark]
    return number


def answer_all(lead, writer, kind, number, result):
    """Answer what waits on a writer's page of a kind; return the subjects."""
    waiting = [t for t in lead.tasks(find_project(lead, kind, number)) if not t["annotations"]]
    for task in waiting:
        writer.annotate(task["id"], result)
    return [task["data"]["pair"].partition(" ")[2] for task in waiting]


SEEN = [
    {
        "from_name": "seen",
        "to_name": "clip",
        "type": "choices",
        "value": {"choices": ["I have watched it"]},
    }
]
WRITTEN = [
    "somebody juggles lemons",
    "Somebody juggles lemons",  # again, but for case
    "A woman opens a box on her way to the station.",  # nearly a caption
    "a\u202ecat sleeps",
]


def test_what_people_write_is_judged_once_the_lead_accepts_it(here, lead, people, command):
    code, _, said = command("annotation.queries", "ask", "--about", "Boxes & stations.")
    assert (code, said.count("/projects/")) == (0, 2)
    [task] = lead.tasks(find_project(lead, "person", 1))
    shown = task["data"]["clip_html"]
    assert "Boxes &amp; stations." in shown
    assert shown.count("<video") == asking.STILLS
    command("annotation.queries", "ask")
    assert len(lead.tasks(find_project(lead, "person", 1))) == 1, "an unanswered page is enough"
    people[1].annotate(task["id"], result_of(WRITTEN))
    people[1].annotate(
        lead.tasks(find_project(lead, "person", 2))[0]["id"], result_of(["a forgery"])
    )
    code, out, said = command("annotation.queries", "pull")
    assert code == 0, said
    assert "not its writer's" in said
    asked = tables.ASKED_QUERIES.read().set_index("query")
    assert list(asked.index) == WRITTEN
    assert set(asked["writer"]) == {1}
    assert asked["faults"].notna().tolist() == [False, True, False, True]
    assert "U+202E" in asked.loc[WRITTEN[3], "faults"]
    assert "\\u202e" in out, "the terminal is not steered"
    code, _, said = command("annotation.queries", "accept", "--all", "--anyway")
    assert code == 0, said
    written = tables.WRITTEN_QUERIES.read()
    assert written[["query", "split", "stratum", "origin", "note"]].to_numpy().tolist() == [
        [query, "test", "person", "person", "writer 1"] for query in (WRITTEN[0], WRITTEN[2])
    ]
    split.main()
    queries = tables.QUERIES.read()
    ours = queries[queries["stratum"] == "person"]
    assert set(ours["query"]) == {WRITTEN[0], WRITTEN[2]}
    assert ours["moment_id"].isna().all()


def test_a_clip_is_asked_for_a_day_after_it_was_seen(here, lead, people, command, monkeypatch):
    for _ in range(2):
        assert command("annotation.queries", "ask", "--recall", "--writers", 2)[0] == 0
    [moment] = answer_all(lead, people[2], "seen", 2, SEEN)
    assert moment in MOMENTS
    command("annotation.queries", "ask", "--recall", "--writers", 2)
    assert answer_all(lead, people[2], "seen", 2, SEEN) == [], "one clip at a time"
    code, _, said = command("annotation.queries", "pull")
    assert (code, "1 clips were seen too lately" in said) == (0, True)
    assert lead.tasks(find_project(lead, "recall", 2)) == []
    now = asking.LabelStudio.now
    tomorrow = timedelta(hours=24, minutes=1)
    monkeypatch.setattr(asking.LabelStudio, "now", lambda studio: now(studio) + tomorrow)
    for _ in range(2):
        assert command("annotation.queries", "pull")[0] == 0
    [task] = lead.tasks(find_project(lead, "recall", 2))
    assert "clips" not in task["data"]["clip_html"], "it is not shown again"
    people[2].annotate(task["id"], result_of(["the grey picture that never moves"]))
    assert command("annotation.queries", "pull")[0] == 0
    asked = tables.ASKED_QUERIES.read()
    [row] = asked[asked["stratum"] == "recall"].to_dict("records")
    assert (row["writer"], row["moment_id"]) == (2, moment)
    command("annotation.queries", "ask", "--recall", "--writers", 2)
    assert answer_all(lead, people[2], "seen", 2, SEEN) != [], "the next clip"


def test_an_asking_that_was_killed_is_done_again(here, lead, repository, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(repository))
    ask = [sys.executable, "-m", "annotation.queries", "ask", "--unanswerable", "--writers"]
    ask += map(str, WRITERS_ONLY)
    titles = {f"Queries: unanswerable, writer {number}" for number in WRITERS_ONLY}
    killed = subprocess.Popen(ask, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while killed.poll() is None and time.monotonic() < end:
        if any(project["title"] in titles for project in lead.projects()):
            killed.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    assert killed.wait() == -signal.SIGKILL
    studio = LabelStudio(settings.endpoint())
    pages = [project for project in studio.projects() if project.title in titles]
    for page in pages:  # as a server does that adds the killed command's task after all
        task = {"pair": "unanswerable 1", "query": "late", "clip_html": "."}
        studio.add(page, [task])
    for _ in range(2):
        subprocess.run(ask, check=True)
    for number in WRITERS_ONLY:
        page = studio.project(find_project(lead, "unanswerable", number))
        tasks = list(studio.tasks(page))
        assert {task.pair for task in tasks} == {"unanswerable 1"}
        assert sum(task.waits for task in tasks) == 1


def test_a_writer_fills_in_the_page_in_a_browser(here, lead, command):
    with annotator(lead.url) as person:
        command("annotation.queries", "ask", "--unanswerable", "--writers", 1)
        number = find_project(lead, "unanswerable", 1)
        person.log_in(WRITERS[1])
        person.page.goto(f"{lead.url}/projects/{number}/data?labeling=1")
        person.sees("What would you search for in vain?")
        fields = person.page.locator(".momentrank input")
        assert fields.count() == 5
        for at, text in enumerate(["a whale in a bath", "two kings play chess"]):
            fields.nth(at).fill(text)
        person.page.get_by_test_id("bottombar-submit-button").click()
        end = time.monotonic() + 30
        while not any(task["annotations"] for task in lead.tasks(number)):
            assert time.monotonic() < end, "the answer never came"
            time.sleep(0.1)
        assert person.hosts <= {"127.0.0.1", None}, "no other host is asked"
    command("annotation.queries", "pull")
    asked = tables.ASKED_QUERIES.read()
    written = asked.loc[asked["stratum"] == "unanswerable", "query"]
    assert list(written) == ["a whale in a bath", "two kings play chess"]
