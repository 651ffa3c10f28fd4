"""Segments as lines of fields separated by spaces: `q Q0 video start end ...`.

Qrels have 6 fields; runs have 7 to 9, the same number in every line. Ids are percent-encoded. Runs
of 8 columns are written in two ways: `... start end rank score tag`, and without a tag, but with
MediaEval's jump-in time, `... start end jump_in rank score`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Literal

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats.lines import (
    BY_WIDTH,
    JUMP_IN,
    NUMBER,
    QRELS,
    RUNS,
    TAGGED,
    Lines,
    column,
    floats,
    ids,
    minutes,
    read_lines,
)
from momentrank.formats.source import FormatError, Location, Source, count
from momentrank.formats.table import Table, Windows, fill_scores, read_windows
from momentrank.ids import rename_hint
from momentrank.segments import Floats, Ints

_AMBIGUOUS = 8
"""The number of columns of two layouts."""
NEEDED = ("query_id", "video_id", "start", "end")
NAMES = (*NEEDED, "level", "rank", "score", "jump_in", "tag", "Q0", "-")
"""What `--columns` may name; `-` is a column that is not read."""


def parse_columns(text: str, *needed: str) -> str:
    """Return a layout from the names of its columns, separated by commas or spaces.

    Times, ids and the columns `needed` must be among them.
    """
    names = text.replace(",", " ").split()
    for name in names:
        if name not in NAMES:
            hint = rename_hint([other for other in NAMES if other not in names], [name])
            raise UsageError(f"--columns: {name!r} is not one of {', '.join(NAMES)}{hint}")
        if name != "-" and names.count(name) > 1:
            raise UsageError(f"--columns: {name!r} is named twice")
    missing = [name for name in (*NEEDED, *needed) if name not in names]
    if missing:
        raise UsageError(f"--columns: {missing[0]!r} is missing")
    return " ".join(names)


def choose_run_layout(lines: Lines) -> str:
    """Return the layout of a run; with 8 columns, their content decides.

    It has a jump-in time if its sixth column always equals the start or can't be a rank, its
    seventh may be ranks, and its eighth is a number. A few lines may be malformed.
    """
    if lines.width != _AMBIGUOUS:
        return RUNS[lines.width]
    if not _mostly(_is_number, lines.columns[7]):
        return TAGGED
    start, sixth, seventh = (lines.columns[at] for at in (3, 5, 6))
    is_rank = all(map(_is_whole, set(sixth)))
    if not _mostly(_is_whole, seventh):
        if is_rank:
            return TAGGED
        raise _ambiguous(lines)
    if not is_rank or _are_equal(start, sixth):
        return JUMP_IN
    is_rank, is_later_rank = (_are_ranks(lines.columns[0], fields) for fields in (sixth, seventh))
    if is_rank == is_later_rank:
        raise _ambiguous(lines)
    return TAGGED if is_rank else JUMP_IN


def _ambiguous(lines: Lines) -> FormatError:
    return lines.location(0).error(
        f"8 columns may be `{TAGGED}` or `{JUMP_IN}`, and these lines fit both: choose with"
        f" --columns '{TAGGED}' or --columns '{JUMP_IN}'"
    )


def _mostly(test: Callable[[str], bool], fields: Sequence[str]) -> bool:
    passed = sum(times for field, times in Counter(fields).items() if test(field))
    return 2 * passed > len(fields)


def _is_number(field: str) -> bool:
    return NUMBER.fullmatch(field) is not None


def _is_whole(field: str) -> bool:
    return _is_number(field) and float(field) % 1 == 0


def _are_equal(some: Sequence[str], others: Sequence[str]) -> bool:
    pairs = {(first, second) for first, second in zip(some, others, strict=True) if first != second}
    numbers = all(_is_number(field) for pair in pairs for field in pair)
    return numbers and all(float(first) == float(second) for first, second in pairs)


def _are_ranks(queries: Sequence[str], fields: Sequence[str]) -> bool:
    """Tell whether the fields count every query's lines, from 0 or 1."""
    if not all(map(_is_whole, set(fields))):
        return False
    rows = sorted(zip(queries, map(float, fields), strict=True))
    for _, ranked in groupby(rows, key=lambda row: row[0]):
        ranks = [rank for _, rank in ranked]
        if ranks[0] not in {0, 1} or ranks != [ranks[0] + n for n in range(len(ranks))]:
            return False
    return True


Time = Literal["seconds", "mm.ss", "mm.ss in lines"]
"""The unit of times; the last does not affect formats in seconds."""
TIMES: tuple[Time, ...] = ("seconds", "mm.ss")

