"""Two at once, a clock set back, people or rows or keys that are not there: what one is told.

The lines are those of docs/troubleshooting.md, word for word.
"""

import os
import re
import shutil
import subprocess
import threading
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pandas as pd
import pytest
from filelock import FileLock
from project import Project

from annotation.answers import reader
from annotation.assignment.inputs import PlanError
from annotation.label_studio import connection
from annotation.label_studio.connection import hold_lock
from annotation.label_studio.records import AnsweredTask
from annotation.plan import refuse_too_few_people
from annotation.roster.annotator import Annotator
from annotation.tasks import unfinished
from pipeline import ingest, split
from pipeline.campaign.campaign import CampaignError
from pipeline.core import params, tables
from pipeline.core.params import ParamsError
from pipeline.core.sections import Split
from pipeline.corpora.rows import Row
from pipeline.ingest import CorpusError
from pipeline.split import SplitError

START = datetime(2026, 1, 1, tzinfo=UTC)
SLOW_STAGE = """stages:
  slow:
    cmd: touch started && until test -e go; do sleep 0.1; done; echo done > out
    outs: [out]
"""


@pytest.fixture(scope="module")
def page(repository):
    """Return docs/troubleshooting.md with each paragraph in one line."""
    return " ".join((repository / "docs/troubleshooting.md").read_text().split())


# Two at once


