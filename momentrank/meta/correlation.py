"""How alike two orders of runs are: Kendall's tau-b, and the AP correlation of Yilmaz et al."""

import numpy as np

from momentrank.segments import Floats


def differences(scores: Floats) -> Floats:
    """Return the first score minus the second of each pair: (..., runs) to (..., pairs)."""
    first, second = np.triu_indices(scores.shape[-1], 1)
    return scores[..., first] - scores[..., second]


def tau_b(first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b of scores of runs, (..., runs) each: shape (...).

    Pairs that are tied in one order count in its denominator only for the other (Kendall, 1945).
    It is NaN where an order ties all runs.
    """
    first_signs, second_signs = (np.sign(differences(scores)) for scores in (first, second))
    ordered = np.abs(first_signs).sum(axis=-1) * np.abs(second_signs).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau: Floats = (first_signs * second_signs).sum(axis=-1) / np.sqrt(ordered)
    return tau


def tau_ap(truth: Floats, other: Floats) -> Floats:
    """Return the AP correlation of two scores of runs, (..., runs) each: shape (...).

    Errors among the best runs of `other` weigh more: for each run but its best, the share of the
    runs above it that are also above it in `truth` (Yilmaz, Aslam and Robertson, SIGIR 2008). A
    tie in `truth` counts as half; a tie in `other` is an order by the runs' position.
    """
    order = np.argsort(-other, axis=-1, kind="stable")
    ranked = np.take_along_axis(truth, order, axis=-1)
    runs = ranked.shape[-1]
    right = (np.sign(ranked[..., :, None] - ranked[..., None, :]) + 1) / 2
    above = np.triu(np.ones((runs, runs)), 1)  # [i, j]: run i is above run j
    shares = (right * above).sum(axis=-2)[..., 1:] / np.arange(1, runs)
    correlation: Floats = 2 * shares.mean(axis=-1) - 1
    return correlation
