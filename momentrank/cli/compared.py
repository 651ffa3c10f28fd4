"""The outputs of `compare`: means with marks of significance, and the pairs of runs."""

import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from momentrank.cli.quantities import DASH, Numbers, describe
from momentrank.cli.tables import Cell, Row
from momentrank.measures import Measure
from momentrank.significance import TESTS, Pair

P_VALUES = ("randomisation p (Holm)", "t-test p (Holm)", "Wilcoxon p (Holm)")
SCALED = ("difference", "low", "high")
"""The fields of a pair that have the unit of its measure."""


class Compared(NamedTuple):
    """What is printed: each run's means, and the pairs that were tested."""

    means: dict[str, dict[Measure, float]]
    pairs: list[Pair]
    test: str
    alpha: float

    @property
    def letters(self) -> dict[str, str]:
        """Return the letter of each run: a, b, ..., z, aa, ab, ..."""
        one = string.ascii_lowercase
        more = (first + second for first in one for second in one)
        return dict(zip(self.means, (*one, *more), strict=False))

    def surpassed(self, run: str, measure: Measure) -> str:
        """Return the letters of the runs that a run is significantly better than."""
        letters = self.letters
        worse = [letters[name] for name in self._worse(run, measure)]
        return ("," if len(letters) > len(string.ascii_lowercase) else "").join(sorted(worse))

    def _worse(self, run: str, measure: Measure) -> Iterator[str]:
        for pair in self.pairs:
            p = pair.comparison.p_holm(self.test)
            if pair.measure == measure and p is not None and p < self.alpha:
                worse, better = sorted(
                    (pair.first, pair.second), key=lambda name: self.means[name][measure]
                )
                if better == run:
                    yield worse


def show_means(compared: Compared, numbers: Numbers) -> Iterable[Row]:
    """Yield a row per run with its letter, and a column per measure."""
    measures = list(next(iter(compared.means.values())))
    yield ["", "run", *map(repr, measures)]
    columns = []
    for measure in measures:
        values = [means[measure] for means in compared.means.values()]
        cells = numbers.cells(describe(measure), values)
        columns.append(
            [
                cell._replace(above=compared.surpassed(run, measure))
                for run, cell in zip(compared.means, cells, strict=True)
            ]
        )
    for run, *cells in zip(compared.means, *columns, strict=True):
        yield [compared.letters[run], run, *cells]


def show_pairs(compared: Compared, numbers: Numbers) -> Iterable[Row]:
    """Yield a row per measure and pair: the second run's values minus the first one's."""
    yield ["measure", "queries", "runs", "difference", "interval", *P_VALUES, "effect",
           "win/tie/loss"]  # fmt: skip
    letters = compared.letters
    for measure, first, second, queries, found in compared.pairs:
        quantity = describe(measure)
        difference, low, high = (
            numbers.text(quantity, value, "+")
            for value in (found.difference, found.low, found.high)
        )
        tests = [f"{_p(found.p(test))} ({_p(found.p_holm(test))})" for test in TESTS]
        effect = DASH if found.effect is None else f"{found.effect:+.3f}"
        counts = f"{found.wins}/{found.ties}/{found.losses}"
        runs = f"{letters[second]} - {letters[first]}"
        cells = [quantity.name, str(queries), runs, difference, f"[{low}, {high}]"]
        yield [Cell(cell) for cell in [*cells, *tests, effect, counts]]


def _p(value: float | None) -> str:
    return DASH if value is None else f"{value:.4g}"


def _rows(compared: Compared, numbers: Numbers) -> Iterator[dict[str, Any]]:
    for pair in compared.pairs:
        row, quantity = pair.as_json(), describe(pair.measure)
        scaled = {name: numbers.plain(quantity, row[name]) for name in SCALED}
        yield {**row, **scaled}


def as_json(compared: Compared, numbers: Numbers) -> dict[str, Any]:
    """Return the means by run and measure, and an object per pair and measure."""
    means = {
        run: {repr(m): numbers.plain(describe(m), value) for m, value in values.items()}
        for run, values in compared.means.items()
    }
    return {"means": means, "pairs": list(_rows(compared, numbers))}


def as_csv(compared: Compared, numbers: Numbers, source: Mapping[str, str]) -> Iterable[Row]:
    """Yield a row per pair and measure."""
    rows = list(_rows(compared, numbers))
    yield [*rows[0], *source]
    for row in rows:
        values = ("" if value is None else str(value) for value in row.values())
        yield [*values, *source.values()]
