"""What each result met: the judged segment, and whether that makes the result relevant."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from momentrank.matching import MODELS, bins, iou, relevance
from momentrank.matching.aligned import AlignedRun, Pairs
from momentrank.matching.relevance import Params
from momentrank.segments import Bools, Floats, Ints
from momentrank.segments import iou as iou_of

FREE = iou.FREE


class Trace(NamedTuple):
    """Of each result, shape (results,): the row of the judged segment that it met, or FREE.

    With it: the IoU of both, the gain, and whether the result is relevant.
    """

    truth: Ints
    iou: Floats
    gain: Floats
    relevant: Bools


def _any(aligned: AlignedRun, params: Params) -> Pairs:  # noqa: ARG001  (one signature)
    return aligned.pairs


def overlapping(aligned: AlignedRun, params: Params | None = None) -> Pairs:  # noqa: ARG001
    """Return the pairs that share some time."""
    return _meeting(aligned, aligned.results.end)


def _within_tolerance(aligned: AlignedRun, params: Params) -> Pairs:
    return _meeting(aligned, aligned.results.start + params["tol"])


def _meeting(aligned: AlignedRun, end: Floats) -> Pairs:
    result, truth = aligned.pairs
    first = np.maximum(aligned.results.start[result], aligned.truth.start[truth])
    rows = first < np.minimum(end[result], aligned.truth.end[truth])
    return Pairs(result[rows], truth[rows])


def _same_bin(aligned: AlignedRun, params: Params) -> Pairs:
    result, truth = aligned.pairs
    of_truth, of_results = bins.number(aligned, params["bin"])
    rows = of_results[result] == of_truth[truth]
    return Pairs(result[rows], truth[rows])


MET: dict[str, Callable[[AlignedRun, Params], Pairs]] = {
    "": _any,
    "maxiou": overlapping,
    "overlap": overlapping,
    "bin": _same_bin,
    "tol": _within_tolerance,
}
"""The pairs of results and judged segments that a model looks at."""


def trace(aligned: AlignedRun, params: Params) -> Trace:
    """Return what each result met by the model of `params`; unjudged ones may be removed."""
    if params["judged_only"]:
        kept = MODELS[params["match"]][0](aligned, params)
        part = trace(aligned.select(kept), {**params, "judged_only": False})
        size = len(kept)
        free: Ints = np.full(size, FREE)
        whole = Trace(free, np.zeros(size), np.zeros(size), np.zeros(size, dtype=bool))
        for column, kept_part in zip(whole, part, strict=True):
            column[kept] = kept_part
        return whole
    if params["match"] == "iou":
        truth = iou.match_greedily(aligned, params["iou"], strict=params["strict"])
    else:
        truth = nearest(aligned, MET[params["match"]](aligned, params), params["rel"])
    found = relevance(aligned, params)
    rows: Ints = np.arange(len(truth))
    if params["match"] == "bin":  # the results of one bin are one item, at the first one's place
        rows = bins.first_results(aligned, params["bin"])
    relevant, gain = np.zeros(len(truth), dtype=bool), np.zeros(len(truth))
    relevant[rows], gain[rows] = found.relevant, found.gain
    if not params["match"]:
        relevant = (truth != FREE) & np.append(aligned.relevant(params["rel"]), False)[truth]
    return Trace(truth, share_time(aligned, truth), gain, relevant)


def nearest(aligned: AlignedRun, met: Pairs, rel: int = 1) -> Ints:
    """Return the judged segment that each result is nearest to, of those in `met`, or FREE.

    Relevant ones come first, then the highest IoU, then the highest level.
    """
    level = aligned.truth.level[met.truth]
    shared = _iou(aligned, met)
    order = np.lexsort((met.truth, -level, -shared, level < rel, met.result))
    truth = np.full(len(aligned.results.query), FREE)
    rows, first = np.unique(met.result[order], return_index=True)
    truth[rows] = met.truth[order][first]
    return truth


def share_time(aligned: AlignedRun, truth: Ints) -> Floats:
    """Return the IoU of each result with its judged segment, 0 where it has none."""
    rows = np.flatnonzero(truth != FREE)
    values = np.zeros(len(truth))
    values[rows] = _iou(aligned, Pairs(rows, truth[rows]))
    return values


def _iou(aligned: AlignedRun, pairs: Pairs) -> Floats:
    results, truth = aligned.results, aligned.truth
    return iou_of(
        results.start[pairs.result],
        results.end[pairs.result],
        truth.start[pairs.truth],
        truth.end[pairs.truth],
    )
