"""Queries, videos and times of a run that do not match those of the qrels.

Results in a video whose id is written in another way meet nothing: a warning counts them, and shows
an example of both.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from momentrank.errors import MomentRankError
from momentrank.segments import (
    Floats,
    Names,
    Segments,
    find_null,
    find_odd_times,
    number_names,
)

if TYPE_CHECKING:
    from momentrank.conventions.base import Convention
    from momentrank.formats.table import Truth

SHOWN = 3
"""Ids that a message lists."""
SCALE = 20
"""How much later the results' ends must be than the judged ones to be in another unit."""
_UNITS = {1000: "milliseconds", 60: "minutes", 25: "frames"}
_FILE = re.compile(r"^(?:.*[/\\])?(?:v_)?(.*?)(?:\.(?:mp4|mkv|webm|avi|mov|flv|m4v|mpg|wmv))?$")
_MARKED = re.compile(r"[./\\\s]|^(?:v_|0)")
"""What only some ids have, and `_FILE` or `_NUMBER` takes away."""
_NUMBER = re.compile(r"0*(\d+)(?:\.0*)?")


class NoOverlapError(MomentRankError):
    """A run and qrels without a query, or without a video, in common."""


Alike = list[tuple[str, str]]
"""Pairs of an id of the qrels and one of the run that differ only in spelling."""


class Unmatched(NamedTuple):
    """Ids that only the qrels have, and ids that only the run has."""

    not_in_run: list[str]
    not_in_qrels: list[str]


def find_unmatched(qrels: Sequence[str], run: Sequence[str]) -> Unmatched:
    """Return the ids that only one of the two has, in their order."""
    ours, theirs = set(qrels), set(run)
    return Unmatched(
        [name for name in qrels if name not in theirs], [name for name in run if name not in ours]
    )


def check_lists(
    convention: "Convention",
    truth: "Truth",
    lists: Mapping[str, Segments],
    name: str,
    warn: Callable[[str], None],
) -> None:
    """Warn about what only the qrels or a run has, if it looks like a variant of the other's.

    The list of each task is checked as the convention reads it; `name` is the run's, for messages.

    Raises:
        NoOverlapError: nothing of the run can be scored.
    """
    for task, run in lists.items():
        whose = f"{name}: {task}" if task else name
        try:
            optional = find_null(truth.segments) if convention.leaves_out else []
            prepared = convention.prepare(truth.segments, run)
            names = truth.names if prepared[0] is truth.segments else None
            messages = list(find_differences(*prepared, optional=optional, names=names))
        except NoOverlapError as exc:
            raise NoOverlapError(f"{whose}: {exc}") from exc
        odd = [text for text, _ in find_odd_times(run, "results", truth.durations)]
        for message in [*messages, *odd]:
            warn(f"{whose}: {message}")


def find_differences(
    qrels: Segments,
    run: Segments,
    *,
    unmatched: bool = True,
    optional: Collection[str] = (),
    names: Names | None = None,
) -> Iterator[str]:
    """Yield what `check_lists` warns about; unmatched queries only on request.

    `optional` ones may be missing from the run; `names` are as in `align`.

    Raises:
        NoOverlapError: nothing of the run can be scored.
    """
    if qrels.queries and run.queries:
        yield from _of_queries(qrels, run, unmatched=unmatched, optional=set(optional))
    if len(run.query) and len(qrels.query):
        yield from _of_videos((names or number_names(qrels)).videos, run)
        yield from _of_times(qrels, run)
    else:
        yield "the qrels have no moments" if len(run.query) else "the run has no results"


def _of_queries(
    qrels: Segments, run: Segments, *, unmatched: bool, optional: Collection[str]
) -> Iterator[str]:
    ids = find_unmatched(qrels.queries, run.queries)
    alike = find_alike(ids.not_in_run, ids.not_in_qrels)
    if len(ids.not_in_run) == len(qrels.queries):
        _refuse_apart("query", qrels.queries, ids.not_in_qrels, alike)
    ids = ids._replace(not_in_run=[name for name in ids.not_in_run if name not in optional])
    for names, has, lacks in zip(ids, ("qrels", "run"), ("run", "qrels"), strict=True):
        if names and unmatched:
            yield f"queries in the {has} but not in the {lacks}: {len(names)} ({shorten(names)})"
    if alike:
        yield f"query ids that differ only in spelling: {describe_alike(alike)}"


