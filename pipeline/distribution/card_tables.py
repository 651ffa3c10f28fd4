"""Figures of what was judged, for the collection's card (paper, Tables 1 and 4).

The words that replace names (Table 3) need the corpus: they are in the report.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from pipeline.campaign.collection import PERFECT, RELEVANT, Collection, per_query
from pipeline.core.tables import JUDGED_SPLITS
from pipeline.core.text import count_words, vocabulary
from pipeline.pages.html_tables import Grid

Row = list[str]
EMPTY = "-"


class Judged(NamedTuple):
    """The queries of a split, their pairs with a level, and the moments of those."""

    queries: pd.DataFrame
    pairs: pd.DataFrame

    @property
    def texts(self) -> pd.Series:
        """The queries' texts."""
        return self.queries["query"]

    @property
    def moments(self) -> pd.DataFrame:
        """Each moment once, with its `length` in seconds and its `share` of the video."""
        moments = self.pairs.drop_duplicates("moment_id")
        length = moments["end"] - moments["start"]
        return moments.assign(length=length, share=length / moments["duration"])

    @property
    def videos(self) -> pd.DataFrame:
        """The first pair of each video."""
        return self.pairs.drop_duplicates("video_id")

    def sizes(self, lowest: int = 0) -> pd.Series:
        """Return how many candidates of level `lowest` or higher each query has."""
        return per_query(self.pairs, lowest)


Statistics = dict[str, Callable[[Judged], str]]


def collection_table(collection: Collection) -> list[Row]:
    """Return size and lengths: queries, moments, videos, words, seconds."""
    negative = {"negative queries": lambda split: _share(_is_negative(split, collection))}
    return _by_split(
        collection,
        {
            "queries": lambda split: f"{len(split.queries):,}",
            **(negative if collection.strata else {}),
            "judged pairs": lambda split: f"{len(split.pairs):,}",
            "moments": lambda split: f"{len(split.moments):,}",
            "videos": lambda split: f"{len(split.videos):,}",
            "words per query (mean)": lambda split: _mean(count_words(split.texts)),
            "distinct query words": lambda split: f"{len(vocabulary(split.texts)):,}",
            "moment length, seconds (mean)": lambda split: _mean(split.moments["length"]),
            "video length, seconds (mean)": lambda split: _mean(split.videos["duration"]),
            "moment length / video length (mean)": lambda split: _mean(split.moments["share"], 3),
        },
    )


def level_table(collection: Collection, names: Sequence[str]) -> list[Row]:
    """Return how many pairs have each level, by its name."""
    shares = {f"{level} {name}": partial(_of_level, level) for level, name in enumerate(names)}
    return _by_split(collection, dict(shares))


def query_table(collection: Collection, batch: int) -> list[Row]:
    """Return how many candidates of a query were judged, and how many are relevant."""
    return _by_split(
        collection,
        {
            "judged candidates per query (mean)": lambda split: _mean(split.sizes()),
            f"queries with at most {batch}": lambda split: _share(split.sizes() <= batch),
            f"queries with more than {batch}": lambda split: _share(split.sizes() > batch),
            "candidates of level 1 to 4 per query (mean)": lambda split: _mean(
                split.sizes(RELEVANT)
            ),
            "candidates of level 4 per query (mean)": lambda split: _mean(split.sizes(PERFECT)),
        },
    )


def grid_table(grid: Grid) -> list[Row]:
    """Return a table of the report."""
    return [list(grid.head), *([str(cell) for cell in row] for row in grid.rows)]


def _by_split(collection: Collection, statistics: Statistics) -> list[Row]:
    """Return a header and a row for each figure.

    There is a column per split, one for both, and then one per stratum, if there are several.
    """
    both = Judged(collection.queries, collection.judged)
    splits = [Judged(*(rows[rows["split"] == name] for rows in both)) for name in JUDGED_SPLITS]
    parts = [collection.select(name) for name in collection.strata]
    columns = [*splits, both, *(Judged(part.queries, part.judged) for part in parts)]
    rows = [[name, *map(compute, columns)] for name, compute in statistics.items()]
    return [["", "validation", "test", "both", *collection.strata], *rows]


def _is_negative(split: Judged, collection: Collection) -> "pd.Series[bool]":
    return split.queries["query_id"].isin(collection.negatives)


def _of_level(level: int, split: Judged) -> str:
    return _share(split.pairs["level"] == level)


def _mean(values: pd.Series, digits: int = 2) -> str:
    return f"{values.mean():.{digits}f}" if len(values) else EMPTY


def _share(marks: pd.Series) -> str:
    return f"{marks.sum():,} ({marks.mean():.1%})" if len(marks) else EMPTY
