"""Segments as lines of fields separated by spaces: `q Q0 video start end ...`.

Qrels have 6 fields; runs have 7 to 9 (`momentrank.formats.layouts`), the same number in every
line. Ids are percent-encoded. Blank lines and comments (#) are skipped.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np

from momentrank.formats.fields import NUMBER, Lines, column, floats, ids, minutes
from momentrank.formats.layouts import (
    BY_WIDTH,
    JUMP_IN,
    QRELS,
    RUNS,
    WIDEST,
    choose_run_layout,
    parse_columns,
)
from momentrank.formats.source import FormatError, Place, Source
from momentrank.formats.table import Table, Windows, fill_scores, read_windows
from momentrank.ids import encode_id
from momentrank.segments import Floats, Ints, Segments

Time = Literal["seconds", "mm.ss"]
TIMES: tuple[Time, ...] = ("seconds", "mm.ss")


def is_comment(line: str) -> bool:
    """Tell a comment, `# ...`, from a line whose query is named `#1`."""
    return line.startswith("#") and (line == "#" or line[1].isspace())


def first_fields(text: str) -> list[str]:
    """Return the fields of the first line with content, if any.

    At most one more than a line can have: a line of JSON may be the whole file.
    """
    lines = (line.split(None, WIDEST) for line in _split_lines(text) if not is_comment(line))
    return next(filter(None, lines), [])


def _split_lines(text: str) -> Iterable[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def is_segments(text: str) -> bool:
    """Tell whether the first line is a segment."""
    fields = first_fields(text)
    if len(fields) not in BY_WIDTH:
        return False
    # An id may begin like JSON, but in JSON no space separates two numbers.
    return fields[0][0] not in "[{" or all(map(NUMBER.fullmatch, fields[3:5]))


def read_lines(source: Source) -> Lines:
    """Return the fields of a text file.

    Raises:
        FormatError: two lines differ in their number of fields.
    """
    lines = source.text.split("\n")
    if "#" in source.text:
        lines = ["" if is_comment(line) else line for line in lines]
    fields = [line.split() for line in lines]
    rows = list(filter(None, fields))
    place = _places(source, fields)
    if not rows:
        raise Place(source.path).error("the file contains only comments")
    if len(set(map(len, rows))) > 1:
        row = next(row for row, line in enumerate(rows) if len(line) != len(rows[0]))
        reason = f"{len(rows[row])} columns, where the first line has {len(rows[0])}"
        raise place(row).error(reason)
    return Lines(rows, place)


def _places(source: Source, fields: list[list[str]]) -> Callable[[int], Place]:
    def place(row: int) -> Place:
        numbers = [number for number, line in enumerate(fields, start=1) if line]
        return Place(source.path, numbers[row])

    return place


def read_qrels(source: Source, time: Time = "seconds", columns: str | None = None) -> Table:
    """Read lines `query_id Q0 video_id start end level`, or as `columns` names them.

    Raises:
        FormatError: a line is malformed.
        UsageError: `columns` has no level.
    """
    lines = read_lines(source)
    if columns is not None:
        return _table(lines, _given(lines, columns, "level"), "level", time)
    if lines.width in RUNS:
        raise _not(lines, "a run, not qrels", f"qrels have 6: {QRELS}")
    if lines.width not in BY_WIDTH:
        raise _not(lines, "not qrels", f"which have 6: {QRELS}")
    return _table(lines, QRELS, "level", time)


def read_run(
    source: Source,
    time: Time = "seconds",
    depth: int | None = None,
    columns: str | None = None,
    *,
    lenient: bool = False,
) -> Table:
    """Read lines `query_id Q0 video_id start end rank score tag`, or their variants.

    Lines beyond the first `depth` of their query are read, but not returned.

    Raises:
        FormatError: a line is malformed.
        UsageError: `columns` has no rank or no score.
    """
    lines = read_lines(source)
    if columns is None and lines.width not in RUNS:
        wanted = f"a run has 7, 8 or 9: {RUNS[8]}, {JUMP_IN}, or both"
        raise _not(lines, "qrels, not a run" if lines.width in BY_WIDTH else "not a run", wanted)
    layout = (
        choose_run_layout(lines) if columns is None else _given(lines, columns, "rank", "score")
    )
    ranks = floats(lines, layout, "rank")
    rows, twice = _by_rank(column(lines, layout, "query_id"), ranks, depth)
    kept = lines if depth is None else _some(lines, rows)

    def parse(numbers: Sequence[int]) -> Windows:
        some = kept if len(numbers) == len(kept.rows) else _some(kept, np.array(numbers))
        windows = _windows(some, layout, time)
        return windows.check(some.place) if lenient else windows

    windows, error = read_windows(len(kept.rows), parse, lenient=lenient)
    query = ids(kept, layout, "query_id")
    if windows.malformed.any():
        windows = windows._replace(score=_fill_scores(query, ranks[rows], windows))
    table = Table(query, *windows[:4], kept.place)
    notes = [f"{source.path}: read as `{layout}`"] if columns is None and layout == JUMP_IN else []
    if twice:
        ties = f"{len(twice)} such lines; ties keep the file's order"
        reason = f"the rank appears twice in its query ({ties})"
        notes.append(str(lines.place(twice[0]).error(reason)))
    notes += windows.remarks(error, kept.place)
    if depth is not None and len(rows) < len(lines.rows) and not lenient:
        notes += _below(_some(lines, np.setdiff1d(np.arange(len(lines.rows)), rows)), layout, time)
    return table._replace(ranks=ranks[rows], notes=notes)


def _windows(lines: Lines, layout: str, time: Time) -> Windows:
    table = _table(lines, layout, "score", time)
    none = np.zeros(len(table.query), dtype=bool)
    return Windows(list(table.video), table.start, table.end, table.value, none, none)


def _fill_scores(query: Sequence[str], ranks: Floats, windows: Windows) -> Floats:
    """Return the scores; a malformed line has that of the rank before it."""
    order = np.argsort(ranks, kind="stable")
    scores = windows.score.copy()
    ranked = windows._replace(score=scores[order], unscored=windows.unscored[order])
    scores[order] = fill_scores([query[row] for row in order.tolist()], ranked)
    return scores


def _below(lines: Lines, layout: str, time: Time) -> list[str]:
    """Return a note of the first malformed line that is not scored, if any."""
    try:
        _windows(lines, layout, time).check(lines.place)
    except FormatError as exc:
        return [f"{exc} (not among the first results of its query, so not scored)"]
    return []


def _given(lines: Lines, columns: str, *needed: str) -> str:
    """Return the layout that the user names."""
    layout = parse_columns(columns, *needed)
    if lines.width != (named := len(layout.split())):
        raise lines.place(0).error(f"{lines.width} columns, where --columns names {named}")
    return layout


def _by_rank(queries: list[str], ranks: Floats, depth: int | None) -> tuple[Ints, list[int]]:
    """Return the rows of the first `depth` results per query, and the rows that repeat a rank."""
    index = {name: number for number, name in enumerate(dict.fromkeys(queries))}
    query = np.fromiter(map(index.__getitem__, queries), np.int64, len(queries))
    order = np.lexsort((ranks, query))
    ordered = query[order]
    same = (np.diff(ordered) == 0) & (np.diff(ranks[order]) == 0)
    place = np.arange(len(order)) - np.searchsorted(ordered, np.arange(len(index)))[ordered]
    # With a depth, rows are grouped by query: the order of queries must not depend on the depth.
    kept = np.arange(len(order)) if depth is None else order[place < depth]
    return kept, sorted(order[1:][same].tolist())


def _some(lines: Lines, rows: Ints) -> Lines:
    kept = [lines.rows[row] for row in rows.tolist()]
    return Lines(kept, lambda row: lines.place(int(rows[row])))


def _not(lines: Lines, what: str, wanted: str) -> Exception:
    return lines.place(0).error(f"{lines.width} columns are {what} ({wanted})")


def _table(lines: Lines, layout: str, value: str, time: Time) -> Table:
    times = floats if time == "seconds" else minutes
    if "jump_in" in layout:
        times(lines, layout, "jump_in")  # not used, but it must be a time
    return Table(
        ids(lines, layout, "query_id"),
        ids(lines, layout, "video_id"),
        times(lines, layout, "start"),
        times(lines, layout, "end"),
        floats(lines, layout, value),
        lines.place,
    )


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
    """Return the field for each id; a leading # is encoded, as it would start a comment.

    Raises:
        FormatError: an id can't be written as UTF-8.
    """
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
    """Return judged segments as lines.

    Raises:
        FormatError: a query has no segments, or an id can't be written.
    """
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
