"""The columns of text files: by their number, by their content, or as the user names them.

Runs of 8 columns are written in two ways: `... start end rank score tag`, and without a tag, but
with MediaEval's jump-in time, `... start end jump_in rank score`.
"""

from collections.abc import Callable, Sequence
from itertools import groupby

from momentrank.errors import UsageError
from momentrank.formats.lines.fields import NUMBER, Lines
from momentrank.formats.source import FormatError

QRELS = "query_id Q0 video_id start end level"
RUN = "query_id Q0 video_id start end rank score"
TAGGED = f"{RUN} tag"
JUMP_IN = "query_id Q0 video_id start end jump_in rank score"
_AMBIGUOUS = 8
"""The number of columns of two layouts."""
RUNS = {7: RUN, 8: TAGGED, 9: f"{JUMP_IN} tag"}
BY_WIDTH = {6: QRELS, **RUNS}
WIDEST = max(BY_WIDTH)
NEEDED = ("query_id", "video_id", "start", "end")
NAMES = (*NEEDED, "level", "rank", "score", "jump_in", "tag", "Q0", "-")
"""What `--columns` may name; `-` is a column that is not read."""


def parse_columns(text: str, *needed: str) -> str:
    """Return a layout from the names of its columns, separated by commas or spaces.

    Times, ids and the columns `needed` must be among them.

    Raises:
        UsageError: a name is unknown or appears twice, or a needed one is missing.
    """
    names = text.replace(",", " ").split()
    for name in names:
        if name not in NAMES:
            raise UsageError(f"--columns: {name!r} is not one of {', '.join(NAMES)}")
        if name != "-" and names.count(name) > 1:
            raise UsageError(f"--columns: {name!r} is named twice")
    missing = [name for name in (*NEEDED, *needed) if name not in names]
    if missing:
        raise UsageError(f"--columns: {missing[0]!r} is missing")
    return " ".join(names)


def choose_run_layout(lines: Lines) -> str:
    """Return the layout of a run; one of 8 columns is known by their content.

    It has a jump-in time if its sixth column is the start everywhere or can't be a rank, its
    seventh may be ranks, and its eighth is a number. A few lines may be malformed.

    Raises:
        FormatError: both layouts of 8 columns fit, or none.
    """
    if lines.width != _AMBIGUOUS:
        return RUNS[lines.width]
    start, sixth, seventh, eighth = ([row[at] for row in lines.rows] for at in (3, 5, 6, 7))
    if not _mostly(_is_number, eighth):
        return TAGGED
    is_rank = all(map(_is_whole, set(sixth)))
    if not _mostly(_is_whole, seventh):
        if is_rank:
            return TAGGED
        raise _ambiguous(lines)
    if not is_rank or _are_equal(start, sixth):
        return JUMP_IN
    queries = [row[0] for row in lines.rows]
    is_rank, is_later_rank = (_are_ranks(queries, column) for column in (sixth, seventh))
    if is_rank == is_later_rank:
        raise _ambiguous(lines)
    return TAGGED if is_rank else JUMP_IN


def _ambiguous(lines: Lines) -> FormatError:
    return lines.place(0).error(
        f"8 columns may be `{TAGGED}` or `{JUMP_IN}`, and these lines do not tell: say which with"
        f" --columns '{TAGGED}' or --columns '{JUMP_IN}'"
    )


def _mostly(test: Callable[[str], bool], fields: Sequence[str]) -> bool:
    passed = {field: test(field) for field in set(fields)}
    return 2 * sum(passed[field] for field in fields) > len(fields)


def _is_number(field: str) -> bool:
    return NUMBER.fullmatch(field) is not None


def _is_whole(field: str) -> bool:
    return _is_number(field) and float(field) % 1 == 0


def _are_equal(some: Sequence[str], others: Sequence[str]) -> bool:
    pairs = {(one, other) for one, other in zip(some, others, strict=True) if one != other}
    numbers = all(_is_number(field) for pair in pairs for field in pair)
    return numbers and all(float(one) == float(other) for one, other in pairs)


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