def _of_videos(numbers: Mapping[str, int], run: Segments) -> Iterator[str]:
    retrieved = [name for name in dict.fromkeys(run.video) if name]
    others = [name for name in retrieved if name not in numbers]
    if others or not retrieved:
        judged = list(filter(None, numbers))  # none, if the convention ignores videos
        alike = find_alike(judged, others)
        if len(others) == len(retrieved):
            _refuse_apart("video", judged, others, alike)
        if alike:
            names = {theirs for _, theirs in alike}
            number = sum(video in names for video in run.video)
            yield (
                f"results in videos whose ids differ only in spelling from those of the qrels,"
                f" which meet nothing: {number} of {len(run.video)}; {describe_alike(alike)}"
            )


def _refuse_apart(what: str, judged: Sequence[str], others: Sequence[str], alike: Alike) -> None:
    if judged:
        examples = f"{_first(judged)} in the qrels, {_first(others)} in the run"
        shown = describe_alike(alike) if alike else examples
        raise NoOverlapError(f"the qrels and the run have no {what} in common: {shown}")


def _first(names: Sequence[str]) -> str:
    return repr(names[0]) if names else "none"


def _of_times(qrels: Segments, run: Segments) -> Iterator[str]:
    latest = middle(qrels.end), middle(run.end)
    if min(latest) <= 0 or 1 / SCALE < latest[1] / latest[0] < SCALE:
        return
    judged, retrieved = _latest(qrels), _latest(run)
    videos = [video for video in judged if video in retrieved and judged[video] > 0]
    ratios = [retrieved[video] / judged[video] for video in videos]
    if not ratios or 1 / SCALE < (ratio := middle(np.array(ratios))) < SCALE:
        return
    factor = ratio if ratio > 1 else 1 / max(ratio, 1e-9)
    unit = min(_UNITS, key=lambda each: abs(np.log(each / factor)))
    side = "run" if ratio > 1 else "qrels"
    at = int(np.argsort(ratios)[len(ratios) // 2])
    video = videos[at]
    where = f"in the video {video!r} " if video else ""  # some conventions ignore videos
    yield (
        f"times seem to be in different units ({side} in {_UNITS[unit]}?): {where}the qrels end at"
        f" {judged[video]:g}, the run's results at {retrieved[video]:g}"
    )


def middle(values: Floats) -> float:
    """Return the upper median; numpy's own loads masked arrays."""
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])


def _latest(segments: Segments) -> dict[str, float]:
    latest: dict[str, float] = {}
    for video, end in zip(segments.video, segments.end.tolist(), strict=True):
        latest[video] = max(end, latest.get(video, 0.0))
    return latest


def find_alike(judged: Sequence[str], others: Sequence[str]) -> Alike:
    """Return pairs of an id of the qrels and one of the run that may be the same."""
    if not others:
        return []
    forms = _index_by_form(tuple(judged))
    return [(forms[form], name) for name in others if (form := plain(name)) in forms]


@lru_cache(2)  # the ids of queries and of videos of qrels, which come again with each run
def _index_by_form(names: tuple[str, ...]) -> Mapping[str, str]:
    return {plain(name): name for name in reversed(names)}


def describe_alike(alike: Alike) -> str:
    """Return the first of some pairs; with code points if they may look the same."""
    ours, theirs = alike[0]
    more = f" ({len(alike)} such)" if alike[1:] else ""
    parts = _differing(ours, theirs)
    points = ""
    if not "".join(parts).isascii():
        points = " ({} and {})".format(*(_code_points(part) for part in parts))
    return f"{ours!r} in the qrels, {theirs!r} in the run{points}{more}"


def _differing(ours: str, theirs: str) -> tuple[str, str]:
    """Return what is left of two texts without their common beginning and end."""
    start = _count_equal(ours, theirs)
    ours, theirs = ours[start:], theirs[start:]
    end = _count_equal(ours[::-1], theirs[::-1])
    return ours[: len(ours) - end], theirs[: len(theirs) - end]


def _count_equal(ours: str, theirs: str) -> int:
    pairs = zip(ours, theirs, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in text[:SHOWN]) or "nothing"


def plain(name: str) -> str:
    """Return an id without what spellings often differ in.

    These are: folders, an extension of videos, ActivityNet's `v_`, zeros around a number, capitals,
    spaces, and how Unicode composes characters (macOS writes file names in parts).
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    text = name.casefold()
    if not _MARKED.search(text):
        return text
    match = _FILE.match(text.strip())
    text = match[1] if match else name
    number = _NUMBER.fullmatch(text)
    return number[1] if number else text


def shorten(names: Sequence[str]) -> str:
    """Return the first ids of many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
