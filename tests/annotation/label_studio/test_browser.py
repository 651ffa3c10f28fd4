"""The annotator's page in a real browser, on the real server, by keys alone."""

import re
import shutil
import time
from itertools import count

import numpy as np
import pytest
from opened import LABELS, STANDARD
from playwright.sync_api import expect
from support.browser import PASSWORD, annotator, campaign_page
from support.campaign_folder import email_of, query_of
from support.disputed import EXPERT, SETTLED, VOTES, disputed_campaign
from support.studio import studio

from annotation.label_studio import guideline
from annotation.label_studio.page import Answer, label_config, read_answer, read_guideline_sha
from pipeline.core import tables
from pipeline.video.ffmpeg import write_video

pytestmark = [pytest.mark.integration, pytest.mark.slow]

HOSTILE = '<img src=x onerror="window.hacked=1">'
SEND = "Enter"
PLAYING = "document.querySelector('video')?.currentTime > 0"


@pytest.fixture(scope="module")
def lead(tmp_path_factory, label_studio):
    with studio(tmp_path_factory.mktemp("studio"), label_studio) as lead:
        frames = (np.full((90, 160, 3), shade, np.uint8) for shade in range(0, 240, 10))
        write_video(lead.media / "clips/grey.mp4", frames, (160, 90), 12)
        yield lead


@pytest.fixture(scope="module")
def person(lead):
    with annotator(lead.url) as person:
        person.sign_up(lead.invite(), "ann@example.org")
        person.log_in("ann@example.org")
        yield person


@pytest.fixture
def begin(lead, person):
    """Return what gives the annotator queries to judge, and the project's number."""

    def begin(*queries):
        project = campaign_page(lead, "grey.mp4", list(queries))
        person.begin(project)
        person.sees(queries[0])
        return project

    return begin


def answers(lead, project):
    """Return what is stored, by query; each task has one annotation at most."""
    tasks = lead.tasks(project)
    assert all(len(task["annotations"]) <= 1 for task in tasks)
    return {
        task["data"]["query"]: read_answer(annotation["result"], LABELS)
        for task in tasks
        for annotation in task["annotations"]
    }


def wait_for_answers(lead, project, number):
    """Wait for the last answer, which the page sends as it empties itself."""
    end = time.monotonic() + 30
    while sum(len(task["annotations"]) for task in lead.tasks(project)) < number:
        assert time.monotonic() < end, "an answer never came"
        time.sleep(0.1)


def test_two_keys_a_judgment_and_the_next_pair_comes(lead, person, begin):
    queries = ["a man sits", HOSTILE, "a woman stands"]
    project = begin(*queries)
    person.press("3", SEND)
    person.sees(HOSTILE)
    person.press("x", "s", "Control+Enter")  # as on a server that is not ours
    person.sees("a woman stands")
    assert person.page.evaluate("window.hacked") is None
    person.press("0", SEND)
    expect(person.page.locator(".momentrank")).to_have_count(0)  # nothing is left
    wait_for_answers(lead, project, 3)
    actual = answers(lead, project)
    assert actual == dict(
        zip(queries, [Answer(3), Answer(reason="senseless-query"), Answer(0)], strict=True)
    )
    annotations = [answer for task in lead.tasks(project) for answer in task["annotations"]]
    [who] = {answer["completed_by"] for answer in annotations}
    assert {answer["updated_by"] for answer in annotations} == {who}, (
        "by this an imported one is known"
    )
    assert who != lead.api("GET", "/api/current-user/whoami")["id"]
    assert person.hosts <= {"127.0.0.1", None}, "no other host is asked"


LEVELS = ".momentrank .lsf-choice"
ABOVE = """box => {
    const text = document.createRange();
    text.selectNodeContents(box);
    return box.getBoundingClientRect().top - text.getBoundingClientRect().top;
}"""
SCROLLS = "box => box.scrollHeight - box.clientHeight"


@pytest.mark.parametrize("query", ["a man sits " * 182, "x" * 2000])
def test_a_long_query_scrolls_in_its_own_box(person, begin, query):
    query = query.strip()
    begin(query, "a short query")
    box, clip = person.page.locator(".momentrank h3"), person.page.locator(".momentrank video")
    for element in (clip, person.page.locator(LEVELS).first):
        expect(element).to_be_in_viewport(ratio=1)
    assert box.evaluate(SCROLLS) > 0
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    assert box.evaluate(ABOVE) <= 0, "its beginning is not cut off"
    person.press("3", SEND)
    person.sees("a short query")
    assert box.evaluate(SCROLLS) == 0


