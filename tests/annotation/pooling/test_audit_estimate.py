"""The audit's estimate: against its definition, its bounds, and how often they cover the truth."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.audited_pools import POOLS, RANDOM, Audit, misses, simulate

from annotation.pooling.prospect import Prospect, describe, expect
from pipeline.campaign.estimator import Counts, beyond, most_unseen

CAMPAIGNS, SEED, MOST = 1000, 1, 0.25


def make_counts(size, judged, relevant):
    return Counts(*np.broadcast_arrays(np.array(size), np.array(judged), np.array(relevant)))


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("share", [0.05, 0.25, 0.5])
def test_what_is_missed_is_covered_as_often_as_it_says_and_rarely_judged_wrongly(pool, share):
    setting = Audit(pool, share)
    campaigns = simulate(setting, CAMPAIGNS, SEED)
    assert campaigns.missed.mean() == pytest.approx(share, abs=0.01)
    missed = beyond(campaigns.near, 1, setting.queries).share
    above, below = misses(missed, campaigns.missed)
    assert 0.93 <= 1 - above - below <= 0.97
    assert max(above, below) <= 0.05
    wrong = (missed.high <= MOST) & (campaigns.missed > MOST)
    wrong |= (missed.low > MOST) & (campaigns.missed <= MOST)
    assert wrong.mean() <= 0.05


@pytest.mark.parametrize("share", [0.08, 0.25])
def test_the_width_is_foretold(share):
    setting = Audit(20_000, share)
    campaigns = simulate(setting, 300, SEED)
    found = campaigns.found[0].astype("float64")
    expected = expect(
        Prospect(setting.drawn, setting.queries, RANDOM, RANDOM, setting.outside, found), share
    )
    missed = beyond(campaigns.near, 1, setting.queries).share
    width = float(expected.high - expected.low)
    assert width == pytest.approx((missed.high - missed.low).mean(), rel=0.15)


def test_what_an_audit_takes_is_told_with_its_width_or_without():
    found = np.array([8.0, 12.0])
    prospect = Prospect(10, 100, 60, 60, 975.0, found)
    first, *widths = describe(prospect, 30.0, 12.0)
    # 2 x 1,200 votes, and two more for 18 % of the pairs; at 30 s that is 23.6 hours.
    assert first.startswith("10 of 100 queries, 1,200 pairs: about 2,832 judgments, 23.6 hours")
    assert first.endswith("pay 283")
    assert len(widths) == 4
    assert "pay" not in next(describe(prospect, 30.0, None))
    for nothing in (found * 0, found[:0]):
        _, why = describe(prospect._replace(found=nothing), 30.0, None)
        assert "can't be foretold" in why
    _, why = describe(prospect._replace(outside=0.0), 30.0, None)
    assert "none can be missed" in why
    _, why = describe(prospect._replace(drawn=1), 30.0, None)
    assert "needs 2 queries" in why


def test_where_all_is_judged_nothing_is_in_doubt():
    counts = make_counts([20, 20, 30], [20, 20, 30], [[9, 3, 1], [8, 0, 0], [7, 1, 0]])
    estimate = beyond(counts, 1, 3)
    for interval, truth in ((estimate.per_query, 5 / 3), (estimate.share, 5 / 29)):
        assert [float(bound) for bound in interval] == pytest.approx([truth] * 3)


def test_nothing_relevant_below_has_an_upper_bound_and_nothing_at_all_no_share():
    estimate = beyond(make_counts([20, 600], [20, 60], [[9, 0], [8, 0]]), 1, 50)
    assert estimate.per_query.value == estimate.per_query.low == 0 < estimate.per_query.high
    assert estimate.share.value == estimate.share.low == 0 < estimate.share.high < 1
    assert estimate.finds == 0
    none = beyond(make_counts([20, 600], [20, 60], [[0, 0], [0, 0]]), 1, 50)
    assert np.isnan(none.share.value)


def test_nothing_relevant_above_is_a_share_of_one_of_which_no_more_is_known():
    estimate = beyond(make_counts([20, 600], [20, 60], [[0, 3], [0, 1]]), 1, 50)
    assert [float(bound) for bound in estimate.share] == [1, 0, 1]


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_the_bounds_enclose_the_estimate_and_are_no_less_than_zero(seed, queries):
    random = np.random.default_rng(seed)
    size, judged = np.array([20, 500]), np.array([20, 60])
    relevant = random.binomial(judged, random.choice([0, 0.01, 0.3, 1], (queries, 2)))
    estimate = beyond(make_counts(size, judged, relevant), 1, random.integers(queries, 500))
    low, high = float(estimate.per_query.low), float(estimate.per_query.high)
    assert 0 <= low <= estimate.per_query.value <= high < np.inf
    if relevant[:, 0].any():
        assert 0 <= estimate.share.low <= estimate.share.value <= estimate.share.high <= 1


def unseen(size, judged, relevant):
    """Return the chance that a sample meets none of the relevant ones."""
    return comb(size - relevant, judged) / comb(size, judged)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 6)), min_size=1, max_size=3))
def test_the_bound_without_a_find_is_the_largest_total_that_5_percent_miss(shapes):
    shapes = [(size, min(size, judged)) for size, judged in shapes]
    totals = [
        sum(relevant)
        for relevant in product(*(range(size + 1) for size, _ in shapes))
        if np.prod([unseen(*shape, some) for shape, some in zip(shapes, relevant, strict=True)])
        >= 0.05 * (1 - 1e-12)
    ]
    size, judged = np.array(shapes).T
    assert most_unseen(size, judged) == max(totals)
