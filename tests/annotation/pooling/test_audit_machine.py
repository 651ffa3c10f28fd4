"""An audit by a machine's levels: its strata, its draw, and an estimate that it can't bend."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.audited_pools import JUDGED, SETTINGS, compare, simulate_twice

from annotation.pooling import draw
from annotation.pooling.design_effect import compare_widths, simple_variance
from annotation.pooling.draw import Machine, Sizes
from annotation.pooling.machine_strata import LEAST, NAMES, WEIGHTS, allocate, assign_levels
from annotation.pooling.ranked import rank_pool
from annotation.pooling.report import Judged, as_json, report
from pipeline.campaign.design import Design
from pipeline.campaign.estimator import Counts
from pipeline.campaign.pairs import query_sha
from pipeline.candidates import rank
from pipeline.core import tables
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import unit_on_grid

MOMENTS, QUERIES, POOLS, SEED = 40, 5, 600, 3


# Strata


def make_judgments(*rows):
    """Return a machine's judgments: `(query, moment, level, repeat, text, clip)`."""
    frame = pd.DataFrame(
        rows, columns=["query_id", "moment_id", "level", "repeat", "query", "clip"]
    )
    return frame.assign(
        query_sha=frame["query"].map(query_sha), clip_sha=frame["clip"],
        level=frame["level"].astype("Int64"), expected=np.nan, remark=None,
    )  # fmt: skip


SHOWN = pd.DataFrame({"query_id": ["q", "r"], "query": ["she waves", "he sits"]})
CLIPS = pd.DataFrame({"moment_id": ["a", "b", "c", "d"], "clip_sha": ["A", "B", "C", "D"]})


def test_strata_are_those_of_current_levels():
    judgments = make_judgments(
        ("q", "a", 0, 0, "she waves", "A"),
        ("q", "b", 2, 0, "she waves", "B"),
        ("q", "c", 3, 0, "she waves", "C"),
        ("q", "d", None, 0, "she waves", "D"),  # refused
        ("r", "a", 4, 0, "he sat", "A"),  # of an older text
        ("r", "b", 4, 0, "he sits", "OLD"),  # of an older clip
        ("r", "c", 4, 0, "he sits", "C"),
        ("r", "d", 0, 0, "he sits", "D"),
        ("r", "d", 1, 1, "he sits", "D"),
    )
    strata = assign_levels(judgments, SHOWN, CLIPS)
    assert strata.to_numpy().tolist() == [
        ["q", "a", "zero"],
        ["q", "b", "low"],
        ["q", "c", "high"],
        ["r", "c", "high"],
        ["r", "d", "low"],
    ]


def by_definition(sizes, number):
    draws = [min(size, LEAST, number) for size in sizes]
    while sum(draws) < min(number, sum(sizes)):
        values = [
            weight * size / (own + 1) if own < size else -1
            for weight, size, own in zip(WEIGHTS.values(), sizes, draws, strict=True)
        ]
        draws[values.index(max(values))] += 1
    return draws


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 60) | st.just(5000), min_size=4, max_size=4), st.integers(0, 60))
def test_draws_are_allotted_as_defined(sizes, number):
    allocation = allocate(np.array(sizes), number)
    assert allocation.tolist() == by_definition(sizes, number)
    assert allocate(np.array([sizes, sizes[::-1]]), number)[0].tolist() == allocation.tolist()


# The draw


@pytest.fixture(scope="module")
def world():
    """Return queries, 40 moments and their embeddings."""
    random = np.random.default_rng(2)
    texts = [f"Somebody does {number}." for number in range(MOMENTS)]
    ids, distinct = embeddings.distinct(texts)
    vectors = unit_on_grid(random.standard_normal((len(distinct), 8)))
    names = [f"m{number:02}" for number in range(MOMENTS)]
    moments = pd.DataFrame({"moment_id": names, "caption": texts, "video_id": "v"}, dtype="str")
    moments = moments.assign(start=np.arange(MOMENTS) * 9.0, end=np.arange(MOMENTS) * 9.0 + 5)
    queries = pd.DataFrame({"query_id": names[:QUERIES], "query": texts[:QUERIES]}, dtype="str")
    return queries, moments, embeddings.Embeddings(ids, vectors)


@pytest.fixture(scope="module")
def frame(world):
    """Return a frame whose pool are ranks 1 to 4, and neighbours ranks 1 to 25."""
    ranked = rank(*world, MOMENTS)
    near, inside = (ranked[ranked["rank"] <= last] for last in (25, 4))
    return draw.Frame(*world[1:], near, inside)


@pytest.fixture(scope="module")
def machine(world):
    """Return strata of most pairs; of every fifth moment nothing is known."""
    names = [name for number, name in enumerate(world[1]["moment_id"]) if number % 5]
    pairs = list(product(world[0]["query_id"], names))
    levels = np.random.default_rng(1).choice(["zero", "zero", "low", "high"], len(pairs))
    frame = pd.DataFrame(pairs, columns=["query_id", "moment_id"])
    return Machine("gpt", frame.assign(stratum=levels))


SIZES = Sizes(7, queries=QUERIES, near=12, deep=9)


