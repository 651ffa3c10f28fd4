"""The judge that looks at no video: its regression, and who it may learn from."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pipeline.judges.base import Pair
from pipeline.judges.proportional_odds import RIDGE, fit
from pipeline.judges.similarity_judge import SimilarityJudge


def negative_log_likelihood(packed, z, levels, levels_present):
    """Return the definition, term by term: McCullagh's model, with the ridge."""
    slope, *bounds = packed
    bounds = [-np.inf, *bounds, np.inf]
    total = RIDGE * slope**2 / 2
    for value, level in zip(z, levels, strict=True):
        at = levels_present.index(level)
        above, below = (1 / (1 + np.exp(slope * value - bounds[at + offset])) for offset in (1, 0))
        total -= np.log(max(above - below, 1e-300))
    return total


def draw(number, seed=7):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.2, 0.9, number)
    return x, np.clip(np.rint(6 * x - 1 + rng.normal(0, 0.9, number)), 0, 4).astype("int64")


def test_the_fit_is_the_most_likely_one():
    x, levels = draw(60)
    fitted = fit(x, levels)
    z, levels_present = (x - x.mean()) / x.std(), sorted(set(levels.tolist()))
    packed = np.array([fitted.slope, *fitted.thresholds])
    best = negative_log_likelihood(packed, z, levels, levels_present)
    optimum = minimize(
        negative_log_likelihood, packed * 0.8, (z, levels, levels_present), method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000, "maxfev": 4000},
    )  # fmt: skip
    assert best == pytest.approx(optimum.fun, abs=1e-5)
    assert packed == pytest.approx(optimum.x, abs=1e-3)


def test_levels_drawn_from_the_model_give_its_parameters_back():
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 20_000)
    latent = 1.5 * x + rng.logistic(0, 1, len(x))
    levels = np.searchsorted([-2.0, -0.5, 0.7, 2.2], latent)
    fitted = fit(x, levels)
    assert fitted.slope / fitted.scale == pytest.approx(1.5, abs=0.05)
    thresholds = fitted.thresholds + fitted.slope * fitted.center / fitted.scale
    assert thresholds == pytest.approx([-2.0, -0.5, 0.7, 2.2], abs=0.08)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=12))
def test_any_levels_have_a_finite_fit_within_those_seen(rows):
    x, levels = (np.array(column) for column in zip(*rows, strict=True))
    fitted = fit(x / 10, levels)
    grid = np.linspace(-1, 1, 9)
    assert fitted.probabilities(grid).sum(axis=1) == pytest.approx(np.ones(9))
    assert (fitted.probabilities(grid) >= 0).all()
    expected = fitted.expect(grid)
    assert ((expected >= levels.min() - 1e-9) & (expected <= levels.max() + 1e-9)).all()
    assert (np.diff(expected) * np.sign(fitted.slope) >= -1e-9).all()


def make_pairs(queries, split="val", moments=10, seed=7):
    x, levels = draw(len(queries) * moments, seed)
    rows = [
        Pair(query, f"m{n}", split, "She waves.", "A woman waves.", x[i * moments + n], 0, 2,
             Path("c.mp4"), 2.0)
        for i, query in enumerate(queries) for n in range(moments)
    ]  # fmt: skip
    people = pd.DataFrame(
        {
            "query_id": [row.query_id for row in rows],
            "moment_id": [row.moment_id for row in rows],
            "level": levels,
        }
    )
    return rows, people


def judge_pairs(people, pairs):
    return {
        (answer.query_id, answer.moment_id): answer
        for answer in SimilarityJudge(people).judge(pairs)
    }


def test_a_query_of_validation_is_judged_without_its_own_levels():
    pairs, people = make_pairs(["a", "b", "c", "d"])
    before = judge_pairs(people, pairs)
    people.loc[people["query_id"] == "b", "level"] = 4 - people["level"]
    after = judge_pairs(people, pairs)
    changed = {query for (query, _), answer in before.items() if answer != after[query, _]}
    assert changed == {"a", "c", "d"}


def test_the_levels_of_test_queries_teach_nothing():
    pairs, people = make_pairs(["a", "b", "c"])
    others, _ = make_pairs(["t", "u"], "test", seed=9)
    of_test = pd.DataFrame(
        [(pair.query_id, pair.moment_id, 4) for pair in others], columns=people.columns
    )
    answers = judge_pairs(people, pairs + others)
    assert judge_pairs(pd.concat([people, of_test]), pairs + others) == answers
    fitted = fit(np.array([pair.similarity for pair in pairs]), people["level"].to_numpy())
    expected = fitted.expect(np.array([pair.similarity for pair in others]))
    assert [answers["t", f"m{n}"].expected for n in range(10)] == pytest.approx(
        expected[:10], abs=1e-3
    )
    assert all(answer.level == round(answer.expected) for answer in answers.values())


def test_the_order_of_rows_plays_no_role():
    pairs, people = make_pairs(["a", "b", "c"])
    assert judge_pairs(people[::-1], pairs[::-1]) == judge_pairs(people, pairs)


def test_before_people_have_judged_there_is_no_level_but_a_reason():
    pairs, people = make_pairs(["a", "b"])
    for judgments in (people[:0], people[people["query_id"] == "a"]):
        answers = judge_pairs(judgments, pairs)
        without = {
            query for (query, _), answer in answers.items() if answer.reason == "no-judgments"
        }
        assert without == ({"a"} if len(judgments) else {"a", "b"})
        assert all(
            (answer.level is None) == (answer.reason is not None) for answer in answers.values()
        )


def test_one_level_seen_is_all_that_is_expected():
    pairs, people = make_pairs(["a", "b"])
    answers = judge_pairs(people.assign(level=3), pairs)
    assert {(answer.level, answer.expected) for answer in answers.values()} == {(3, 3.0)}
