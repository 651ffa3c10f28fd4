"""Queries, videos and times of a run that do not match those of the qrels.

If ids are written in two ways, every score is 0: a warning shows an example of both.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from momentrank.errors import MomentRankError
from momentrank.segments import Floats, Segments

if TYPE_CHECKING:
    from momentrank.conventions.base import Convention

SHOWN = 3
"""Ids that a message lists."""
LOOKED_AT = 2000
"""Ids of each side to compare: differences in spelling are mostly consistent."""
SAMPLE = 20_000
"""Judged segments and results whose videos are compared first."""
SCALE = 20
"""How much later the results' ends must be than the judged ones to be in another unit."""
_UNITS = {1000: "milliseconds", 60: "minutes", 25: "frames"}
_FILE = re.compile(r"^(?:.*[/\\])?(?:v_)?(.*?)(?:\.(?:mp4|mkv|webm|avi|mov|flv|m4v|mpg|wmv))?$")
_NUMBER = re.compile(r"0*(\d+)(?:\.0*)?")


class NoOverlapError(MomentRankError):
    """A run and qrels without a query, or without a video, in common."""


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


def check(qrels: Segments, run: Segments, name: str, warn: Callable[[str], None]) -> None:
    """Warn about what only one side has, if it looks like a variant of the other's.

    `name` is the run's, for messages.

    Raises:
        NoOverlapError: nothing of the run can be scored.
    """
    try:
        messages = list(find_differences(qrels, run))
    except NoOverlapError as exc:
        raise NoOverlapError(f"{name}: {exc}") from exc
    for message in messages:
        warn(f"{name}: {message}")


def check_lists(
    convention: "Convention",
    qrels: Segments,
    lists: Mapping[str, Segments],
    name: str,
    warn: Callable[[str], None],
) -> None:
    """Check the list of each task as the convention reads it; see `check`."""
    for task, run in lists.items():
        check(*convention.prepare(qrels, run), f"{name}: {task}" if task else name, warn)


def find_differences(qrels: Segments, run: Segments, *, unmatched: bool = True) -> Iterator[str]:
    """Yield what `check` warns about; unmatched queries only on request.

    Raises:
        NoOverlapError: nothing of the run can be scored.
    """
    if qrels.queries and run.queries:
        yield from _of_queries(qrels, run, unmatched=unmatched)
    if len(run.query) and len(qrels.query):
        yield from _of_videos(qrels, run)
        yield from _of_times(qrels, run)
    else:
        yield "the qrels have no moments" if len(run.query) else "the run has no results"


def _of_queries(qrels: Segments, run: Segments, *, unmatched: bool) -> Iterator[str]:
    ids = find_unmatched(qrels.queries, run.queries)
    alike = _require_common("query", qrels.queries, ids)
    for names, has, lacks in zip(ids, ("qrels", "run"), ("run", "qrels"), strict=True):
        if names and unmatched:
            yield f"queries in the {has} but not in the {lacks}: {len(names)} ({shorten(names)})"
    if alike:
        yield f"some query ids differ only in spelling: {alike}"


def _of_videos(qrels: Segments, run: Segments) -> Iterator[str]:
    if _mostly_meet(qrels.video, run.video):
        return
    judged, retrieved = sorted(set(qrels.video)), sorted(set(run.video))
    if alike := _require_common("video", judged, find_unmatched(judged, retrieved)):
        yield f"some video ids differ only in spelling: {alike}"


def _require_common(what: str, judged: Sequence[str], ids: Unmatched) -> str:
    """Return an example of ids that may be the same, if there are any.

    Raises:
        NoOverlapError: no id of the qrels is in the run.
    """
    alike = find_alike(*ids)
    if len(ids.not_in_run) == len(judged):
        examples = f"{ids.not_in_run[0]!r} in the qrels, {ids.not_in_qrels[0]!r} in the run"
        raise NoOverlapError(f"the qrels and the run have no {what} in common: {alike or examples}")
    return alike


def _mostly_meet(judged: Sequence[str], retrieved: Sequence[str]) -> bool:
    """Tell quickly, for long lists only, that most videos of both are the same."""
    if max(len(judged), len(retrieved)) <= SAMPLE:
        return False
    ours = set(judged[:SAMPLE])
    return 2 * len(ours.intersection(retrieved[:SAMPLE])) > len(ours)


def _of_times(qrels: Segments, run: Segments) -> Iterator[str]:
    latest = _middle(qrels.end), _middle(run.end)
    if min(latest) <= 0 or 1 / SCALE < latest[1] / latest[0] < SCALE:
        return
    judged, retrieved = _latest(qrels), _latest(run)
    videos = [video for video in judged if video in retrieved and judged[video] > 0]
    ratios = [retrieved[video] / judged[video] for video in videos]
    if not ratios or 1 / SCALE < (ratio := _middle(np.array(ratios))) < SCALE:
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


def _middle(values: Floats) -> float:
    """Return the upper median; numpy's own loads masked arrays."""
    middle = len(values) // 2
    return float(np.partition(values, middle)[middle])


def _latest(segments: Segments) -> dict[str, float]:
    latest: dict[str, float] = {}
    for video, end in zip(segments.video, segments.end.tolist(), strict=True):
        latest[video] = max(end, latest.get(video, 0.0))
    return latest


def find_alike(qrels: Sequence[str], run: Sequence[str]) -> str:
    """Return an example of an id of the qrels and one of the run that may be the same."""
    forms = {plain(name): name for name in reversed(qrels[:LOOKED_AT])}
    pairs = [(forms[form], name) for name in run[:LOOKED_AT] if (form := plain(name)) in forms]
    if not pairs:
        return ""
    ours, theirs = pairs[0]
    more = f" ({len(pairs)} such)" if len(pairs) > 1 else ""
    return f"{ours!r} in the qrels, {theirs!r} in the run{more}"


def plain(name: str) -> str:
    """Return an id without what spellings often differ in.

    These are: folders, an extension of videos, ActivityNet's `v_`, zeros around a number, capitals
    and spaces.
    """
    match = _FILE.match(name.strip().casefold())
    text = match[1] if match else name
    number = _NUMBER.fullmatch(text)
    return number[1] if number else text


def shorten(names: Sequence[str]) -> str:
    """Return the first ids of many."""
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
