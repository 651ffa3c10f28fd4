"""What `evaluate` and `compare` return: values to look up, or to take on as a frame."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from momentrank.conventions.base import Convention
from momentrank.measures.base import Measure
from momentrank.measures.parse import parse_measure
from momentrank.scoring import PerQuery
from momentrank.segments import make_frame
from momentrank.significance import Pair

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Evaluation(Mapping[str, float]):
    """A run's values, by the names of measures or of the cells of a benchmark's table.

    `result["R@1,0.5"]`, `result[R(iou=0.5) @ 1]`; `result.to_frame()`, also per query. Values are
    shares from 0 to 1 where the convention is one that prints percent, too.
    """

    convention: Convention
    values_by_name: Mapping[str, float]
    per_query: PerQuery = field(repr=False)
    """By measure: the queries that count and their values; a benchmark's table has none."""

    def __getitem__(self, key: Measure | str) -> float:
        if key in self.values_by_name:
            return self.values_by_name[str(key)]
        measure = parse_measure(key) if isinstance(key, str) else key
        return self.values_by_name[repr(self.convention.resolve(measure))]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def to_frame(self, *, per_query: bool = False) -> "pd.DataFrame":
        """Return the values as a frame `measure, value`; per query, `query_id` and a column each.

        Raises:
            UsageError: pandas is not installed.
        """
        if not per_query:
            return make_frame({"measure": list(self), "value": list(self.values())})
        columns = {repr(measure): values for measure, (_, values) in self.per_query.items()}
        queries = next((names for names, _ in self.per_query.values()), [])
        return make_frame({"query_id": queries, **columns})

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        lines = [f"{name:{width}}  {value:.4f}" for name, value in self.items()]
        return "\n".join([f"# convention: {self.convention.name}", *lines])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        html: str = self.to_frame().to_html(index=False)
        return html


class Comparisons(list[Pair]):
    """Pairs of runs compared by measures, as one family for Holm's correction."""

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per pair and measure."""
        return make_frame([pair.as_json() for pair in self])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        html: str = self.to_frame().to_html(index=False)
        return html
