"""What is expected of unjudged moments, against textbook definitions and drawn truths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel

from annotation.pooling.level_model import (
    RIDGE,
    Judged,
    LearningError,
    Model,
    choose,
    has_ended,
    learn,
)

WIDTH = 8


def draw_units(rng, rows):
    vectors = rng.normal(size=(rows, WIDTH))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def draw_query(rng, rows, batches=1, wanted=None):
    """A query whose levels follow a direction of the vectors, and its similarity a little."""
    wanted = draw_units(rng, 1)[0] if wanted is None else wanted
    vectors = draw_units(rng, rows)
    true = np.clip(np.rint(2 + 4 * vectors @ wanted + rng.normal(0, 0.3, rows)), 0, 4)
    similarity = 0.1 * true + rng.normal(0, 0.2, rows)
    batch = np.arange(rows) * batches // rows + 1
    return Judged(vectors, similarity[:, None], true, batch)


def draw_queries(seed, number, rows=30, batches=1):
    rng = np.random.default_rng(seed)
    return [draw_query(rng, rows, batches) for _ in range(number)]


def share_prior(model, features):
    return 4 / (1 + np.exp(-(model.curve[0] + features @ model.curve[1:])))


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 12))
def test_predictions_are_the_gaussian_process_of_the_textbook(seed, rows):
    rng = np.random.default_rng(seed)
    judged, others = draw_query(rng, rows), draw_query(rng, 5)
    model = Model(rng.normal(size=2), np.array([0.0, 1.0]), np.zeros(2), np.zeros(0))
    kernel = ConstantKernel(1.0) + DotProduct(sigma_0=0.0, sigma_0_bounds="fixed")
    process = GaussianProcessRegressor(kernel + WhiteKernel(RIDGE), optimizer=None)
    process.fit(judged.vectors, judged.levels - share_prior(model, judged.features))
    expected = share_prior(model, others.features) + process.predict(others.vectors)
    predicted = model.predict(judged, others.vectors, others.features)
    np.testing.assert_allclose(predicted, expected, atol=1e-8)


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(2, 12))
def test_leaving_one_out_is_predicting_it_without_it(seed, rows):
    judged = draw_query(np.random.default_rng(seed), rows)
    model = Model(np.array([-1.0, 2.0]), np.zeros(2), np.zeros(2), np.zeros(0))
    for row, predicted in enumerate(model.leave_one_out(judged)):
        others = Judged(*(np.delete(column, row, axis=0) for column in judged))
        alone = model.predict(others, judged.vectors[[row]], judged.features[[row]])
        assert predicted == pytest.approx(alone[0], abs=1e-9)


def test_the_curve_is_the_most_likely_logistic_function():
    queries = draw_queries(1, 20)
    features = np.concatenate([query.features[:, 0] for query in queries])
    shares = np.concatenate([query.levels for query in queries]) / 4

    def loss(curve):
        score = curve[0] + curve[1] * features
        return np.sum(np.logaddexp(0, score) - shares * score) + curve[1] ** 2 / 200

    best = minimize(loss, np.zeros(2), tol=1e-12)
    np.testing.assert_allclose(learn(queries).curve, best.x, atol=1e-4)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_queries_and_of_judged_moments_changes_no_choice(seed):
    queries = draw_queries(seed, 6, batches=2)
    rng = np.random.default_rng(seed)
    rest = draw_query(rng, 40)
    turned = [
        Judged(*(column[order] for column in query))
        for query in reversed(queries)
        for order in [rng.permutation(len(query.levels))]
    ]
    one = choose(learn(queries), queries[0], rest.vectors, rest.features, 10)
    other = choose(learn(turned), turned[-1], rest.vectors, rest.features, 10)
    np.testing.assert_array_equal(one.chosen, other.chosen)
    np.testing.assert_allclose(one.expected, other.expected, atol=1e-6)


def test_what_is_expected_is_found():
    rng = np.random.default_rng(2)
    wanted = draw_units(rng, 60)
    model = learn([draw_query(rng, 30, 2, direction) for direction in wanted])
    expected, found, by_similarity = [], [], []
    for direction in wanted:
        judged, rest = draw_query(rng, 30, 2, direction), draw_query(rng, 100, 1, direction)
        choice = choose(model, judged, rest.vectors, rest.features, 10)
        assert ((choice.expected >= 0) & (choice.expected <= 4)).all()
        assert (np.diff(choice.expected) <= 1e-6).all()
        expected.append((choice.expected.mean(), choice.relevant))
        levels = rest.levels[choice.chosen]
        found.append((levels.mean(), (levels >= 2).sum()))
        by_similarity.append(rest.levels[np.argsort(-rest.features[:, 0])[:10]].mean())
    # Of 100 moments, the best 10 lie further out than the judged ones, so expectations are low.
    assert np.mean(expected, axis=0)[0] == pytest.approx(np.mean(found, axis=0)[0], abs=0.5)
    assert np.mean(expected, axis=0)[1] == pytest.approx(np.mean(found, axis=0)[1], abs=1.0)
    assert np.mean(found, axis=0)[0] > np.mean(by_similarity) + 0.25


def test_later_batches_correct_what_the_first_one_promised():
    queries = draw_queries(3, 40, batches=2)
    disappointed = [
        query._replace(levels=np.where(query.batch == 2, 0.0, query.levels)) for query in queries
    ]
    rest = draw_query(np.random.default_rng(4), 50)
    for query, worse in zip(queries, disappointed, strict=True):
        before, after = (
            choose(learn(known), mine, rest.vectors, rest.features, 10).relevant
            for known, mine in ((queries, query), (disappointed, worse))
        )
        assert after < before
        assert after < 0.2


def test_a_query_without_anything_relevant_ends():
    queries = draw_queries(5, 40)
    nothing = queries[0]._replace(levels=np.zeros(30))
    model = learn([nothing, *queries[1:]])
    rest = draw_query(np.random.default_rng(6), 50)
    promising = choose(model, queries[1], rest.vectors, rest.features, 10)
    assert not has_ended(queries[1], promising, 0.5)
    assert choose(model, nothing, rest.vectors, rest.features, 10).relevant < promising.relevant
    tried = nothing._replace(batch=queries[0].batch + (np.arange(30) >= 20))
    assert has_ended(tried, promising, 0.5)
    assert has_ended(queries[1], promising, promising.relevant + 0.01)
    nowhere = choose(model, queries[1], rest.vectors[:0], rest.features[:0], 10)
    assert has_ended(queries[1], nowhere, 0.0)


@pytest.mark.parametrize("level", [0, 4])
def test_judges_who_all_say_the_same_are_believed(level):
    queries = [query._replace(levels=np.full(30, float(level))) for query in draw_queries(7, 10)]
    rest = draw_query(np.random.default_rng(8), 20)
    choice = choose(learn(queries), queries[0], rest.vectors, rest.features, 10)
    np.testing.assert_allclose(choice.expected, level, atol=0.1)
    assert choice.relevant == pytest.approx(10 if level else 0, abs=0.1)


def take_first(query, number):
    return Judged(*(column[:number] for column in query))


def test_where_no_prediction_can_be_checked_the_curve_is_believed():
    queries = [take_first(query, 1) for query in draw_queries(9, 60)]
    new = take_first(queries[0], 0)
    rest = draw_query(np.random.default_rng(10), 60)
    choice = choose(learn([*queries, new]), new, rest.vectors, rest.features, 60)
    levels = np.concatenate([query.levels for query in queries])
    assert choice.expected.mean() == pytest.approx(levels.mean(), abs=0.5)
    assert choice.relevant / 60 == pytest.approx((levels >= 2).mean(), abs=0.15)


def test_a_single_judged_moment_is_enough_to_go_on():
    [query] = draw_queries(9, 1)
    few, rest = take_first(query, 1), draw_query(np.random.default_rng(10), 20)
    choice = choose(learn([few]), few, rest.vectors, rest.features, 10)
    np.testing.assert_allclose(choice.expected, few.levels[0], atol=0.1)


def see(query, noise, rng):
    """Return the query with a channel that sees the levels, with this noise."""
    channel = query.levels + rng.normal(0, noise, len(query.levels))
    return query._replace(features=np.column_stack([query.features, channel]))


def test_a_channel_counts_by_what_it_knows_beyond_captions():
    rng, weights = np.random.default_rng(13), []
    queries = draw_queries(14, 40)
    for noise in (0.5, 2.0, 50.0):
        seen = [see(query, noise, rng) for query in queries]
        weights.append(learn(seen).channels[0])
    assert weights[0] > 2 * weights[1] > 10 * weights[2] >= 0
    against = [query._replace(features=query.features * [1, -1]) for query in seen]
    assert learn(against).channels[0] >= 0, "a channel never counts against a moment"


def test_nothing_is_learned_from_nothing():
    nothing = take_first(draw_queries(9, 1)[0], 0)
    with pytest.raises(LearningError, match="no moment is judged"):
        learn([nothing])


def test_equal_moments_keep_their_order():
    queries = draw_queries(11, 5)
    same = draw_query(np.random.default_rng(12), 1)
    vectors, features = np.repeat(same.vectors, 30, 0), np.repeat(same.features, 30, 0)
    choice = choose(learn(queries), queries[0], vectors, features, 10)
    np.testing.assert_array_equal(choice.chosen, np.arange(10))
