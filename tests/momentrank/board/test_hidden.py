"""What a hidden board shows, and what its own team of attackers gets from it."""

import hashlib
import re
from dataclasses import fields, replace
from datetime import date
from itertools import combinations, count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hidden_board import boost, draw, walk
from momentrank.board.hidden import (
    APART,
    FEW,
    LIMIT,
    SHARE,
    STEPS,
    blur,
    conceal,
    find_step,
    make_key,
)
from momentrank.board.rows import Board, Entry, Row
from momentrank.errors import UsageError

FIRST, JUDGED = "nDCG(iou=0.5)@10", "Judged(iou=0.5)@10"
KEY = "5ec2e7"


def hide(board):
    return conceal(board, KEY)


@pytest.fixture
def board(tmp_path):
    """Three runs over 1,000 queries: the test tells only the last one from the others."""
    rows = []
    for name, value, letters in (("x", 0.5006, "a"), ("y", 0.5004, "a"), ("z", 0.3, "b")):
        run = tmp_path / f"{name}.run"
        run.write_text(name)
        entry = Entry(
            run, name, f"Team {name}", "https://example.org", date(2026, 1, 2), ("video",)
        )
        values = {FIRST: value, JUDGED: 0.987654}
        strata = {"caption": values, "rare": {FIRST: 0.123456}, "rest": {FIRST: 0.7}}
        intervals = {FIRST: (value - 0.0123, value + 0.0123)}
        rows.append(Row(entry, values, 1000, 10, intervals, {FIRST: 0.7654}, strata, letters))
    source = {"momentrank": "1", "release": "2.0.0", "qrels": "a", "qrels_sha256": KEY}
    strata = {"caption": 500, "rare": FEW - 1, "rest": 1000 - FEW + 1}
    return Board(
        tuple(rows), (FIRST, JUDGED), 1000, "t-test", source, strata, ("the mean is 0.43",), 4
    )


def test_only_rounded_aggregates_are_left(board):
    shown = hide(board)
    assert shown.hidden
    assert shown.measures == (FIRST,)
    assert list(shown.strata) == ["caption"]  # the others are too small, or all but too small
    for row in shown.rows:
        assert row.values.keys() == {FIRST}
        assert row.strata.keys() == {"caption"}
        assert (row.intervals, row.upper, row.noise, row.telling) == ({}, {}, None, ())
    text = repr(shown)
    assert KEY not in text
    numbers = re.findall(r"\d\.\d{3,}", text)
    assert numbers == []
    assert "the mean is" not in text


def test_what_is_added_to_a_board_is_hidden_until_this_policy_names_it(board):
    """Each field is named here: one that is added must be decided."""
    assert {field.name for field in fields(Row)} == {
        *("entry", "values", "answered", "shortest", "intervals", "upper", "strata", "letters"),
        *("noise", "telling"),
    }
    assert {field.name for field in fields(Board)} == {
        *("rows", "measures", "queries", "test", "source", "strata", "notes", "digits"),
        *("hidden", "by"),
    }


@given(st.floats(0, 1), st.integers(FEW, 10_000), st.text(max_size=5))
def test_a_value_is_shown_within_a_step_on_the_grid_and_always_the_same(value, queries, name):
    step = find_step(queries)
    shown = blur(value, queries, KEY, name)
    assert abs(shown - value) <= step + 1e-9
    assert shown / step == pytest.approx(round(shown / step))
    assert shown == blur(value, queries, KEY, name)
    assert step >= SHARE / queries - 1e-9
    assert 0 <= shown <= 1


def test_shifts_cancel_out_over_many_values():
    step = STEPS[0]
    for value in (0.5, 0.5049, 0.503):
        shown = [blur(value, 1000, KEY, str(n)) for n in range(4000)]
        assert np.mean(shown) == pytest.approx(value, abs=4 * step / np.sqrt(4 * 4000))


def test_the_order_of_runs_is_that_of_what_is_shown(board):
    for secret in map(str, range(20)):
        rows = conceal(board, secret).rows
        keys = [(-row.values[FIRST], row.entry.name) for row in rows]
        assert keys == sorted(keys)
        assert rows[-1].entry.name == "z"


