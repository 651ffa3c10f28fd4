"""The axioms of the AxIoU paper, section 5, tried on given runs, with an example of each breach.

For a user who scans a list for one good moment (supplement, A.1):

* INV-k, invariance against redundant moments: the value stays when the IoU of the result at rank k
  changes, but exceeds the best one above it neither before nor after.
* MON-k, monotonicity with respect to the best moment: the value rises when the result at rank k
  becomes better than it was, and than all above it.

Every rank k up to a measure's cutoff is tried in every list that has it, with several new results.
The IoU of a result is the highest with a moment that is relevant by the measure's `rel`. A measure
for users who want all relevant moments must break INV-k.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from momentrank import matching
from momentrank.errors import UsageError
from momentrank.matching.aligned import align
from momentrank.measures import Measure
from momentrank.measures.base import table
from momentrank.meta.systems import Systems
from momentrank.scoring import Evaluator
from momentrank.segments import Bools, Floats, Ints, Segments

DEPTH, CHANGE, CLOSE = 10, 1e-6, 1e-12
"""Ranks to try, the least change of an IoU, and the tolerance for rounding of values."""
REDUNDANT, BETTER = (0.0, 0.5, 1 - 1e-9), (0.1, 0.5, 0.9)
"""The IoUs to try: shares of the best one above, and of the way from the best one to 1."""
MODEL: dict[str, Any] = {"match": "maxiou", "judged_only": False}
NOWHERE, NEVER = "\0", 1e12


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


class _Scorer(NamedTuple):
    """Measures with one `rel`, and the rows of the moments that are relevant by it.

    A query has `moments` of these rows, from `first` on; shape (queries,).
    """

    evaluator: Evaluator
    rel: int
    rows: Ints
    first: Ints
    moments: Ints


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
    scorers, names = _group(systems.evaluator), systems.evaluator.qrels.queries
    for name, lists in systems.runs.items():
        if len(lists) > 1:
            raise UsageError(
                "axioms: these runs have a list for each task; name runs with one list"
            )
        for scorer in scorers:
            old = _read(scorer, *next(iter(lists.items())))
            before = _values(scorer, old)
            for case in filter(lambda case: case.queries.any(), _cases(scorer, old)):
                after = _values(scorer, case.new)
                for measure in scorer.evaluator.measures:
                    if case.rank <= (measure.depth() or DEPTH):
                        key = case.axiom, measure
                        tried = _try(
                            case, before[measure], after[measure], axioms[key], name, names
                        )
                        axioms[key] = tried
        done(1)
    return list(axioms.values())


def _group(evaluator: Evaluator) -> list[_Scorer]:
    """Return the scorers of the measures with each `rel`."""
    qrels, changes = evaluator.qrels, evaluator.convention.changes
    by_rel: dict[int, list[Measure]] = {}
    for measure in evaluator.measures:
        by_rel.setdefault(measure.settings(changes)["rel"], []).append(measure)
    scorers = []
    for rel, measures in by_rel.items():
        rows = np.flatnonzero((qrels.value >= rel) & (qrels.end > qrels.start))
        count = np.bincount(qrels.query[rows], minlength=len(qrels.queries))
        own = Evaluator(measures, qrels, evaluator.convention)
        scorers.append(_Scorer(own, rel, rows, np.cumsum(count) - count, count))
    return scorers


def _read(scorer: _Scorer, task: str, run: Segments) -> _Lists:
    qrels = scorer.evaluator.qrels
    aligned = align(*scorer.evaluator.convention.prepare(qrels, run), DEPTH)
    iou = table(matching.relevance(aligned, {**MODEL, "rel": scorer.rel}), DEPTH)
    numbers = {name: number for number, name in enumerate(qrels.queries)}
    query = np.array([numbers.get(name, -1) for name in run.queries], dtype=np.int64)[run.query]
    shown = np.flatnonzero((run.rank <= DEPTH) & (query >= 0))
    row = np.full(iou.shape, -1)
    row[query[shown], run.rank[shown] - 1] = shown
    return _Lists(task, run, iou, row)


def _values(scorer: _Scorer, lists: _Lists) -> dict[Measure, Floats]:
    """Return each measure's value of each query of the qrels; NaN where it does not count."""
    qrels = scorer.evaluator.qrels
    numbers = {name: number for number, name in enumerate(qrels.queries)}
    values: dict[Measure, Floats] = {}
    for measure, (names, scored) in scorer.evaluator.per_query({lists.task: lists.run}).items():
        of_all = np.full(len(qrels.queries), np.nan)
        of_all[[numbers[name] for name in names]] = scored
        values[measure] = of_all
    return values


def _cases(scorer: _Scorer, old: _Lists) -> Iterator[_Case]:
    """Yield the changes of a run: at each rank several that add nothing, and that improve."""
    for rank in range(1, DEPTH + 1):
        at, above, best = old.iou[:, rank - 1], old.best(rank - 1), old.best(rank)
        has = (old.row[:, rank - 1] >= 0) & (scorer.moments > 0)
        redundant = has & (at <= above) & (above > 0)
        for number, share in enumerate(REDUNDANT):
            new = _replace(scorer, old, rank, redundant, share * above, number)
            changed = np.abs(new.iou[:, rank - 1] - at) > CHANGE
            tried = redundant & changed & (new.iou[:, rank - 1] <= above)
            yield _Case("INV", rank, old, new, tried)
        for number, share in enumerate(BETTER):
            new = _replace(scorer, old, rank, has, best + share * (1 - best), number)
            tried = has & (new.iou[:, rank - 1] > best + CHANGE)
            yield _Case("MON", rank, old, new, tried)


def _replace(
    scorer: _Scorer, old: _Lists, rank: int, queries: Bools, iou: Floats, number: int
) -> _Lists:
    """Return the lists of a run with other results at a rank of some queries.

    Each has the given IoU with a relevant moment: with the `number`-th, counted in a circle. Those
    with an IoU of 0 meet nothing in any video. Another moment may make the IoU higher.
    """
    qrels, run, wanted = scorer.evaluator.qrels, old.run, iou[queries]
    truth = scorer.rows[(scorer.first + number % np.maximum(scorer.moments, 1))[queries]]
    rows = old.row[queries, rank - 1]
    video, start, end = list(run.video), run.start.copy(), run.end.copy()
    for row, moment, share in zip(rows.tolist(), truth.tolist(), wanted.tolist(), strict=True):
        video[row] = qrels.video[moment] if share else NOWHERE
    last, length = qrels.end[truth], (qrels.end - qrels.start)[truth]
    end[rows] = np.where(wanted > 0, last, NEVER + 1)
    start[rows] = np.where(wanted > 0, last - wanted * length, NEVER)
    return _read(scorer, old.task, run._replace(video=video, start=start, end=end))


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
