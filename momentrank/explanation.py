"""One query's ranking next to its judged segments, as a measure sees them (TVR-Ranking, Figure 7).

Each convention and relevance model decides what a result matched; the values are the
evaluator's.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from momentrank import conventions
from momentrank.errors import UsageError
from momentrank.matching import Trace
from momentrank.matching.aligned import align
from momentrank.matching.models import FREE
from momentrank.measures import AP, R, nDCG
from momentrank.measures.base import NULL, Measure
from momentrank.measures.silence import best_scores
from momentrank.query_groups import select_queries
from momentrank.rankings import Explanation, JudgedSegment, RankedResult
from momentrank.scoring import Evaluator
from momentrank.segments import Segments, stack
from momentrank.unjudged import BOUNDS

if TYPE_CHECKING:
    from momentrank.conventions.base import Convention


def default_measure(convention: "str | Convention") -> Measure:
    """Return the measure to explain by default."""
    chosen = conventions.get(convention)
    for measure in (nDCG(iou=0.5) @ 10, R(iou=0.5) @ 1, R(iou=1) @ 1):
        with suppress(UsageError):
            chosen.check(measure)
            return chosen.resolve(measure)
    return AP(match="overlap")


def explain(
    qrels: Segments,
    run: Segments,
    query: str,
    measure: Measure,
    convention: "str | Convention",
    shown: int,
) -> Explanation:
    """Explain a measure's value for one query by its first results."""
    if query not in qrels.queries:
        first = next(iter(qrels.queries), None)
        raise UsageError(f"the qrels have no query {query!r}; their first is {first!r}")
    everyone, others = qrels, run
    run = select_queries(run, [query])
    upper = _upper(Evaluator([measure], qrels, convention), run, query)
    qrels = select_queries(qrels, [query])
    evaluator = Evaluator([measure], qrels, convention)
    prepared = evaluator.convention.prepare(qrels, run)
    if len(prepared[0].query) < len(qrels.query):  # it keeps what is relevant
        qrels = qrels.select(qrels.value >= 1)
    resolved = evaluator.measures[0]
    if isinstance(resolved.params.get("iou"), str):
        raise UsageError(f"{resolved!r} has several thresholds; name one: {resolved(iou=0.5)!r}")
    aligned = align(*prepared, evaluator.depth or shown)
    traced = evaluator.convention.trace(resolved, aligned)
    scored, lists = (evaluator, run)
    if resolved.COLLECTIVE:
        scored, lists = Evaluator([measure], everyone, convention), others
    is_own = np.array([name == query for name in lists.queries], dtype=bool)[lists.query]
    ranks = range(1, min(shown, len(traced.truth)) + 1)
    cuts = [lists.select(~is_own | (lists.rank <= rank)) for rank in ranks]
    if resolved.COLLECTIVE or not cuts:
        values = [_value(scored, cut, query) for cut in cuts]
    else:  # a query's value does not depend on others: all cuts at once
        copies = Evaluator([measure], stack([qrels] * len(cuts)), convention)
        names, each = copies.per_query({"": stack(cuts)})[copies.measures[0]]
        by_name = dict(zip(names, each.tolist(), strict=True))
        values = [by_name.get(f"{number} {query}") for number in range(len(cuts))]
    ranking = _ranking(qrels, run, traced, values)
    whole = _value(scored, lists, query)
    note = _note(scored, lists, query, counts=whole is not None)
    name, truth = evaluator.convention.name, _truth(qrels, ranking)
    return Explanation(query, resolved, name, whole, ranking, truth, upper, note)


def _note(evaluator: Evaluator, run: Segments, query: str, *, counts: bool) -> str:
    [measure] = evaluator.measures
    if not counts and evaluator.convention.leaves_out:
        return f": it has {'a' if measure.over() == NULL else 'no'} relevant moment"
    if not measure.COLLECTIVE and measure.over() != NULL:
        return ""
    best = best_scores(align(evaluator.qrels, run))
    own = best[evaluator.queries.index(query)]
    score = f"; best score {own:g}" if np.isfinite(own) else "; no result"
    if not measure.COLLECTIVE:
        return score
    first, last = 1 + (best > own).sum(), (best >= own).sum()
    place = f"place {first}" if first == last else f"places {first} to {last}"
    return f"{score}, {place} of {len(best)}"


def _upper(evaluator: Evaluator, run: Segments, query: str) -> float | None:
    """Return the upper bound; the highest level is that of all queries."""
    with suppress(UsageError):
        names, values = evaluator.per_query({"": run}, BOUNDS)[evaluator.measures[0]]
        return float(values[names.index(query)]) if query in names else None
    return None


def _value(evaluator: Evaluator, run: Segments, query: str) -> float | None:
    names, values = evaluator.per_query({"": run})[evaluator.measures[0]]
    return float(values[names.index(query)]) if query in names else None


def _ranking(
    qrels: Segments, run: Segments, traced: Trace, values: list[float | None]
) -> list[RankedResult]:
    position = {segment: row for row, segment in enumerate(_by_level(qrels))}
    return [
        RankedResult(
            rank=row + 1,
            video=run.video[row],
            start=float(run.start[row]),
            end=float(run.end[row]),
            matched=position.get(segment),
            iou=float(traced.iou[row]),
            level=None if segment == FREE else int(qrels.value[segment]),
            relevant=bool(traced.relevant[row]),
            gain=float(traced.gain[row]),
            value=value,
        )
        for row, (segment, value) in enumerate(zip(traced.truth.tolist(), values, strict=False))
    ]


def _truth(qrels: Segments, ranking: list[RankedResult]) -> list[JudgedSegment]:
    return [
        JudgedSegment(
            qrels.video[row],
            float(qrels.start[row]),
            float(qrels.end[row]),
            int(qrels.value[row]),
            tuple(result.rank for result in ranking if result.matched == number),
        )
        for number, row in enumerate(_by_level(qrels))
    ]


def _by_level(qrels: Segments) -> list[int]:
    rows: list[int] = np.argsort(-qrels.value, kind="stable").tolist()
    return rows
