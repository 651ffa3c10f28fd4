"""What every stage's command does: help, numbers as arguments, errors in one line, exit codes."""

import argparse
import os
import subprocess
import sys

import pytest

from pipeline.core import cli


@pytest.fixture
def run(folder, command):
    """Return a function that runs a stage in an empty folder: its exit code, output and errors."""
    return lambda stage, *arguments: command(f"pipeline.{stage}", *arguments)


def test_an_error_is_one_line_and_an_exit_code(repository, tmp_path):
    def split():
        command, path = [sys.executable, "-m", "pipeline.split"], {"PYTHONPATH": str(repository)}
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | path,
            capture_output=True,
            text=True,
            check=False,
        )

    missing = split()
    assert (missing.returncode, missing.stdout) == (1, "")
    remedy = "this folder is no working copy (it has no dvc.yaml)"
    assert missing.stderr == f"error: params.yaml: no such file or directory; {remedy}\n"
    text = (repository / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace("max_rejected: 0.01", "max_rejected: 2.0"))
    wrong = split()
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: params.yaml: ingest.max_rejected: ")
    assert wrong.stderr.count("\n") == 1


MISSING = "error: datasets/work/moments.parquet: no such file; `dvc repro` makes it\n"


def test_a_missing_table_says_what_makes_it(repository, tmp_path, run):
    (tmp_path / "params.yaml").write_text((repository / "params.yaml").read_text())
    assert run("rewrite") == (1, "", MISSING)
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--queries", "-1"], 2, "argument --queries: -1: must be 1 or more\n"),
        (["--top", "0"], 2, "argument --top: 0: must be 1 or more\n"),
        (["--queries", "0,5"], 2, "argument --queries: '0,5' is not a whole number\n"),
        (["--quries", "5"], 2, "unrecognized arguments: --quries 5; did you mean --queries?\n"),
        ([], 1, MISSING),
    ],
)
def test_show_fails_like_a_stage(run, words, code, message):
    ended, out, err = run("show", *words)
    assert (ended, out) == (code, "")
    assert err.endswith(message)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (cli.parse_non_negative, "0", "-1 1.5"),
        (cli.parse_positive, "1", "0 -1 many"),
        (cli.parse_positive_float, "0.5", "0 inf"),
        (cli.parse_share, "0", "1.1 nan"),
        (cli.parse_positive_share, "1", "0"),
    ],
)
def test_a_number_is_read_and_another_is_a_usage_error(kind, good, bad, capsys):
    assert kind(good) == float(good)
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=kind)
    for text in bad.split():
        with pytest.raises(SystemExit) as caught:
            parser.parse_args(["--", text])
        assert caught.value.code == 2
        assert text in capsys.readouterr().err