MEDIAEVAL = " in seconds; for MediaEval's official numbers, in mm.ss, use --convention sh-eval"


def read_qrels(source: Source, time: Time = "seconds", columns: str | None = None) -> Table:
    """Read lines `query_id Q0 video_id start end level`, or as `columns` names them."""
    lines = read_lines(source)
    if columns is not None:
        return _table(lines, _named_columns(lines, columns, "level"), "level", time)
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
    """
    lines = read_lines(source)
    layout = _run_layout(lines, columns)
    ranks = floats(lines, layout, "rank")
    rows, twice = _by_rank(column(lines, layout, "query_id"), ranks, depth)
    whole = None
    with suppress(FormatError):
        whole = _windows(lines, layout, time)

    def read(some: Ints) -> Windows:
        return whole.select(some) if whole else _windows(lines.select(some), layout, time)

    def location(row: int) -> Location:
        return lines.location(int(rows[row]))

    def parse(numbers: Sequence[int]) -> Windows:
        windows = read(rows[numbers])
        return windows.check(lambda row: location(numbers[row])) if lenient else windows

    windows, error = read_windows(len(rows), parse, lenient=lenient)
    query = ids(lines.select(rows), layout, "query_id")
    if windows.malformed.any():
        windows = windows._replace(score=_fill_scores(query, ranks[rows], windows))
    table = Table(query, *windows[:4], location)
    notes = list(_layout_note(source, layout, time)) if columns is None else []
    notes += [*_tie_note(lines, twice), *windows.remarks(error, location)]
    if not lenient:
        below = np.setdiff1d(np.arange(len(ranks)), rows)
        try:
            read(below).check(lambda row: lines.location(int(below[row])))
        except FormatError as exc:
            notes.append(f"{exc} (not among the first results of its query, so not scored)")
    return table._replace(ranks=ranks[rows], notes=notes)


def _run_layout(lines: Lines, columns: str | None) -> str:
    if columns is not None:
        return _named_columns(lines, columns, "rank", "score")
    if lines.width not in RUNS:
        wanted = f"a run has 7, 8 or 9: {RUNS[8]}, {JUMP_IN}, or both"
        raise _not(lines, "qrels, not a run" if lines.width in BY_WIDTH else "not a run", wanted)
    return choose_run_layout(lines)


def _layout_note(source: Source, layout: str, time: Time) -> Iterator[str]:
    mediaeval = MEDIAEVAL if "jump_in" in layout and time == "seconds" else ""
    if mediaeval or layout == JUMP_IN:
        yield f"{source.path}: read as `{layout}`{mediaeval}"


def _tie_note(lines: Lines, twice: Sequence[int]) -> Iterator[str]:
    if twice:
        ties = f"{count(len(twice), 'such line')}; ties keep the file's order"
        yield str(lines.location(twice[0]).error(f"the rank appears twice in its query ({ties})"))


def _windows(lines: Lines, layout: str, time: Time) -> Windows:
    table = _table(lines, layout, "score", time)
    none = np.zeros(len(table.query), dtype=bool)
    return Windows(list(table.video), table.start, table.end, table.value, none, none)


def _fill_scores(query: Sequence[str], ranks: Floats, windows: Windows) -> Floats:
    order = np.argsort(ranks, kind="stable")
    scores = windows.score.copy()
    ranked = windows._replace(score=scores[order], unscored=windows.unscored[order])
    scores[order] = fill_scores([query[row] for row in order.tolist()], ranked)
    return scores


def _named_columns(lines: Lines, columns: str, *needed: str) -> str:
    layout = parse_columns(columns, *needed)
    if lines.width != (named := len(layout.split())):
        raise lines.location(0).error(f"{lines.width} columns, but --columns names {named}")
    return layout


def _by_rank(queries: Sequence[str], ranks: Floats, depth: int | None) -> tuple[Ints, list[int]]:
    index = {name: number for number, name in enumerate(dict.fromkeys(queries))}
    query = np.fromiter(map(index.__getitem__, queries), np.int64, len(queries))
    order = np.lexsort((ranks, query))
    ordered = query[order]
    same = (np.diff(ordered) == 0) & (np.diff(ranks[order]) == 0)
    position = np.arange(len(order)) - np.searchsorted(ordered, np.arange(len(index)))[ordered]
    # With a depth, rows are grouped by query: the order of queries must not depend on the depth.
    scored = np.arange(len(order)) if depth is None else order[position < depth]
    return scored, sorted(order[1:][same].tolist())


def _not(lines: Lines, what: str, wanted: str) -> Exception:
    return lines.location(0).error(f"{lines.width} columns are {what} ({wanted})")


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
        lines.location,
    )
