"""Read qrels and runs in any format."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, Unpack, get_args

from momentrank.errors import UsageError
from momentrank.formats.benchmarks import charades_sta, tvr
from momentrank.formats.benchmarks.base import JsonFormat, Reading
from momentrank.formats.column import Column
from momentrank.formats.json_text import read_records
from momentrank.formats.lines import reader
from momentrank.formats.lines.reader import TIMES, Time
from momentrank.formats.registry import (
    QRELS,
    QRELS_FORMATS,
    RUN_FORMATS,
    RUNS,
    SEGMENTS,
    check_format,
    choose_format,
    is_charades,
    is_json,
    is_text,
    unknown,
)
from momentrank.formats.source import Place, Source, pause_collector, read_source
from momentrank.formats.table import Table
from momentrank.formats.truth import Truth
from momentrank.formats.videos import read_corpus
from momentrank.segments import Segments, qrels_frame, run_frame

if TYPE_CHECKING:
    import pandas as pd

Warn = Callable[[str], None]


class ReadOptions(NamedTuple):
    """How to read a file; see `load_qrels` and `load_run`."""

    fmt: str | None = None
    time: Time = "seconds"
    columns: str | None = None
    corpus: Path | str | None = None
    depth: int | None = None
    truth: Truth | None = None
    lenient: bool = False


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


class QrelsOptions(TypedDict, total=False):
    """The options of `load_truth`."""

    fmt: str | None
    time: Time
    columns: str | None
    lenient: bool
    warn: Warn


class RunOptions(QrelsOptions, total=False):
    """The options of `load_run`."""

    corpus: Path | str | None
    depth: int | None
    truth: Truth | None


def load_qrels(path: Path | str, **options: Unpack[QrelsOptions]) -> Segments:
    """Read judged segments; for options, see `load_truth`."""
    return load_truth(path, **options).segments


def load_truth(  # noqa: PLR0913  (the options of a command)
    path: Path | str,
    *,
    fmt: str | None = None,
    time: Time = "seconds",
    columns: str | None = None,
    lenient: bool = False,
    warn: Warn = _warn,
) -> Truth:
    """Read judged segments, with the videos' durations and the queries' texts if the file has them.

    Args:
        path: the file, compressed by gzip or not.
        fmt: one of `QRELS_FORMATS`; detected from the content by default.
        time: the unit of times in text files; "mm.ss" is MediaEval's minutes.seconds.
        columns: the names of a text file's columns (`momentrank.formats.lines.layouts.NAMES`).
        lenient: whether moments that end before they start are left out, which is told, instead of
            being errors.
        warn: called with each warning, a line of text.

    Raises:
        FormatError: the file is malformed; with the line or the path in the JSON.
        UsageError: the format does not exist, or `time` or `columns` does not apply to it.
    """
    check_format(fmt, QRELS_FORMATS)
    options = ReadOptions(fmt, time, columns, lenient=lenient)
    with pause_collector():
        table, name = qrels_table(read_source(Path(path)), options)
        segments = table.qrels()
        for message in table.qrels_remarks(segments):
            warn(message)
        return Truth(segments, name, table.durations, table.texts)


def qrels_table(source: Source, options: ReadOptions) -> tuple[Table, str]:
    """Return the table of a qrels file, and its format; for errors, see `load_qrels`."""
    if _read_as_text(source, options):
        if is_charades(source, options.fmt):
            table, name = charades_sta.read_annotations(source), charades_sta.NAME
        else:
            table, name = reader.read_qrels(source, options.time, options.columns), SEGMENTS
    else:
        records = _read_records(source, options, "qrels")
        one = _by_name(QRELS, options.fmt) or choose_format(source, records, "qrels")
        table, name = one.read(records, Reading()), one.name
    return _with_queries(source, table.without_reversed() if options.lenient else table), name


def load_run(  # noqa: PLR0913  (the options of a command)
    path: Path | str,
    *,
    fmt: str | None = None,
    time: Time = "seconds",
    columns: str | None = None,
    corpus: Path | str | None = None,
    depth: int | None = None,
    truth: Truth | None = None,
    lenient: bool = False,
    warn: Warn = _warn,
) -> Segments:
    """Read a run: by rank if the file has ranks, else in the order of its lists.

    Args:
        path: the file, compressed by gzip or not.
        fmt: one of `RUN_FORMATS`; detected from the content by default.
        time: the unit of times in text files; "mm.ss" is MediaEval's minutes.seconds.
        columns: the names of a text file's columns (`momentrank.formats.lines.layouts.NAMES`).
        corpus: the `video_corpus.json` that a run's video indices refer to.
        depth: how many results of each query to read.
        truth: the qrels, for formats that do not name queries or videos; see `load_truth`.
        lenient: whether malformed results count as not relevant, which is told, instead of being
            errors.
        warn: called with each warning, a line of text.

    Raises:
        FormatError: the file is malformed; with the line or the path in the JSON.
        UsageError: the format does not exist, or `time` or `columns` does not apply to it.
    """
    check_format(fmt, RUN_FORMATS)
    options = ReadOptions(fmt, time, columns, corpus, depth, truth, lenient)
    with pause_collector():
        table = run_table(read_source(Path(path)), options)
        run = table.run()
        for remark in table.remarks(run):
            warn(remark)
    return run


def load_tasks(
    path: Path | str,
    *,
    fmt: str | None = None,
    depth: int | None = None,
    lenient: bool = False,
    warn: Warn = _warn,
) -> dict[str, Segments]:
    """Read the run of each task of a submission to TVR, by task; none from other files.

    For arguments and errors, see `load_run`.
    """
    source = read_source(Path(path))
    if is_text(source, None) or not is_json(source):
        return {}
    reading = Reading(depth, lenient=lenient)
    with pause_collector():
        records = read_records(source)
        first = next(iter(records.values), None)
        tables = {
            task: one.read(records, reading)
            for task, one in zip(tvr.TASKS, tvr.SUBMISSIONS, strict=True)
            if one.knows(first) and fmt in {None, one.name}
        }
        runs = {task: table.run() for task, table in tables.items()}
        for task, table in tables.items():
            for remark in table.remarks(runs[task]):
                warn(remark)
    return runs


def run_table(source: Source, options: ReadOptions) -> Table:
    """Return the table of a run file; for errors, see `load_run`."""
    if options.fmt is None and is_charades(source, None):
        raise Place(source.path).error(f"qrels ({charades_sta.NAME}), not a run")
    if _read_as_text(source, options):
        return reader.read_run(
            source, options.time, options.depth, options.columns, lenient=options.lenient
        )
    records = _read_records(source, options, "run")
    one = _by_name(RUNS, options.fmt) or choose_format(source, records, "run")
    names = None if options.corpus is None else read_corpus(Path(options.corpus)).names
    reading = Reading(options.depth, names, options.truth, options.lenient)
    return _with_queries(source, one.read(records, reading))


def _read_as_text(source: Source, options: ReadOptions) -> bool:
    """Tell whether a file is read as lines of fields, after a check of the options."""
    as_text = any(test(source, options.fmt) for test in (is_text, is_charades)) or (
        options.columns is not None and options.fmt is None and not is_json(source)
    )
    if options.time not in get_args(Time):
        known = ", ".join(TIMES)
        raise UsageError(f"{options.time!r} is not a valid time, must be one of {known}")
    if is_charades(source, options.fmt) or (not as_text and is_json(source)):
        if options.time == "mm.ss":
            raise UsageError(f"{source.path}: --time mm.ss is only for lines of fields")
        if options.columns is not None:
            raise UsageError(f"{source.path}: --columns is only for lines of fields")
    return as_text


def _read_records(source: Source, options: ReadOptions, kind: Literal["qrels", "run"]) -> Column:
    if options.fmt is None and not is_json(source):
        raise unknown(source, kind)
    return read_records(source)


def _with_queries(source: Source, table: Table) -> Table:
    """Refuse a file without queries: nothing could be scored."""
    if not table.query and not table.queries:
        raise Place(source.path).error("the file contains no queries")
    return table


def _by_name(formats: tuple[JsonFormat, ...], fmt: str | None) -> JsonFormat | None:
    return next((one for one in formats if one.name == fmt), None)


def read_qrels(path: Path | str, **options: Unpack[QrelsOptions]) -> "pd.DataFrame":
    """Read qrels as a frame `query_id, video_id, start, end, level`; see `load_truth`."""
    return qrels_frame(load_qrels(path, **options))


def read_run(path: Path | str, **options: Unpack[RunOptions]) -> "pd.DataFrame":
    """Read a run as a frame `query_id, video_id, start, end, rank, score`; see `load_run`."""
    return run_frame(load_run(path, **options))
