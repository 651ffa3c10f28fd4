"""Expected levels of moments that nobody has judged, learned from those that people have.

    level = curve(similarity) + f(caption) + channels + noise

The curve is the collection's: a logistic function of the similarity between query and caption. f is
each query's own: a Gaussian process whose kernel is 1 + the inner product of the captions' unit
vectors, against a noise of variance `RIDGE` (Rasmussen and Williams, 2006, chapter 2; as kernel
ridge regression: the same). So a query that has nothing to find falls as a whole, and what
resembles its relevant moments rises. What other channels say is weighted last: each judged moment
is predicted from the others of its query, and its channels add what they know beyond that. In the
curve they would weigh too much, as the judged moments are those that captions chose.

What is learned is checked: the batches that were judged last are predicted from what had been
judged before them, and a line through these predictions makes the expected level, a logistic
function the chance of a relevant one.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from annotation.votes.votes import Floats, Ints, select_rows
from momentrank.errors import MomentRankError
from pipeline.campaign.yields import RELEVANT_FROM
from pipeline.core import tables

TOP_LEVEL = tables.LEVELS[-1]
RIDGE = 2.0
"""The noise's variance over the kernel's scale."""
LEAST = 200
"""Pairs of later batches from which on these alone are what predictions are checked on."""
LEAST_SLOPE = 0.1
"""Of predictions by captions, so that what channels add stays finite where captions say nothing."""
WEAKEST_PENALTY = 100.0
DECIMALS = 6


class LearningError(MomentRankError):
    """Levels that nothing can be learned from."""


class Judged(NamedTuple):
    """The judged moments of a query, a row each; the first batch is 1.

    `vectors` (n, d) are the unit vectors of their captions, `features` (n, f) their similarity and
    what channels say, `levels` (n,) 0 to 4, `batch` (n,).
    """

    vectors: Floats
    features: Floats
    levels: Floats
    batch: Ints

    def before(self, batch: int) -> "Judged":
        """Return what was judged before a batch."""
        return select_rows(self, self.batch < batch)


class Model(NamedTuple):
    """What all queries have taught: the curve, and how predictions become levels and chances.

    `channels` (f - 1,) is what a channel's feature of 1 adds to a prediction.
    """

    curve: Floats
    line: Floats
    chance: Floats
    channels: Floats

    def predict(self, judged: Judged, vectors: Floats, features: Floats) -> Floats:
        """Return raw predictions (m,) for moments of the query of `judged`; they give the order."""
        weights, _ = self._weights(judged)
        predicted: Floats = self.predict_alone(features)
        predicted += (1 + vectors @ judged.vectors.T) @ weights
        return predicted

    def predict_alone(self, features: Floats) -> Floats:
        """Return raw predictions (m,) for a query of which nothing is judged."""
        predicted: Floats = self._prior(features) + features[:, 1:] @ self.channels
        return predicted

    def expect(self, predicted: Floats) -> Floats:
        """Return the levels, 0 to 4, that people are expected to give."""
        expected: Floats = self.line[0] + self.line[1] * predicted
        return expected.clip(0, TOP_LEVEL)

    def relevant(self, predicted: Floats) -> Floats:
        """Return the chances of level 2 or higher."""
        return _logistic(self.chance, predicted[:, None])

    def leave_one_out(self, judged: Judged) -> Floats:
        """Predict each of the judged moments from the others of its query."""
        weights, inverse = self._weights(judged)
        added = judged.features[:, 1:] @ self.channels
        predicted: Floats = judged.levels - weights / np.diag(inverse) + added
        return predicted

    def _prior(self, features: Floats) -> Floats:
        return TOP_LEVEL * _logistic(self.curve, features[:, :1])

    def _weights(self, judged: Judged) -> tuple[Floats, Floats]:
        kernel = 1 + judged.vectors @ judged.vectors.T
        inverse = np.linalg.inv(kernel + RIDGE * np.eye(len(kernel))).astype(np.float64, copy=False)
        return inverse @ (judged.levels - self._prior(judged.features)), inverse


class Choice(NamedTuple):
    """The next moments of a query: their positions, best first, what is expected of them."""

    chosen: Ints
    expected: Floats
    relevant: float
    """How many of them are expected to be of level 2 or higher."""


def learn(queries: Sequence[Judged]) -> Model:
    """Fit the curve, then check it on what each query's last batch was.

    Queries without a judged moment are allowed. While too few later batches are judged, each moment
    of the first ones is predicted from the others of its query; where no query has two, the curve
    is taken at its word.

    Raises:
        LearningError: nothing at all is judged.
    """
    known = [judged for judged in queries if len(judged.levels)]
    if not known:
        raise LearningError("no moment is judged: there is nothing to learn from")
    features = np.concatenate([judged.features for judged in known])
    levels = np.concatenate([judged.levels for judged in known])
    curve, nothing = _fit_logistic(features[:, :1], levels / TOP_LEVEL), features[0, 1:] * 0
    model = Model(curve, np.array([0.0, 1.0]), np.zeros(2), nothing)
    model = model._replace(channels=_weigh_channels(model, known))
    checked = list(_predict_last(model, known))
    if sum(len(levels) for _, levels in checked) < LEAST:
        checked = [
            (model.leave_one_out(first), first.levels)
            for first in (judged.before(2) for judged in known)
            if len(first.levels) > 1
        ] or [(model.predict_alone(judged.features), judged.levels) for judged in known]
    predicted, levels = (np.concatenate(column) for column in zip(*checked, strict=True))
    relevant = (levels >= RELEVANT_FROM).astype(float)
    return model._replace(
        line=_fit_line(predicted, levels), chance=_fit_logistic(predicted[:, None], relevant)
    )


def choose(model: Model, judged: Judged, vectors: Floats, features: Floats, size: int) -> Choice:
    """Choose the `size` moments of the highest expected levels, of those not yet in the pool.

    `vectors` (m, d) and `features` (m, f) are theirs. Equal predictions, to 6 decimals, keep the
    order of the rows.
    """
    predicted = model.predict(judged, vectors, features)
    chosen = np.argsort(-predicted.round(DECIMALS), kind="stable")[:size]
    best = predicted[chosen]
    return Choice(chosen, model.expect(best), float(model.relevant(best).sum()))


def has_ended(judged: Judged, choice: Choice, min_yield: float) -> bool:
    """Return whether a query's pool ends before `choice`.

    It ends if fewer than `min_yield` relevant moments are expected there, if there is no further
    moment, and after one learned batch of a query of which nothing relevant has been found.
    """
    learned = bool(len(judged.batch)) and judged.batch.max() > 1
    barren = learned and judged.levels.max() < RELEVANT_FROM
    return barren or not len(choice.chosen) or choice.relevant < min_yield


def _predict_last(model: Model, queries: Sequence[Judged]) -> Iterator[tuple[Floats, Floats]]:
    """Yield the predictions for each query's last batch, from those before it, and its levels."""
    for judged in queries:
        last = judged.batch == judged.batch.max()
        before = judged.before(judged.batch.max())
        if len(before.levels):
            predicted = model.predict(before, judged.vectors[last], judged.features[last])
            yield predicted, judged.levels[last]


