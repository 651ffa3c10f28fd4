"""The axioms of the AxIoU paper, section 4, tried on given runs, with an example of each breach.

For a user who scans a list for one good moment:

* INV-k, invariance against redundant moments: a result at rank k whose IoU is at most the best one
  above it adds nothing, so the value stays when another such result takes its place: one that
  meets nothing, or one as good as the best above.
* MON-k, monotonicity with respect to the best moment: a result at rank k that is better than the
  first k were raises the value.

Every rank k up to a measure's cutoff is tried in every list that has it. A measure for users who
want all relevant moments must break INV-k.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from momentrank import matching
from momentrank.errors import UsageError
from momentrank.formats import Lists
from momentrank.matching.aligned import align
from momentrank.measures import Measure
from momentrank.measures.base import table
from momentrank.meta.systems import Systems
from momentrank.segments import Bools, Floats, Ints, Segments

DEPTH, CLOSE, ALMOST = 10, 1e-9, 0.999
"""Ranks to try, the tolerance for rounding, and an IoU that can't be exceeded."""
MODEL: dict[str, Any] = {"match": "maxiou", "rel": 1, "judged_only": False}
NOWHERE, NEVER = "\0", 1e12
Moments = tuple[list[str], Floats, Floats]
"""Videos, starts and ends."""


class Axiom(NamedTuple):
    """A measure and an axiom: how many cases were tried, how many break it, and one of these.

    `rank` is k; `iou` is the best of the ranks before it, and of the old and new result at k.
    """

    axiom: str
    measure: str
    cases: int
    broken: int
    run: str = ""
    query: str = ""
    rank: int | None = None
    best_above: float | None = None
    old_iou: float | None = None
    new_iou: float | None = None
    before: float | None = None
    after: float | None = None


class _Lists(NamedTuple):
    """A run's lists, and `iou` and `row` of each query's first, -1 where a list is shorter."""

    task: str
    run: Segments
    iou: Floats
    row: Ints

    def best(self, rank: int) -> Floats:
        """Return the best IoU of the first `rank` results of each list; 0 if none."""
        best: Floats = self.iou[:, :rank].max(axis=1, initial=0.0)
        return best


class _Case(NamedTuple):
    """A change at one rank: the lists before and after it, and the queries with such a case."""

    axiom: str
    rank: int
    old: _Lists
    new: _Lists
    queries: Bools


def measure_axioms(systems: Systems, *, done: Callable[[int], object] = int) -> list[Axiom]:
    """Return both axioms for each measure; `done` counts runs.

    Raises:
        UsageError: a run has a list for each of several tasks.
    """
    axioms = {
        (axiom, measure): Axiom(axiom, repr(measure), 0, 0)
        for axiom in ("INV", "MON")
        for measure in systems.evaluator.measures
    }
    names = systems.evaluator.qrels.queries
    for name, lists in systems.runs.items():
        old = _read(systems, lists)
        before = _values(systems, old)
        for case in _cases(systems, old):
            after = _values(systems, case.new)
            for measure in systems.evaluator.measures:
                if case.rank <= (measure.depth() or DEPTH):
                    key = case.axiom, measure
                    tried = _try(case, before[measure], after[measure], axioms[key], name, names)
                    axioms[key] = tried
        done(1)
    return list(axioms.values())


def _read(systems: Systems, lists: Lists) -> _Lists:
    if len(lists) > 1:
        raise UsageError("axioms: these runs have a list for each task; name runs with one list")
    [(task, run)] = lists.items()
    qrels = systems.evaluator.qrels
    aligned = align(qrels, run)
    iou = table(matching.relevance(aligned, MODEL), DEPTH)
    numbers = {name: number for number, name in enumerate(qrels.queries)}
    query = np.array([numbers.get(name, -1) for name in run.queries], dtype=np.int64)[run.query]
    shown = np.flatnonzero((run.rank <= DEPTH) & (query >= 0))
    row = np.full(iou.shape, -1)
    row[query[shown], run.rank[shown] - 1] = shown
    return _Lists(task, run, iou, row)


def _values(systems: Systems, lists: _Lists) -> dict[Measure, Floats]:
    """Return each measure's value of each query of the qrels; NaN where it does not count."""
    qrels = systems.evaluator.qrels
    numbers = {name: number for number, name in enumerate(qrels.queries)}
    values: dict[Measure, Floats] = {}
    for measure, (names, scored) in systems.evaluator.per_query({lists.task: lists.run}).items():
        of_all = np.full(len(qrels.queries), np.nan)
        of_all[[numbers[name] for name in names]] = scored
        values[measure] = of_all
    return values


