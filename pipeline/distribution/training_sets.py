"""Training sets as files: the JSON that the published training code reads, and Parquet beside it.

A record is a query with the N moments of the most similar captions. Files of both kinds and all
sizes are written side by side as a stream, `GROUP` queries at a time, so that memory does not
depend on how many there are; a group is a row group of the Parquet files.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from momentrank.ids import json_names, query_numbers
from pipeline.core import files, tables
from pipeline.retrieval.ranking import Neighbours, concatenate

GROUP = 1000
Suffix = Literal["json", "parquet"]
Record = dict[str, Any]
MOMENT = pa.struct(
    {
        "video_name": pa.string(),
        "timestamp": pa.list_(pa.float64()),
        "duration": pa.float64(),
        "caption": pa.string(),
        "similarity": pa.float64(),
    }
)
SCHEMA = pa.schema(
    {
        "query_id": pa.int64(),
        "query_key": pa.string(),
        "query": pa.string(),
        "relevant_moment": pa.list_(MOMENT),
    }
)


def training_path(size: int, suffix: Suffix = "json") -> Path:
    """Return where the training set of the `size` most similar moments is."""
    return tables.RELEASE / f"train_top{size:02}.{suffix}"


@dataclass(frozen=True)
class Training:
    """Queries by position, and moments by position: as JSON, and as columns (`MOMENT`'s first)."""

    numbers: list[int]
    keys: list[str]
    texts: list[str]
    records: list[Record]
    columns: list[pa.Array]

    @classmethod
    def from_frames(
        cls, queries: pd.DataFrame, moments: pd.DataFrame, durations: pd.Series
    ) -> "Training":
        """Take queries (`query_id, query`) and moments (as of `join_captions`); seconds by video.

        Raises:
            IdError: two query ids have the same number.
        """
        keys, texts = queries["query_id"].tolist(), queries["query"].tolist()
        numbers = query_numbers(keys)
        times = moments[["start", "end"]].to_numpy("float64").tolist()
        lengths = moments["video_id"].map(durations).tolist()
        columns = [moments["video_id"].tolist(), times, lengths, moments["caption"].tolist()]
        names = [field.name for field in MOMENT][:-1]
        return cls(
            [numbers[key] for key in keys],
            keys,
            texts,
            [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
            [pa.array(one, field.type) for one, field in zip(columns, MOMENT, strict=False)],
        )

    def queries(self, group: Neighbours) -> Iterator[Record]:
        """Yield each query of a group with its moments, the most similar first."""
        rows = zip(group.moment.tolist(), group.similarity.tolist(), strict=True)
        similar = [{**self.records[moment], "similarity": value} for moment, value in rows]
        starts = np.flatnonzero(group.rank == 1).tolist()
        for first, last in zip(starts, [*starts[1:], len(similar)], strict=True):
            query = int(group.query[first])
            name = json_names(self.numbers[query], self.keys[query])
            yield {**name, "query": self.texts[query], "relevant_moment": similar[first:last]}

    def table(self, group: Neighbours, size: int) -> pa.Table:
        """Return the same as a table (`SCHEMA`), of each query the first `size` moments."""
        kept = group.rank <= size
        moment = pa.array(group.moment[kept])
        moments = pa.StructArray.from_arrays(
            [*(column.take(moment) for column in self.columns), pa.array(group.similarity[kept])],
            fields=list(MOMENT),
        )
        starts = np.flatnonzero(group.rank[kept] == 1)
        offsets = pa.array([*starts.tolist(), len(moment)], pa.int32())
        rows = group.query[group.rank == 1].tolist()
        columns = [
            [column[row] for row in rows] for column in (self.numbers, self.keys, self.texts)
        ]
        lists = pa.ListArray.from_arrays(offsets, moments, type=SCHEMA.types[-1])
        return pa.table([*columns, lists], schema=SCHEMA)


def group_queries(neighbours: Iterable[Neighbours], size: int = GROUP) -> Iterator[Neighbours]:
    """Yield the rows of `size` queries at a time, however they come; the last group has fewer."""
    held, end = None, size
    for block in neighbours:
        held = block if held is None else concatenate([held, block])
        while held.query[-1] >= end:
            is_whole = held.query < end
            yield held.select(is_whole)
            held, end = held.select(~is_whole), end + size
    if held is not None:
        yield held


def write_training_sets(
    training: Training,
    neighbours: Iterable[Neighbours],
    sizes: Sequence[int],
    tell: Callable[[int], object] = lambda _: None,
) -> int:
    """Write the sets of all sizes, both kinds of file; return how many queries they hold.

    `tell` gets the number of queries written since its last call.
    """
    count = 0
    with ExitStack() as stack:
        lines = {size: stack.enter_context(_open(size, "json")) for size in sizes}
        parquet = {size: stack.enter_context(_parquet(size, stack)) for size in sizes}
        for group in group_queries(neighbours):
            records = list(training.queries(group))
            for size in sizes:
                _write_json(lines[size], records, size, is_first=not count)
                parquet[size].write_table(training.table(group, size), row_group_size=GROUP)
            count += len(records)
            tell(len(records))
        for stream in lines.values():
            stream.write(b"\n]\n" if count else b"[]\n")
    return count


def _open(size: int, suffix: Suffix) -> AbstractContextManager[IO[Any]]:
    return files.unfinished(training_path(size, suffix), "wb")


def _parquet(size: int, stack: ExitStack) -> pq.ParquetWriter:
    stream = stack.enter_context(_open(size, "parquet"))
    return pq.ParquetWriter(stream, SCHEMA, compression="zstd")


def _write_json(stream: IO[bytes], records: Iterable[Record], size: int, *, is_first: bool) -> None:
    for place, record in enumerate(records):
        cut = {**record, "relevant_moment": record["relevant_moment"][:size]}
        stream.write((b"[\n" if is_first and not place else b",\n") + orjson.dumps(cut))
