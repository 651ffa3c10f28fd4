"""The highest IoU with any relevant segment: AxIoU (Togashi et al., CVPR 2022).

Nothing is taken: two results may be close to the same segment.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools, Floats


def judged(lists: Lists, params: Mapping[str, Any]) -> Bools:  # noqa: ARG001  (one signature)
    """Return which results share some time with any judged segment."""
    return _best(lists, np.ones(len(lists.truth.level), dtype=bool)) > 0


def relevance(lists: Lists, params: Mapping[str, Any]) -> Relevance:
    """Return the IoU of each result as its gain; relevant where that passes a threshold."""
    gain = _best(lists, lists.relevant(params["rel"]))
    threshold = params.get("iou") or 0.0
    relevant = gain > threshold if params.get("strict", True) else gain >= threshold
    total = lists.totals(params["rel"])
    query, rank = lists.results.query, lists.results.rank
    return Relevance(query, rank, gain, relevant, judged(lists, params), total)


def _best(lists: Lists, truth: Bools) -> Floats:
    best = np.zeros(len(lists.results.query))
    rows = truth[lists.pairs.truth]
    np.maximum.at(best, lists.pairs.result[rows], lists.iou[rows])
    return best
