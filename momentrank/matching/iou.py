"""The models by IoU.

* `iou`, greedy one-to-one matches (TVR-Ranking: Liang et al., 2024, section 4): in rank order, each
  result takes the judged segment of its video with the highest IoU, among those that are still free
  and reach the threshold; ties go to the higher level, then to the first in the file. Segments of
  level 0 can be taken and give 0.
* `maxiou`, the highest IoU with any relevant segment (AxIoU: Togashi et al., CVPR 2022): several
  results may match the same segment.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.segments import Bools, Floats, Ints

FREE = -1


def rate_matches(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the level that each result takes; it is relevant from level `rel` on."""
    truth = match_greedily(aligned, params["iou"], strict=params["strict"])
    gain = np.append(aligned.truth.level, 0.0)[truth]  # at FREE, the last place
    relevant = (truth != FREE) & (gain >= params["rel"])
    return aligned.rate(gain, relevant, truth != FREE, params["rel"])


def match_greedily(aligned: AlignedRun, threshold: float, *, strict: bool) -> Ints:
    """Return the row of the judged segment that each result takes, or FREE; shape (n,)."""
    match = np.full(len(aligned.results.query), FREE)
    free = bytearray(b"\1") * len(aligned.truth.query)
    still_free = np.frombuffer(free, dtype=np.bool_)
    last = FREE
    for pairs, values in aligned.blocks(apart=threshold == 0 and not strict):
        reaches = values > threshold if strict else values >= threshold
        rows = np.flatnonzero(reaches & still_free[pairs.truth])
        result, truth = pairs.result[rows], pairs.truth[rows]
        order = np.lexsort((truth, -aligned.truth.level[truth], -values[rows], result))
        for row, segment in zip(result[order].tolist(), truth[order].tolist(), strict=True):
            if row != last and free[segment]:
                match[row], free[segment], last = segment, 0, row
    return match


def rate_highest(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the IoU of each result as its gain; it is relevant if that exceeds the threshold."""
    gain = _best(aligned, aligned.relevant(params["rel"]))
    threshold = params.get("iou") or 0.0
    relevant = gain > threshold if params.get("strict", True) else gain >= threshold
    judged = _best(aligned, aligned.relevant(0)) > 0
    return aligned.rate(gain, relevant, judged, params["rel"])


def _best(aligned: AlignedRun, truth: Bools) -> Floats:
    best = np.zeros(len(aligned.results.query))
    for pairs, values in aligned.blocks():
        rows = truth[pairs.truth]
        np.maximum.at(best, pairs.result[rows], values[rows])
    return best