def _cases(systems: Systems, old: _Lists) -> Iterator[_Case]:
    """Yield the changes of a run: at each rank two that add nothing, and one that improves."""
    for rank in range(1, old.iou.shape[1] + 1):
        has = old.row[:, rank - 1] >= 0
        if rank > 1:
            redundant = has & (old.iou[:, rank - 1] <= old.best(rank - 1))
            for moments in (_nothing(redundant), _best_above(old, rank, redundant)):
                yield _case(systems, "INV", rank, old, redundant, moments)
        better, moments = _better(systems, old, rank, has)
        yield _case(systems, "MON", rank, old, better, moments)


def _case(
    systems: Systems, axiom: str, rank: int, old: _Lists, queries: Bools, moments: Moments
) -> _Case:
    """Return a case: `moments`, one for each of `queries`, at `rank` of their lists."""
    rows = old.row[queries, rank - 1]
    video, start, end = list(old.run.video), old.run.start.copy(), old.run.end.copy()
    for row, name in zip(rows.tolist(), moments[0], strict=True):
        video[row] = name
    start[rows], end[rows] = moments[1:]
    changed = old.run._replace(video=video, start=start, end=end)
    return _Case(axiom, rank, old, _read(systems, {old.task: changed}), queries)


def _nothing(queries: Bools) -> Moments:
    """Return moments that meet nothing in any video."""
    count = int(queries.sum())
    return [NOWHERE] * count, np.full(count, NEVER), np.full(count, NEVER + 1)


def _best_above(old: _Lists, rank: int, queries: Bools) -> Moments:
    """Return the best result above `rank` of each list."""
    best = old.iou[queries, : rank - 1].argmax(axis=1)
    rows = old.row[queries][np.arange(len(best)), best]
    run = old.run
    return [run.video[row] for row in rows.tolist()], run.start[rows], run.end[rows]


def _better(systems: Systems, old: _Lists, rank: int, has: Bools) -> tuple[Bools, Moments]:
    """Return the queries whose first `rank` results can be exceeded, and moments that do.

    They begin with a relevant moment, and are long enough for an IoU halfway from the best to 1.
    """
    qrels = systems.evaluator.qrels
    rows = np.flatnonzero((qrels.value >= MODEL["rel"]) & (qrels.end > qrels.start))[::-1]
    truth = np.full(len(qrels.queries), -1)
    truth[qrels.query[rows]] = rows  # the first one
    best = old.best(rank)
    queries = has & (truth >= 0) & (best < ALMOST)
    target = truth[queries]
    wanted = (1 + best[queries]) / 2 * (qrels.end - qrels.start)[target]
    videos = [qrels.video[row] for row in target.tolist()]
    return queries, (videos, qrels.start[target], qrels.start[target] + wanted)


def _loss(axiom: str, moved: Floats) -> Floats:
    """Return how far values moved that should stay, or fell that should rise."""
    return np.abs(moved) if axiom == "INV" else -moved


def _try(
    case: _Case, before: Floats, after: Floats, axiom: Axiom, run: str, names: list[str]
) -> Axiom:
    """Return an axiom's results with one more case; the worst breach is the example."""
    tried = case.queries & ~np.isnan(before) & ~np.isnan(after)
    loss = _loss(case.axiom, after - before)
    broken = tried & (loss > (CLOSE if case.axiom == "INV" else -CLOSE))
    axiom = axiom._replace(
        cases=axiom.cases + int(tried.sum()), broken=axiom.broken + int(broken.sum())
    )
    if not broken.any():
        return axiom
    query = int(np.where(broken, loss, -np.inf).argmax())
    if axiom.before is not None and axiom.after is not None:
        worst = _loss(case.axiom, np.array(axiom.after - axiom.before))
        if worst >= loss[query]:
            return axiom
    at = case.rank - 1
    return axiom._replace(
        run=run,
        query=names[query],
        rank=case.rank,
        best_above=float(case.old.best(at)[query]),
        old_iou=float(case.old.iou[query, at]),
        new_iou=float(case.new.iou[query, at]),
        before=float(before[query]),
        after=float(after[query]),
    )
