"""Check a run as a benchmark would, before submission: `momentrank validate --like`."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from momentrank import conventions
from momentrank.formats.registry import RUNS
from momentrank.formats.table import Truth
from momentrank.matching.aligned import restore_own_ids
from momentrank.mismatches import (
    NoOverlapError,
    find_differences,
    find_unmatched,
    shorten,
)
from momentrank.segments import Segments, find_null, find_odd_times

FEW = 0.01
"""Up to this share of the results, wrong times are only a remark: real runs have such results."""


class Rules(NamedTuple):
    """What a benchmark's script requires of a run, besides the number of results that it reads."""

    formats: tuple[str, ...] = ()
    """Those that it reads, besides those that name it as their convention."""
    every_query: bool = False
    """Whether it stops at a query that is missing or has no results."""
    own_video: bool = False
    """Whether all results of a query are in the query's own video."""
    by_score: bool = True
    """Whether a higher score is a better result."""
    scored: bool = False
    """Whether it stops at a result without a score."""


RULES: Mapping[str, Rules] = {
    "tvr-ranking": Rules(("tvr-ranking", "scores")),
    "spr": Rules(("tvr-ranking", "scores")),
    "sh-eval": Rules(("segments",)),
    "qvhighlights": Rules(every_query=True, own_video=True, scored=True),
    "vcmr": Rules(every_query=True),
    **dict.fromkeys(
        ("charades", "tall", "2d-tan", "2d-tan-0.49", "2d-tan-0.45", "2d-tan-0.4"),
        Rules(own_video=True),
    ),
    "didemo": Rules(("lists",), every_query=True, own_video=True),
    "nlq": Rules(own_video=True, by_score=False),
}


class Findings(NamedTuple):
    """What is wrong with a run, and what its authors may want to know, one line each."""

    problems: list[str]
    remarks: list[str]


def check(
    convention: str,
    lists: Mapping[str, Segments],
    fmt: str,
    truth: Truth | None = None,
    durations: Mapping[str, float] | None = None,
    unscored: int = 0,
) -> Findings:
    """Return what a convention's benchmark would find in a run.

    `lists` are all results, by the task, `fmt` is the format of their file, and `unscored` of them
    have no score. Ids are compared with those of `truth`, times with its durations and with
    `durations`, in seconds.
    """
    rules = RULES.get(convention, Rules())
    lengths = {**(truth.durations if truth else {}), **(durations or {})}
    notes = Findings([*_format(rules, convention, fmt)], [])
    if rules.scored and unscored:
        notes.problems.append(f"results without a score: {unscored}")
    for task, run in lists.items():
        findings = _check_list(convention, run, truth, lengths)
        for messages, all_notes in zip(findings, notes, strict=True):
            all_notes.extend(f"{task}: {message}" if task else message for message in messages)
    if not lengths:
        notes.remarks.append("no durations are known: times are not compared with them")
    if truth is None:
        notes.remarks.append("no qrels given: ids and videos are not compared with them")
    return notes


def _check_list(
    convention: str, run: Segments, truth: Truth | None, durations: Mapping[str, float]
) -> Findings:
    rules = RULES.get(convention, Rules())
    notes = Findings([*_direction(rules, run)], [*_numbers(convention, run)])
    lacking = [*_empty(run)]
    if truth is not None:
        run = restore_own_ids(run, truth.segments)
        optional = find_null(truth.segments) if conventions.get(convention).leaves_out else []
        lacking += _missing(truth.segments, run, optional)
        notes.problems.extend([*_queries(truth.segments, run), *_videos(rules, truth, run)])
    (notes.problems if rules.every_query else notes.remarks).extend(lacking)
    for message, share in find_odd_times(run, "results", durations):
        (notes.problems if share > FEW else notes.remarks).append(message)
    return notes


def _format(rules: Rules, convention: str, fmt: str) -> Iterator[str]:
    names = rules.formats or [known.name for known in RUNS if known.convention == convention]
    if names and fmt not in names:
        yield f"the format is {fmt}, but {convention} reads {' or '.join(names)}"


def _direction(rules: Rules, run: Segments) -> Iterator[str]:
    """Yield a problem if scores rise along the lists: the first results are not the best."""
    inside = run.query[1:] == run.query[:-1]
    steps = np.diff(run.value)[inside]
    up, down = int((steps > 0).sum()), int((steps < 0).sum())
    if up and rules.by_score:
        which = "higher scores must be better" if up > down else "sort the lists by score"
        yield f"results with a higher score than the one before them: {up} of {len(steps)}; {which}"


def _numbers(convention: str, run: Segments) -> Iterator[str]:
    most = getattr(conventions.get(convention), "read", None)
    if most and (more := int((np.bincount(run.query) > most).sum())):
        yield f"queries with more than the {most} results that are read: {more}"


def _empty(run: Segments) -> Iterator[str]:
    counts = np.bincount(run.query, minlength=len(run.queries))
    if empty := [run.queries[row] for row in np.flatnonzero(counts == 0)]:
        yield f"queries without results: {len(empty)} ({shorten(empty)})"


def _missing(qrels: Segments, run: Segments, optional: Collection[str]) -> Iterator[str]:
    missing, _ = find_unmatched(qrels.queries, run.queries)
    missing = [name for name in missing if name not in set(optional)]
    if 0 < len(missing) < len(qrels.queries):
        yield f"queries of the qrels that the run lacks: {len(missing)} ({shorten(missing)})"


def _queries(qrels: Segments, run: Segments) -> Iterator[str]:
    _, unknown = find_unmatched(qrels.queries, run.queries)
    try:
        lines = list(find_differences(qrels, run, unmatched=False))
    except NoOverlapError as exc:
        yield str(exc)
        return
    if unknown:
        yield f"queries that are not in the qrels: {len(unknown)} ({shorten(unknown)})"
    yield from lines


def _videos(rules: Rules, truth: Truth, run: Segments) -> Iterator[str]:
    if not rules.own_video:
        return
    owner = [truth.videos.get(query) for query in run.queries]
    wrong = [
        (run.queries[query], video, expected)
        for query, video in zip(run.query.tolist(), run.video, strict=True)
        if video and (expected := owner[query]) is not None and video != expected
    ]
    if wrong:
        query, video, expected = wrong[0]
        example = f"query {query!r}: {video!r}, not {expected!r}"
        yield f"results that are not in their query's video: {len(wrong)} ({example})"