def test_the_last_word_counts_and_nothing_of_the_others_is_sent(lead, person, begin):
    project = begin("first a level", "first a reason", "no reason", "the end")
    person.press("4", "x", "b", SEND)
    person.sees("first a reason")
    person.press("x", "s", "1", SEND)
    person.sees("no reason")
    person.press("x", SEND)
    expect(person.page.locator(".ant-modal-confirm-content").last).to_have_text(
        "Say why: press b or s."
    )
    assert "no reason" not in answers(lead, project)
    person.press("Escape", "b", SEND)
    person.sees("the end")
    assert answers(lead, project) == {
        "first a level": Answer(reason="broken-clip"),
        "first a reason": Answer(1),
        "no reason": Answer(reason="broken-clip"),
    }


def test_a_page_whose_keys_were_swapped_stores_the_text_that_was_shown(lead, person, begin):
    project = begin("keys swapped", "the end")
    config = lead.api("GET", f"/api/projects/{project}/")["label_config"]
    swapped = re.sub('hotkey="([04])"', lambda key: f'hotkey="{4 - int(key[1])}"', config)
    lead.api("PATCH", f"/api/projects/{project}/", {"label_config": swapped})
    person.begin(project)
    person.sees("keys swapped")
    person.press("0")
    chosen = person.page.locator(".momentrank .ant-radio-wrapper-checked:visible")
    expect(chosen).to_contain_text(LABELS["4"])
    person.press(SEND)
    person.sees("the end")
    lead.api("PATCH", f"/api/projects/{project}/", {"label_config": config})
    assert answers(lead, project) == {"keys swapped": Answer(4)}


def test_an_answer_says_which_guideline_its_page_showed(lead, person, begin):
    """A browser keeps its page from task to task, whatever has been pushed since."""
    queries = ["before", "after it", "then", "on the new page"]
    project = begin(*queries)
    guide = guideline.current(STANDARD)
    person.press("3", SEND)
    person.sees("after it")
    revised = label_config(guide._replace(sha="0123456789abcdef", html="<p>Revised</p>"))
    lead.api("PATCH", f"/api/projects/{project}", {"label_config": revised})
    person.press("2", SEND)
    person.sees("then")
    person.press("5", "1", SEND)
    person.sees("on the new page")
    person.page.reload()
    person.sees("on the new page")
    person.press("Escape", "x", "b", SEND)
    expect(person.page.locator(".momentrank")).to_have_count(0)
    wait_for_answers(lead, project, 4)
    said = {
        task["data"]["query"]: read_guideline_sha(annotation["result"])
        for task in lead.tasks(project)
        for annotation in task["annotations"]
    }
    assert said == dict.fromkeys(queries[:3], guide.sha) | {queries[3]: "0123456789abcdef"}
    levels = [Answer(3), Answer(2), Answer(1), Answer(reason="broken-clip")]
    assert list(answers(lead, project).values()) == levels


def test_the_clip_plays_at_once_silently_again_and_again(person, begin):
    begin("a clip")
    clip = person.page.locator("video")
    person.page.wait_for_function(PLAYING)
    state = "v => [v.muted, v.loop, v.paused, v.controls]"
    assert clip.evaluate(state) == [True, True, False, True]
    times = []
    for _ in count():
        times.append(clip.evaluate("v => v.currentTime"))
        if len(times) > 1 and times[-1] < times[-2]:
            break  # it began again
        assert len(times) < 200
        person.page.wait_for_timeout(50)
    assert max(times) > 1


def test_keys_still_judge_after_the_clip_was_clicked(lead, person, begin):
    project = begin("stopped", "the end")
    clip = person.page.locator("video")
    person.page.wait_for_function(PLAYING)
    clip.click()
    assert clip.evaluate("v => v.paused")
    person.press("2", SEND)
    person.sees("the end")
    assert answers(lead, project) == {"stopped": Answer(2)}


def test_a_lost_network_loses_no_answer(lead, person, begin):
    project = begin("on the train", "the end")
    person.page.context.set_offline(True)
    person.press("3", SEND)
    expect(person.page.get_by_text("Failed to fetch")).to_be_visible()
    person.page.context.set_offline(False)
    assert answers(lead, project) == {}
    person.page.reload()
    person.sees("on the train")
    person.press("Escape", "3", SEND)
    person.sees("the end")
    assert answers(lead, project) == {"on the train": Answer(3)}


