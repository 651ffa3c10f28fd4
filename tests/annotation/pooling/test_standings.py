"""Where runs could stand once what is asked for is judged: bounds against every judgment."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pooling import standings
from annotation.pooling.standings import ASKED, measure
from momentrank import evaluate
from pipeline.campaign.leave_one_out import MEASURE, PLACE

MOMENTS, QUERIES = 7, ("q0", "q1")
NAMES = ("a", "b", "c")


def make_places(*moments):
    """Return `PLACE` of `(query, number)`; neighbours overlap by more than half of both."""
    rows = [(query, "v", 2.0 * n, 2.0 * n + 9.0 + n / 100) for query, n in moments]
    return pd.DataFrame(rows, columns=PLACE)


def make_run(lists):
    listed = [(query, n) for query, numbers in lists.items() for n in numbers]
    ranks = [rank for numbers in lists.values() for rank, _ in enumerate(numbers, 1)]
    return make_places(*listed).assign(rank=ranks)


@st.composite
def cases(draw, most=9):
    """Draw levels of some moments, some that are asked for, and three runs."""
    keys = [(query, n) for query in QUERIES for n in range(MOMENTS)]
    states = draw(st.lists(st.integers(-1, ASKED), min_size=len(keys), max_size=len(keys)))
    judged = {key: level for key, level in zip(keys, states, strict=True) if 0 <= level < ASKED}
    asked = [key for key, level in zip(keys, states, strict=True) if level == ASKED][:most]
    order = st.lists(st.integers(0, MOMENTS - 1), unique=True, max_size=MOMENTS)
    runs = {name: make_run({query: draw(order) for query in QUERIES}) for name in NAMES}
    levels = make_places(*judged).assign(level=list(judged.values()))
    return levels, make_places(*asked), runs


def score(levels, runs):
    """Return what a release of these levels gives: its queries without a 2 are negative."""
    highest = levels.groupby("query_id")["level"].max()
    negatives = list(highest.index[highest < 2])

    def value(run):
        return evaluate(levels, run, MEASURE, negatives=negatives)[MEASURE] if len(run) else 0.0

    return {name: value(run.assign(score=1 / run["rank"])) for name, run in runs.items()}


@given(cases(), st.data())
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_whatever_people_say_stays_within_bounds_and_turns_only_what_may_turn(case, data):
    levels, asked, runs = case
    if not len(levels) or not (levels["level"] >= 2).any():
        return
    before = measure(levels, asked, runs, 3)
    table = before.runs.set_index("run")
    said = data.draw(st.lists(st.integers(0, 4), min_size=len(asked), max_size=len(asked)))
    after = score(pd.concat([levels, asked.assign(level=said)], ignore_index=True), runs)
    for name, value in after.items():
        assert table.loc[name, "low"] - 1e-9 <= value <= table.loc[name, "high"] + 1e-9
    value_of, swaps = table["value"], {frozenset(pair) for pair in before.swaps}
    for one, other in product(NAMES, NAMES):
        if frozenset((one, other)) not in swaps and one != other:
            signs = np.sign([round(value_of[one] - value_of[other], 9),
                             round(after[one] - after[other], 9)])  # fmt: skip
            assert signs[0] == signs[1]
    for name in NAMES:
        ahead = sum(after[other] > after[name] + 1e-9 for other in NAMES)
        assert table.loc[name, "best"] <= 1 + ahead <= table.loc[name, "worst"]


def apart(*moments):
    """Return places that don't overlap."""
    return pd.DataFrame([(q, "v", 20.0 * n, 20.0 * n + 9) for q, n in moments], columns=PLACE)


@given(st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None)
@pytest.mark.filterwarnings("ignore")
def test_in_a_tiny_pool_bounds_and_swaps_are_those_of_all_judgments(random):
    """One query, two asked moments: 25 judgments; the upper bounds are reached."""
    order = random.sample(range(6), 6), random.sample(range(6), 6)
    runs = {
        name: apart(*(("q", n) for n in numbers)).assign(rank=range(1, 7))
        for name, numbers in zip("ab", order, strict=True)
    }
    levels = apart(*(("q", n) for n in range(4))).assign(level=[random.randint(1, 4), 0, 2, 1])
    asked = apart(("q", 4), ("q", 5))
    before = measure(levels, asked, runs, 3)
    table = before.runs.set_index("run")
    said = [
        score(pd.concat([levels, asked.assign(level=each)], ignore_index=True), runs)
        for each in product(range(5), repeat=2)
    ]
    for name in runs:
        values = [after[name] for after in said]
        assert min(values) - 0.1 <= table.loc[name, "low"] <= min(values) + 1e-9
        assert table.loc[name, "high"] == pytest.approx(max(values), abs=1e-9)
    differences = [round(after["b"] - after["a"], 9) for after in said]
    now = round(table.loc["b", "value"] - table.loc["a", "value"], 9)
    turns = len({np.sign(value) for value in [now, *differences]}) > 1
    assert bool(before.swaps) >= turns


@pytest.mark.filterwarnings("ignore")
def test_what_another_run_finds_lowers_a_run_that_is_judged_whole():
    levels = apart(("q", 0)).assign(level=3)
    runs = {
        "whole": apart(("q", 0)).assign(rank=1),
        "late": apart(("q", 1)).assign(rank=1),
    }
    before = measure(levels, apart(("q", 1)), runs, 1)
    whole, late = before.runs.to_dict("records")
    assert (whole["run"], whole["judged"], late["judged"]) == ("whole", 1.0, 0.0)
    assert whole["value"] == whole["high"] == 1
    assert whole["low"] == pytest.approx(3 / (4 + 3 / np.log2(3)))
    assert before.swaps == [("whole", "late")]
    assert (late["best"], late["worst"], before.queries) == (1, 2, 1)
    assert measure(levels.assign(level=0), apart(("q", 1)), runs, 1) is None
    assert f"nDCG(iou={standings.IOU})@{standings.CUTOFF}" == standings.MEASURE
