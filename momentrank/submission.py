"""What a benchmark would say of a run, before it is sent there: `momentrank validate --like`."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from momentrank import conventions
from momentrank.formats.truth import Truth
from momentrank.matching.aligned import restore_own_ids
from momentrank.mismatches import (
    NothingMeetsError,
    find_differences,
    find_unmatched,
    shorten,
)
from momentrank.segments import Bools, Floats, Segments

FEW = 0.01
"""Up to this share of the results, wrong times are a remark: real runs have such results."""
SLACK = 1.0
"""Seconds by which a result may end after its video: durations are often rounded."""


class Rules(NamedTuple):
    """What a benchmark's script asks of a run, beside the number of results that it reads."""

    formats: tuple[str, ...] = ()
    """Those that it reads; none where there is no format of its own."""
    every_query: bool = False
    """Whether it stops at a query that is missing or has no results."""
    own_video: bool = False
    """Whether all results of a query are in the query's own video."""
    by_score: bool = True
    """Whether a higher score is a better result."""


RULES: Mapping[str, Rules] = {
    "tvr-ranking": Rules(("tvr-ranking", "scores")),
    "spr": Rules(("tvr-ranking", "scores")),
    "sh-eval": Rules(("segments",)),
    "qvhighlights": Rules(("qvhighlights",), every_query=True, own_video=True),
    "vcmr": Rules(("vcmr", "svmr", "vr")),
    "charades": Rules(own_video=True),
    "nlq": Rules(("ego4d-nlq",), own_video=True, by_score=False),
}


class Findings(NamedTuple):
    """What is wrong with a run, and what its authors may want to know, a line each."""

    problems: list[str]
    remarks: list[str]


def check(
    convention: str,
    run: Segments,
    fmt: str,
    truth: Truth | None = None,
    durations: Mapping[str, float] | None = None,
) -> Findings:
    """Return what the benchmark of a convention would make of a run.

    Args:
        convention: its name.
        run: all results.
        fmt: the format of the run's file.
        truth: the benchmark's qrels, if they are there: ids are compared with theirs.
        durations: of more videos, in seconds.

    Raises:
        UsageError: the convention does not exist.
    """
    rules = RULES.get(convention, Rules())
    problems = [*_format(rules, convention, fmt), *_direction(rules, run)]
    remarks = [*_numbers(convention, rules, run, problems)]
    if truth is not None:
        known = truth.segments
        run = restore_own_ids(run, known)
        problems += _queries(rules, known, run)
        problems += _videos(rules, truth, run)
    known_durations = {**(truth.durations if truth else {}), **(durations or {})}
    for message, share in _times(run, known_durations):
        (problems if share > FEW else remarks).append(message)
    if not known_durations:
        remarks.append("no durations are known: times are not compared with them")
    if truth is None:
        remarks.append("no qrels given: ids and videos are not compared with them")
    return Findings(problems, remarks)


def _format(rules: Rules, convention: str, fmt: str) -> Iterator[str]:
    if rules.formats and fmt not in rules.formats:
        names = " or ".join(rules.formats)
        yield f"the format is {fmt}, but {convention} reads {names}"


def _direction(rules: Rules, run: Segments) -> Iterator[str]:
    """Yield a problem if scores rise along the lists: the first results are not the best."""
    inside = run.query[1:] == run.query[:-1]
    steps = np.diff(run.value)[inside]
    up, down = int((steps > 0).sum()), int((steps < 0).sum())
    if up and rules.by_score:
        which = "higher scores must be better" if up > down else "sort the lists by score"
        yield f"results with a higher score than the one before them: {up} of {len(steps)}; {which}"


def _numbers(convention: str, rules: Rules, run: Segments, problems: list[str]) -> Iterator[str]:
    """Yield a remark on results that are not read; add queries without results to the problems."""
    counts = np.bincount(run.query, minlength=len(run.queries))
    if empty := [name for name, count in zip(run.queries, counts, strict=True) if not count]:
        told = f"queries without results: {len(empty)} ({shorten(empty)})"
        if rules.every_query:
            problems.append(told)
        else:
            yield told
    most = getattr(conventions.get(convention), "read", None)
    if most and (more := int((counts > most).sum())):
        yield f"queries with more than the {most} results that are read: {more}"


def _queries(rules: Rules, qrels: Segments, run: Segments) -> Iterator[str]:
    missing, unknown = find_unmatched(qrels.queries, run.queries)
    try:
        found = list(find_differences(qrels, run, unmatched=False))
    except NothingMeetsError as exc:
        yield str(exc)
        return
    if missing and rules.every_query:
        yield f"queries of the qrels that the run lacks: {len(missing)} ({shorten(missing)})"
    if unknown:
        yield f"queries that are not in the qrels: {len(unknown)} ({shorten(unknown)})"
    yield from found


def _videos(rules: Rules, truth: Truth, run: Segments) -> Iterator[str]:
    """Yield a problem if results are not in the video that the query is about."""
    if not rules.own_video:
        return
    owner = [truth.videos.get(query) for query in run.queries]
    wrong = [
        (run.queries[query], video, own)
        for query, video in zip(run.query.tolist(), run.video, strict=True)
        if video and (own := owner[query]) is not None and video != own
    ]
    if wrong:
        query, video, own = wrong[0]
        example = f"query {query!r}: {video!r}, not {own!r}"
        yield f"results in another video than that of their query: {len(wrong)} ({example})"


def _times(run: Segments, durations: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield what is wrong with times, and the share of the results that it is true of."""
    length: Floats = np.array([durations.get(video, np.inf) for video in run.video], np.float64)
    for wrong, what in (
        (run.start < 0, "start before 0"),
        (run.end > length + SLACK, "end after their video"),
    ):
        if wrong.any():
            number = int(wrong.sum())
            yield f"results that {what}: {number} ({_example(run, wrong)})", number / len(wrong)


def _example(run: Segments, rows: Bools) -> str:
    row = int(np.argmax(rows))
    times = f"{run.start[row]:g} to {run.end[row]:g} s"
    return f"query {run.queries[run.query[row]]!r}: {times} of {run.video[row]!r}"
