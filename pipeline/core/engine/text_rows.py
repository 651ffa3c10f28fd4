"""Work on texts one by one, in shards by the hash of a text.

What is done to a row depends on the row and on what is known of the whole corpus, and on no other
row: so it is the same in any shard. Rows and results are what JSON can hold; a row begins with its
text.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from pipeline.core import files
from pipeline.core.engine.parts import part_key, stage_folder
from pipeline.core.engine.shards import assign_shards, map_shards
from pipeline.core.sections import Engine

FEW = 20_000
"""Rows that are done in this process: a few seconds' work, as the start of others would take."""


class Knowledge(Protocol):
    """What is known of a corpus; it reads back from JSON as it was."""

    def to_json(self) -> Any:  # noqa: ANN401  (what JSON can hold)
        """Return it as JSON can hold it."""

    @classmethod
    def from_json(cls, value: Any) -> Self:  # noqa: ANN401
        """Return it from what `to_json` returned."""


Known = TypeVar("Known", bound=Knowledge)
Row = TypeVar("Row", bound=Sequence[Any])
Result = TypeVar("Result")


class RowMap(Protocol):
    """Does each row by `work`, a function of a module, and returns the results in order."""

    def __call__(
        self,
        work: Callable[[Known, Sequence[Row]], list[Result]],
        known: Known,
        rows: Sequence[Row],
    ) -> list[Result]:
        """Return what `work(known, rows)` returns."""


def map_here(
    work: Callable[[Known, Sequence[Row]], list[Result]], known: Known, rows: Sequence[Row]
) -> list[Result]:
    """Do all rows in this process."""
    return work(known, rows)


class Share(NamedTuple):
    """The rows of one shard, and what is known, in files."""

    known: Path
    rows: Path


@dataclass(frozen=True)
class ShardedRows:
    """A `RowMap` that hands out rows to the shards that `engine` asks for, unless there are few."""

    stage: str
    engine: Engine
    few: int = FEW

    def __call__(
        self,
        work: Callable[[Known, Sequence[Row]], list[Result]],
        known: Known,
        rows: Sequence[Row],
    ) -> list[Result]:
        """Return what `work(known, rows)` returns, as JSON reads it."""
        if len(rows) < self.few:
            return work(known, rows)
        facts = self._write(known.to_json())
        shard = assign_shards([row[0] for row in rows], self.engine.shards)
        given, places = {}, {}
        for number in np.unique(shard):
            where = np.flatnonzero(shard == number)
            share = Share(facts, self._write([rows[place] for place in where]))
            key = part_key(work.__qualname__, facts.name, share.rows.name)
            given[key], places[key] = share, where
        results: list[Any] = [None] * len(rows)
        paths = map_shards(self.stage, partial(do_rows, work, type(known)), given, self.engine)
        for key, path in paths.items():
            for place, result in zip(places[key], files.read_json(path), strict=True):
                results[place] = result
        return results

    def _write(self, value: object) -> Path:
        """Write a value into a file that the hash of its content names."""
        text = json.dumps(value)
        name = f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
        path = stage_folder(self.stage, self.engine) / "inputs" / name
        if not path.is_file():
            with files.unfinished(path) as stream:
                stream.write(text)
        return path


def do_rows(
    work: Callable[[Known, Sequence[Row]], list[Result]],
    kind: type[Known],
    share: Share,
    path: Path,
) -> None:
    """Write the results of a shard's rows."""
    results = work(_read(kind, share.known), files.read_json(share.rows))
    path.write_text(json.dumps(results), encoding="utf-8")


@lru_cache(maxsize=2)
def _read(kind: type[Known], path: Path) -> Known:
    return kind.from_json(files.read_json(path))
