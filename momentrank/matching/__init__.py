"""Relevance models: what makes a result relevant.

All three papers keep the measures and adapt the relevance of a result. So a model turns an aligned
run into `Relevance`, and a measure turns that into numbers. `trace` returns what each result met.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from momentrank.matching import models
from momentrank.matching.aligned import AlignedRun, Pairs, Params, Relevance, ranks
from momentrank.matching.models import FREE, match_greedily
from momentrank.segments import Bools, Floats, Ints

MODELS: dict[str, Callable[[AlignedRun, Params], Relevance]] = {
    "iou": models.rate_matches,
    "maxiou": models.rate_highest,
    "overlap": models.rate_overlap,
    "bin": models.rate_bins,
    "tol": models.rate_tolerance,
    "video": models.rate_bins,
}

READ = {
    "": (),
    "video": (),
    "iou": ("iou", "strict"),
    "maxiou": ("iou", "strict"),
    "overlap": ("once",),
    "bin": ("bin",),
    "tol": ("tol", "seen"),
}
"""The parameters that a model reads, besides `rel` and `judged_only`."""


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results by the model `params["match"]` and its parameters.

    Without one of `MODELS` nothing is relevant. With `judged_only` unjudged results are removed
    (condensed lists: Sakai, SIGIR 2007).
    """
    if params["match"] not in MODELS:
        return aligned.unrated
    rated = MODELS[params["match"]](aligned, params)
    if not params["judged_only"]:
        return rated
    if params["match"] == "tol":  # only there an unjudged result has an effect on others
        return models.rate_tolerance(aligned.select(rated.judged), params)
    judged = Relevance._make([*(column[rated.judged] for column in rated[:-1]), rated.total])
    return judged._replace(rank=ranks(judged.query))


class Trace(NamedTuple):
    """For each result, shape (results,): the row of the judged segment that it met, or FREE.

    Also their IoU, the gain, and whether the result is relevant.
    """

    truth: Ints
    iou: Floats
    gain: Floats
    relevant: Bools


def trace(aligned: AlignedRun, params: Params) -> Trace:
    """Return what each result met by the model of `params`; unjudged ones may be removed."""
    if params["match"] == "iou":
        truth = match_greedily(aligned, params["iou"], strict=params["strict"])
    else:
        truth = nearest(aligned, _met(aligned, params), params["rel"])
    if params["match"] in {"", "video"}:  # each result of a video is shown, not only the first
        relevant = np.append(aligned.relevant(params["rel"]), False)[truth]
        return Trace(truth, iou_with(aligned, truth), np.zeros(len(truth)), relevant)
    rated = relevance(aligned, params)
    rows: Ints = np.arange(len(truth))
    if params["match"] == "bin":  # the results of one bin are one item, at the first one's place
        rows = models.first_results(aligned, params)
    if params["judged_only"]:
        rows = rows[truth[rows] != FREE]
    gain: Floats = np.zeros(len(truth))
    relevant = np.zeros(len(truth), dtype=bool)
    relevant[rows], gain[rows] = rated.relevant, rated.gain
    return Trace(truth, iou_with(aligned, truth), gain, relevant)


def _met(aligned: AlignedRun, params: Params) -> Pairs:
    if params["match"] == "bin":
        of_truth, of_results = models.number_bins(aligned, params)
        result, truth = aligned.pairs
        return aligned.pairs.select(of_results[result] == of_truth[truth])
    if params["match"] == "tol":
        return overlapping(aligned, aligned.results.start + params["tol"])
    return aligned.pairs if params["match"] == "video" else overlapping(aligned)


def overlapping(aligned: AlignedRun, end: Floats | None = None) -> Pairs:
    """Return the pairs that share some time; `end` replaces the results' ends."""
    result, truth = aligned.pairs
    ends = aligned.results.end if end is None else end
    first = np.maximum(aligned.results.start[result], aligned.truth.start[truth])
    return aligned.pairs.select(first < np.minimum(ends[result], aligned.truth.end[truth]))


def nearest(aligned: AlignedRun, met: Pairs, rel: int = 1) -> Ints:
    """Return the judged segment that each result is nearest to, of those in `met`, or FREE.

    Relevant ones come first, then the highest IoU, then the highest level.
    """
    level = aligned.truth.level[met.truth]
    order = np.lexsort((met.truth, -level, -aligned.iou_of(met), level < rel, met.result))
    truth = np.full(len(aligned.results.query), FREE)
    rows, first = np.unique(met.result[order], return_index=True)
    truth[rows] = met.truth[order][first]
    return truth


def iou_with(aligned: AlignedRun, truth: Ints) -> Floats:
    """Return the IoU of each result with its judged segment, 0 where it has none."""
    rows = np.flatnonzero(truth != FREE)
    values = np.zeros(len(truth))
    values[rows] = aligned.iou_of(Pairs(rows, truth[rows]))
    return values