def test_each_stratum_is_drawn_in_the_order_of_the_seed(world, frame, machine):
    audit = draw.draw(world[0], frame, SIZES, machine)
    assert audit.machine == "gpt"
    by_pair = {(row.query_id, row.moment_id): row.stratum for row in machine.strata.itertuples()}
    pools = dict(rank_pool(*world))
    both = audit.table.merge(audit.strata, on=["query_id", "moment_id"])
    assert len(both) == QUERIES * 21
    for (query, origin), own in both.groupby(["query_id", "origin"]):
        rest = pools[query]["moment_id"]
        rest = (rest[4:25] if origin == "near" else rest[25:]).tolist()
        order = [rest[at] for at in draw.draw_order(7, rest, within=query)]
        strata = {
            name: [moment for moment in order if by_pair.get((query, moment), "unjudged") == name]
            for name in NAMES
        }
        sizes = [len(strata[name]) for name in NAMES]
        number_of = by_definition(sizes, {"near": 12, "deep": 9}[origin])
        for name, number in zip(NAMES, number_of, strict=True):
            rows = own[own["stratum"] == name]
            assert sorted(rows["moment_id"]) == sorted(strata[name][:number])
            assert set(rows["size"]) <= {len(strata[name])}


def test_the_draw_is_the_same_in_any_order_of_rows(world, frame, machine):
    turned = machine._replace(strata=machine.strata[::-1].reset_index(drop=True))
    first, again = (draw.draw(world[0], frame, SIZES, which) for which in (machine, turned))
    pd.testing.assert_frame_equal(first.table, again.table)
    pd.testing.assert_frame_equal(first.strata, again.strata)


def test_a_machine_that_knows_nothing_changes_no_draw(world, frame, machine):
    plain = draw.draw(world[0], frame, SIZES)
    unknown = draw.draw(world[0], frame, SIZES, machine._replace(strata=machine.strata[:0]))
    pd.testing.assert_frame_equal(plain.table, unknown.table)
    pd.testing.assert_frame_equal(plain.strata, unknown.strata)
    assert set(unknown.strata["stratum"]) == {"unjudged"}


# The estimate

DESIGN = Design(seed=1, queries=10, drawn=2, pool=20, depth=20, near=4, deep=0, machine="gpt")
RANKS = {8: ("high", 2), 9: ("high", 2), 11: ("zero", 12), 15: ("zero", 12)}


def make_judged(level_of):
    """Return two queries: 6 moments of each in the pool, and outside 2 at high, 12 at zero."""
    rows = [
        (query, f"m{rank:02}", rank, 1 - rank / 20)
        for query in ("q0", "q1")
        for rank in (*range(1, 7), *RANKS)
    ]
    pairs = pd.DataFrame(rows, columns=["query_id", "moment_id", "rank", "similarity"])
    levels = [level_of(row.query_id, row.rank) for row in pairs.itertuples()]
    pairs = pairs.assign(level=pd.array(levels, "Int64"), outcome="two")
    drawn = pairs[pairs["rank"] > 6]
    strata = drawn[["query_id", "moment_id"]].assign(
        stratum=[RANKS[rank][0] for rank in drawn["rank"]],
        size=[RANKS[rank][1] for rank in drawn["rank"]],
    )
    audit = drawn.assign(origin="near")[tables.AUDIT.columns]
    return Judged(audit, strata, pairs, pairs.loc[pairs["rank"] <= 6, ["query_id", "moment_id"]])


def test_a_find_counts_for_its_stratum():
    finds = {("q0", 1), ("q1", 1), ("q0", 8), ("q1", 8), ("q0", 15)}
    result = report(make_judged(lambda query, rank: 4 * ((query, rank) in finds)), DESIGN)
    [row] = result.missed[result.missed["level"] == 4].to_dict("records")
    assert row["per_query"] == pytest.approx((1 + 6 + 1) / 2)  # 8 for itself, 15 for six
    assert row["finds"] == 3
    assert result.progress["queries_used"] == 2
    assert result.missed["width_ratio"].isna().all()  # three finds


def test_the_report_says_how_wide_the_interval_is_beside_one_without_strata():
    result = report(
        make_judged(lambda query, rank: 4 * (rank in {1, 8, 9} or (query, rank) == ("q0", 15))),
        DESIGN,
    )
    finds = np.array([[1, 2, 1], [1, 2, 0]])
    judged = Counts(*np.broadcast_arrays([6, 2, 12], [6, 2, 2], finds), 2)
    [ratio] = set(result.missed["width_ratio"])
    assert ratio == pytest.approx(float(compare_widths(judged, 1, 10)), abs=1e-4)
    row = as_json(result, DESIGN)["missed"][0]
    assert row["width_ratio"] == ratio


def test_a_curve_is_that_of_all_moments_not_of_those_that_were_drawn():
    result = report(make_judged(lambda query, rank: 4 if rank in {8, 9} else 0), DESIGN)
    first = result.by_rank.iloc[0]  # ranks 1 to 10
    assert (first["low"], first["pairs"]) == (1, 16)
    assert first["at_least_4"] == pytest.approx(2 / 8, abs=1e-4)
    last = result.by_rank.iloc[-1]
    assert (last["pairs"], last["at_least_4"]) == (4, 0)


