"""Check a whole file and describe its content: `momentrank validate`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Unpack

import numpy as np

from momentrank.formats.benchmarks import captions
from momentrank.formats.documents import (
    DocumentKind,
    check_release,
    check_training,
    detect_document,
)
from momentrank.formats.lines import BY_WIDTH, Judged, first_fields, is_trec, read_trec
from momentrank.formats.read import Lists, ReadOptions, RunOptions, Warn, qrels_table, run_tables
from momentrank.formats.records import Column, read_records
from momentrank.formats.registry import (
    QRELS_FORMATS,
    RUN_FORMATS,
    SEGMENTS,
    check_format,
    detect_kind,
    is_charades,
    is_corpus,
    is_json,
    is_text,
    is_training,
    unknown,
)
from momentrank.formats.source import (
    Location,
    Source,
    count,
    pause_collector,
    read_source,
)
from momentrank.formats.table import Durations
from momentrank.formats.videos import parse_corpus
from momentrank.segments import Segments, find_odd_times

Kind = Literal["qrels", "run", "training set", "video corpus", DocumentKind, "empty file"]
EMPTY = (".qrels", ".run")
"""Files with these extensions may be empty, e.g. before anything is judged."""
UNITS = {
    "video corpus": "video",
    "manifest": "file",
    "croissant": "file",
    "levels": "level",
    "changes": "change",
}


class Description(NamedTuple):
    """A file's kind and content. `segments` counts the units of other kinds (`UNITS`).

    `unscored` is the number of a run's results without a score.
    """

    kind: Kind
    format: str
    queries: int
    segments: int
    levels: dict[int, int]
    remarks: list[str]
    unscored: int = 0

    @property
    def counted(self) -> str:
        """The counts, in words."""
        if self.kind in UNITS:
            end = ", all with matching SHA-256" if UNITS[self.kind] == "file" else ""
            return count(self.segments, UNITS[self.kind]) + end
        return f"{count(self.queries, 'query')}, {count(self.segments, 'segment')}"

    def warn(self, path: Path | str, warn: Warn) -> None:
        """Call `warn` with each remark; it names the file."""
        for remark in self.remarks:
            warn(remark if remark.startswith(str(path)) else f"{path}: {remark}")


class ExamineOptions(RunOptions, total=False):
    """The options of `examine`: those of `load_run`, and the formats of qrels and of runs."""

    qrels_format: str | None
    run_format: str | None
    tasks: bool


def describe(path: Path | str, **options: Unpack[ExamineOptions]) -> Description:
    """Check a file of any kind and format, and describe it; for errors, see `examine`."""
    return examine(path, **options)[0]


def examine(
    path: Path | str,
    *,
    qrels_format: str | None = None,
    run_format: str | None = None,
    tasks: bool = False,
    **options: Unpack[RunOptions],
) -> tuple[Description, Lists]:
    """Check a file of any kind and format; return its description, and its qrels or lists.

    Files listed in a release's documents are checked by their SHA-256. If one of `qrels_format` and
    `run_format` is given, the file is read as that. For other arguments see `load_lists`.

    Raises:
        FormatError: the file is malformed, or of no known format.
        UsageError: there is no such format, or an option does not apply to it.
    """
    check_format(qrels_format, QRELS_FORMATS)
    check_format(run_format, RUN_FORMATS)
    file = _File(read_source(Path(path), EMPTY), ReadOptions(**options), tasks)
    with pause_collector():
        if not file.source.text.strip():
            return _empty(SEGMENTS), {}
        if run_format and not qrels_format:
            return file.examine("run", run_format, fmt=run_format)
        if qrels_format and not run_format:
            return file.examine("qrels", qrels_format, fmt=qrels_format)
        return _examine(file, {"qrels": qrels_format, "run": run_format})


class _File(NamedTuple):
    """A file and how to read it; `records` are its JSON if it is parsed."""

    source: Source
    options: ReadOptions
    tasks: bool
    records: Column | None = None

    def examine(self, kind: Kind, name: str, fmt: str | None = None) -> tuple[Description, Lists]:
        """Return what the file is, read as qrels or a run."""
        options, levels = self.options._replace(fmt=fmt), dict[int, int]()
        if kind == "qrels":
            tables = {"": qrels_table(self.source, options, self.records)[0]}
            lists = {"": tables[""].qrels()}
            remarks = [*tables[""].notes, *tables[""].repeats(lists[""], judged=True).remarks]
            values, counts = np.unique(lists[""].value, return_counts=True)
            levels = dict(zip(map(int, values.tolist()), counts.tolist(), strict=True))
        else:
            tables = run_tables(self.source, options, self.records, tasks=self.tasks)
            lists = {task: table.run() for task, table in tables.items()}
            remarks = [
                text for task, table in tables.items() for text in table.remarks(lists[task])
            ]
        for task, segments in lists.items():
            odd = _oddities(kind, segments, next(iter(tables.values())).durations)
            remarks += (f"{task}: {message}" if task else message for message in odd)
        first = next(iter(lists.values()))
        sizes = len(first.queries), len(first.query)
        unscored = sum(table.unscored for table in tables.values())
        return Description(kind, name, *sizes, levels, remarks, unscored), lists


def _examine(file: _File, formats: Mapping[str, str | None]) -> tuple[Description, Lists]:
    source, columns = file.source, file.options.columns
    if is_text(source, None) or (columns is not None and not is_json(source)):
        names = columns or BY_WIDTH[len(first_fields(source.text))]
        return file.examine("qrels" if "level" in names else "run", SEGMENTS)
    if is_charades(source, None):
        return file.examine("qrels", captions.CHARADES)
    if is_trec(source):
        lines = read_trec(source)
        levels = dict(sorted(Counter(lines.level).items()))
        sizes = len(set(lines.query)), len(lines.level)
        return Description("qrels", "trec", *sizes, levels, _shared_ids(lines)), {}
    if not is_json(source):
        raise unknown(source)
    records = read_records(source)
    if (detected := detect_kind(records)) and not is_training(records):
        kind, detected_format = detected
        if kind == "qrels" and detected_format.name == "tvr-ranking":
            check_release(records)
        fmt = formats[kind]
        return file._replace(records=records).examine(kind, fmt or detected_format.name, fmt)
    return _describe_other(source, records), {}


def _empty(fmt: str) -> Description:
    return Description("empty file", fmt, 0, 0, {}, ["the file contains no queries"])


def _describe_other(source: Source, records: Column) -> Description:
    if not records.values:
        return _empty("json")
    if is_training(records):
        return Description("training set", "tvr-ranking", *check_training(records), {}, [])
    if is_corpus(records):
        videos = len(parse_corpus(records).durations)
        return Description("video corpus", "tvr-ranking", 0, videos, {}, [])
    if document := detect_document(records.values[0]):
        number = document.check(Location(source.path), records.values[0])
        listed = records.values[0]["files"] if document.kind == "manifest" else ()
        remarks = _remarks_on_release(source.path.parent, listed)
        return Description(document.kind, "json", 0, number, {}, remarks)
    raise unknown(source, records=records)


def _remarks_on_release(folder: Path, names: Iterable[str]) -> list[str]:
    """Return remarks on the ids in a release's qrels of moments, which have been checked."""
    paths = [folder / name for name in names if name.endswith(".moments.qrels")]
    sources = [source for path in paths if is_trec(source := read_source(path, EMPTY))]
    return [
        f"{source.path}: {text}" for source in sources for text in _shared_ids(read_trec(source))
    ]


def _shared_ids(judged: Judged) -> list[str]:
    """Return a remark if queries have the ids of moments."""
    if not (shared := sorted(set(judged.query) & set(judged.moment))):
        return []
    remark = (
        f"query ids that are ids of moments, too: {len(shared)} (such as {shared[0]!r}); if a query"
        " was made from that moment, a run can return it without reading anything, and BEIR's"
        " evaluation drops it"
    )
    return [remark]


def _oddities(kind: Kind, segments: Segments, durations: Durations) -> Iterable[str]:
    if empty := len(segments.queries) - len(np.unique(segments.query)):
        yield f"queries without segments: {empty}"
    noun = "judged moments" if kind == "qrels" else "results"
    yield from (message for message, _ in find_odd_times(segments, noun, durations()))
