"""Read qrels and runs in any format."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, Unpack, get_args

from momentrank.errors import UsageError
from momentrank.formats import text
from momentrank.formats.benchmarks import captions, tvr
from momentrank.formats.benchmarks.base import JsonFormat, Reading
from momentrank.formats.records import Column, read_records
from momentrank.formats.registry import (
    QRELS,
    QRELS_FORMATS,
    RUN_FORMATS,
    RUNS,
    SEGMENTS,
    check_format,
    choose_format,
    first_record,
    is_charades,
    is_json,
    is_text,
    unknown,
)
from momentrank.formats.source import Location, Source, pause_collector, read_source
from momentrank.formats.table import Table, Truth
from momentrank.formats.text import TIMES, Time
from momentrank.formats.videos import read_corpus
from momentrank.segments import Segments, qrels_frame, run_frame

if TYPE_CHECKING:
    import pandas as pd

Warn = Callable[[str], None]
Lists = dict[str, Segments]
"""The list of each task, by its name; "" is for all tasks."""


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


class ReadOptions(NamedTuple):
    """How to read a file; see `load_truth` and `load_run`."""

    fmt: str | None = None
    time: Time = "seconds"
    columns: str | None = None
    lenient: bool = False
    warn: Warn = _warn
    corpus: Path | str | None = None
    depth: int | None = None
    truth: Truth | None = None
    negative: bool = False


class QrelsOptions(TypedDict, total=False):
    """The options of `load_truth`."""

    fmt: str | None
    time: Time
    columns: str | None
    lenient: bool
    warn: Warn
    negative: bool


class RunOptions(QrelsOptions, total=False):
    """The options of `load_run`."""

    corpus: Path | str | None
    depth: int | None
    truth: Truth | None


def load_qrels(path: Path | str, **options: Unpack[QrelsOptions]) -> Segments:
    """Read judged segments; for options, see `load_truth`."""
    return load_truth(path, **options).segments


def load_truth(path: Path | str, **options: Unpack[QrelsOptions]) -> Truth:
    """Read judged segments, with the videos' durations and the queries' texts if the file has them.

    Args:
        path: the file, gzipped or not.
        options: `fmt`, one of `QRELS_FORMATS`, is detected from the content by default. `time` is
            the unit of times in text files; "mm.ss" is MediaEval's minutes.seconds. `columns` are
            the names of a text file's columns (`momentrank.formats.text.NAMES`). With `lenient`,
            moments that end before they start are left out, instead of being errors; a query
            left without one counts as missed. With `negative`, levels below 0 are read as 0,
            instead of being errors. `warn` is called with each warning, a line of text.

    Raises:
        FormatError: the file is malformed; with the line or the path in the JSON.
        UsageError: the format does not exist, or `time` or `columns` does not apply to it.
    """
    how = ReadOptions(**options)
    check_format(how.fmt, QRELS_FORMATS)
    with pause_collector():
        table, name = qrels_table(read_source(Path(path)), how)
        segments = table.qrels()
        repeats = table.repeats(segments, judged=True)
        truth = Truth(segments, name, table.durations, table.texts, repeats.conflict)
        for message in [*table.notes, *repeats.remarks, *truth.odd_times(str(path))]:
            how.warn(message)
        return truth


def qrels_table(
    source: Source, options: ReadOptions, records: Column | None = None
) -> tuple[Table, str]:
    """Return the table of a qrels file, and its format; `records` are its JSON if it is parsed."""
    if _read_as_text(source, options):
        if is_charades(source, options.fmt):
            table, name = captions.read_charades(source), captions.CHARADES
        else:
            table, name = text.read_qrels(source, options.time, options.columns), SEGMENTS
    else:
        records = records or _read_records(source, options, "qrels")
        json_format = _by_name(QRELS, options.fmt) or choose_format(source, records, "qrels")
        table, name = json_format.read(records, Reading()), json_format.name
    table = table.without_negative() if options.negative else table
    return _with_queries(source, table.without_reversed() if options.lenient else table), name


def load_run(path: Path | str, **options: Unpack[RunOptions]) -> Segments:
    """Read a run: by rank if the file has ranks, else in the order of its lists.

    Args:
        path: the file, gzipped or not.
        options: those of `load_truth`, but `fmt` is one of `RUN_FORMATS`, and with `lenient`
            malformed results count as not relevant. `corpus` is the `video_corpus.json` that a
            run's video indices refer to, `depth` how many results of each query are read, and
            `truth` the qrels, for formats that do not name queries or videos.

    Raises:
        FormatError: the file is malformed; with the line or the path in the JSON.
        UsageError: the format does not exist, or `time` or `columns` does not apply to it.
    """
    return next(iter(load_lists(path, **options).values()))


def load_lists(path: Path | str, *, tasks: bool = False, **options: Unpack[RunOptions]) -> Lists:
    """Read a run, with `tasks` the list of each task of a submission to TVR; see `load_run`."""
    how = ReadOptions(**options)
    check_format(how.fmt, RUN_FORMATS)
    with pause_collector():
        tables = run_tables(read_source(Path(path)), how, tasks=tasks)
        lists = {task: table.run() for task, table in tables.items()}
        for task, table in tables.items():
            for remark in table.remarks(lists[task]):
                how.warn(remark)
    return lists


def run_tables(
    source: Source, options: ReadOptions, records: Column | None = None, *, tasks: bool = False
) -> dict[str, Table]:
    """Return the tables of a run file, as `load_lists` does; see `qrels_table`."""
    if options.fmt is None and is_charades(source, None):
        raise Location(source.path).error(f"qrels ({captions.CHARADES}), not a run")
    if _read_as_text(source, options):
        layout = (options.time, options.depth, options.columns)
        return {"": text.read_run(source, *layout, lenient=options.lenient)}
    records = records or _read_records(source, options, "run")
    names = None if options.corpus is None else read_corpus(Path(options.corpus)).names
    reading = Reading(options.depth, names, options.truth, options.lenient)
    submissions = {
        task: submission
        for task, submission in zip(tvr.TASKS, tvr.SUBMISSIONS, strict=True)
        if options.fmt in {None, submission.name} and submission.knows(first_record(records))
    }
    listed = [task for task in submissions if first_record(records).get(task)]
    submissions = {task: submissions[task] for task in listed or submissions}
    if tasks and submissions:
        return {task: submission.read(records, reading) for task, submission in submissions.items()}
    json_format = _by_name(RUNS, options.fmt) or choose_format(source, records, "run")
    table = _with_queries(source, json_format.read(records, reading))
    if len(submissions) > 1:
        first, all_tasks = next(iter(submissions)), ", ".join(submissions)
        note = f"only {first} of {all_tasks} is read; for others name a run format"
        table = table._replace(notes=[*table.notes, f"{source.path}: {note}"])
    return {"": table}


def _read_as_text(source: Source, options: ReadOptions) -> bool:
    """Tell whether a file is read as lines of fields, after a check of the options."""
    as_charades, may_be_json = is_charades(source, options.fmt), is_json(source)
    by_columns = options.columns is not None and options.fmt is None and not may_be_json
    as_text = as_charades or by_columns or is_text(source, options.fmt)
    if options.time not in get_args(Time):
        times = ", ".join(TIMES)
        raise UsageError(f"{options.time!r} is not a valid unit of time; choose {times}")
    if as_charades or (not as_text and may_be_json):
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
        raise Location(source.path).error("the file contains no queries")
    return table


def _by_name(formats: tuple[JsonFormat, ...], fmt: str | None) -> JsonFormat | None:
    return next((known for known in formats if known.name == fmt), None)


def read_qrels(path: Path | str, **options: Unpack[QrelsOptions]) -> "pd.DataFrame":
    """Read qrels as a frame `query_id, video_id, start, end, level`; see `load_truth`.

    >>> mr.read_qrels("demo.qrels")["level"].tolist()
    [4, 3, 2, 3]
    """
    return qrels_frame(load_qrels(path, **options))


def read_run(path: Path | str, **options: Unpack[RunOptions]) -> "pd.DataFrame":
    """Read a run as a frame `query_id, video_id, start, end, rank, score`; see `load_run`.

    >>> mr.read_run("demo.run")[["video_id", "rank"]].head(2)
      video_id  rank
    0  kitchen     1
    1  kitchen     2
    """
    return run_frame(load_run(path, **options))