def _weigh_channels(model: Model, queries: Sequence[Judged]) -> Floats:
    """Return each channel's slope, at least 0, beside that of predictions without channels."""
    from scipy.optimize import nnls  # noqa: PLC0415  (seconds, for no --help)

    some = [judged for judged in queries if len(judged.levels) > 1]
    if not some or not len(model.channels):
        return model.channels
    predicted = np.concatenate([model.leave_one_out(judged) for judged in some])
    channels = np.concatenate([judged.features[:, 1:] for judged in some])
    levels = np.concatenate([judged.levels for judged in some])
    columns = np.column_stack([predicted, channels])
    slopes, _ = nnls(columns - columns.mean(axis=0), levels - levels.mean())
    weights: Floats = slopes[1:] / max(slopes[0], LEAST_SLOPE)
    return weights


def _fit_line(predicted: Floats, levels: Floats) -> Floats:
    """Return intercept and slope of least squares, the slope at least 0."""
    spread = predicted - predicted.mean()
    slope = max(0.0, float(spread @ levels) / max(float(spread @ spread), 1e-12))
    return np.array([levels.mean() - slope * predicted.mean(), slope])


def _fit_logistic(features: Floats, shares: Floats) -> Floats:
    """Fit shares, 0 to 1, as a logistic function of the features; intercept first."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (seconds, for no --help)

    both = np.concatenate([features, features])
    labels = np.repeat([1, 0], len(shares))
    weights = np.concatenate([shares, 1 - shares])
    fit: Any = LogisticRegression(C=WEAKEST_PENALTY, solver="newton-cholesky", tol=1e-10)
    fit.fit(both, labels, weights)
    return np.concatenate([fit.intercept_, fit.coef_[0]])


def _logistic(coefficients: Floats, features: Floats) -> Floats:
    score: Floats = 1 / (1 + np.exp(-(coefficients[0] + features @ coefficients[1:])))
    return score
