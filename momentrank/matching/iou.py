"""Greedy one-to-one matches: TVR-Ranking (Liang et al., 2024), section 4.

In rank order a result takes, of the judged segments of its video that are still free and
whose IoU with it reaches the threshold, the one with the highest IoU; of equal ones that of
the higher level, then the first in the file. Level 0 can be taken, and gives 0.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools, Ints

FREE = -1


def judged(lists: Lists, params: Mapping[str, Any]) -> Bools:
    """Return which results take a judged segment."""
    matched: Bools = taken(lists, params["iou"], strict=params["strict"]) != FREE
    return matched


def relevance(lists: Lists, params: Mapping[str, Any]) -> Relevance:
    """Return the level that each result takes; relevant from the level `rel` on."""
    truth = taken(lists, params["iou"], strict=params["strict"])
    gain = np.where(truth == FREE, 0.0, lists.truth.level[truth] if len(lists.truth.level) else 0.0)
    relevant = (truth != FREE) & (gain >= params["rel"])
    total = lists.totals(params["rel"])
    return Relevance(lists.results.query, lists.results.rank, gain, relevant, truth != FREE, total)


def taken(lists: Lists, threshold: float, *, strict: bool) -> Ints:
    """Return the row of the judged segment that each result takes, or `FREE`; shape (n,)."""
    reaches = lists.iou > threshold if strict else lists.iou >= threshold
    result, truth, iou = lists.pairs.result[reaches], lists.pairs.truth[reaches], lists.iou[reaches]
    order = np.lexsort((truth, -lists.truth.level[truth], -iou, result))
    match = np.full(len(lists.results.query), FREE)
    free = bytearray(b"\1") * len(lists.truth.query)
    last = FREE
    for row, segment in zip(result[order].tolist(), truth[order].tolist(), strict=True):
        if row != last and free[segment]:
            match[row], free[segment], last = segment, 0, row
    return match
