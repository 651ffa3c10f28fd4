"""What `make demo` runs: interrupted as at a keyboard, gone on from there, taken away."""

import os
import signal
import subprocess
import sys
import time
from contextlib import chdir, closing
from random import Random

import pytest
from project import SMALL, Project, copy_of
from studio import Studio

from annotation import env, server
from annotation.simulating.practice import TITLE
from pipeline import files, tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]

FEW = SMALL | {r"val: \d+": "val: 1", r"test: \d+": "test: 2"}
REHEARSE = [sys.executable, "-m", "annotation.rehearsal"]
PLACES = ("beside it", "open a rehearsal", "simulated people", "round 2: pull",
          "close the campaign")  # fmt: skip
LONGEST = 60
INTERRUPTED = 130


def interrupted_at(project: Project, place: str, wait: float) -> int:
    """Rehearse, and press Ctrl-C `wait` seconds after a place was told; return the exit code."""
    with subprocess.Popen(
        REHEARSE,
        cwd=project.folder,
        env=project.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        for line in process.stderr:
            if line.startswith("==>") and place in line:
                time.sleep(wait)
                os.killpg(process.pid, signal.SIGINT)
                break
        process.stderr.read()
        return process.wait(LONGEST)


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory, repository):
    """Return a project rehearsed from its beginning to its end, but interrupted again and again."""
    if not (repository / server.PROGRAM).is_file():
        pytest.skip("Label Studio is not installed (make label-studio-environment)")
    project = copy_of(repository, tmp_path_factory.mktemp("rehearsal"), FEW)
    (project.folder / ".venv-label-studio").symlink_to(repository / ".venv-label-studio")
    random = Random(5)
    project.codes = [interrupted_at(project, place, random.uniform(0, 6)) for place in PLACES]
    project.told = project.run(*REHEARSE)
    yield project
    project.run("python", "-m", "annotation.server", "stop")


def made(project):
    """Return what people and the release are made of, by file."""
    roots = [project.folder / "datasets/campaign", project.folder / tables.RELEASE]
    found = [path for root in roots for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(project.folder)): path.read_bytes() for path in found}


def test_ctrl_c_ends_it_soon_and_it_goes_on_from_there(rehearsed):
    assert set(rehearsed.codes) <= {INTERRUPTED, 0}
    assert rehearsed.codes.count(INTERRUPTED) >= len(PLACES) - 2
    figures = files.read_json(rehearsed.folder / "datasets/work/metrics/consensus.json")
    assert figures["closed"]
    assert figures["outcomes"]["waiting"] == 0
    assert figures["outcomes"]["two"] > 0
    assert (rehearsed.folder / "datasets/report/index.html").is_file()
    assert rehearsed.run("git", "status", "--porcelain") == ""


def test_run_again_it_adds_nothing_and_tells_the_same(rehearsed):
    before = made(rehearsed)
    rehearsed.run(*REHEARSE)
    assert "ordinal alpha" in rehearsed.errors
    assert "judge yourself  http://127.0.0.1:" in rehearsed.errors
    assert made(rehearsed) == before


def test_it_is_not_taken_away_where_people_have_judged(rehearsed):
    path = rehearsed.folder / "datasets/campaign/judgments.csv"
    before = path.read_text()
    head, first, *rest = before.splitlines(keepends=True)
    place = head.rstrip().split(",").index("annotator")
    fields = first.split(",")
    fields[place] = "77"
    path.write_text("".join([head, *rest, ",".join(fields)]))
    rehearsed.run(*REHEARSE, "--clear", fails=True)
    assert "people have judged here: 1 judgments" in rehearsed.errors
    assert rehearsed.code("python", "-m", "annotation.server", "status") == 0
    path.write_text(before)

    with chdir(rehearsed.folder):
        endpoint = env.endpoint()
    with closing(Studio(*endpoint, rehearsed.folder)) as lead:
        practice = next(
            one["id"]
            for one in lead.api("GET", "/api/projects/")["results"]
            if one["title"] == TITLE
        )
        task = lead.tasks(practice)[0]["id"]
        choice = {"from_name": "level", "to_name": "clip", "type": "choices"}
        lead.annotate(task, [{**choice, "value": {"choices": ["3"]}}])
        rehearsed.run(*REHEARSE, "--clear", fails=True)
        assert "people have judged here: 1 judgments" in rehearsed.errors, "it looks on the server"
        lead.api("DELETE", f"/api/tasks/{task}/")
    rehearsed.run("python", "-m", "annotation.server", "stop")
    rehearsed.run(*REHEARSE, "--clear")
    assert rehearsed.code("python", "-m", "annotation.server", "status") == server.NOT_RUNNING
