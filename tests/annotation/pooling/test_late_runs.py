"""`pool top-up` says what could change, asks, and `pool late` says what did."""

import io
import re
import sys

import pandas as pd
import pytest
from support.small_pool import MOMENTS
from test_admission import decide, looking, small, write_run

from annotation import pool
from annotation.pooling import late_runs
from momentrank import evaluate
from momentrank.errors import UsageError
from pipeline.campaign.leave_one_out import MEASURE
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

WRITTEN = (tables.TOPUP, tables.POOLED_RUNS, tables.LATE_RUNS)

__all__ = ["small"]


@pytest.fixture
def shown(small):
    """The small pool, all of it shown and judged; captions are a reference run."""
    show(tables.POOL.read())
    late_runs.RUNS.mkdir(parents=True)
    write_run(lambda query, n: -n, late_runs.RUNS / "captions.test.run")
    return small


def show(pairs):
    """List pairs as shown."""
    ledger = tables.PAIRS.read()
    moments = tables.MOMENTS.read()[["moment_id", "video_id", "start", "end"]]
    rows = pairs[PAIR_KEY].merge(moments, on="moment_id")
    rows = rows.assign(duration=900.0, caption="Words.", similarity=0.5, rank=1, query_sha="q")
    rows = rows.assign(clip_sha="c", pair_id=range(len(ledger), len(ledger) + len(rows)))
    tables.PAIRS.write(pd.concat([ledger, rows[tables.PAIRS.columns]], ignore_index=True))


def top_up(*words, depth=5):
    pool.main(pool.parse_arguments(["top-up", *map(str, words), "--depth", str(depth)]))


def read_written():
    return {table: table.path.read_bytes() for table in WRITTEN}


def tell(capsys):
    capsys.readouterr()
    pool.main(pool.parse_arguments(["late"]))
    return capsys.readouterr().err


def test_nothing_changes_until_somebody_agrees(shown, capsys, monkeypatch):
    run, before = write_run(looking(shown)), read_written()
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(UsageError, match="--yes"):
        top_up(run, "--hourly", "20")
    said = capsys.readouterr().err
    assert "clip: its first 5 without a level" in said
    assert "pay" in said
    assert MEASURE in said
    assert "Judged@5" in said
    assert "could change places: " in said
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    top_up(run)
    assert read_written() == before
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    top_up(run)
    assert all(read_written()[table] != before[table] for table in WRITTEN)


def test_what_became_of_a_run_is_told_and_is_within_its_bounds(shown, capsys):
    run = write_run(looking(shown))
    top_up(run, "--yes")
    kept = tables.LATE_RUNS.read().set_index("run")
    assert set(kept.index) == {"clip", "captions"}
    assert kept["depth"].notna().to_dict() == {"clip": True, "captions": False}
    levels, split = late_runs.read_levels(tables.QUERIES.read())
    assert split == "test"
    assert kept.loc["clip", "value"] == pytest.approx(evaluate(levels, run, MEASURE)[MEASURE])
    new = tables.TOPUP.read()
    assert kept.loc["clip", "asked"] == len(new)
    assert f"{len(new):,} pairs wait" in tell(capsys)
    decide(shown, new)
    show(new)
    said = tell(capsys)
    assert "wait" not in said
    assert "NO" not in said
    after = evaluate(late_runs.read_levels(tables.QUERIES.read())[0], run, MEASURE)[MEASURE]
    assert f"{after:.3f}" in said
    assert kept.loc["clip", "low"] <= after <= kept.loc["clip", "high"]
    assert "1.000" in said, "its first five are judged"


def test_a_second_top_up_before_any_judgment_takes_the_place_of_the_first(shown, capsys):
    top_up(write_run(looking(shown)), "--yes")
    asked = len(tables.TOPUP.read())
    top_up(write_run(lambda query, n: n % 7 + n / MOMENTS, "other.run"), "--yes")
    kept = tables.LATE_RUNS.read().set_index("run")
    assert len(kept["levels"].unique()) == 1
    assert set(kept.index[kept["depth"].notna()]) == {"clip", "other"}
    assert kept["asked"].unique().tolist() == [len(tables.TOPUP.read())]
    assert len(tables.TOPUP.read()) > asked
    decide(shown, tables.TOPUP.read())
    show(tables.TOPUP.read())
    said = tell(capsys)
    assert "NO" not in said
    assert "other pairs" not in said


def test_a_run_that_comes_again_by_its_name_is_not_taken_for_the_first(shown, capsys):
    run = write_run(looking(shown))
    top_up(run, "--yes")
    decide(shown, tables.TOPUP.read())
    show(tables.TOPUP.read())
    value = evaluate(late_runs.read_levels(tables.QUERIES.read())[0], run, MEASURE)[MEASURE]
    assert f"{value:.3f}" in tell(capsys).split("top-up of")[1]
    top_up(write_run(lambda query, n: n % 7 + n / MOMENTS), "--yes")
    _, first, second = tell(capsys).split("top-up of")
    first, second = (re.search(r"^ *clip .*$", text, re.MULTILINE)[0] for text in (first, second))
    assert first.split().count("-") == 3, "what became of the first is unknown"
    assert "-" not in second.split()


def test_before_any_level_only_the_cost_is_told(shown, capsys):
    tables.CONSENSUS.write(tables.CONSENSUS.empty())
    tables.PAIRS.write(tables.PAIRS.empty())
    top_up(write_run(looking(shown)), "--yes")
    said = capsys.readouterr().err
    assert "all: " in said
    assert MEASURE not in said
    assert tables.LATE_RUNS.read().empty
    assert "no top-up" in tell(capsys)
