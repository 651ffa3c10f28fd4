"""Write qrels and runs, atomically; reading a file returns what was written.

What a format can't express raises FormatError; an unknown format, UsageError.
"""

import gzip
import json
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats.read import Lists
from momentrank.formats.registry import SEGMENTS, check_format
from momentrank.formats.source import FormatError
from momentrank.formats.validation import Description
from momentrank.ids import as_integers, encode_id
from momentrank.segments import Segments

Row = tuple[int, str, float, float, float]


def list_rows(segments: Segments) -> list[Row]:
    """Return each segment as (index of its query, video, start, end, value)."""
    columns = (segments.start.tolist(), segments.end.tolist(), segments.value.tolist())
    return list(zip(segments.query.tolist(), segments.video, *columns, strict=True))


def refuse_empty_ids(segments: Segments) -> None:
    """Refuse empty ids and a file without queries, which no reader accepts."""
    if "" in segments.queries or "" in segments.video:
        raise FormatError("an id is empty; no format can express that")
    if not segments.queries:
        raise FormatError("there are no queries to write")


def refuse_empty_queries(segments: Segments) -> None:
    """Refuse queries without segments, for formats that would lose them."""
    counts = np.bincount(segments.query, minlength=len(segments.queries))
    if not counts.all():
        name = segments.queries[int(np.argmin(counts))]
        raise FormatError(f"the query {name!r} has no segments; this format can't express that")


def fields(ids: Sequence[str]) -> dict[str, str]:
    """Return the field for each id; a leading # is encoded, as it would start a comment."""
    try:
        encoded = {text: encode_id(text) for text in dict.fromkeys(ids)}
    except UnicodeEncodeError as exc:
        raise FormatError(f"the id {exc.object!r} can't be written as UTF-8") from exc
    return {text: re.sub("^#", "%23", field) for text, field in encoded.items()}


def _text_parts(segments: Segments) -> tuple[list[str], dict[str, str]]:
    refuse_empty_queries(segments)
    queries = fields(segments.queries)
    return [queries[name] for name in segments.queries], fields(segments.video)


def qrels_text(segments: Segments) -> str:
    """Return judged segments as lines."""
    queries, videos = _text_parts(segments)
    return "".join(
        f"{queries[query]} Q0 {videos[video]} {start!r} {end!r} {int(level)}\n"
        for query, video, start, end, level in list_rows(segments)
    )


def run_text(segments: Segments, tag: str) -> str:
    """Return results as lines, ranked from 1."""
    queries, videos = _text_parts(segments)
    return "".join(
        f"{queries[query]} Q0 {videos[video]} {start!r} {end!r} {rank} {score!r} {tag}\n"
        for (query, video, start, end, score), rank in zip(
            list_rows(segments), segments.rank.tolist(), strict=True
        )
    )


TAG = "momentrank"


def write_qrels(path: Path | str, segments: Segments, fmt: str = SEGMENTS) -> None:
    """Write judged segments, compressed if the name ends in .gz."""
    check_format(fmt, tuple(_QRELS))
    refuse_empty_ids(segments)
    _write(Path(path), _QRELS[fmt](segments))


def write_run(path: Path | str, segments: Segments, fmt: str = SEGMENTS, tag: str = TAG) -> None:
    """Write results in order, with `tag` if the format has one; see `write_qrels`."""
    check_format(fmt, tuple(_RUNS))
    if tag.split() != [tag]:
        raise UsageError(f"the tag {tag!r} must be one word")
    refuse_empty_ids(segments)
    _write(Path(path), _RUNS[fmt](segments, tag))


def convert(
    content: Description, lists: Lists, paths: tuple[Path, Path], to: str, tag: str = TAG
) -> None:
    """Write what `examine` returns for a file, the first of `paths`, in another format."""
    source, out = paths
    if out.exists() and out.samefile(source):
        raise UsageError(f"{out}: input and output must be different files")
    segments = next(iter(lists.values()), None)
    if segments is None:
        what = f"{content.kind} ({content.format})"
        raise UsageError(f"{source}: {what}; only qrels and runs of segments can be converted")
    if content.kind == "qrels":
        write_qrels(out, segments, to)
    else:
        write_run(out, segments, to, tag=tag)


def _write(path: Path, text: str) -> None:
    """Write a temporary file and rename it: an interruption leaves the old file or none."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise FormatError(f"{path}: {exc.object[exc.start]!r} can't be written as UTF-8") from exc
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    try:
        _replace(path, data)
    except OSError as exc:
        raise FormatError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc


def _replace(path: Path, data: bytes) -> None:
    path = path.resolve()  # keep links
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.umask(mask := os.umask(0))
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _lists(segments: Segments) -> list[list[Row]]:
    rows = list_rows(segments)
    ends = np.cumsum(np.bincount(segments.query, minlength=len(segments.queries))).tolist()
    return [rows[first:last] for first, last in zip([0, *ends], ends, strict=False)]


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{_json(record)}\n" for record in records)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def tvr_ranking_run(segments: Segments, _: str) -> str:
    """Return an array of `{query_id, predictions: [[video, start, end, score], ...]}`."""
    ids = as_integers(segments.queries)
    records = (
        _json({"query_id": name, "predictions": [row[1:] for row in rows]})
        for name, rows in zip(ids, _lists(segments), strict=True)
    )
    return "[\n" + ",\n".join(records) + "\n]\n"


def flat_qrels(segments: Segments) -> str:
    """Return a line `{query_id, video_name, timestamp, relevance}` per segment."""
    refuse_empty_queries(segments)
    ids = as_integers(segments.queries)
    names = ("query_id", "video_name", "timestamp", "relevance")
    return _lines(
        [
            dict(zip(names, (ids[query], video, [start, end], int(level)), strict=True))
            for query, video, start, end, level in list_rows(segments)
        ]
    )


def _qvhighlights(segments: Segments, key: str, width: int) -> str:
    """Return a line per query."""
    refuse_empty_queries(segments)
    records = []
    for name, rows in zip(as_integers(segments.queries), _lists(segments), strict=True):
        video = rows[0][1]
        if any(row[1] != video for row in rows):
            raise FormatError(f"qvhighlights allows one video per query; {str(name)!r} has several")
        records.append({"qid": name, "vid": video, key: [row[2 : 2 + width] for row in rows]})
    return _lines(records)


def qvhighlights_qrels(segments: Segments) -> str:
    """Return lines `{qid, vid, relevant_windows}`; all levels must be 1."""
    if (segments.value != 1).any():
        raise FormatError("qvhighlights allows level 1 only; use flat or segments")
    return _qvhighlights(segments, "relevant_windows", 2)


_QRELS: dict[str, Callable[[Segments], str]] = {
    SEGMENTS: qrels_text,
    "flat": flat_qrels,
    "qvhighlights": qvhighlights_qrels,
}
_RUNS: dict[str, Callable[[Segments, str], str]] = {
    SEGMENTS: run_text,
    "tvr-ranking": tvr_ranking_run,
    "qvhighlights": lambda segments, _: _qvhighlights(segments, "pred_relevant_windows", 3),
}
QRELS_WRITTEN, RUNS_WRITTEN = tuple(_QRELS), tuple(_RUNS)
