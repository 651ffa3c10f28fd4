"""Two at once, a clock set back, one query: the bad days of docs/troubleshooting.md."""

import os
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
from annotation.label_studio import connection
from annotation.label_studio.connection import hold_lock
from annotation.label_studio.records import AnsweredTask
from pipeline import split
from pipeline.campaign.campaign import CampaignError
from pipeline.core import tables
from pipeline.core.sections import Split
from pipeline.split import SplitError

START = datetime(2026, 1, 1, tzinfo=UTC)
SLOW_STAGE = """stages:
  slow:
    cmd: touch started && until test -e go; do sleep 0.1; done; echo done > out
    outs: [out]
"""


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
def test_a_second_dvc_repro_says_that_one_is_running_and_changes_nothing(project):
    with start_repro(project) as first:
        project.run("dvc", "repro", fails=True)
        message = project.errors
        (project.folder / "go").touch()
        assert first.wait(60) == 0
    assert f"(PID {first.pid})" in message
    assert (project.folder / "out").read_text() == "done\n"
    assert "didn't change, skipping" in project.run("dvc", "repro")


@pytest.mark.integration
def test_after_kill_9_of_dvc_the_next_one_runs(project):
    with start_repro(project) as first:
        first.kill()
    (project.folder / "go").touch()
    assert "Running stage 'slow'" in project.run("dvc", "repro")
    assert (project.folder / "out").read_text() == "done\n"


def test_a_second_push_says_that_it_waits_and_then_has_the_lock(tmp_path, monkeypatch, capsys):
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
    assert message.startswith("push: ")
    assert message.count("\n") == 1


def test_a_push_that_waits_too_long_gives_up_and_says_whom_to_look_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.1)
    (tmp_path / connection.LOCK).parent.mkdir(parents=True)
    with (
        FileLock(connection.LOCK),
        pytest.raises(CampaignError, match=r"for 0\.1 s"),
        hold_lock("push"),
    ):
        pytest.fail("two hold the lock")


# A clock that was set back, or forward


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
    tmp_path, monkeypatch
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


# Nothing there, or one


def test_one_query_is_enough_and_more_than_there_are_is_refused():
    captions = pd.DataFrame({"moment_id": ["m1", "m2"], "caption": ["A man sits.", "a man sits. "]})
    none = tables.FROZEN_QUERIES.empty()
    result = split.split(captions, none, Split(seed=1, val=0, test=1, train=None))
    assert result.table.drop(columns="query_id").to_numpy().tolist() == [
        ["A man sits.", "test", "m1", "caption", "corpus"]
    ]
    with pytest.raises(SplitError, match=r"split\.val \+ split\.test ask for 2 .* only 1"):
        split.split(captions, none, Split(seed=1, val=1, test=1, train=None))
