"""What unjudged results count as: at best, or by an audit's rates (docs/scoring.md).

`find_best` gives a measure's upper bound, the highest value over all levels of the unjudged
results. `Rates` gives the expected one, from the probability of each level by rank; results are
independent of each other. Up to `DRAWS` combinations of a query's levels are all weighed; of more,
as many are drawn, each level of a result as often as it should be (Latin hypercube sampling: McKay,
Beckman and Conover, 1979).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats.lines import NUMBER
from momentrank.formats.source import FormatError, Location, read_table
from momentrank.matching.aligned import BLOCK, AlignedRun, Params, Relevance, ranks
from momentrank.matching.unjudged_items import Items, find_unjudged, number_items
from momentrank.measures import MAiSP
from momentrank.measures.base import Measure
from momentrank.segments import MOST_LEVEL, Floats, Ints, number_rows

if TYPE_CHECKING:
    import pandas as pd

BOUNDS = "bounds"
"""What asks for the upper bound; anything else is a table of rates."""
UPPER, EXPECTED = "upper", "expected"
"""The names of the values if unjudged results were as good as the measure allows, or by rates."""
DRAWS, SEED = 256, 2024
CLOSE = 1e-9
"""Shares whose sum is this near to 1 sum to 1."""

Find = Callable[[Measure, AlignedRun, Params, Relevance], Floats]
"""Returns the value of each query if unjudged results count as what is assumed."""
Unjudged = Union[str, Path, "Rates", "pd.DataFrame", Iterable[Sequence[float | None]]]
"""`BOUNDS`; or rates: a path, a frame, or rows, whose last rank_high may be None."""


def read_unjudged(unjudged: Unjudged) -> Find:
    """Return what computes the values if unjudged results count as asked.

    Raises:
        UsageError: rates are not valid.
        FormatError: their file is malformed.
    """
    if isinstance(unjudged, str | Path):
        return find_best if unjudged == BOUNDS else Rates.read(Path(unjudged))
    if isinstance(unjudged, Rates):
        return unjudged
    if not isinstance(unjudged, Iterable):
        raise UsageError(f"unjudged must be {BOUNDS!r} or rates, not {unjudged!r}")
    if hasattr(unjudged, "itertuples"):
        frame: Any = unjudged
        for name in Rate._fields:
            if (times := list(frame).count(name)) != 1:
                needed = ",".join(Rate._fields)
                raise FormatError(f"rates: {times or 'no'} columns {name!r}; it needs {needed}")
        rows = frame[list(Rate._fields)].astype(object)
        return Rates(rows.where(rows.notna(), None).itertuples(index=False))
    return Rates(unjudged)


def check_measure(measure: Measure, params: Params) -> bool:
    """Tell whether a measure depends on what is unjudged.

    Raises:
        UsageError: it does, but has no bounds.
    """
    if measure.NAME == MAiSP.NAME:
        raise UsageError(f"{measure!r} is over seconds, not results: it has no bounds")
    if params["judged_only"]:
        other = measure(judged_only=False)
        raise UsageError(f"{measure!r} removes unjudged results: name {other!r} for its bounds")
    if params.get("silence"):
        other = measure(silence=False)
        raise UsageError(f"{measure!r} counts silence: name {other!r} for its bounds")
    return measure.BOUNDED


def _find(measure: Measure, aligned: AlignedRun, params: Params, relevance: Relevance) -> Items:
    """Return the items that count: those below the cutoff do not."""
    items = find_unjudged(aligned, params, relevance)
    depth = 1 if measure.depth() == 1 else params.get("cutoff")
    return items if depth is None else items.select(items.relevance.rank <= depth)


def find_best(
    measure: Measure, aligned: AlignedRun, params: Params, relevance: Relevance
) -> Floats:
    """Return the highest value of each query over all levels, from 0 to the highest of the qrels.

    If that is not relevant for the measure, to the lowest relevant one.
    """
    items = _find(measure, aligned, params, relevance)
    return measure.highest(aligned, items.relevance, params, _top(aligned, params, items))


def find_highest_difference(
    measure: Measure, aligned: AlignedRun, params: Params, relevance: Relevance
) -> Floats:
    """Return what no difference of each query's other list and this one exceeds.

    The queries of `aligned` are those of one run, then the same ones of another. A result of both
    has one level; what either finds enters the truth of both. Equal lists never differ.
    """
    items = _find(measure, aligned, params, relevance)
    number, top = number_items(aligned, params, items), _top(aligned, params, items)
    highest = measure.highest_difference(aligned, items.relevance, params, top, number)
    place = number_rows(number, items.relevance.rank)
    alone = items.relevance.query[np.bincount(place)[place] == 1]
    differs = np.bincount(alone, minlength=aligned.count) > 0
    return np.where(differs | np.roll(differs, aligned.count // 2), highest, 0.0)


def _top(aligned: AlignedRun, params: Params, items: Items) -> Floats:
    """Return the highest level for each unjudged item, 0 for others."""
    top = max(float(params["rel"]), aligned.truth.level.max(initial=0.0))
    return np.where(items.unjudged, top, 0.0)


class Rate(NamedTuple):
    """The share of the unjudged results at some ranks that have a level."""

    rank_low: int
    rank_high: float
    level: int
    share: float


def _check(row: Sequence[str | float | None]) -> Rate:
    """Return a row as a rate, or raise a ValueError that says what is wrong."""
    if isinstance(row, str) or len(row) != len(Rate._fields):
        raise ValueError(f"must be {', '.join(Rate._fields)}")
    low, high, level, share = map(_number, Rate._fields, row)
    high = math.inf if math.isnan(high) else high
    if low % 1 or not 1 <= low <= high or (high % 1 and high < math.inf):
        raise ValueError("rank_low and rank_high must be whole numbers from 1 up, in this order")
    if level % 1 or not 0 <= level <= MOST_LEVEL:
        raise ValueError(f"the level must be 0, 1, 2, ... {MOST_LEVEL}")
    if not 0 <= share <= 1:
        raise ValueError("the share must be a number from 0 to 1")
    return Rate(int(low), high, int(level), share)


def _number(field: str, value: str | float | None) -> float:
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        raise ValueError(f"{field} must be a number, not {value!r}")
    return math.nan if value is None else float(value)


class Rates:
    """The probability of each level by rank; level 0 has what the others of its ranks leave."""

    def __init__(self, rates: Iterable[Sequence[float | None]], name: str = "rates") -> None:
        """Take the rows of a table.

        Raises:
            UsageError: a row is not valid, or some contradict each other.
        """
        self.name = name
        rows = []
        for number, row in enumerate(rates):
            try:
                rows.append(_check(row))
            except (ValueError, TypeError) as exc:
                raise UsageError(f"{name}, row {number}: {exc}") from exc
        self.levels = sorted({0, *(row.level for row in rows)})
        ranges: dict[tuple[int, float], Floats] = {}
        for low, high, level, share in rows:
            shares = ranges.setdefault((low, high), np.full(len(self.levels), np.nan))
            if not np.isnan(shares[self.levels.index(level)]):
                raise UsageError(f"{name}: level {level} appears twice from rank {low}")
            shares[self.levels.index(level)] = share
        self.ranges = np.array(sorted(ranges), dtype=np.float64).reshape(-1, 2)
        self.shares = np.array(
            [self._complete(low, ranges[low, high]) for low, high in sorted(ranges)]
        )
        overlaps = np.flatnonzero(self.ranges[1:, 0] <= self.ranges[:-1, 1])
        if len(overlaps):
            raise UsageError(f"{name}: rank {self.ranges[overlaps[0] + 1, 0]:g} is in two ranges")

    def _complete(self, low: int, shares: Floats) -> Floats:
        rest = 1.0 - np.nansum(shares[1:])
        if rest < -CLOSE or abs(np.nan_to_num(shares[0], nan=rest) - rest) > CLOSE:
            raise UsageError(f"{self.name}: the shares from rank {low} do not sum to 1")
        completed: Floats = np.nan_to_num(np.append(max(rest, 0.0), shares[1:]))
        return completed

    @classmethod
    def read(cls, path: Path) -> "Rates":
        """Read a CSV file `rank_low,rank_high,level,share`; other columns are ignored.

        Raises:
            FormatError: it is malformed, with its line.
            UsageError: some rows contradict each other.
        """
        rows = [_parse(location, row) for location, row in read_table(path, Rate._fields)]
        if not rows:
            raise FormatError(f"{path}: there are no rates")
        return cls(rows, str(path))

    def of(self, rank: Ints) -> Floats:
        """Return the probability of each of `levels` at each rank, shape (n, levels).

        Raises:
            UsageError: a rank is in no range.
        """
        low, high = np.append([[0.0, 0.0]], self.ranges, axis=0).T
        at = np.searchsorted(low, rank, side="right") - 1
        outside = rank > high[at]
        if outside.any():
            raise UsageError(
                f"{self.name}: no rate for rank {rank[outside].min()}, where a result is unjudged"
                " (an empty rank_high means all ranks below)"
            )
        shares: Floats = self.shares.reshape(-1, len(self.levels))[at - 1]
        return shares

    def __call__(
        self, measure: Measure, aligned: AlignedRun, params: Params, relevance: Relevance
    ) -> Floats:
        """Return the expected value of each query."""
        items = _find(measure, aligned, params, relevance)
        combinations = Combinations(self, items, aligned)
        rows = max(1, len(items.row), aligned.count * (params.get("cutoff") or 1))
        at_once = max(1, BLOCK // rows)
        values = np.zeros(aligned.count)
        for first in range(0, DRAWS, at_once):
            level, weight = combinations.choose(np.arange(first, min(first + at_once, DRAWS)))
            copies = _stack(items.relevance, len(weight))
            each = measure.per_assignment(aligned, copies, params, level.ravel())
            values += (weight * each.reshape(weight.shape)).sum(axis=0)
        return values


def _parse(location: Location, row: dict[str, str]) -> Rate:
    try:
        return _check([row[name] or None for name in Rate._fields])
    except (ValueError, TypeError) as exc:
        raise location.error(str(exc)) from exc


class Combinations:
    """Levels of all unjudged items: every combination of those of a query, or draws of them."""

    def __init__(self, rates: Rates, items: Items, aligned: AlignedRun) -> None:
        """Take the items of a run."""
        self.rows, self.items = np.flatnonzero(items.unjudged), len(items.row)
        self.query = items.relevance.query[self.rows]
        self.levels = np.array(rates.levels, dtype=np.float64)
        self.shares = rates.of(aligned.results.rank[items.row[self.rows]])
        unjudged, base = np.bincount(self.query, minlength=aligned.count), len(self.levels)
        most = int(math.log(DRAWS) / math.log(base) + CLOSE) if base > 1 else len(self.rows)
        self.all = unjudged <= most
        self.sizes = base ** np.minimum(unjudged, most)
        self.weighed = np.flatnonzero(self.all[self.query])
        self.divisor = base ** (ranks(self.query)[self.weighed] - 1)
        rng = np.random.default_rng(SEED)
        size = len(self.rows)
        # An odd factor permutes the numbers of draws: DRAWS is a power of 2.
        self.factor = (2 * rng.integers(0, DRAWS // 2, size) + 1).astype(np.int32)
        self.shift = rng.integers(0, DRAWS, size).astype(np.int32)
        below = DRAWS * np.cumsum(self.shares, axis=1)[:, :-1].T
        self.limits = np.ceil(below - rng.random(size)).astype(np.int32)

    def choose(self, numbers: Ints) -> tuple[Floats, Floats]:
        """Return combinations by number: levels (n, items), and weights (n, queries)."""
        number = numbers[:, None]
        drawn = (self.factor * number.astype(np.int32) + self.shift) % DRAWS
        chosen = np.zeros(drawn.shape, dtype=np.int16)
        for limit in self.limits:
            chosen += drawn >= limit
        chosen[:, self.weighed] = number // self.divisor % len(self.levels)
        level = np.zeros((len(numbers), self.items))
        level[:, self.rows] = self.levels[chosen]
        weight = np.where(self.all, np.where(number < self.sizes, 1.0, 0.0), 1.0 / DRAWS)
        share = self.shares[self.weighed, chosen[:, self.weighed]]
        rows = np.arange(len(numbers))[:, None]
        np.multiply.at(weight, (rows, self.query[self.weighed]), share)
        return level, weight


def _stack(relevance: Relevance, copies: int) -> Relevance:
    """Return relevance several times, the queries of each copy by their own numbers."""
    stacked = Relevance._make(np.tile(column, copies) for column in relevance)
    shift = np.repeat(np.arange(copies) * len(relevance.total), len(relevance.query))
    return stacked._replace(query=stacked.query + shift)
