"""What `datasets/campaign/cast.csv` lists: people of the corpus, and words that are not names."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import pandas as pd

from pipeline.core import tables
from pipeline.core.text import strip_unreadable
from pipeline.names import truecase
from pipeline.names.base import Span

NO_NAME = "no name"
"""The gender of a word that is not a name."""

Key = tuple[str, ...]


class Cast(NamedTuple):
    """The names of a corpus, and what is not a name there, each as its words in lower case."""

    names: frozenset[Key] = frozenset()
    no_names: frozenset[Key] = frozenset()

    @classmethod
    def from_table(cls, table: pd.DataFrame) -> Self:
        """Return the content of the table `CAST`."""
        is_none = is_no_name(table)
        return cls(_keys(table.loc[~is_none, "name"]), _keys(table.loc[is_none, "name"]))

    @classmethod
    def of_campaign(cls) -> Self:
        """Return the content of `cast.csv`, or an empty cast if there is none.

        Raises:
            TableError: the file is not a cast list.
        """
        return cls.from_table(tables.CAST.read()) if tables.CAST.path.exists() else cls()

    def is_name(self, keys: Sequence[str]) -> bool:
        """Tell whether the words of a text, in lower case, are a name of the cast."""
        return tuple(keys) in self.names

    def spans(self, text: str) -> list[Span]:
        """Return the names of the cast in a text, in any letter case."""
        words = list(truecase.words(text)) if self.names else []
        longest = max(map(len, self.names), default=0)
        runs = (words[at : at + n] for at in range(len(words)) for n in range(1, longest + 1))
        return [
            Span(run[0].start, run[-1].end, text[run[0].start : run[-1].end], 1.0)
            for run in runs
            if self.is_name([word.key for word in run])
        ]

    def words(self) -> frozenset[str]:
        """Return the single words that are names of the cast."""
        return frozenset(name[0] for name in self.names if len(name) == 1)

    def is_no_name(self, keys: Sequence[str]) -> bool:
        """Tell whether the words of a text, in lower case, are listed as not a name."""
        every = bool(keys) and all((key,) in self.no_names for key in keys)
        return every or tuple(keys) in self.no_names


def is_no_name(table: pd.DataFrame) -> pd.Series:
    """Tell for each row of the table `CAST` whether its word is not a name."""
    return table["gender"].eq(NO_NAME).fillna(False).astype(bool)


def keys_of(name: str) -> Key:
    """Return the words of a name in lower case, without titles and possessive."""
    keys = tuple(word.key for word in truecase.words(name))
    return tuple(key for key in keys if key not in truecase.TITLES) or keys


def _keys(names: Iterable[str]) -> frozenset[Key]:
    return frozenset(key for key in map(keys_of, map(strip_unreadable, names)) if key)
