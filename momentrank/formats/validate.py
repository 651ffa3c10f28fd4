"""Check a whole file and describe its content: `momentrank validate`."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from momentrank.formats.benchmarks import charades_sta
from momentrank.formats.column import Column
from momentrank.formats.documents import detect_document
from momentrank.formats.json_text import read_records
from momentrank.formats.lines import layouts, rows, trec
from momentrank.formats.lines.reader import Time
from momentrank.formats.read import ReadOptions, qrels_table, run_table
from momentrank.formats.registry import (
    SEGMENTS,
    Kind,
    detect_kind,
    is_charades,
    is_corpus,
    is_json,
    is_text,
    is_training,
    unknown,
)
from momentrank.formats.source import Place, Source, count, pause_collector, read_source
from momentrank.formats.table import Table
from momentrank.formats.truth import Truth
from momentrank.formats.videos import parse_corpus
from momentrank.segments import Segments

EMPTY = (".qrels", ".run")
"""Files with these extensions may be empty, e.g. before anything is judged."""
UNITS = {
    "video corpus": "video",
    "manifest": "file",
    "croissant": "file",
    "levels": "level",
}


class Description(NamedTuple):
    """A file's kind and content. `segments` counts the units of other kinds (`UNITS`)."""

    kind: Kind
    format: str
    queries: int
    segments: int
    levels: dict[int, int]
    remarks: list[str]

    @property
    def counted(self) -> str:
        """The counts, in words."""
        if self.kind in UNITS:
            told = ", all with matching SHA-256" if UNITS[self.kind] == "file" else ""
            return count(self.segments, UNITS[self.kind]) + told
        return f"{count(self.queries, 'query')}, {count(self.segments, 'segment')}"


def describe(  # noqa: PLR0913  (the options of a command)
    path: Path | str,
    *,
    time: Time = "seconds",
    columns: str | None = None,
    corpus: Path | str | None = None,
    truth: Truth | None = None,
    lenient: bool = False,
) -> Description:
    """Check a file of any kind and format, and describe it.

    Files listed in a release's documents are checked by their SHA-256.

    Raises:
        FormatError: the file is malformed, or of no known format.
    """
    options = ReadOptions(time=time, columns=columns, corpus=corpus, truth=truth, lenient=lenient)
    with pause_collector():
        source = read_source(Path(path), empty=EMPTY)
        if not source.text.strip():
            return _empty(SEGMENTS)
        if is_text(source, None) or (columns is not None and not is_json(source)):
            kind = _text_kind(source, columns)
            return _describe_segments(kind, SEGMENTS, source, options)
        if is_charades(source, None):
            return _describe_segments("qrels", charades_sta.NAME, source, options)
        if trec.is_trec(source):
            return _describe_moments(trec.read_qrels(source))
        if not is_json(source):
            raise unknown(source)
        return _describe_json(source, read_records(source), options)


def _text_kind(source: Source, columns: str | None) -> Kind:
    names = columns or layouts.BY_WIDTH[len(rows.first_fields(source.text))]
    return "qrels" if "level" in names else "run"


def _empty(fmt: str) -> Description:
    return Description("empty file", fmt, 0, 0, {}, ["the file contains no queries"])


def _describe_moments(lines: trec.Judged) -> Description:
    counts = dict(sorted(Counter(lines.level).items()))
    return Description("qrels", "trec", len(set(lines.query)), len(lines.level), counts, [])


def _describe_json(source: Source, records: Column, options: ReadOptions) -> Description:
    if not records.values:
        return _empty("json")
    if is_training(records):
        return _training(records)
    if detected := detect_kind(records):
        kind, one = detected
        if kind == "qrels" and one.name == "tvr-ranking":
            _check_release(records)
        return _describe_segments(kind, one.name, source, options)
    if is_corpus(records):
        videos = len(parse_corpus(records).durations)
        return Description("video corpus", "tvr-ranking", 0, videos, {}, [])
    if document := detect_document(records.values[0]):
        number = document.check(Place(source.path), records.values[0])
        return Description(document.kind, "json", 0, number, {}, [])
    raise unknown(source, records=records)


def _describe_segments(kind: Kind, fmt: str, source: Source, options: ReadOptions) -> Description:
    options = options._replace(fmt=fmt)
    remarks: list[str] = []
    if kind == "qrels":
        table, _ = qrels_table(source, options)
        segments = table.qrels()
        remarks += table.qrels_remarks(segments)
        levels, counts = np.unique(segments.value, return_counts=True)
        by_level = dict(zip(map(int, levels.tolist()), counts.tolist(), strict=True))
    else:
        table = run_table(source, options)
        segments, by_level = table.run(), dict[int, int]()
        remarks += table.remarks(segments)
    remarks += _oddities(table, segments)
    return Description(kind, fmt, len(segments.queries), len(segments.query), by_level, remarks)


def _oddities(table: Table, segments: Segments) -> Iterable[str]:
    """Yield warnings; results that can't be read have no video, and are not counted here."""
    keys = zip(table.query, table.video, table.start.tolist(), table.end.tolist(), strict=True)
    real = [key for key in keys if key[1]]
    if twice := len(real) - len(set(real)):
        yield f"segments that appear twice in their query: {twice}"
    if empty := len(segments.queries) - len(np.unique(segments.query)):
        yield f"queries without segments: {empty}"
    if instants := sum(start == end for *_, start, end in real):
        yield f"zero-length segments: {instants}"
    if early := sum(start < 0 for *_, start, _ in real):
        yield f"segments that start before 0: {early}"


def _check_release(records: Column) -> None:
    """Check the optional fields of released qrels."""
    records.key("query", str)
    moments = records.key("relevant_moment", list).flat()
    _optional(moments, "pair_id", int).distinct_ids()
    _optional(moments, "caption", str)
    for name in ("duration", "similarity"):
        _check_finite(_optional(moments, name))


def _optional(moments: Column, name: str, *kinds: type) -> Column:
    """Return a field of those moments that have it."""
    moments.require(dict)
    rows = [row for row, moment in enumerate(moments.values) if name in moment]
    return moments.select(rows).key(name, *kinds)


def _check_finite(values: Column) -> None:
    values.refuse((~np.isfinite(values.numbers())).tolist(), "must be a number")


def _training(records: Column) -> Description:
    """Check `{query_id, query, relevant_moment: [{..., caption, similarity}]}`."""
    queries = records.key("query_id").distinct_ids()
    records.key("query", str)
    moments = records.key("relevant_moment", list).flat()
    start, end = moments.key("timestamp", list).parts("start end")
    _check_finite(moments.key("duration"))
    _check_finite(moments.key("similarity"))
    moments.key("caption", str)
    videos = moments.key("video_name", str).ids()
    columns = (start.numbers(), end.numbers(), np.zeros(len(videos)))
    Table([""] * len(videos), videos, *columns, moments.place).run()
    return Description("training set", "tvr-ranking", len(queries), len(videos), {}, [])