def test_an_answer_that_the_server_fails_to_store_is_not_lost_silently(lead, person, begin):
    project = begin("refused", "the end")
    person.page.route("**/api/tasks/*/annotations*", lambda route: route.fulfill(status=500))
    person.press("3", SEND)
    expect(person.page.get_by_text("Annotation is not saved, please").first).to_be_visible()
    person.page.unroute_all()
    person.page.reload()
    person.sees("refused")
    person.press("Escape", "3", SEND)
    person.sees("the end")
    assert answers(lead, project) == {"refused": Answer(3)}


def test_who_goes_back_changes_the_answer(lead, person, begin):
    project = begin("too fast", "the next")
    person.press("0", SEND)
    person.sees("the next")
    person.page.get_by_role("button", name="Previous task").click()
    person.sees("too fast")
    with person.page.expect_response(lambda response: response.request.method == "PATCH"):
        person.press("4", SEND)
    person.page.get_by_test_id("next-task").click()
    person.sees("the next")
    assert answers(lead, project) == {"too fast": Answer(4)}


def test_all_that_is_needed_is_seen_on_a_laptop_without_scrolling(person, begin):
    begin("a man who has just come in looks for something in a drawer " * 2)
    person.press("x")
    low = person.page.locator(".lsf-bottombar").bounding_box()["y"]
    for part in ("h3", "video", ".lsf-choices >> nth=0", ".lsf-choices >> nth=1"):
        box = person.page.locator(f".momentrank {part}").bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= low


def test_an_expert_decides_on_ten_disputed_pairs(lead, person, tmp_path, repository):
    """All in a project of their own, with the votes shown, and twice for nothing."""
    folder = disputed_campaign(tmp_path, repository, "label-studio")
    folder.configure(lead.url, lead.token, str(lead.media))
    for at in range(len(VOTES)):
        shutil.copy(lead.media / "clips/grey.mp4", lead.media / f"clips/clip{at}.mp4")
    lead.sign_up(email_of(EXPERT), PASSWORD).close()
    (tmp_path / "readers.csv").write_text("pair_id\tremark\n9\tsurely 0, not 3\n")
    first = folder.run("adjudicate", "--pair", *SETTLED, "--pairs", "readers.csv")
    assert "10 pairs (8 discarded, 1 listed, 1 unjudgeable), 0 decided, 10 left" in first.said
    again = folder.run("adjudicate")
    assert (again.code, "0 decided, 10 left" in again.said) == (0, True)
    page = re.search(rf"annotator {EXPERT} decides on 10: .*/projects/(\d+)/", again.said)
    project = int(page[1])
    tasks = sorted(lead.tasks(project), key=lambda task: task["id"])
    assert len(tasks) == len(VOTES), "nothing is given out twice"
    assert "surely" not in str(tasks), "the expert sees no reader's remark"
    number = {query_of(at): at for at in range(len(VOTES))}
    expert = person.open_beside()
    expert.log_in(email_of(EXPERT))
    address = re.search(rf"{' '.join(SETTLED)}, annotator {EXPERT}: (.*)", again.said)
    expert.page.goto(address[1])
    expert.sees(query_of(int(SETTLED[0][1:])))
    expert.begin(project)
    for task in tasks:
        query = task["data"]["query"]
        expert.sees(query)
        votes = [level for level in VOTES[number[query]] if level is not None]
        blind = number[query] == int(SETTLED[0][1:])
        text = "-" if blind else ", ".join(map(str, sorted(votes))) or "Can't judge"
        expect(expert.page.locator(".momentrank h4")).to_contain_text(f"Votes: {text}")
        keys = ["x", "b"] if number[query] == 8 else [str(number[query] % 5)]
        expert.press(*keys, SEND)
    expect(expert.page.locator(".momentrank")).to_have_count(0)
    assert expert.hosts <= {"127.0.0.1", None}
    done = folder.run("adjudicate")
    assert "10 decided, 0 left" in done.said
    assert "python -m annotation.campaign close" in done.said
    decisions = folder.get(tables.ADJUDICATIONS)
    assert decisions["level"].fillna(-1).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, -1, 4]
    assert set(decisions["annotator"]) == {EXPERT}
    assert folder.get(tables.JUDGMENTS)["kind"].isin(tables.VOTING).all()
    assert folder.run("consensus").code == 0
    table = folder.get(tables.CONSENSUS)
    assert table["outcome"].value_counts().to_dict() == {"adjudicated": 9, "unjudgeable": 1}
    assert table["level"].equals(decisions["level"])
    listed = folder.get(tables.SECOND_LOOK).set_index("origin")["note"]
    assert listed["reported"] == "readers.csv: surely 0, not 3"
    assert table["voted_outcome"].tolist() == ["discarded"] * 8 + ["unjudgeable", "two"]
