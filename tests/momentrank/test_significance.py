"""Paired tests against their definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from momentrank.significance import bootstrap, compare, holm, randomisation

SETTINGS = {"rounds": 2000, "confidence": 0.95, "seed": 1}


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("seed", range(5))
def test_the_randomisation_test_is_near_the_exact_one(seed):
    differences = np.random.default_rng(seed).normal(0.3, 1, 10).round(3)
    signs = np.array(list(itertools.product((-1, 1), repeat=10)))
    reached = np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12
    assert randomisation(differences, 20_000, rng()) == pytest.approx(reached.mean(), abs=0.012)


def test_runs_that_do_not_differ_have_p_1():
    assert randomisation(np.zeros(50), 500, rng()) == 1.0


def test_p_is_never_0():
    assert randomisation(np.ones(100), 999, rng()) == pytest.approx(1 / 1000)


def test_the_null_hypothesis_is_refused_as_often_as_it_should_be():
    draw = np.random.default_rng(9)
    p = [randomisation(draw.normal(0, 1, 40), 400, draw) for _ in range(400)]
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.045)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_its_definition(p_values):
    adjusted = holm(p_values)
    order = sorted(range(len(p_values)), key=lambda row: p_values[row])
    for place, row in enumerate(order):
        before = [(len(p_values) - k) * p_values[order[k]] for k in range(place + 1)]
        assert adjusted[row] == min(1.0, max(before))


def test_the_bootstrap_interval_is_near_scipys():
    differences = np.random.default_rng(2).normal(0.1, 1, 300)
    ours = bootstrap(differences, 5000, 0.95, rng())
    theirs = stats.bootstrap((differences,), np.mean, n_resamples=5000, method="percentile",
                             random_state=4).confidence_interval  # fmt: skip
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_a_comparison_says_what_it_found():
    first, better = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.2, 0.5, 0.3])
    [found, same] = compare(first, [better, first], **SETTINGS)
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.difference == pytest.approx(0.05)
    differences = better - first
    assert found.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.low <= found.difference <= found.high
    assert found.p_holm == min(1.0, 2 * found.p)
    assert (same.p, same.effect, same.difference) == (1.0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_numbers():
    first, other = np.random.default_rng(1).random((2, 30))
    assert compare(first, [other], **SETTINGS) == compare(first, [other], **SETTINGS)


def test_differences_that_are_all_alike_have_no_effect_size():
    first = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert compare(first, [first + 0.1], **SETTINGS)[0].effect is None
    assert compare(np.array([0.0]), [np.array([1.0])], **SETTINGS)[0].effect is None


def test_what_rounds_differently_is_a_tie():
    found = compare(np.array([0.3, 0.3]), [np.array([0.1 + 0.2, 0.3])], **SETTINGS)[0]
    assert (found.wins, found.ties, found.losses) == (0, 2, 0)
