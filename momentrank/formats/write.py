"""Write qrels and runs, atomically; reading a file returns what was written."""

import gzip
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats.benchmarks.tvr import SUBMISSIONS
from momentrank.formats.lines import writer
from momentrank.formats.read import Warn, load_tasks
from momentrank.formats.registry import SEGMENTS, check_format
from momentrank.formats.source import FormatError
from momentrank.formats.validate import Description
from momentrank.ids import as_integers
from momentrank.segments import Segments

TAG = "momentrank"
Read = Callable[[Path], Segments]


def write_qrels(path: Path | str, segments: Segments, fmt: str = SEGMENTS) -> None:
    """Write judged segments, compressed if the name ends in .gz.

    Raises:
        FormatError: the format can't express them.
        UsageError: qrels can't be written in that format.
    """
    check_format(fmt, tuple(_QRELS))
    writer.refuse_empty_ids(segments)
    _write(Path(path), _QRELS[fmt](segments))


def write_run(path: Path | str, segments: Segments, fmt: str = SEGMENTS, tag: str = TAG) -> None:
    """Write results in order, with `tag` if the format has one; see `write_qrels`.

    Raises:
        FormatError: the format can't express them.
        UsageError: runs can't be written in that format, or the tag is not one word.
    """
    check_format(fmt, tuple(_RUNS))
    if tag.split() != [tag]:
        raise UsageError(f"the tag {tag!r} must be one word")
    writer.refuse_empty_ids(segments)
    _write(Path(path), _RUNS[fmt](segments, tag))


def convert(  # noqa: PLR0913  (the options of a command)
    content: Description,
    source: Path,
    out: Path,
    to: str,
    *,
    read_qrels: Read,
    read_run: Read,
    tag: str,
    warn: Warn,
) -> None:
    """Read one file and write the other; `content` describes the source.

    `warn` is called if one list of several is written.

    Raises:
        FormatError: the file is malformed, or the format can't express it.
        UsageError: the file is neither, there is no such format, or both files are the same.
    """
    if out.exists() and out.samefile(source):
        raise UsageError(f"{out}: input and output must be different files")
    if content.kind == "qrels":
        write_qrels(out, read_qrels(source), to)
    elif content.kind == "run":
        write_run(out, read_run(source), to, tag=tag)
        if content.format in {one.name for one in SUBMISSIONS}:
            tasks = load_tasks(source, depth=1, lenient=True, warn=lambda _: None)
            if len(tasks) > 1:
                warn(f"{source}: one list of {', '.join(tasks)} is written; name its run format")
    else:
        raise UsageError(f"{source}: {content.kind}; only qrels and runs can be converted")


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


def _lists(segments: Segments) -> list[list[writer.Row]]:
    rows = writer.list_rows(segments)
    ends = np.cumsum(np.bincount(segments.query, minlength=len(segments.queries))).tolist()
    return [rows[first:last] for first, last in zip([0, *ends], ends, strict=False)]


def _array(records: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(_json, records)) + "\n]\n"


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{_json(record)}\n" for record in records)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def tvr_ranking_run(segments: Segments, _: str) -> str:
    """Return an array of `{query_id, predictions: [[video, start, end, score], ...]}`."""
    ids = as_integers(segments.queries)
    return _array(
        [
            {"query_id": name, "predictions": [row[1:] for row in rows]}
            for name, rows in zip(ids, _lists(segments), strict=True)
        ]
    )


def flat_qrels(segments: Segments) -> str:
    """Return a line `{query_id, video_name, timestamp, relevance}` per segment.

    Raises:
        FormatError: a query has no segments.
    """
    writer.refuse_empty_queries(segments)
    ids = as_integers(segments.queries)
    names = ("query_id", "video_name", "timestamp", "relevance")
    return _lines(
        [
            dict(zip(names, (ids[query], video, [start, end], int(level)), strict=True))
            for query, video, start, end, level in writer.list_rows(segments)
        ]
    )


def _qvhighlights(segments: Segments, key: str, width: int) -> str:
    """Return a line per query.

    Raises:
        FormatError: a query has no segments, or segments of several videos.
    """
    writer.refuse_empty_queries(segments)
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


def qvhighlights_run(segments: Segments, _: str) -> str:
    """Return lines `{qid, vid, pred_relevant_windows}`."""
    return _qvhighlights(segments, "pred_relevant_windows", 3)


_QRELS: dict[str, Callable[[Segments], str]] = {
    SEGMENTS: writer.qrels_text,
    "flat": flat_qrels,
    "qvhighlights": qvhighlights_qrels,
}
_RUNS: dict[str, Callable[[Segments, str], str]] = {
    SEGMENTS: writer.run_text,
    "tvr-ranking": tvr_ranking_run,
    "qvhighlights": qvhighlights_run,
}
QRELS_WRITTEN, RUNS_WRITTEN = tuple(_QRELS), tuple(_RUNS)
