"""What a rehearsal shows of `dvc repro`: stages, what they say, and on failure everything."""

import os
import subprocess
import sys

import pytest

from annotation.simulation import commands

DAG = """
stages:
  quiet:
    cmd: echo of-its-own > quiet.txt
    outs: [quiet.txt]
  talking:
    cmd: sleep 0.5; echo to-stdout; echo to-stderr >&2; echo text > talking.txt
    deps: [quiet.txt]
    outs: [talking.txt]
  failing:
    cmd: echo why-it-failed >&2; exit 3
    deps: [talking.txt]
    outs: [failing.txt]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dvc.yaml").write_text(DAG)
    dvc = [sys.executable, "-m", "dvc", "init", "--no-scm", "-q"]
    subprocess.run(dvc, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def repro(folder, repository, target):
    """Run it as the rehearsal does, in a process of its own; return its code and all it shows."""
    call = (
        "import sys; from annotation.simulation.commands import run; sys.exit(run(*sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", call, "dvc", "repro", target],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(repository)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.integration
def test_stages_and_what_they_say_are_shown_and_on_failure_all_of_it(folder, repository):
    code, lines = repro(folder, repository, "talking")
    assert (code, lines[:2]) == (0, ["    quiet", "    talking"])
    assert sorted(lines[2:]) == ["to-stderr", "to-stdout"]
    code, lines = repro(folder, repository, "failing")
    assert code
    assert {"    failing", "why-it-failed", "Running stage 'failing':"} <= set(lines)
    assert any("failed to run" in line and "exited with 3" in line for line in lines)


@pytest.mark.integration
def test_frozen_stages_are_no_news(folder, repository):
    dag = DAG.replace("    outs: [quiet.txt]\n", "    outs: [quiet.txt]\n    frozen: true\n")
    (folder / "dvc.yaml").write_text(dag)
    (folder / "quiet.txt").write_text("as it was")
    code, lines = repro(folder, repository, "talking")
    assert (code, lines[0], sorted(lines[1:])) == (0, "    talking", ["to-stderr", "to-stdout"])


def test_whatever_dvc_does_not_say_of_itself_is_shown(capsys):
    lines = [
        "Running stage 'clips':\n",
        "> python -m pipeline.clips\n",
        "\n",
        "a library's line\n",
        "Updating lock file 'dvc.lock'\n",
        "Stage 'plan' is cached - skipping run\n",
    ]
    hidden = list(commands.filter_output(lines))
    assert capsys.readouterr().err == "    clips\na library's line\n"
    assert hidden == [line for line in lines if line != "a library's line\n"]
