"""Unjudged results: which of them people could have found relevant, had they seen them.

A result is unjudged if the relevance model matches it to no judged segment: what `Judged` does not
count, and `judged_only` removes. Had people judged it, it would be a segment of its own: it meets
that one, no other result does, and what others meet stays. So two results that overlap are two
segments: segments of a collection often overlap. For `bin` the item is the bin, for `video` the
video.
"""

from typing import NamedTuple

import numpy as np

from momentrank.matching import models
from momentrank.matching.aligned import AlignedRun, Params, Relevance, ranks
from momentrank.segments import Bools, Ints, number_rows


class Items(NamedTuple):
    """The items of all lists, and which are unjudged and may be relevant, shape (items,).

    `row` (items,) is that of the result, or of the first one of a bin or a video.
    """

    relevance: Relevance
    unjudged: Bools
    row: Ints

    def select(self, rows: Bools) -> "Items":
        """Return some of the items."""
        some = Relevance._make(
            [*(column[rows] for column in self.relevance[:-1]), self.relevance.total]
        )
        return Items(some, self.unjudged[rows], self.row[rows])


def find_unjudged(aligned: AlignedRun, params: Params, rated: Relevance) -> Items:
    """Return the items of a relevance model, which `rated` them, with those that are unjudged.

    Not among them: results that can't be read; and those that would not be relevant whatever people
    said, since they are empty, or since `tol` requires what was not seen before.
    """
    match, results = params["match"], aligned.results
    if match in {"bin", "video"}:
        first = models.first_results(aligned, params)
        return Items(rated, ~rated.judged & aligned.readable[first], first)
    rows = np.arange(len(results.query))
    is_open = ~rated.judged & aligned.readable
    if match == "tol":
        return Items(rated, is_open & models.find_fresh(aligned, params), rows)
    iou = np.where(results.start < results.end, 1.0, 0.0)  # with a segment of the same times
    reaches = iou > 0
    if match == "iou" or params.get("iou"):
        reaches = iou > params["iou"] if params["strict"] else iou >= params["iou"]
    return Items(rated, is_open & reaches, rows)


def number_items(aligned: AlignedRun, params: Params, items: Items) -> Ints:
    """Return a number for each item of the lists of two runs; items of both have the same one.

    The second run's lists follow the first one's. Of repeats in a list, each is an item.
    """
    results, match = aligned.results.select(items.row), params["match"]
    start, end = results.start, results.end
    if match in {"bin", "video"}:
        start, end = np.floor(start / params.get("bin", np.inf)), np.zeros(len(end))
    segment = results.video, start + 0.0, end
    in_list = number_rows(results.query, *segment)
    order = np.argsort(in_list, kind="stable")
    repeat = np.empty(len(order), dtype=np.int64)
    repeat[order] = ranks(in_list[order])
    return number_rows(results.query % (aligned.count // 2), *segment, repeat)
