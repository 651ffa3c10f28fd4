"""Write qrels and runs, whole or not at all; what is read back is what was written."""

import gzip
import json
import os
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats.known import SEGMENTS, check_format
from momentrank.formats.source import FormatError
from momentrank.ids import encode_id
from momentrank.segments import Segments

TAG = "momentrank"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def write_qrels(path: Path | str, segments: Segments, fmt: str = SEGMENTS) -> None:
    """Write judged segments; compressed if the name ends in .gz.

    Raises:
        FormatError: the format can't hold them.
        UsageError: qrels are not written in that format.
    """
    check_format(fmt, tuple(_QRELS))
    _write(Path(path), _QRELS[fmt](segments))


def write_run(path: Path | str, segments: Segments, fmt: str = SEGMENTS, tag: str = TAG) -> None:
    """Write results in their order, with `tag` where a format has one; see `write_qrels`.

    Raises:
        FormatError: the format can't hold them.
        UsageError: runs are not written in that format, or the tag is not one field.
    """
    check_format(fmt, tuple(_RUNS))
    if tag.split() != [tag]:
        raise UsageError(f"the tag {tag!r} must be one word")
    _write(Path(path), _RUNS[fmt](segments, tag))


def _write(path: Path, text: str) -> None:
    """Write beside the target, then rename: a kill leaves the former file, or none."""
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


def _rows(segments: Segments) -> list[tuple[int, str, float, float, float]]:
    columns = (segments.start.tolist(), segments.end.tolist(), segments.value.tolist())
    return list(zip(segments.query.tolist(), segments.video, *columns, strict=True))


def _fields(ids: list[str]) -> dict[str, str]:
    """Return each id as one field; a leading # would make its line a comment."""
    if "" in ids:
        raise FormatError("an empty id can't be a field; try a JSON format")
    try:
        fields = {text: encode_id(text) for text in dict.fromkeys(ids)}
    except UnicodeEncodeError as exc:
        raise FormatError(f"the id {exc.object!r} can't be written as UTF-8") from exc
    return {text: re.sub("^#", "%23", field) for text, field in fields.items()}


def _text_parts(segments: Segments) -> tuple[list[str], dict[str, str]]:
    _refuse_empty_queries(segments)
    queries = _fields(segments.queries)
    return [queries[name] for name in segments.queries], _fields(segments.video)


def _text_qrels(segments: Segments) -> str:
    queries, videos = _text_parts(segments)
    return "".join(
        f"{queries[query]} Q0 {videos[video]} {start!r} {end!r} {int(level)}\n"
        for query, video, start, end, level in _rows(segments)
    )


def _text_run(segments: Segments, tag: str) -> str:
    queries, videos = _text_parts(segments)
    return "".join(
        f"{queries[query]} Q0 {videos[video]} {start!r} {end!r} {rank} {score!r} {tag}\n"
        for (query, video, start, end, score), rank in zip(
            _rows(segments), segments.rank.tolist(), strict=True
        )
    )


def _refuse_empty_queries(segments: Segments) -> None:
    """Refuse to lose a query: only a format with a record per query can hold an empty one."""
    counts = np.bincount(segments.query, minlength=len(segments.queries))
    if len(counts) == 0:
        raise FormatError("there are no queries to write")
    if not counts.all():
        name = segments.queries[int(np.argmin(counts))]
        raise FormatError(f"the query {name!r} has no segments, which this format can't say")


def _json_ids(ids: list[str]) -> list[Any]:
    """Return ids as integers where every one of them is written as one, else as they are."""
    return [int(text) for text in ids] if all(map(_INTEGER.fullmatch, ids)) else list(ids)


def _lists(segments: Segments) -> list[list[tuple[int, str, float, float, float]]]:
    rows = _rows(segments)
    ends = np.cumsum(np.bincount(segments.query, minlength=len(segments.queries))).tolist()
    return [rows[first:last] for first, last in zip([0, *ends], ends, strict=False)]


def _array(records: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(_json, records)) + "\n]\n"


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{_json(record)}\n" for record in records)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def _tvr_ranking_run(segments: Segments, _: str) -> str:
    ids = _json_ids(segments.queries)
    if not ids:
        raise FormatError("there are no queries to write")
    return _array(
        [
            {"query_id": name, "predictions": [row[1:] for row in rows]}
            for name, rows in zip(ids, _lists(segments), strict=True)
        ]
    )


def _flat_qrels(segments: Segments) -> str:
    _refuse_empty_queries(segments)
    ids = _json_ids(segments.queries)
    names = ("query_id", "video_name", "timestamp", "relevance")
    return _lines(
        [
            dict(zip(names, (ids[query], video, [start, end], int(level)), strict=True))
            for query, video, start, end, level in _rows(segments)
        ]
    )


def _qvhighlights(segments: Segments, key: str, width: int) -> str:
    """Return a line for each query, whose segments must be of one video."""
    _refuse_empty_queries(segments)
    records = []
    for name, rows in zip(_json_ids(segments.queries), _lists(segments), strict=True):
        video = rows[0][1]
        if any(row[1] != video for row in rows):
            raise FormatError(f"qvhighlights has one video a query, and {str(name)!r} has more")
        records.append({"qid": name, "vid": video, key: [row[2 : 2 + width] for row in rows]})
    return _lines(records)


def _qvhighlights_qrels(segments: Segments) -> str:
    if (segments.value != 1).any():
        raise FormatError("qvhighlights has level 1 only; try flat or segments")
    return _qvhighlights(segments, "relevant_windows", 2)


def _qvhighlights_run(segments: Segments, _: str) -> str:
    return _qvhighlights(segments, "pred_relevant_windows", 3)


_QRELS: dict[str, Callable[[Segments], str]] = {
    SEGMENTS: _text_qrels,
    "flat": _flat_qrels,
    "qvhighlights": _qvhighlights_qrels,
}
_RUNS: dict[str, Callable[[Segments, str], str]] = {
    SEGMENTS: _text_run,
    "tvr-ranking": _tvr_ranking_run,
    "qvhighlights": _qvhighlights_run,
}
QRELS_WRITTEN, RUNS_WRITTEN = tuple(_QRELS), tuple(_RUNS)
