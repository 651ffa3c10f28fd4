"""Paired tests against their definitions and against scipy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from momentrank.paired_tests import randomisation, t_test, wilcoxon
from momentrank.significance import FEW, TESTS, compare, holm, mean_intervals

SETTINGS = {"rounds": 2000, "confidence": 0.95, "seed": 1}


@pytest.mark.parametrize("seed", range(5))
def test_the_randomisation_test_is_near_the_exact_one(seed):
    differences = np.random.default_rng(seed).normal(0.3, 1, 10).round(3)
    signs = np.array(list(itertools.product((-1, 1), repeat=10)))
    reached = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12
    [p] = randomisation(differences[None], 20_000, 5)
    assert p == pytest.approx(reached.mean(), abs=0.012)


def test_runs_that_do_not_differ_have_p_1():
    assert randomisation(np.zeros((2, 50)), 500, 5) == [1.0, 1.0]
    assert t_test(np.zeros(50)) == wilcoxon(np.zeros(50)) == 1.0


def test_p_is_never_0():
    assert randomisation(np.ones((1, 100)), 999, 5) == [pytest.approx(1 / 1000)]


def test_the_null_hypothesis_is_refused_as_often_as_it_should_be():
    draw = np.random.default_rng(9)
    p = [p for seed in range(400) for p in randomisation(draw.normal(0, 1, (1, 40)), 400, seed)]
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.045)


SIZES = st.sampled_from([2, 3, 5, 12, 13, 14, 30, 50, 51, 100, 3000])


@given(SIZES, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.05, 0.5, 8.0]))
def test_students_p_is_scipys(queries, seed, shift):
    differences = np.random.default_rng(seed).normal(shift, 1, queries)
    assert t_test(differences) == pytest.approx(
        stats.ttest_1samp(differences, 0).pvalue, rel=1e-9, abs=1e-10
    )


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("levels", [None, 2, 9])
@given(st.sampled_from([2, 5, 9, 14, 30, 50, 51, 100, 3000]), st.integers(0, 2**32 - 1))
def test_wilcoxons_p_is_scipys(levels, queries, seed):
    """Without ties, with many of them and many queries that do not differ, and with some."""
    rng = np.random.default_rng(seed)
    differences = rng.normal(0.1, 1, queries) if levels is None else rng.integers(
        -levels // 2, levels, queries).astype(float)  # fmt: skip
    if differences.any():
        expected = stats.wilcoxon(differences).pvalue
        assert wilcoxon(differences) == pytest.approx(expected, abs=1e-10)


def test_without_variance_there_is_no_t():
    assert t_test(np.array([0.1])) is None
    assert t_test(np.full(9, 0.1)) is None
    assert t_test(np.array([-1.0, 1.0])) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_its_definition(p_values):
    adjusted = holm(p_values)
    order = sorted(range(len(p_values)), key=lambda row: p_values[row])
    for place, row in enumerate(order):
        before = [(len(p_values) - k) * p_values[order[k]] for k in range(place + 1)]
        assert adjusted[row] == min(1.0, max(before))


def test_the_bootstrap_interval_is_near_scipys():
    differences = np.random.default_rng(2).normal(0.1, 1, 300)
    [ours] = mean_intervals(differences[None], 5000, 0.95, 5)
    theirs = stats.bootstrap((differences,), np.mean, n_resamples=5000, method="percentile",
                             random_state=4).confidence_interval  # fmt: skip
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_few_queries_have_students_interval():
    differences = np.random.default_rng(2).normal(0.1, 1, (4, FEW - 1))
    for row, bounds in zip(differences, mean_intervals(differences, 10, 0.9, 5), strict=True):
        theirs = stats.ttest_1samp(row, 0).confidence_interval(0.9)
        assert bounds == pytest.approx((theirs.low, theirs.high))
    assert np.isnan(mean_intervals(np.ones((1, 1)), 10, 0.95, 5)).all(), "one query tells nothing"
    assert mean_intervals(np.full((1, 3), 0.5), 10, 0.95, 5) == [(0.5, 0.5)]


def draw_graded(rng, shape):
    """Return differences of two runs' nDCG of which some are equal; their mean is 0.05."""
    values = rng.beta(1, 2, shape) * np.where(rng.random(shape) < 0.4, -1, 1)
    return np.where(rng.random(shape) < 0.25, 0.0, values), 0.75 * 0.2 / 3


def draw_hits(rng, shape):
    """Return differences of two runs' hits, -1, 0 or 1."""
    return rng.choice([-1.0, 0.0, 1.0], shape, p=[0.2, 0.5, 0.3]), 0.1


@pytest.mark.parametrize("draw", [draw_graded, draw_hits])
@pytest.mark.parametrize("queries", [10, 20, FEW - 1, FEW, 200])
def test_intervals_cover_as_often_as_they_say(draw, queries):
    differences, truth = draw(np.random.default_rng(8), (2000, queries))
    low, high = np.transpose(mean_intervals(differences, 1000, 0.95, 3))
    covered = np.mean((low <= truth) & (truth <= high))
    assert 0.93 <= covered <= 0.97


def test_a_comparison_says_what_it_found():
    first, better = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.2, 0.5, 0.3])
    [comparison, same] = compare([better - first, first - first], **SETTINGS)
    assert (comparison.wins, comparison.ties, comparison.losses) == (2, 1, 1)
    assert comparison.difference == pytest.approx(0.05)
    differences = better - first
    assert comparison.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert comparison.low <= comparison.difference <= comparison.high
    assert comparison.p_t == pytest.approx(stats.ttest_rel(better, first).pvalue)
    assert comparison.p_wilcoxon == pytest.approx(stats.wilcoxon(differences.round(12)).pvalue)
    for test in TESTS:
        assert comparison.p_holm(test) == min(1.0, 2 * comparison.p(test))
        assert same.p_holm(test) == 1.0
    assert (same.effect, same.difference) == (0.0, 0.0)


def test_the_same_seed_gives_the_same_numbers_whatever_stands_beside():
    first, second = np.random.default_rng(1).random((2, 30)) - 0.4
    [alone], [_, beside] = compare([first], **SETTINGS), compare([second, first], **SETTINGS)
    fields = (
        "difference",
        "low",
        "high",
        "wins",
        "ties",
        "losses",
        *(f"p_{test}" for test in TESTS),
    )
    assert [getattr(alone, name) for name in fields] == pytest.approx(
        [getattr(beside, name) for name in fields], abs=1e-12
    )


def test_pairs_may_differ_in_the_number_of_queries():
    short, long = np.array([0.1, -0.2, 0.3]), np.array([0.1, 0.2, 0.3, 0.4, -0.1])
    rows = compare([long, short, long], **SETTINGS)
    assert [row.wins + row.losses for row in rows] == [5, 3, 5]
    assert rows[0] == rows[2]


def test_differences_that_are_all_alike_have_neither_effect_size_nor_t():
    [constant, varied] = compare([np.full(5, 0.1), np.array([0.1, 0.2, 0.4])], **SETTINGS)
    assert (constant.effect, constant.p_t, constant.p_t_holm) == (None, None, None)
    assert varied.p_t_holm == varied.p_t, "what is not tested is not corrected for"
    assert compare([np.array([1.0])], **SETTINGS)[0].effect is None


def test_what_rounds_differently_is_a_tie():
    differences = np.array([0.1 + 0.2 - 0.3, 0.0, 0.3 - 0.1, -0.2])
    [comparison] = compare([differences], **SETTINGS)
    assert (comparison.wins, comparison.ties, comparison.losses) == (1, 2, 1)
    assert comparison.p_wilcoxon == 1.0
