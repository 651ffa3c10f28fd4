"""What every stage's command does: help, numbers as arguments, errors in one line, exit codes."""

import argparse
import os
import subprocess
import sys

import pytest

from pipeline.core import cli, files

STAGES = ["ingest", "tagger", "rewrite", "split", "embed", "candidates", "pseudo", "sample"]


def run(repository, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", STAGES)
def test_help_says_what_a_stage_reads_and_writes(repository, tmp_path, name):
    done = run(repository, tmp_path, f"pipeline.{name}", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: python -m pipeline.{name}")
    assert "reads " in done.stdout
    assert "writes " in done.stdout


def test_an_error_is_one_line_and_an_exit_code(repository, tmp_path):
    missing = run(repository, tmp_path, "pipeline.split")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert missing.stderr == "error: params.yaml: no such file or directory\n"

    text = (repository / "params.yaml").read_text()
    (tmp_path / "params.yaml").write_text(text.replace("max_rejected: 0.01", "max_rejected: 2.0"))
    wrong = run(repository, tmp_path, "pipeline.split")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: params.yaml: ingest.max_rejected: ")
    assert wrong.stderr.count("\n") == 1


def test_a_missing_table_says_what_makes_it(repository, tmp_path):
    (tmp_path / "params.yaml").write_text((repository / "params.yaml").read_text())
    done = run(repository, tmp_path, "pipeline.rewrite")
    assert done.returncode == 1
    assert done.stderr == (
        "error: datasets/work/moments.parquet: no such file; `dvc repro` makes it\n"
    )
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--queries", "-1"], 2, "argument --queries: -1: must be 1 or more\n"),
        (["--top", "0"], 2, "argument --top: 0: must be 1 or more\n"),
        ([], 1, "error: datasets/work/moments.parquet: no such file; `dvc repro` makes it\n"),
    ],
)
def test_show_fails_like_a_stage(repository, tmp_path, words, code, said):
    done = run(repository, tmp_path, "pipeline.show", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.endswith(said)
    assert "Traceback" not in done.stderr


def test_metrics_refuse_what_is_no_number(tmp_path):
    with pytest.raises(ValueError, match="Out of range float"):
        files.write_json(tmp_path / "metrics.json", {"share": float("nan")})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (cli.natural, "0", 0),
        (cli.count, "1", 1),
        (cli.positive, "0.5", 0.5),
        (cli.share, "0", 0.0),
        (cli.positive_share, "1", 1.0),
    ],
)
def test_a_number_is_read(kind, text, value):
    assert kind(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (cli.natural, "-1"),
        (cli.natural, "1.5"),
        (cli.count, "0"),
        (cli.count, "-1"),
        (cli.count, "many"),
        (cli.positive, "0"),
        (cli.positive, "inf"),
        (cli.share, "1.1"),
        (cli.share, "nan"),
        (cli.positive_share, "0"),
    ],
)
def test_another_is_a_usage_error(kind, text, capsys):
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=kind)
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(["--", text])
    assert caught.value.code == 2
    assert text in capsys.readouterr().err