@pytest.fixture
def project(repository, tmp_path):
    """Return a DVC project as ours with one stage, which waits for a file `go`."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copytree(
        repository / ".dvc", folder / ".dvc", ignore=shutil.ignore_patterns("cache", "tmp")
    )
    (folder / "dvc.yaml").write_text(SLOW_STAGE)
    project = Project(folder)
    project.run("git", "init", "-q")
    yield project
    (folder / "go").touch()


def start_repro(project):
    """Start `dvc repro`, and return it when its stage runs."""
    process = subprocess.Popen(
        ["dvc", "repro"], cwd=project.folder, env=project.env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (project.folder / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


@pytest.mark.integration
def test_a_second_dvc_repro_says_that_one_is_running_and_changes_nothing(project, page):
    with start_repro(project) as first:
        project.run("dvc", "repro", fails=True)
        message = project.errors
        (project.folder / "go").touch()
        assert first.wait(60) == 0
    assert f"(PID {first.pid})" in message
    assert "is busy, it is being blocked by:" in message
    assert "is busy, it is being blocked by:" in page
    assert (project.folder / "out").read_text() == "done\n"
    assert "didn't change, skipping" in project.run("dvc", "repro")


@pytest.mark.integration
def test_after_kill_9_of_dvc_the_next_one_runs(project):
    with start_repro(project) as first:
        first.kill()
    (project.folder / "go").touch()
    assert "Running stage 'slow'" in project.run("dvc", "repro")
    assert (project.folder / "out").read_text() == "done\n"


def test_a_second_push_says_that_it_waits_and_then_has_the_lock(
    tmp_path, monkeypatch, capsys, page
):
    monkeypatch.chdir(tmp_path)
    done = []

    def push_second():
        with hold_lock("push"):
            done.append("second")

    with hold_lock("pull"):
        thread = threading.Thread(target=push_second)
        thread.start()
        message = ""
        deadline = time.monotonic() + 30
        while not message and time.monotonic() < deadline:
            time.sleep(0.01)
            message = capsys.readouterr().err
        done.append("first")
    thread.join(30)
    assert done == ["first", "second"]
    assert message == "push: another pull or push is running here; waiting for it to finish\n"
    assert message.strip() in page


def test_a_push_that_waits_too_long_gives_up_and_says_whom_to_look_for(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.1)
    (tmp_path / connection.LOCK).parent.mkdir(parents=True)
    with (
        FileLock(connection.LOCK),
        pytest.raises(CampaignError, match=r"another pull or push has held it for 0\.1 s"),
        hold_lock("push"),
    ):
        pytest.fail("two hold the lock")
    assert "another pull or push has held it for 900 s" in page


# A clock that was set back, or forward


@pytest.mark.parametrize("hours", [-5, 0, 5])
def test_a_push_that_died_is_given_its_time_whatever_the_clock_says(tmp_path, monkeypatch, hours):
    # The note seems older than it is, by `hours`, where the clock was set forward; else younger.
    monkeypatch.chdir(tmp_path)
    slept = []
    monkeypatch.setattr(unfinished, "time", SimpleNamespace(sleep=slept.append))
    unfinished.FILE.parent.mkdir(parents=True)
    unfinished.FILE.write_text("{}")
    then = time.time() - hours * 3600
    os.utime(unfinished.FILE, (then, then))
    unfinished.wait_for_pending()
    assert slept == [unfinished.SETTLE_SECONDS]
    assert not unfinished.FILE.exists()


@pytest.mark.integration
def test_a_clock_that_was_set_back_makes_dvc_neither_run_nor_skip_wrongly(project):
    (project.folder / "go").touch()
    project.run("dvc", "repro")
    for name in ("out", "dvc.yaml", "dvc.lock"):  # as if all of it had been made tomorrow
        then = time.time() + 86_400
        os.utime(project.folder / name, (then, then))
    assert "didn't change, skipping" in project.run("dvc", "repro")
    project.change("dvc.yaml", "echo done", "echo more")
    project.run("dvc", "repro")
    assert (project.folder / "out").read_text() == "more\n"


def make_task(number, second, *levels):
    answers = [{"id": number, "result": level} for level in levels]
    return AnsweredTask(number, "key", False, START + timedelta(seconds=second), answers, [])


class Studio:
    """A server with these tasks, which tells what was changed after a moment."""

    def __init__(self, *tasks):
        self.tasks = tasks

    def answers(self, project, since):
        return [task for task in self.tasks if since is None or task.updated_at > since]

    def project(self, number):
        answers = sum(len(task.answers) for task in self.tasks)
        return SimpleNamespace(tasks=len(self.tasks), answers=answers)


def test_after_the_servers_clock_was_set_back_new_answers_come_and_anew_brings_changed_ones(
    tmp_path, monkeypatch, page
):
    monkeypatch.chdir(tmp_path)
    project = SimpleNamespace(id=1, created_at="then")
    reader.read(Studio(make_task(1, 7200, "2"), make_task(2, 7200)), project)
    later = make_task(1, 60, "3"), make_task(2, 60, "4")  # two hours earlier, says its clock
    tasks = reader.read(Studio(*later), project)
    assert [answer["result"] for task in tasks.values() for answer in task.answers] == ["3", "4"]

    reader.read(Studio(make_task(1, 7200, "2")), project)
    unseen = Studio(make_task(1, 60, "3"))
    assert reader.read(unseen, project)[1].answers[0]["result"] == "2"
    assert reader.read(unseen, project, full=True)[1].answers[0]["result"] == "3"
    assert "`python -m annotation.pull --full`" in page


# Nothing there, or one


def test_a_corpus_without_a_usable_row_is_refused(repository, page):
    settings = params.load(repository / "params.yaml").ingest
    settings = settings.model_copy(update={"source": "my.jsonl", "max_rejected": 1.0})
    rows = [Row("my.jsonl", n, moment_id=n, video_id="v", start=3, end=1) for n in range(2)]
    for some, message in (
        (rows, "my.jsonl: none of the 2 rows can be used"),
        ([], "contains no tvr rows"),
    ):
        with pytest.raises(CorpusError, match=message):
            ingest.refuse_useless(ingest.ingest(some, settings), settings)
    assert "none of the N rows can be used" in page
    assert "contains no tvr rows" in page


def test_one_query_is_enough_and_more_than_there_are_is_refused(page):
    captions = pd.DataFrame({"moment_id": ["m1", "m2"], "caption": ["A man sits.", "a man sits. "]})
    none = tables.FROZEN_QUERIES.empty()
    result = split.split(captions, none, Split(seed=1, val=0, test=1, train=None))
    assert result.table.to_numpy().tolist() == [["m1", "A man sits.", "test"]]
    with pytest.raises(SplitError) as refused:
        split.split(captions, none, Split(seed=1, val=1, test=1, train=None))
    message = re.sub(r"\d+", "N", str(refused.value)).partition(";")[0]
    assert message in page


@pytest.mark.parametrize("number", [1, 3])
def test_fewer_than_four_people_are_refused(page, number):
    people = [Annotator(who, "annotator", True) for who in range(1, number + 1)]
    with pytest.raises(PlanError) as refused:
        refuse_too_few_people(people)
    message = str(refused.value).replace(f"{number} active", "N active")
    assert message.partition(" (")[0] in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("end_slack:", "end_slak:", "ingest.end_slak: unknown key; did you mean 'end_slack'?"),
        ("max_rejected:", "limit:", "ingest.max_rejected: this key is missing"),
        ("\nsplit:", "\nspilt:", "spilt: unknown key; did you mean 'split'?"),
    ],
)
def test_a_renamed_key_is_named(repository, tmp_path, page, old, new, message):
    path = tmp_path / "params.yaml"
    path.write_text((repository / "params.yaml").read_text().replace(old, new, 1))
    with pytest.raises(ParamsError) as refused:
        params.load(path)
    assert f"{path}: {message}" in str(refused.value).splitlines()
    assert message in page
