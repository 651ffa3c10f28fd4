"""The highest ratio that unjudged items allow: of gains to the gains of an ideal list."""

from collections.abc import Callable, Sequence

import numpy as np

from momentrank.matching.aligned import BLOCK, ranks
from momentrank.segments import Floats, Ints

TINY = 1e-14
"""A ratio that is higher by less is the same."""

Costs = Callable[[Ints, Ints], Sequence[tuple[float, Floats]]]
"""Returns, for some queries and numbers of items, each layer's step and ideal: steps * ideals is
the denominator if so many items are found in the layer; shape (queries, numbers)."""


def find_highest_ratio(
    taken: Floats, query: Ints, weight: Floats, layers: int, costs: Costs
) -> Floats:
    """Return the highest (taken + steps * weights found) / (steps * ideals), shape (queries,).

    Items, by query and the highest weight first, are found or not in each of some layers. In each
    the first n are best. Whether numerator - value * denominator can be above 0 is decided for each
    layer on its own; its best choice has a higher ratio, until none has (Dinkelbach, 1967). 0 / 0
    is 0.
    """
    items = np.bincount(query, minlength=len(taken))
    width = 1 + int(items.max(initial=0))
    before = np.cumsum(items) - items
    best = np.zeros(len(taken))
    size = max(1, BLOCK // (width * max(layers, 1)))
    for first in range(0, len(taken), size):
        block = np.arange(first, min(first + size, len(taken)))
        rows = slice(before[block[0]], before[block[-1]] + items[block[-1]])
        found = np.full((len(block), width), -np.inf)
        found[:, 0] = 0.0
        found[query[rows] - first, ranks(query[rows])] = weight[rows]
        best[block] = _highest(taken[block], found.cumsum(axis=1), costs(block, np.arange(width)))
    return best


def _highest(taken: Floats, found: Floats, costs: Sequence[tuple[float, Floats]]) -> Floats:
    """Return the highest ratio of each row; `found` (n, numbers) sums the first weights."""
    bottom = sum((step * cost[:, 0] for step, cost in costs), np.zeros(len(taken)))
    best = np.divide(taken, bottom, out=np.zeros(len(taken)), where=bottom > 0)
    rows = np.arange(len(taken))
    while len(rows):
        top, bottom, earned = taken[rows], np.zeros(len(rows)), found[rows]
        for step, cost in costs:
            column = np.argmax(earned - best[rows, None] * cost[rows], axis=1)
            top += step * found[rows, column]
            bottom += step * cost[rows, column]
        ratio = np.divide(top, bottom, out=np.zeros(len(rows)), where=bottom > 0)
        is_higher = ratio > best[rows] + TINY * np.abs(best[rows])
        rows = rows[is_higher]
        best[rows] = ratio[is_higher]
    highest: Floats = np.minimum(best, 1.0)
    return highest
