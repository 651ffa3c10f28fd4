"""Two at once, and one query: bad days of docs/troubleshooting.md."""

import shutil
import subprocess
import threading
import time

import pandas as pd
import pytest
from filelock import FileLock
from project import Project

from annotation.label_studio import connection
from annotation.label_studio.connection import hold_lock
from pipeline import split
from pipeline.campaign.campaign import CampaignError
from pipeline.core import tables
from pipeline.core.sections import Split

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


@pytest.mark.integration
def test_a_second_dvc_repro_says_that_one_is_running_and_changes_nothing(project):
    where = {"cwd": project.folder, "env": project.env}
    with subprocess.Popen(["dvc", "repro"], stderr=subprocess.DEVNULL, **where) as first:
        deadline = time.monotonic() + 60
        while not (project.folder / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        project.run("dvc", "repro", fails=True)
        message = project.errors
        (project.folder / "go").touch()
        assert first.wait(60) == 0
    assert f"(PID {first.pid})" in message
    assert (project.folder / "out").read_text() == "done\n"
    assert "didn't change, skipping" in project.run("dvc", "repro")


def test_a_second_push_says_that_it_waits_and_then_has_the_lock(folder, capsys):
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


def test_a_push_that_waits_too_long_gives_up_and_says_whom_to_look_for(folder, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.1)
    connection.LOCK.parent.mkdir(parents=True)
    with (
        FileLock(connection.LOCK),
        pytest.raises(CampaignError, match=r"for 0\.1 s"),
        hold_lock("push"),
    ):
        pytest.fail("two hold the lock")


# Nothing there, or one


def test_one_query_is_enough():
    captions = pd.DataFrame({"moment_id": ["m1", "m2"], "caption": ["A man sits.", "a man sits. "]})
    none = tables.FROZEN_QUERIES.empty()
    result = split.split(captions, none, Split(seed=1, val=0, test=1, train=None))
    assert result.table.drop(columns="query_id").to_numpy().tolist() == [
        ["A man sits.", "test", "m1", "caption", "corpus"]
    ]
