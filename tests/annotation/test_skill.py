"""The consensus weighted by skill: against its definition, and what must not matter."""

from itertools import product
from math import log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.votes import skill
from annotation.votes.rule import LEVELS, decide
from annotation.votes.skill import weigh
from annotation.votes.votes import NO_LEVEL
from benchmarks.skill import draw_campaign

LEVEL = st.integers(0, LEVELS - 1)
votes_of_pairs = st.lists(
    st.lists(st.tuples(st.integers(1, 4), LEVEL), max_size=4, unique_by=lambda vote: vote[0]),
    min_size=1,
    max_size=6,
)


def columns(cases):
    """Return votes as columns: a list of `(annotator, level)` for each pair."""
    rows = [(pair, who, level) for pair, case in enumerate(cases) for who, level in case]
    pair, who, level = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return pair, who, level, len(cases)


def sum_over_truths(cases, fit):
    """Return each pair's probabilities and the likelihood, summed over all that may be true."""
    people = sorted({who for case in cases for who, _ in case})
    likelihood, marginal = 0.0, np.zeros((len(cases), LEVELS))
    for truth in product(range(LEVELS), repeat=len(cases)):
        joint = prod(
            fit.shares[true]
            * prod(fit.tables[people.index(who), true, level] for who, level in case)
            for true, case in zip(truth, cases, strict=True)
        )
        likelihood += joint
        marginal[np.arange(len(cases)), truth] += joint
    return marginal / likelihood, likelihood


@settings(max_examples=15, deadline=None)
@given(votes_of_pairs.map(lambda cases: cases[:3]))
def test_probabilities_are_those_of_all_truths_summed(cases):
    fit = weigh(*columns(cases))
    judged = [case for case in cases if case]
    expected, likelihood = sum_over_truths(judged, fit) if judged else (np.empty((0, LEVELS)), 1.0)
    has_votes = np.array([bool(case) for case in cases])
    np.testing.assert_allclose(fit.probability[has_votes], expected, atol=1e-9)
    assert np.isnan(fit.probability[~has_votes]).all()
    if judged:
        assert likelihood > 0


def test_the_objective_is_what_it_is_defined_as():
    cases = [[(1, 3), (2, 4)], [(1, 0), (2, 3), (3, 1), (4, 1)], [(3, 2), (4, 2)]]
    fit = weigh(*columns(cases))
    _, likelihood = sum_over_truths(cases, fit)
    [first] = {len(fit.tables)}
    assert first == 4
    rest = fit.objective[1][-1] - log(likelihood) - np.log(fit.shares).sum()
    # What is left is the pull of the first fit's tables, by PULL votes on each level.
    assert rest <= 0
    np.testing.assert_allclose(fit.tables.sum(axis=2), 1)
    np.testing.assert_allclose(fit.shares.sum(), 1)


@settings(max_examples=25, deadline=None)
@given(votes_of_pairs)
def test_no_step_makes_the_votes_less_likely(cases):
    for objective in weigh(*columns(cases)).objective:
        assert (np.diff(objective) >= -1e-8).all()


@settings(max_examples=25, deadline=None)
@given(votes_of_pairs, st.permutations([1, 2, 3, 4]), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_peoples_names_matter(cases, names, random):
    pair, who, level, pairs = columns(cases)
    order = random.sample(range(len(pair)), len(pair))
    fit = weigh(pair, who, level, pairs)
    shuffled_fit = weigh(pair[order], np.array([0, *names])[who][order] * 7, level[order], pairs)
    np.testing.assert_array_equal(fit.level, shuffled_fit.level)
    np.testing.assert_allclose(fit.mean, shuffled_fit.mean, atol=1e-3)
    np.testing.assert_allclose(fit.probability, shuffled_fit.probability, atol=1e-6)


def test_the_end_of_the_fit_is_a_maximum():
    """No small change of a person's table, and none of the shares, makes it likelier."""
    campaign = draw_campaign(seed=3, pairs=300, people=5, random=1)
    fit = weigh(campaign.pair, campaign.annotator, campaign.level, 300)
    votes, _ = skill.group_votes(campaign.pair, campaign.annotator * LEVELS + campaign.level, 5)
    prior = skill.fit(votes, skill.usual_tables(5), skill.by_three_figures).tables

    def objective(tables, shares):
        likelihood = skill.true_levels(votes, tables, shares)[1]
        pull = skill.PULL * (prior * np.log(tables)).sum()
        return likelihood + pull + np.log(shares).sum()

    best = objective(fit.tables, fit.shares)
    assert best == pytest.approx(fit.objective[1][-1], abs=1e-6)
    random = np.random.default_rng(0)
    for _ in range(50):
        tables = fit.tables * np.exp(random.normal(0, 0.02, fit.tables.shape))
        shares = fit.shares * np.exp(random.normal(0, 0.02, LEVELS))
        moved = tables / tables.sum(axis=2, keepdims=True), shares / shares.sum()
        assert objective(*moved) < best + 1e-3


def test_votes_without_a_level_change_nothing_and_no_votes_have_no_level():
    pair, who, level, pairs = columns([[(1, 3), (2, 4)], [(1, 0), (2, 0)], []])
    none = np.array([2, 0]), np.array([1, 9]), np.array([NO_LEVEL, NO_LEVEL])
    fit = weigh(pair, who, level, pairs)
    with_none = (np.concatenate(both) for both in zip((pair, who, level), none, strict=True))
    fit_with_none = weigh(*with_none, pairs)
    np.testing.assert_array_equal(fit.probability, fit_with_none.probability)
    assert fit.level.tolist()[2] == NO_LEVEL
    assert weigh(*columns([[], []])).level.tolist() == [NO_LEVEL, NO_LEVEL]


@pytest.mark.parametrize("random", [0, 1])
def test_levels_are_nearer_to_the_truth_than_the_rules(random):
    for seed in range(3):
        campaign = draw_campaign(seed, pairs=1000, people=6, random=random)
        votes = campaign.pair, campaign.annotator, campaign.level, 1000
        rule = decide(campaign.pair, campaign.level, 1000, closed=True)
        decided = rule.level != NO_LEVEL
        skilled = weigh(*votes)
        error = (skilled.level - campaign.truth)[decided]
        assert (error**2).mean() < 0.7 * ((rule.level - campaign.truth)[decided] ** 2).mean()
        assert (error == 0).mean() > (rule.level == campaign.truth)[decided].mean() + 0.08


def test_who_answers_at_random_is_worth_less_than_the_others():
    campaign = draw_campaign(seed=1, pairs=1000, people=6, random=1)
    tables = weigh(campaign.pair, campaign.annotator, campaign.level, 1000).tables
    right = np.einsum("ptt->p", tables) / LEVELS
    assert right[-1] < 0.35 < right[:-1].min()
