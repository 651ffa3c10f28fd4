"""`make demo` on the real server, interrupted as at a keyboard and run again, and taken away."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from random import Random

import pytest
from opened import LABELS
from project import Project, make_checkout
from support.studio import Studio

from annotation import server
from annotation.label_studio import page, settings
from annotation.local_server.process import is_alive
from annotation.simulation.practice import TITLE
from pipeline import reference_runs
from pipeline.core import files, tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SMALLER = (
    "SMALLER=split.val=1 split.test=3 sample.videos=4 sample.fps=4 sample.height=120"
    " tagger.sentences=200 exam.required=true exam.queries=1 exam.top=4"
)
DEMO = ["make", "demo", SMALLER]
"""The README's command, with the settings of `project.SMALL`."""
PLACES = ("simulated people", "close the campaign")
LONGEST = 300  # on a busy machine
INTERRUPTED = -signal.SIGINT


def interrupt_at(project: Project, place: str, wait: float) -> int:
    """Press Ctrl-C in a demo `wait` seconds after a place was told; return the exit code."""
    with subprocess.Popen(
        DEMO,
        cwd=project.folder,
        env=project.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a process group of its own, as a shell gives a command
    ) as process:
        for line in process.stderr:
            if line.startswith("==>") and place in line:
                time.sleep(wait)
                os.killpg(process.pid, signal.SIGINT)
                break
        process.stderr.read()
        return process.wait(LONGEST)


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory, repository, label_studio):
    """Return the clone that `make demo` made, interrupted as at a keyboard, with its checkout."""
    checkout = make_checkout(repository, tmp_path_factory.mktemp("rehearsal"))
    random = Random(5)
    project = Project(checkout.folder / ".demo")
    project.checkout = checkout
    project.codes = []
    for place in PLACES:
        project.codes.append(interrupt_at(checkout, place, random.uniform(0, 6)))
    project.transcript = checkout.run(*DEMO) + checkout.errors
    yield project
    checkout.run("make", "stop-demo")


def read_files(project):
    """Return what people and the release are made of, by file."""
    roots = [project.folder / "datasets/campaign", project.folder / tables.RELEASE]
    paths = [path for root in roots for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(project.folder)): path.read_bytes() for path in paths}


def test_ctrl_c_ends_it_soon_and_it_goes_on_from_there(rehearsal):
    assert set(rehearsal.codes) <= {INTERRUPTED, 0}
    assert INTERRUPTED in rehearsal.codes, "each command ended before it was interrupted"
    figures = files.read_json(rehearsal.folder / "datasets/work/metrics/consensus.json")
    assert figures["closed"]
    assert figures["outcomes"]["waiting"] == 0
    assert figures["outcomes"]["two"] > 0
    machine = files.read_json(rehearsal.folder / "datasets/work/metrics/judge.json")
    assert (machine["backend"], machine["pairs"] > 0) == ("similarity", True)
    report = (rehearsal.folder / "datasets/report/index.html").read_text()
    assert '<section id="machine"' in report
    assert rehearsal.run("git", "status", "--porcelain") == ""


def test_run_again_it_adds_nothing_and_tells_the_same(rehearsal):
    before = read_files(rehearsal)
    output = rehearsal.checkout.run(*DEMO)
    errors = rehearsal.checkout.errors
    assert "ordinal alpha" in errors
    assert "judge yourself  http://127.0.0.1:" in errors
    assert f"  {rehearsal.folder / tables.RELEASE}/\n" in errors
    assert f"  {rehearsal.folder / 'datasets/report/index.html'}\n" in errors
    assert "make stop-demo" in output
    assert "make clean-demo" in output
    assert read_files(rehearsal) == before


def test_the_readmes_command_scores_a_run_on_the_release(rehearsal):
    command = "momentrank evaluate RELEASE/qrels/test.qrels my.run"
    run = str(reference_runs.RUNS / "captions.test.run")
    words = command.replace("RELEASE", str(tables.RELEASE)).replace("my.run", run).split()
    assert "nDCG(iou=0.5)@10\tall\t" in rehearsal.run(*words)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
def test_the_docs_pictures_are_taken_of_it(rehearsal):
    docs = rehearsal.checkout.folder / "docs"
    before = files.read_json(docs / "pictures.json")
    rehearsal.checkout.run("make", "pictures")
    after = files.read_json(docs / "pictures.json")
    assert set(after) == set(before)
    for name, taken in after.items():
        assert taken["sources"] == before[name]["sources"]
        assert taken["picture"] != before[name]["picture"]


def test_it_is_not_taken_away_where_people_have_judged(rehearsal):
    path = rehearsal.folder / "datasets/campaign/judgments.csv"
    before = path.read_text()
    head, first, *rest = before.splitlines(keepends=True)
    place = head.rstrip().split(",").index("annotator")
    fields = first.split(",")
    fields[place] = "77"
    path.write_text("".join([head, *rest, ",".join(fields)]))
    checkout = rehearsal.checkout
    checkout.run("make", "clean-demo", fails=True)
    assert "people have judged here: 1 judgments" in checkout.errors
    assert rehearsal.code("python", "-m", "annotation.server", "status") == 0
    path.write_text(before)

    with contextlib.chdir(rehearsal.folder):
        endpoint, running = settings.endpoint(), server.find_running()
    with contextlib.closing(Studio(*endpoint, rehearsal.folder)) as lead:
        [practice] = [each["id"] for each in lead.projects() if each["title"] == TITLE]
        task = lead.tasks(practice)[0]["id"]
        lead.annotate(task, page.result_of(LABELS, 3))
        checkout.run("make", "clean-demo", fails=True)
        assert "people have judged here: 1 judgments" in checkout.errors, "it looks on the server"
        lead.api("DELETE", f"/api/tasks/{task}/")
    assert is_alive(running.process)
    checkout.run("make", "stop-demo")
    assert not is_alive(running.process)
    assert rehearsal.code("python", "-m", "annotation.server", "status") == server.NOT_RUNNING
    checkout.run("make", "clean-demo")
    assert not rehearsal.folder.exists()