HIGH = [np.array([1, 1, 0]), np.array([1, 0, 0]), np.array([1, 1, 1])]
ZERO = [np.array([0, 1, 0, 0]), np.array([0, 0, 0, 0]), np.array([0, 0, 1, 1])]
"""Which of three queries' moments are relevant, by stratum."""
TWO = list(combinations(range(3), 2))
"""Every draw of two of the queries."""


def every_sample() -> Counts:
    """Return what every sample of two in each stratum of two queries finds, (972, 2, 2)."""
    samples = {size: list(combinations(range(size), 2)) for size in (3, 4)}
    finds = [
        [
            [HIGH[query][list(draws[2 * at])].sum(), ZERO[query][list(draws[2 * at + 1])].sum()]
            for at, query in enumerate(queries)
        ]
        for queries in TWO
        for draws in product(*(samples[size] for _ in queries for size in (3, 4)))
    ]
    return Counts(*np.broadcast_arrays(np.array([3, 4]), 2, np.array(finds)), 2)


def test_its_variance_is_that_of_the_design():
    counts = every_sample()
    total, noise = counts.total.sum(-1), counts.variance.sum(-1)
    estimates = total.mean(-1)
    variances = (1 - 2 / 3) * total.var(-1, ddof=1) / 2 + noise.sum(-1) / (2 * 3)
    truth = np.mean([a.sum() + b.sum() for a, b in zip(HIGH, ZERO, strict=True)])
    assert np.mean(estimates) == pytest.approx(truth)
    assert np.mean(variances) == pytest.approx(np.var(estimates))


# What the strata brought


def test_the_variance_without_strata_is_that_of_every_simple_sample():
    whole = [np.concatenate(pair) for pair in zip(HIGH, ZERO, strict=True)]
    draws = list(combinations(range(7), 4))  # as many as of both strata
    totals = [[7 / 4 * query[list(sample)].sum() for sample in draws] for query in whole]
    means = [
        (a + b) / 2 for first, second in TWO for a, b in product(totals[first], totals[second])
    ]
    assert np.mean(simple_variance(every_sample(), 0, 3)) == pytest.approx(np.var(means))


def test_queries_that_do_not_tell_their_spread_take_the_others():
    random = np.random.default_rng(4)
    size, judged = np.broadcast_arrays(np.array([20, 60, 300]), np.array([20, 12, 40]))
    shape = (60, 3)
    finds = random.binomial(judged, [0.4, 0.3, 0.02], shape)
    whole = Counts(*np.broadcast_arrays(size, judged, finds), 2)
    fewer, less = (part.copy() for part in (whole.judged, whole.relevant))
    fewer[7, 1], less[7, 1] = 1, 0
    rest = Counts(*(np.delete(part, 7, axis=0) for part in whole[:3]), 2)
    with_query, without = (
        simple_variance(counts, 1, 10**9)
        - np.array(counts.total[..., 1:].sum(-1).var(ddof=1)) / len(counts[0])
        for counts in (Counts(whole.size, fewer, less, 2), rest)
    )
    assert with_query * 60 == pytest.approx(without * 59)
    alone = Counts(whole.size[:2], np.minimum(whole.judged[:2], 1), whole.relevant[:2] > 0, 2)
    assert np.isnan(simple_variance(alone, 1, 100))
    assert np.isnan(compare_widths(alone, 1, 100))


@pytest.mark.parametrize(
    ("sizes", "judged", "relevant"),
    [
        ([20, 600, 0], [20, 60, 0], [9, 5, 0]),  # one stratum in each query
        ([20, 600], [20, 60], [9, 5]),  # no machine
        ([20, 600, 30], [20, 40, 20], [9, 0, 1]),  # four finds
        ([20, 600, 30], [20, 40, 20], [0, 0, 0]),
    ],
)
def test_where_nothing_can_be_said_there_is_no_number(sizes, judged, relevant):
    arrays = np.broadcast_arrays(sizes, judged, np.array([relevant] * 4))
    counts = Counts(*arrays, len(sizes) - 1)
    assert np.isnan(compare_widths(counts, 1, 50))


@pytest.mark.parametrize("name", ["half of few queries", "small pool"])
@pytest.mark.parametrize("machine", ["good", "useless"])
def test_the_interval_covers_with_any_machine_and_a_good_one_makes_it_narrower(name, machine):
    """What an audit says of its width is on average the ratio of both designs."""
    audits = simulate_twice(SETTINGS[name], JUDGED[name], machine, POOLS, SEED)
    for strata in (1, 2):
        comparison = compare(SETTINGS[name], audits, strata)
        assert 0.93 <= comparison.covered <= 0.99
        assert comparison.estimated == pytest.approx(comparison.width, rel=0.04)
        assert comparison.spread < 0.1
        assert (comparison.estimated < 1) == (machine == "good")
        if machine == "good":
            assert comparison.width < 0.92
            assert comparison.error < 0.95
        else:
            assert 1 < comparison.width < 1.4  # the price of trusting it