@pytest.mark.parametrize("seed", range(10))
def test_letters_follow_from_what_is_shown_and_from_no_exact_test(board, seed):
    rng = np.random.default_rng(seed)
    rows = [
        replace(
            board.rows[0],
            entry=replace(board.rows[0].entry, name=str(n)),
            values={FIRST: 0.5 + 0.1 * rng.random()},
            letters=",".join(rng.choice([*"abcdef"], 2, replace=False)),
        )
        for n in range(12)
    ]
    shown = hide(replace(board, rows=tuple(rows)))
    untested = [replace(row, letters="") for row in rows]
    assert hide(replace(board, rows=tuple(untested), test="another")) == shown
    for first, second in combinations(shown.rows, 2):
        near = first.values[FIRST] - second.values[FIRST] < APART * STEPS[0] - 1e-9
        shared = set(first.letters.split(",")) & set(second.letters.split(","))
        assert bool(shared) == bool(near)


def test_the_key_of_shifts_is_no_hash_that_a_manifest_has(tmp_path):
    """HMAC replaces a long key by its SHA-256: neither the file's hash nor its bytes may be it."""
    for text in ("q1 Q0 v 0 1 3\n", "q1 Q0 v 0 1 3\n" * 9):
        qrels = tmp_path / "test.qrels"
        qrels.write_text(text)
        sha256, key = hashlib.sha256(text.encode()), make_key(qrels)
        names = [f"run{n}" for n in range(50)]
        shown = [blur(0.505, 1000, key, name) for name in names]
        for known in (sha256.hexdigest(), text):
            assert [blur(0.505, 1000, known, name) for name in names] != shown
        qrels.write_text(text.replace("3", "2"))
        assert make_key(qrels) != key


def test_runs_that_read_captions_share_no_letter_with_others(board):
    x, y, _ = board.rows
    reads = replace(y, entry=replace(y.entry, reads=("captions",)))
    letters = {row.entry.name: row.letters for row in hide(replace(board, rows=(x, reads))).rows}
    assert letters["x"] != letters["y"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"measures": ("nDCG(iou=0.5)@10", "AP(iou=0.5)@9", "AP(iou=0.6)@9")},
            "at most 2 measures",
        ),
        ({"measures": ("P(iou=0.5)@1",)}, "too much of single results"),
        ({"measures": ("nDCG(iou=0.5)@1",)}, "too much of single results"),
        ({"measures": ("AxIoU@10",)}, "too much of single results"),
        ({"measures": ("nDCG(iou=0.5, silence=True)@10",)}, "too much of single results"),
        ({"queries": FEW - 1}, f"needs {FEW} queries"),
        ({"queries": 1200}, r"z\.run: answers 1000 of 1200"),
    ],
)
def test_what_would_tell_too_much_is_refused(board, changes, message):
    with pytest.raises(UsageError, match=message):
        hide(replace(board, **changes))


def test_a_team_has_no_more_runs_than_the_limit(board):
    rows = board.rows[:1] * LIMIT
    assert len(hide(replace(board, rows=rows)).rows) == LIMIT
    other = replace(rows[0], entry=replace(rows[0].entry, authors="TEAM X"))
    with pytest.raises(UsageError, match=f"team x: {LIMIT + 1} runs"):
        hide(replace(board, rows=(*rows, other)))


def test_an_attack_within_the_limit_recovers_no_level():
    """Half of all claims are right by chance; those on rounded values without a shift all are."""
    rng, names, queries = np.random.default_rng(3), count(), 1000
    step = find_step(queries)

    def show(value):
        return blur(value, queries, KEY, str(next(names)))

    hidden, rounded, gains = [], [], []
    for _ in range(60):
        lists = draw(rng, queries)[0]["nDCG@10"]
        hidden += walk(rng, lists, show, LIMIT)
        rounded += walk(rng, lists, lambda value: round(value / step) * step, LIMIT)
        gains.append(boost(rng, lists, show, LIMIT)[1])
    assert len(hidden) > 50 < len(rounded)
    assert np.mean(rounded) > 0.99
    assert np.mean(hidden) < 0.5 + 3 * 0.5 / np.sqrt(len(hidden))
    assert np.mean(gains) < step
