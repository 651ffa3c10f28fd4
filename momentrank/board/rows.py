"""What a board shows: its entries, and each one's values, groups, bounds and telling queries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from momentrank.rankings import Explanation
from momentrank.significance import Band

CAPTIONS = "captions"
READS = ("video", "sound", "subtitles", CAPTIONS)
"""What a system may read; runs that read captions stand apart."""


def stem_of(path: Path) -> str:
    """Return a file's name without its suffix, and without `.gz`."""
    return Path(path.name.removesuffix(".gz")).stem


Values = Mapping[str, float]
"""By measure; NaN where there is none."""


@dataclass(frozen=True)
class Entry:
    """A run and what its authors say of it."""

    run: Path
    name: str
    authors: str
    link: str
    date: date
    reads: tuple[str, ...]

    @property
    def stem(self) -> str:
        """The name that its files share."""
        return stem_of(self.run)


@dataclass(frozen=True)
class Telling:
    """A query that tells much of a run, why it was chosen, and what the run returned for it."""

    why: str
    text: str
    """The query's text; empty if it isn't known."""
    others: float | None
    """The median value of the other runs; None without others."""
    explanation: Explanation


@dataclass(frozen=True)
class Row:
    """What is computed of one entry."""

    entry: Entry
    values: Values
    """Over all queries, as `momentrank evaluate` prints them; Judged included."""
    answered: int
    """The queries of the qrels with a result."""
    shortest: int
    """The fewest results of a query of the qrels, as far as they are scored."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of the values over queries, by measure."""
    upper: Values = field(default_factory=dict)
    """The values if unjudged results were as good as the measure allows; the lower ones are
    `values`."""
    strata: Mapping[str, Values] = field(default_factory=dict)
    """The values by stratum, and measure."""
    letters: str = ""
    """The groups that it is in, comma-separated: runs that share one can't be told apart."""
    noise: Band | None = None
    """The range of its difference to the best run by the first measure, had others made the
    labels."""
    telling: tuple[Telling, ...] = ()


@dataclass(frozen=True)
class Board:
    """Rows in descending order of the first measure, and what they have in common."""

    rows: tuple[Row, ...]
    measures: tuple[str, ...]
    """The first one orders the rows."""
    queries: int
    """The number over which the first measure is."""
    test: str
    """How runs are told apart."""
    source: Mapping[str, str]
    """Versions, hashes and settings."""
    strata: Mapping[str, int] = field(default_factory=dict)
    """The number of queries of each over which the first measure is."""
    notes: tuple[str, ...] = ()
    digits: int = 4
    """Decimals of the page."""
    hidden: bool = False
    """Whether values are rounded, and what tells of single queries is left out."""
    by: str = "stratum"
    """What the strata are: strata, groups, or relevant moments' length."""
