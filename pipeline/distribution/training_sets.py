"""Training sets as files: JSON for the published training code, and Parquet.

A record is a query with the N moments whose captions are most similar. Files of both kinds and all
sizes are streamed in parallel, `GROUP` queries at a time, so that memory does not depend on their
number; a group is a row group of the Parquet files.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Self

import numpy as np
import numpy.typing as npt
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from momentrank.ids import json_names, query_number, query_numbers
from pipeline.core import files, tables
from pipeline.core.captions import text_key
from pipeline.core.storage.mapped import blocks
from pipeline.retrieval.ranking import Neighbours, concatenate
from pipeline.retrieval.similarity import Ints

GROUP = 1000
Bools = npt.NDArray[np.bool_]
Suffix = Literal["json", "parquet"]
Query = tuple[bytes, list[bytes]]
"""A query in JSON up to its moments, and each moment."""
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
    """Return the path of the training set of the `size` most similar moments."""
    return tables.RELEASE / f"train_top{size:02}.{suffix}"


def number_queries(ids: pd.Series) -> Ints:
    """Return the number of each query id, (n,).

    Raises:
        IdError: two query ids have the same number.
    """
    numbers = np.fromiter(map(query_number, ids), np.int64, len(ids))
    if len(np.unique(numbers)) < len(numbers):
        query_numbers(ids)  # raises an error that names the two
    return numbers


@dataclass(frozen=True)
class Texts:
    """A column of texts in chunks, perhaps mapped from a file; `ends` are cumulative row counts.

    Arrow would copy all chunks into one before taking a text.
    """

    chunks: list[pa.Array]
    ends: Ints

    @classmethod
    def from_series(cls, texts: pd.Series) -> Self:
        """Return a column without copying it."""
        array = pa.array(texts)
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        return cls(chunks, np.cumsum([len(chunk) for chunk in chunks], dtype=np.int64))

    def take(self, rows: pa.Array) -> pa.Array:
        """Return some texts, one after the other."""
        wanted = rows.to_numpy()
        chunk = np.searchsorted(self.ends, wanted, side="right")
        order = np.argsort(chunk, kind="stable")
        taken = [pa.array([], pa.string())]
        for number in np.unique(chunk):
            in_chunk = wanted[chunk == number] - (self.ends[number] - len(self.chunks[number]))
            taken.append(self.chunks[number].take(pa.array(in_chunk)).cast(pa.string()))
        return pa.concat_arrays(taken).take(pa.array(np.argsort(order)))


@dataclass(frozen=True)
class Training:
    """Queries by position: the columns of `SCHEMA` except the last; moments: those of `MOMENT`.

    The columns are Arrow's, without Python objects, and stay in their file if they are mapped from
    one: there may be millions of moments.
    """

    queries: list[pa.Array | Texts]
    moments: list[pa.Array | Texts]
    hidden: Bools

    @classmethod
    def from_frames(
        cls,
        queries: pd.DataFrame,
        moments: pd.DataFrame,
        durations: pd.Series,
        hidden: Bools | None = None,
    ) -> "Training":
        """Take queries (`query_id, query`), moments (as from `join_captions`), seconds by video.

        The captions of `hidden` moments, (m,), are left empty.

        Raises:
            IdError: two query ids have the same number.
        """
        number = number_queries(queries["query_id"])
        times = moments[["start", "end"]].to_numpy("float64").ravel()
        ends = pa.array(np.arange(0, len(times) + 1, 2, dtype=np.int32))
        video, names = pd.factorize(moments["video_id"])
        seconds = durations.reindex(names).to_numpy("float64")[video]
        keys, texts = Texts.from_series(queries["query_id"]), Texts.from_series(queries["query"])
        return cls(
            [pa.array(number), keys, texts],
            [
                Texts.from_series(moments["video_id"]),
                pa.ListArray.from_arrays(ends, pa.array(times)),
                pa.array(seconds),
                Texts.from_series(moments["caption"]),
            ],
            np.zeros(len(moments), np.bool_) if hidden is None else hidden,
        )

    def json(self, group: Neighbours) -> Iterator[Query]:
        """Yield each query of a group up to its moments, then these, the most similar first."""
        distinct, index = np.unique(group.moment, return_inverse=True)
        heads = list(map(_head, *self._columns(pa.array(distinct))))
        values = orjson.dumps(group.similarity.tolist())[1:-1].split(b",")
        pairs = zip(index.tolist(), values, strict=True)
        moments = [heads[moment] + value + b"}" for moment, value in pairs]
        starts = np.flatnonzero(group.rank == 1).tolist()
        queries = zip(*(column.to_pylist() for column in self._queries(group)), strict=True)
        ranges = zip(starts, [*starts[1:], len(moments)], strict=True)
        for (number, key, text), (first, last) in zip(queries, ranges, strict=True):
            query = orjson.dumps({**json_names(number, key), "query": text})[:-1]
            yield query + b',"relevant_moment":[', moments[first:last]

    def table(self, group: Neighbours, size: int) -> pa.Table:
        """Return the same as a table (`SCHEMA`), with the first `size` moments of each query."""
        is_top = group.rank <= size
        moment = pa.array(group.moment[is_top])
        moments = pa.StructArray.from_arrays(
            [*self._moments(moment), pa.array(group.similarity[is_top])],
            fields=list(MOMENT),
        )
        starts = np.flatnonzero(group.rank[is_top] == 1)
        offsets = pa.array([*starts.tolist(), len(moment)], pa.int32())
        lists = pa.ListArray.from_arrays(offsets, moments, type=SCHEMA.types[-1])
        return pa.table([*self._queries(group), lists], schema=SCHEMA)

    def _columns(self, rows: pa.Array) -> tuple[list[Any], ...]:
        video, times, length, caption = self._moments(rows)
        seconds = times.flatten().to_numpy().reshape(-1, 2).tolist()
        return video.to_pylist(), seconds, length.to_pylist(), caption.to_pylist()

    def _moments(self, rows: pa.Array) -> list[pa.Array]:
        *others, caption = (column.take(rows) for column in self.moments)
        hidden = pa.array(self.hidden[rows.to_numpy()])
        return [*others, pc.if_else(hidden, pa.scalar(""), caption)]

    def _queries(self, group: Neighbours) -> list[pa.Array]:
        rows = pa.array(group.query[group.rank == 1])
        return [column.take(rows) for column in self.queries]


def find_hidden(moments: pd.DataFrame, judged: pd.DataFrame) -> Bools:
    """Mark the moments whose captions show which moment a judged query was made from, (m,).

    They are those moments, and all whose captions equal a query's text.
    """
    made_from, texts = set(judged["moment_id"].dropna()), set(text_key(judged["query"]))
    marks = [np.zeros(0, np.bool_)]
    for rows in blocks(moments):
        equal = text_key(rows["caption"]).isin(texts)
        marks.append((equal | rows["moment_id"].isin(made_from)).to_numpy(np.bool_))
    return np.concatenate(marks)


def _head(video: str, times: list[float], length: float, caption: str) -> bytes:
    """Return a moment in JSON up to the value of its similarity."""
    moment = {"video_name": video, "timestamp": times, "duration": length, "caption": caption}
    return orjson.dumps(moment)[:-1] + b',"similarity":'


def group_queries(neighbours: Iterable[Neighbours], size: int = GROUP) -> Iterator[Neighbours]:
    """Regroup the rows: yield those of `size` queries at a time; the last group may have fewer."""
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
    """Write the sets of all sizes, in both kinds of file; return how many queries they have.

    `tell` is called with the number of queries written since its last call.
    """
    count = 0
    with ExitStack() as stack:
        lines = {size: stack.enter_context(_open(size, "json")) for size in sizes}
        parquet = {size: stack.enter_context(_parquet(size, stack)) for size in sizes}
        for group in group_queries(neighbours):
            queries = list(training.json(group))
            for size in sizes:
                _write_json(lines[size], queries, size, is_first=not count)
                parquet[size].write_table(training.table(group, size), row_group_size=GROUP)
            count += len(queries)
            tell(len(queries))
        for stream in lines.values():
            stream.write(b"\n]\n" if count else b"[]\n")
    return count


def _open(size: int, suffix: Suffix) -> AbstractContextManager[IO[Any]]:
    return files.unfinished(training_path(size, suffix), "wb")


def _parquet(size: int, stack: ExitStack) -> pq.ParquetWriter:
    stream = stack.enter_context(_open(size, "parquet"))
    return pq.ParquetWriter(stream, SCHEMA, compression="zstd")


def _write_json(stream: IO[bytes], queries: Iterable[Query], size: int, *, is_first: bool) -> None:
    for index, (query, moments) in enumerate(queries):
        stream.write(b"[\n" if is_first and not index else b",\n")
        stream.write(query + b",".join(moments[:size]) + b"]}")
