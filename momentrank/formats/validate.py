"""Say what a file holds, having checked all of it: `momentrank validate`."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from momentrank.formats import text, trec
from momentrank.formats.column import Column
from momentrank.formats.documents import detect_document
from momentrank.formats.json_text import read_records
from momentrank.formats.read import qrels_table, run_table, tell_repeated_ranks
from momentrank.formats.registry import (
    SEGMENTS,
    Kind,
    detect_kind,
    is_corpus,
    is_json,
    is_text,
    is_training,
    unknown,
)
from momentrank.formats.source import Place, Source, pause_collector, read_source
from momentrank.formats.table import Table
from momentrank.formats.text import Time
from momentrank.formats.videos import parse_corpus
from momentrank.segments import Segments

EMPTY = (".qrels", ".run")
"""Files of these names may hold nothing, as before anything is judged."""
UNITS = {
    "video corpus": "videos",
    "manifest": "files, each as it says",
    "croissant": "files, each as it says",
    "levels": "levels",
}


class Description(NamedTuple):
    """What a file is and holds. `segments` counts what else a file of its kind lists (`UNITS`)."""

    kind: Kind
    format: str
    queries: int
    segments: int
    levels: dict[int, int]
    remarks: list[str]

    @property
    def counted(self) -> str:
        """How much it holds, in words."""
        if self.kind in UNITS:
            return f"{self.segments} {UNITS[self.kind]}"
        return f"{self.queries} queries, {self.segments} segments"


def describe(
    path: Path | str, *, time: Time = "seconds", corpus: Path | str | None = None
) -> Description:
    """Check a file of any kind and format, and say what it holds.

    A release's own documents name files: those are checked by their SHA-256.

    Raises:
        FormatError: the file is malformed, or of no known format.
    """
    with pause_collector():
        source = read_source(Path(path), empty=EMPTY)
        if not source.text.strip():
            return _empty(SEGMENTS)
        if is_text(source, None):
            fields = len(text.first_fields(source.text))
            kind: Kind = "qrels" if fields == 6 else "run"  # noqa: PLR2004  (a run has eight)
            return _describe_segments(kind, SEGMENTS, source, time, corpus)
        if trec.is_trec(source):
            return _describe_moments(trec.read_qrels(source))
        if not is_json(source):
            raise unknown(source)
        return _describe_json(source, read_records(source), time, corpus)


def _empty(fmt: str) -> Description:
    return Description("empty file", fmt, 0, 0, {}, ["there is nothing in it: no queries"])


def _describe_moments(found: trec.Judged) -> Description:
    counts = dict(sorted(Counter(found.level).items()))
    return Description("qrels", "trec", len(set(found.query)), len(found.level), counts, [])


def _describe_json(
    source: Source, records: Column, time: Time, corpus: Path | str | None
) -> Description:
    if not records.values:
        return _empty("json")
    if is_training(records):
        return _training(records)
    if found := detect_kind(records):
        if found[1].name == "tvr-ranking" and found[0] == "qrels":
            _check_release(records)
        return _describe_segments(*(found[0], found[1].name), source, time, corpus)
    if is_corpus(records):
        videos = len(parse_corpus(records))
        return Description("video corpus", "tvr-ranking", 0, videos, {}, [])
    if document := detect_document(records.values[0]):
        number = document.check(Place(source.path), records.values[0])
        return Description(document.kind, "json", 0, number, {}, [])
    raise unknown(source, records=records)


def _describe_segments(
    kind: Kind, fmt: str, source: Source, time: Time, corpus: Path | str | None
) -> Description:
    remarks: list[str] = []
    if kind == "qrels":
        table = qrels_table(source, fmt, time)
        segments = table.qrels()
        remarks += filter(None, [table.contradiction()])
        levels, counts = np.unique(segments.value, return_counts=True)
        by_level = dict(zip(map(int, levels.tolist()), counts.tolist(), strict=True))
    else:
        table = run_table(source, fmt, time, corpus, None)
        segments, by_level = table.run(), {}
        tell_repeated_ranks(table, remarks.append)
    remarks += _oddities(table, segments)
    return Description(kind, fmt, len(segments.queries), len(segments.query), by_level, remarks)


def _oddities(table: Table, segments: Segments) -> Iterable[str]:
    """Yield remarks: not errors, but worth a look."""
    keys = zip(table.query, table.video, table.start.tolist(), table.end.tolist(), strict=True)
    if twice := len(table.query) - len(set(keys)):
        yield f"segments that appear twice in their query: {twice}"
    if empty := len(segments.queries) - len(np.unique(segments.query)):
        yield f"queries without segments: {empty}"
    if instants := int((segments.start == segments.end).sum()):
        yield f"segments without length: {instants}"
    if early := int((segments.start < 0).sum()):
        yield f"segments that start before 0: {early}"


def _check_release(records: Column) -> None:
    """Check what only the released qrels hold, where they hold it."""
    records.key("query", str)
    moments = records.key("relevant_moment", list).flat()
    for name, kind in {
        "pair_id": int,
        "duration": float,
        "caption": str,
        "similarity": float,
    }.items():
        some = _those_with(moments, name)
        values = some.key(name)
        if kind is str:
            values.require(str)
        elif kind is float:
            _finite(values)
        else:
            values.require(int).distinct_ids()


def _those_with(moments: Column, name: str) -> Column:
    moments.require(dict)
    rows = [row for row, moment in enumerate(moments.values) if name in moment]
    return Column([moments.values[row] for row in rows], lambda row: moments.place(rows[row]))


def _finite(values: Column) -> None:
    finite = np.isfinite(values.numbers())
    values.refuse((~finite).tolist(), "must be a number")


def _training(records: Column) -> Description:
    """Check `{query_id, query, relevant_moment: [{..., caption, similarity}]}`."""
    queries = records.key("query_id").distinct_ids()
    records.key("query", str)
    moments = records.key("relevant_moment", list).flat()
    start, end = moments.key("timestamp", list).parts("start end")
    _finite(moments.key("duration"))
    _finite(moments.key("similarity"))
    moments.key("caption", str)
    videos = moments.key("video_name", str).ids()
    columns = (start.numbers(), end.numbers(), np.zeros(len(videos)))
    Table([""] * len(videos), videos, *columns, moments.place).run()
    return Description("training set", "tvr-ranking", len(queries), len(videos), {}, [])
