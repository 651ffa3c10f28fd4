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
from pipeline.judges.similarity import SimilarityJudge


def negative_log_likelihood(packed, z, levels, seen):
    """Return the definition, term by term: McCullagh's model, with the ridge."""
    slope, *bounds = packed
    bounds = [-np.inf, *bounds, np.inf]
    total = RIDGE * slope**2 / 2
    for value, level in zip(z, levels, strict=True):
        at = seen.index(level)
        above, below = (1 / (1 + np.exp(slope * value - bounds[at + one])) for one in (1, 0))
        total -= np.log(max(above - below, 1e-300))
    return total


def draw(number, seed=7):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.2, 0.9, number)
    return x, np.clip(np.rint(6 * x - 1 + rng.normal(0, 0.9, number)), 0, 4).astype("int64")


def test_the_fit_is_the_most_likely_one():
    x, levels = draw(60)
    fitted = fit(x, levels)
    z, seen = (x - x.mean()) / x.std(), sorted(set(levels.tolist()))
    packed = np.array([fitted.slope, *fitted.thresholds])
    best = negative_log_likelihood(packed, z, levels, seen)
    found = minimize(
        negative_log_likelihood, packed * 0.8, (z, levels, seen), method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000, "maxfev": 4000},
    )  # fmt: skip
    assert best == pytest.approx(found.fun, abs=1e-5)
    assert packed == pytest.approx(found.x, abs=1e-3)


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


def pairs_of(queries, split="val", moments=10, seed=7):
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


def answers_of(people, pairs):
    return {(one.query_id, one.moment_id): one for one in SimilarityJudge(people).judge(pairs)}


def test_a_query_of_validation_is_judged_without_its_own_levels():
    pairs, people = pairs_of(["a", "b", "c", "d"])
    before = answers_of(people, pairs)
    people.loc[people["query_id"] == "b", "level"] = 4 - people["level"]
    after = answers_of(people, pairs)
    changed = {query for (query, _), one in before.items() if one != after[query, _]}
    assert changed == {"a", "c", "d"}


def test_the_levels_of_test_queries_teach_nothing():
    pairs, people = pairs_of(["a", "b", "c"])
    others, _ = pairs_of(["t", "u"], "test", seed=9)
    of_test = pd.DataFrame(
        [(one.query_id, one.moment_id, 4) for one in others], columns=people.columns
    )
    told = answers_of(people, pairs + others)
    assert answers_of(pd.concat([people, of_test]), pairs + others) == told
    fitted = fit(np.array([one.similarity for one in pairs]), people["level"].to_numpy())
    expected = fitted.expect(np.array([one.similarity for one in others]))
    assert [told["t", f"m{n}"].expected for n in range(10)] == pytest.approx(
        expected[:10], abs=1e-3
    )
    assert all(one.level == round(one.expected) for one in told.values())


def test_the_order_of_rows_plays_no_role():
    pairs, people = pairs_of(["a", "b", "c"])
    assert answers_of(people[::-1], pairs[::-1]) == answers_of(people, pairs)


def test_before_people_have_judged_there_is_no_level_but_a_reason():
    pairs, people = pairs_of(["a", "b"])
    for known in (people[:0], people[people["query_id"] == "a"]):
        told = answers_of(known, pairs)
        without = {query for (query, _), one in told.items() if one.reason == "no-judgments"}
        assert without == ({"a"} if len(known) else {"a", "b"})
        assert all((one.level is None) == (one.reason is not None) for one in told.values())


def test_one_level_seen_is_all_that_is_expected():
    pairs, people = pairs_of(["a", "b"])
    told = answers_of(people.assign(level=3), pairs)
    assert {(one.level, one.expected) for one in told.values()} == {(3, 3.0)}
