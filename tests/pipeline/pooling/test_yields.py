"""The yield of judging, counted one by one; and what the next batch would bring, simulated."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.campaign import yields
from pipeline.campaign.pool_steps import extra_pairs, name_steps, order_steps

STEPS = ("first batch", "second batch", "clip", "splade", "audit")
ROWS = st.lists(
    st.tuples(
        st.sampled_from(STEPS),
        st.integers(1, 40),
        st.one_of(st.none(), st.integers(0, 4)),
        st.integers(0, 4),
    ),
    max_size=60,
)


def pairs_of(rows):
    frame = pd.DataFrame(rows, columns=["step", "rank", "level", "judgments"])
    types = {"step": "str", "rank": "int64", "level": "Int64", "judgments": "int64"}
    return frame.astype(types).assign(query_id="q")


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_each_step_is_what_counting_one_by_one_finds(rows):
    table = yields.by_step(pairs_of(rows)).set_index("step")
    assert table.index.tolist() == [step for step in STEPS if any(row[0] == step for row in rows)]
    for step, found in table.iterrows():
        own = [row for row in rows if row[0] == step]
        cost = sum(judgments for *_, judgments in own)
        relevant = sum(level is not None and level >= 2 for *_, level, _ in own)
        assert (found["pairs"], found["judgments"], found["relevant"]) == (len(own), cost, relevant)
        assert cost == 0 or found["per_judgment"] == pytest.approx(relevant / cost, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_the_curve_is_the_sums_in_order_and_leaves_out_the_audit(rows):
    curve = yields.curve(pairs_of(rows))
    pooled = [row for row in rows if row[0] != "audit"]
    for at, point in enumerate(curve.itertuples()):
        done = curve[: at + 1]
        steps = set(zip(done["step"], done["ranks"], strict=True))
        own = [row for row in pooled if (row[0], ranks_of(row)) in steps]
        assert point.judgments == sum(row[3] for row in own)
        assert point.relevant == sum((row[2] or 0) >= 2 for row in own)
    if pooled:
        assert curve["judgments"].iloc[-1] == sum(row[3] for row in pooled)
    assert curve["step"].drop_duplicates().tolist() == order_steps(curve["step"])


def ranks_of(row):
    low = (row[1] - 1) // 5 * 5 + 1
    return f"{low}\u2013{low + 4}" if "batch" in row[0] else ""


def draw(kind, number, random):
    rich = {
        "even": random.beta(2, 2, number),
        "poor": random.beta(0.3, 3, number),
        "few are rich": random.choice([0.9, 0.02], number, p=[0.15, 0.85]),
    }
    return random.binomial(20, rich[kind])


@pytest.mark.parametrize("kind", ["even", "poor", "few are rich"])
@pytest.mark.parametrize("seen", [5, 20, 100])
@pytest.mark.parametrize("coming", [1, 30, 300])
def test_the_interval_covers_what_the_next_batch_brings(kind, seen, coming):
    random, covered = np.random.default_rng([seen, coming]), []
    for _ in range(400):
        known, total = draw(kind, seen, random), draw(kind, coming, random).sum()
        _, low, high = yields.predict_sum(known.tolist(), coming, 20)
        covered.append(low <= total <= high)
    assert np.mean(covered) >= 0.9


@given(st.lists(st.integers(0, 20), min_size=2, max_size=30), st.floats(0.05, 500))
def test_a_prediction_lies_in_its_interval_and_in_what_is_possible(seen, number):
    expected, low, high = yields.predict_sum(seen, number, 20)
    assert 0 <= low <= expected + 1e-9
    assert expected - 1e-9 <= high <= np.ceil(number * 20)
    assert expected == pytest.approx(number * np.mean(seen))


def candidate(query, batch, level, *, decided=True):
    return (query, batch, level, 2 if decided else 0, decided)


def test_the_next_batch_is_the_first_that_is_open_and_what_is_decided_is_not_to_come():
    rows = [candidate(f"q{n}", 1, level) for n in range(6) for level in (4, n % 2 * 2)]
    rows += [candidate("q0", 2, None, decided=False)] * 2
    rows += [candidate("q6", 1, 3), candidate("q6", 1, None, decided=False)]
    rows += [candidate("q6", 2, None, decided=False)] * 2
    columns = ["query_id", "batch", "level", "judgments", "decided"]
    wanted = pd.DataFrame(rows, columns=columns).astype({"level": "Int64"})
    first, second = yields.list_prospects(wanted)
    # Six queries have 1 or 2 of 2; half of one batch is to come: 1.5 / 2 of a moment, for 2 votes.
    assert (first["step"], first["queries"], first["done"]) == ("first batch", 1, 6)
    assert (first["relevant"], first["judgments"], first["high"]) == (0.8, 2, 1)
    assert (second["queries"], second["done"], second["relevant"]) == (1, 0, None)
    assert "(5 needed)" in yields.describe_prospect(second)
    assert yields.list_prospects(wanted[wanted["decided"]]) == []


def test_a_pair_of_the_second_batch_is_a_candidate_only_if_its_query_was_extended():
    def pairs(*rows):
        return pd.DataFrame(rows, columns=["query_id", "moment_id", "rank"])

    audit = pairs(("q1", "a", 21), ("q2", "b", 22), ("q2", "c", 50), ("q2", "d", 3))
    topup = pairs(("q1", "e", 30), ("q2", "b", 22), ("q3", "f", 99)).assign(origin="clip")
    shown = pd.concat([audit, topup, pairs(("q1", "g", 25), ("q3", "h", 1))]).drop_duplicates()
    extra = extra_pairs(audit, topup, shown, 20, 40)
    assert extra.to_numpy().tolist() == [
        ["q2", "b", "audit"], ["q2", "c", "audit"], ["q3", "f", "clip"],
    ]  # fmt: skip
    named = pd.DataFrame({"origin": ["candidates", "candidates", "clip"], "rank": [20, 21, 3]})
    assert name_steps(named, 20).tolist() == ["first batch", "second batch", "clip"]
