"""Work on texts one by one, in shards by the hash of a text.

A row's result depends on the row and on what is known about the whole corpus, but on no other row,
so it is the same in any shard. A row begins with its text.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from pydantic import TypeAdapter

from pipeline.core import files
from pipeline.core.engine.parts import Input, part_key, stage_folder
from pipeline.core.engine.shards import assign_shards, map_shards
from pipeline.core.sections import Engine

FEW = 20_000
"""Fewer rows are processed here: a few seconds' work, as long as starting processes would take."""

Known = TypeVar("Known")
Row = TypeVar("Row", bound=Sequence[Any])
Result = TypeVar("Result")
Work = Callable[[Known, Sequence[Row]], list[Result]]
"""Returns the results of rows in order. A module's function, whose annotations give the types of
all three. Beyond JSON's own types, sets must be frozen, and classes must be data classes.
"""


class Share(NamedTuple):
    """The rows of one shard, and what is known, in files."""

    known: Input
    rows: Input


@dataclass(frozen=True)
class RowMap:
    """Does work on rows in the shards of `engine`; in this process if rows or shards are few."""

    stage: str = ""
    engine: Engine | None = None
    few: int = FEW

    def __call__(
        self, work: Work[Known, Row, Result], known: Known, rows: Sequence[Row]
    ) -> list[Result]:
        """Return what `work(known, rows)` returns."""
        if self.engine is None or len(rows) < self.few:
            return work(known, rows)
        folder = stage_folder(self.stage, self.engine) / "inputs"
        facts = _write(folder, known)
        shard = assign_shards([row[0] for row in rows], self.engine.shards)
        payloads, indices = {}, {}
        for number in np.unique(shard):
            chosen = np.flatnonzero(shard == number)
            share = Share(facts, _write(folder, [rows[index] for index in chosen]))
            key = part_key(work.__qualname__, facts.sha256, share.rows.sha256)
            payloads[key], indices[key] = share, chosen
        results: list[Any] = [None] * len(rows)
        paths = map_shards(self.stage, partial(do_rows, work), payloads, self.engine)
        kind = _types(work).results
        for key, path in paths.items():
            for index, result in zip(indices[key], _read(kind, path), strict=True):
                results[index] = result
        return results


IN_PROCESS = RowMap()
"""Processes all rows in this process."""


def do_rows(work: Work[Known, Row, Result], share: Share, path: Path) -> None:
    """Write the results of a shard's rows.

    Raises:
        EngineError: this machine sees other inputs, or none.
    """
    types, known, rows = _types(work), share.known.locate(), share.rows.locate()
    results = work(_read_known(types.known, known), _read(types.rows, rows))
    path.write_text(_dump(results), encoding="utf-8")


class Types(NamedTuple):
    """The types of what is known, of rows, and of results."""

    known: TypeAdapter[Any]
    rows: TypeAdapter[Any]
    results: TypeAdapter[Any]


@cache
def _types(work: Work[Known, Row, Result]) -> Types:
    return Types(*map(TypeAdapter, get_type_hints(work).values()))


def _read(kind: TypeAdapter[Any], path: Path) -> Any:  # noqa: ANN401  (of the kind)
    return kind.validate_python(files.read_json(path))


_read_known = lru_cache(maxsize=2)(_read)


def _write(folder: Path, value: object) -> Input:
    return Input.share(_dump(value).encode(), folder, ".json")


def _dump(value: object) -> str:
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> object:  # noqa: ANN401  (whatever JSON does not know)
    """Return a set sorted, so that it is always written alike, and a data class as its fields."""
    return sorted(value) if isinstance(value, frozenset) else vars(value)
