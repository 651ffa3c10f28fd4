"""The highest IoU with any relevant segment: AxIoU (Togashi et al., CVPR 2022).

Several results may match the same segment.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.segments import Bools, Floats


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
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
