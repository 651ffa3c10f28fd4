"""The stage `judge` with a model that sees: rows, metrics, and the estimate before it is paid."""

import contextlib
import json
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from checkouts import write
from judged_pairs import QUERIES, write_checkout
from model_server import KEY

from pipeline import judge as stage
from pipeline.core import tables


@pytest.fixture
def labelled_world(world):
    """Return the numbered clips, with levels for the queries of the checkout."""
    chance = random.Random(1)
    levels = {
        f"Text of {query}.": {moment.moment_id: chance.randrange(5) for moment in world.moments}
        for query in QUERIES
    }
    return replace(world, levels=levels)


@pytest.fixture
def folder(tmp_path, repository, labelled_world):
    """Return a checkout with real clips of the candidates."""
    with contextlib.chdir(tmp_path):
        write_checkout(tmp_path)
        text = Path("params.yaml").read_text()
        Path("params.yaml").write_text(text.replace("backend: similarity", "backend: openai"))
        shutil.copytree(repository / "annotation/guideline", "annotation/guideline")
        shutil.copytree(repository / "prompts", "prompts", dirs_exist_ok=True)
        clips = tables.WORK / "clips"
        clips.mkdir(exist_ok=True)
        rows = []
        for moment in labelled_world.moments:
            path = labelled_world.clips[moment.moment_id]
            shutil.copy(path, clips)
            seconds = round(moment.end - moment.start, 3)
            rows.append((moment.moment_id, path.name, path.stem, seconds))
        write(tables.CLIPS, rows)
        yield tmp_path


@pytest.fixture
def server(folder, serve, labelled_world, monkeypatch):
    running = serve(world=labelled_world, logprobs=True)
    monkeypatch.setenv("OPENAI_BASE_URL", running.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return running


def test_rows_have_the_true_levels_and_say_where_they_are_from(server, labelled_world):
    stage.main()
    table = tables.MACHINE_JUDGMENTS.read()
    queries = tables.QUERIES.read().set_index("query_id")["query"]
    for row in table.itertuples():
        assert row.level == labelled_world.levels[queries[row.query_id]][row.moment_id]
    assert len(table) == len(QUERIES) * len(labelled_world.moments)
    assert not server.stats.unseen
    assert set(table["model"]) == {"gpt-4.1-mini-2025-04-14"}
    assert table["prompt"].str.match(r"judge-v1@[0-9a-f]{12}$").all()
    assert set(table["guideline"]) == {"1"}
    assert table["expected"].between(0, 4).all()
    assert (table["frames"] >= 1).all()
    assert (table["clip_sha"] == "clip" + table["moment_id"].str[1:]).all()
    metrics = json.loads((tables.WORK / "metrics/judge.json").read_text())
    assert metrics["judge"]["llm"]["requests"] == len(table)
    before = tables.MACHINE_JUDGMENTS.path.read_bytes()
    stage.main()
    assert tables.MACHINE_JUDGMENTS.path.read_bytes() == before
    assert server.stats.requests == len(table)


def test_the_estimate_is_printed_before_all_is_paid(server, capsys):
    stage.estimate()
    printed = capsys.readouterr().out
    assert server.stats.requests == 20
    rows = dict(line.split("  ", 1)[::-1] for line in map(str.strip, printed.splitlines()))
    assert rows["distinct pairs, each judged 1x"] == "32"
    assert rows["requests left"] == "12"
    assert int(rows["tokens in, as counted by the server"].replace(",", "")) > 12 * 425
    stage.main()
    assert server.stats.requests == 32


def test_rows_of_failures_have_a_reason_and_are_counted(server):
    server.change(faults=0.5, kinds=("refused", "truncated", "filtered", "broken-json"), seed=2)
    stage.main()
    table = tables.MACHINE_JUDGMENTS.read()
    counts = table["reason"].value_counts()
    assert {*counts.index} >= {"refused", "cut"}
    metrics = json.loads((tables.WORK / "metrics/judge.json").read_text())
    assert metrics["without_level"] == counts.sort_index().to_dict()
    assert metrics["with_level"] == int(table["level"].notna().sum())
    assert pd.isna(table.loc[table["reason"].notna(), "level"]).all()


def test_what_failed_is_asked_again_by_the_command_that_is_told(server, capsys):
    server.change(poison=f"Text of {min(QUERIES)}.", spoilt="rejected")
    stage.main()
    failed = int((tables.MACHINE_JUDGMENTS.read()["reason"] == "failed").sum())
    asked = server.stats.requests
    assert 0 < failed < asked
    assert re.search(f"{failed} failed; .*: dvc repro", capsys.readouterr().err)
    server.change(poison="")
    stage.main()
    assert server.stats.requests == asked + failed
    assert tables.MACHINE_JUDGMENTS.read()["level"].notna().all()
    assert "to ask again" not in capsys.readouterr().err
