"""Ordinal regression on one variable: the proportional-odds model (McCullagh, 1980).

P(level <= j | x) = 1 / (1 + exp(slope * z - threshold_j)), with z = (x - center) / scale. Levels
never seen in the data have no probability.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RIDGE = 0.01
"""The weight of slope**2 / 2 next to the log-likelihood: it keeps the slope finite if x separates
the levels, and hardly changes it otherwise (a pair weighs about a quarter)."""
TOLERANCE = 1e-8
_NEAR_ZERO = 1e-9


@dataclass(frozen=True)
class Fit:
    """A fitted model: the k `levels` seen, ascending, and k - 1 ascending `thresholds`."""

    levels: Ints
    thresholds: Floats
    slope: float
    center: float
    scale: float

    def probabilities(self, x: Floats) -> Floats:
        """Return the probability of each level seen, (n, k); each row sums to 1."""
        from scipy.special import expit  # noqa: PLC0415  (--help needs none)

        latent = self.slope * (x - self.center) / self.scale
        below = expit(self.thresholds[None, :] - latent[:, None])
        ends = np.zeros((len(x), 1)), np.ones((len(x), 1))
        return np.diff(np.hstack([ends[0], below, ends[1]]), axis=1)

    def expect(self, x: Floats) -> Floats:
        """Return the expected level, (n,)."""
        expected: Floats = (self.probabilities(x) * self.levels).sum(axis=1)
        return expected


def fit(x: Floats, levels: Ints, near: Fit | None = None) -> Fit:
    """Fit `levels` (n,) on `x` (n,), n >= 1, by maximum likelihood with a weak ridge.

    If only one level is seen, that level is always expected. `near`, a fit to nearly the same
    rows, is only a starting point. The result does not depend on the order of rows, except in the
    last digits.
    """
    from scipy.optimize import minimize  # noqa: PLC0415  (--help needs none)

    seen, level = np.unique(levels, return_inverse=True)
    center, spread = float(x.mean()), float(x.std())
    scale = spread if spread > _NEAR_ZERO else 1.0
    if len(seen) == 1:
        return Fit(seen, np.empty(0), 0.0, center, scale)
    z = (x - center) / scale
    start = _begin(level, len(seen))
    if near is not None and np.array_equal(near.levels, seen):
        start = _pack(near.thresholds, near.slope)
    minimum = minimize(
        _loss, start, args=(z, level), jac=True, method="BFGS", options={"gtol": TOLERANCE}
    )
    thresholds, slope = _unpack(minimum.x)
    return Fit(seen, thresholds, slope, center, scale)


def _begin(level: Ints, number: int) -> Floats:
    """Return the solution for a slope of 0: thresholds at the log odds of cumulative shares."""
    below = np.cumsum(np.bincount(level, minlength=number))[:-1] / len(level)
    return _pack(np.log(below / (1 - below)), 0.0)


def _pack(thresholds: Floats, slope: float) -> Floats:
    """Return unconstrained parameters: slope, first threshold, logarithms of the steps."""
    return np.concatenate([[slope], thresholds[:1], np.log(np.diff(thresholds))])


def _unpack(packed: Floats) -> tuple[Floats, float]:
    thresholds: Floats = np.cumsum(np.concatenate([packed[1:2], np.exp(packed[2:])]))
    return thresholds, float(packed[0])


def _loss(packed: Floats, z: Floats, level: Ints) -> tuple[float, Floats]:
    """Return the mean negative log-likelihood with the ridge, and its gradient.

    With a and b the thresholds above and below a level, minus slope * z, its probability is
    expit(a) - expit(b) = expit(a) * expit(-b) * (1 - exp(b - a)), which loses no digits.
    """
    from scipy.special import expit, log_expit  # noqa: PLC0415  (--help needs none)

    thresholds, slope = _unpack(packed)
    bounds = np.concatenate([[-np.inf], thresholds, [np.inf]])
    above, below = bounds[level + 1] - slope * z, bounds[level] - slope * z
    gap = bounds[level + 1] - bounds[level]
    likelihood = log_expit(above) + log_expit(-below) + np.log1p(-np.exp(-gap))
    with np.errstate(over="ignore"):  # exp(inf) of the outer levels, whose share is 0
        share = 1 / np.expm1(gap)
    by_above, by_below = expit(-above) + share, -expit(below) - share
    count = len(bounds)
    by_bound = np.bincount(level + 1, by_above, count) + np.bincount(level, by_below, count)
    inner = by_bound[1:-1]
    onwards = np.cumsum(inner[::-1])[::-1]  # a step moves all the thresholds after it
    by_slope = -float(((by_above + by_below) * z).sum()) - RIDGE * slope
    gradient = np.concatenate([[by_slope], onwards[:1], onwards[1:] * np.exp(packed[2:])])
    loss = float(likelihood.sum()) - RIDGE * slope**2 / 2
    return -loss / len(z), -gradient / len(z)
