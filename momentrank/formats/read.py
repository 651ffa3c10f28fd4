"""Read qrels and runs in any format."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from momentrank.errors import UsageError
from momentrank.formats import text
from momentrank.formats.json_text import read_records
from momentrank.formats.registry import (
    QRELS,
    QRELS_FORMATS,
    RUN_FORMATS,
    RUNS,
    JsonFormat,
    check_format,
    choose_format,
    is_json,
    is_text,
    unknown,
)
from momentrank.formats.source import Place, Source, pause_collector, read_source
from momentrank.formats.table import Table
from momentrank.formats.text import TIMES, Time
from momentrank.formats.videos import read_corpus
from momentrank.segments import Segments, qrels_frame, run_frame

if TYPE_CHECKING:
    import pandas as pd

Warn = Callable[[str], None]


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def load_qrels(
    path: Path | str, *, fmt: str | None = None, time: Time = "seconds", warn: Warn = _warn
) -> Segments:
    """Read judged segments.

    Args:
        path: the file, compressed by gzip or not.
        fmt: one of `QRELS_FORMATS`; detected from the content by default.
        time: the unit of times in text files; "mm.ss" is MediaEval's minutes.seconds.
        warn: called with each warning, a line of text.

    Raises:
        FormatError: the file is malformed; with the line or the path in the JSON.
        UsageError: the format does not exist, or `time` does not apply to it.
    """
    check_format(fmt, QRELS_FORMATS)
    with pause_collector():
        table = qrels_table(read_source(Path(path)), fmt, time)
        segments = table.qrels()
        if message := table.contradiction():
            warn(message)
        return segments


def qrels_table(source: Source, fmt: str | None, time: Time) -> Table:
    """Return the table of a qrels file; for errors, see `load_qrels`."""
    _check_time(source, fmt, time)
    if is_text(source, fmt):
        return text.read_qrels(source, time)
    if fmt is None and not is_json(source):
        raise unknown(source, "qrels")
    records = read_records(source)
    one = _by_name(QRELS, fmt) or choose_format(source, records, "qrels")
    return _with_queries(source, one.read(records, None, None))


def load_run(  # noqa: PLR0913  (the options of a command)
    path: Path | str,
    *,
    fmt: str | None = None,
    time: Time = "seconds",
    corpus: Path | str | None = None,
    depth: int | None = None,
    warn: Warn = _warn,
) -> Segments:
    """Read a run: by rank if the file has ranks, else in the order of its lists.

    Args:
        path: the file, compressed by gzip or not.
        fmt: one of `RUN_FORMATS`; detected from the content by default.
        time: the unit of times in text files; "mm.ss" is MediaEval's minutes.seconds.
        corpus: the `video_corpus.json` that a run's video indices refer to.
        depth: how many results of each query to read.
        warn: called with each warning, a line of text.

    Raises:
        FormatError: the file is malformed; with the line or the path in the JSON.
        UsageError: the format does not exist, or `time` does not apply to it.
    """
    check_format(fmt, RUN_FORMATS)
    with pause_collector():
        table = run_table(read_source(Path(path)), fmt, time, corpus, depth)
        run = table.run()
        warn_of_repeated_ranks(table, warn)
    return run


def run_table(
    source: Source, fmt: str | None, time: Time, corpus: Path | str | None, depth: int | None
) -> Table:
    """Return the table of a run file; for errors, see `load_run`."""
    _check_time(source, fmt, time)
    if is_text(source, fmt):
        return text.read_run(source, time, depth)
    if fmt is None and not is_json(source):
        raise unknown(source, "run")
    records = read_records(source)
    one = _by_name(RUNS, fmt) or choose_format(source, records, "run")
    videos = None if corpus is None else read_corpus(Path(corpus))
    return _with_queries(source, one.read(records, depth, videos))


def _with_queries(source: Source, table: Table) -> Table:
    """Refuse a file without queries: nothing could be scored."""
    if not table.query and not table.queries:
        raise Place(source.path).error("the file contains no queries")
    return table


def warn_of_repeated_ranks(table: Table, warn: Warn) -> None:
    """Warn if a query has the same rank twice."""
    if table.repeated:
        count, first = table.repeated
        ties = f"{count} such lines; ties keep the file's order"
        warn(str(first.error(f"the rank appears twice in its query ({ties})")))


def _by_name(formats: tuple[JsonFormat, ...], fmt: str | None) -> JsonFormat | None:
    return next((one for one in formats if one.name == fmt), None)


def _check_time(source: Source, fmt: str | None, time: Time) -> None:
    if time not in TIMES:
        raise UsageError(f"{time!r} is not a valid time, must be one of {', '.join(TIMES)}")
    if time != "seconds" and not is_text(source, fmt) and is_json(source):
        raise UsageError(
            f"{source.path}: --time {time} is only for text files; for JSON use --time seconds"
        )


def read_qrels(
    path: Path | str, *, fmt: str | None = None, time: Time = "seconds"
) -> "pd.DataFrame":
    """Read qrels as a frame `query_id, video_id, start, end, level`; see `load_qrels`."""
    return qrels_frame(load_qrels(path, fmt=fmt, time=time))


def read_run(  # noqa: PLR0913  (as `load_run`)
    path: Path | str,
    *,
    fmt: str | None = None,
    time: Time = "seconds",
    corpus: Path | str | None = None,
    depth: int | None = None,
    warn: Warn = _warn,
) -> "pd.DataFrame":
    """Read a run as a frame `query_id, video_id, start, end, rank, score`; see `load_run`."""
    run = load_run(path, fmt=fmt, time=time, corpus=corpus, depth=depth, warn=warn)
    return run_frame(run)
