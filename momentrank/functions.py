"""The library's functions: score, compare and explain runs, convert and write files.

`evaluator`, `iter_calc`, `calc_aggregate` and `calc` are those of ir_measures, over segments. Qrels
and runs may be paths, frames, dicts or lists (see `momentrank.data`), and are never changed;
measures are values or names. What looks wrong, such as ids that don't match, is a warning.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from momentrank import conventions, data, formats
from momentrank.collection.declarations import Negatives
from momentrank.data import Data
from momentrank.errors import UsageError, warn
from momentrank.formats import write
from momentrank.formats.text import Time
from momentrank.formats.validation import examine
from momentrank.ids import id_text
from momentrank.matching.aligned import align
from momentrank.measures.base import EITHER, Measure
from momentrank.measures.parse import parse_measure
from momentrank.measures.silence import best_scores, trace_risk
from momentrank.query_groups import group_queries
from momentrank.scoring import CalcResults, Evaluation, Evaluator, Metric, PerQuery, Scores
from momentrank.segments import make_frame
from momentrank.significance import CONFIDENCE, ROUNDS, SEED, Comparisons, compare_runs
from momentrank.unjudged import BOUNDS, EXPECTED, UPPER, Unjudged, find_best

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.conventions.base import Convention
    from momentrank.meta.values import Values
    from momentrank.prediction_powered import Estimates
    from momentrank.rankings import Explanation

Measures = Iterable[Measure | str] | Measure | str
Chosen = Union[str, "Convention", None]


def evaluate(
    qrels: Data,
    run: Data,
    measures: Measures = (),
    convention: Chosen = None,
    *,
    time: Time | None = None,
    unjudged: Unjudged | None = None,
    negatives: Negatives = (),
) -> Evaluation:
    """Score a run.

    >>> print(mr.evaluate("demo.qrels", "demo.run", [mr.nDCG(iou=0.5) @ 10, "R@1,0.5"]))
    # convention: paper
    nDCG(iou=0.5)@10          0.6681
    R(iou=0.5,strict=True)@1  0.5000

    Args:
        qrels: the judged segments.
        run: the ranked results.
        measures: `[nDCG(iou=0.5) @ 10, "R@1,0.5"]`; by default, the convention's own table, or
            its usual measures.
        convention: one of `momentrank.conventions.CONVENTIONS`; `paper` by default.
        time: the unit of times in text files, "seconds" or "mm.ss"; by default the convention's.
        unjudged: "bounds", to have also the `upper` bounds, with unjudged results as good as the
            measures allow; or an audit's rates by rank (a path, a frame or rows `rank_low,
            rank_high, level, share`), to have also the `expected` values.
        negatives: queries that have no relevant moment: ids, or a file of one a line. Those that
            the qrels' release declares are known.

    Raises:
        MeasureError: a measure is unknown or lacks a parameter.
        UsageError: the convention does not exist or does not define a measure.
        FormatError: a file is malformed.
        SegmentError: a row is malformed.
        NoOverlapError: the qrels and the run have no query or no video in common.
    """
    chosen = _choose(convention)
    scorer = _read(_parse(measures) or chosen.defaults(), qrels, convention, time, negatives)
    find = None if unjudged is None else scorer.assume(unjudged)
    results = scorer.read(run, "the run", time)
    if not scorer.measures:
        return Evaluation(chosen, chosen.table_of(scorer.qrels, results), {})
    of: Any = {"queries": scorer.queries, "left_out": scorer.left_out}
    if find is None:
        per_query = scorer.per_query(results)
        return Evaluation(chosen, _by_name(scorer, per_query), per_query, **of)
    per_query, assumed = scorer.per_query_of_each(results, [None, find])
    of[UPPER if find is find_best else EXPECTED] = _by_name(scorer, assumed)
    return Evaluation(chosen, _by_name(scorer, per_query), per_query, assumed=assumed, **of)


def _by_name(scorer: Evaluator, scored: PerQuery) -> dict[str, float]:
    return {repr(measure): value for measure, value in scorer.totals(scored).items()}


def evaluate_with_machine(
    qrels: Data,
    run: Data,
    machine: Data,
    measures: Measures = (),
    convention: Chosen = None,
    *,
    time: Time | None = None,
    confidence: float = CONFIDENCE,
) -> "Estimates":
    """Estimate a run's means over all queries, of which people judged a random sample.

    >>> levels = [(f"q{n}", "v", 0, 9, 1) for n in range(20)]
    >>> run = [(f"q{n}", "v", 0, n % 9 + 1) for n in range(20)]
    >>> estimate = mr.evaluate_with_machine(levels[::2], run, levels, "mIoU")["mIoU"]
    >>> round(estimate.people.value, 4), round(estimate.combined.value, 4)
    (0.5111, 0.5167)

    `qrels` are people's levels, `machine` a machine's for all queries. For the other arguments see
    `evaluate`; for errors, also `momentrank.prediction_powered`.
    """
    from momentrank.prediction_powered import estimate_run, join

    chosen = _choose(convention)
    people = _read(_parse(measures) or chosen.defaults(), qrels, convention, time)
    levels = data.as_truth(machine, time or chosen.time, warn, negative=chosen.negative)
    scorers = join(people, levels)
    results = scorers.machine.read(run, "the run", time)
    return estimate_run(scorers, results, confidence)


def compare(
    qrels: Data,
    runs: Mapping[str, Data],
    measures: Measures,
    convention: Chosen = None,
    *,
    time: Time | None = None,
    baseline: str | None = None,
    rounds: int = ROUNDS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
    unjudged: Literal["bounds"] | None = None,
    negatives: Negatives = (),
    by: str | None = None,
) -> Comparisons:
    """Compare all pairs of runs, or all with a baseline, by paired tests over queries.

    Holm's correction is over all pairs, measures and groups. With `unjudged="bounds"`, also the
    bounds of each difference by what unjudged results may be. `by` also compares within groups of
    queries (`momentrank.query_groups.group_queries`). For the other arguments and errors see
    `evaluate` and `momentrank.significance.compare_runs`.

    >>> runs = {"demo": "demo.run", "other": [("q1", "garden", 5, 12), ("q2", "kitchen", 0, 9)]}
    >>> [pair] = mr.compare("demo.qrels", runs, "AxIoU@10")
    >>> round(pair.comparison.difference, 4), pair.comparison.losses
    (-0.344, 1)
    """
    if unjudged is not None and (unjudged != BOUNDS or by):
        reason = "can't be combined with by" if by else f"must be {BOUNDS!r}, not {unjudged!r}"
        raise UsageError(f"compare: unjudged {reason}")
    scorer, lists = _read_runs(qrels, runs, measures, convention, time, negatives)
    path = Path(qrels) if isinstance(qrels, str | Path) else None
    groups = group_queries(by, scorer.qrels, warn, path) if by else {}
    if unjudged:
        scorer.assume(unjudged)
    scored = {name: scorer.per_query(run) for name, run in lists.items()}
    how: Any = {"rounds": rounds, "seed": seed, "groups": groups}
    pairs = compare_runs(scored, scorer.measures, baseline=baseline, confidence=confidence, **how)
    compared = Comparisons(pairs)
    if unjudged:
        compared.bounds = scorer.bound_differences(lists, compared.names)
    return compared


def score_runs(
    qrels: Data,
    runs: Mapping[str, Data],
    measures: Measures,
    convention: Chosen = None,
    *,
    time: Time | None = None,
    negatives: Negatives = (),
) -> "Values":
    """Return the value of each measure, run and query, as `meta`'s experiments take them.

    >>> runs = {"demo": "demo.run", "other": [("q1", "garden", 5, 12), ("q2", "kitchen", 0, 9)]}
    >>> mr.score_runs("demo.qrels", runs, "R@1,0.5").table
    array([[[1., 0.],
            [1., 0.]]])

    Raises:
        UsageError: there are fewer than two runs, or they are scored over different queries.
        MomentRankError: as `evaluate` does.
    """
    from momentrank.meta.values import Values

    scorer, lists = _read_runs(qrels, runs, measures, convention, time, negatives)
    scored = {name: scorer.per_query(run) for name, run in lists.items()}
    return Values.build(scored, scorer.measures)


def explain(
    qrels: Data,
    run: Data,
    query: str | int,
    measure: Measure | str | None = None,
    convention: Chosen = None,
    *,
    time: Time | None = None,
    shown: int = 10,
    negatives: Negatives = (),
) -> "Explanation":
    """Explain a measure's value for one query by its first results.

    >>> explained = mr.explain("demo.qrels", "demo.run", "q2", mr.RR(iou=0.5))
    >>> [(result.rank, result.relevant, result.value) for result in explained.ranking]
    [(1, False, 0.0), (2, True, 0.5)]

    Raises:
        UsageError: the qrels do not have the query, or the measure can't be explained.
    """
    from momentrank import explanation

    chosen = _choose(convention)
    asked = measure or explanation.default_measure(chosen)
    scorer = _read(asked, qrels, convention, time, negatives)
    results = scorer.read(run, "the run", time)
    listed = results[chosen.list_of(scorer.measures[0], results)]
    query_id = id_text(query) or str(query)
    return explanation.explain(scorer.qrels, listed, query_id, scorer.measures[0], chosen, shown)


def convert(source: Path | str, out: Path | str, to: str, *, tag: str = "momentrank") -> None:
    """Convert a file of qrels or a run to another format.

    >>> mr.convert("demo.run", "demo.trec.gz", "segments")

    Raises:
        FormatError: the file is malformed, or the format can't express it.
        UsageError: the file is neither, or there is no such format to write.
    """
    content, lists = examine(source)
    content.warn(source, warn)
    write.convert(content, lists, (Path(source), Path(out)), to, tag)


def write_qrels(path: Path | str, qrels: Data, fmt: str = "segments") -> None:
    """Write judged segments, compressed if the name ends in .gz.

    >>> mr.write_qrels("own.qrels.gz", [("q1", "v1", 0, 20, 4)])

    Raises:
        FormatError: the format can't express them.
        SegmentError: a row is malformed.
        UsageError: qrels can't be written in that format.
    """
    write.write_qrels(path, data.as_truth(qrels, "seconds", warn).segments, fmt)


def write_run(path: Path | str, run: Data, fmt: str = "segments", tag: str = "momentrank") -> None:
    """Write ranked results, with `tag` if the format has one; see `write_qrels`.

    >>> mr.write_run("own.run.gz", {"q1": [("v1", 0, 19), ("v2", 5, 9)]}, tag="ours")
    """
    [results] = data.as_lists(run, "the run", warn=warn).values()
    write.write_run(path, results, fmt, tag)


def risk_coverage(
    qrels: Data,
    run: Data,
    measure: Measure | str = "nDCG(iou=0.5,silence=True)@10",
    *,
    time: Time | None = None,
    negatives: Negatives = (),
) -> "pd.DataFrame":
    """Return a run's risk-coverage curve, whose area is AURC = 1 - AUARC.

    >>> mr.risk_coverage("demo.qrels", "demo.run").round(3)
      query_id  score  coverage   risk
    0       q1   0.93       0.5  0.295
    1       q2   0.90       1.0  0.332

    A row per query, the highest best score first (-inf: no result): `query_id, score, coverage,
    risk`. The risk is 1 - the mean of the measure over the queries so far; ties are averaged over
    their orders. For arguments and errors see `evaluate`.

    Raises:
        UsageError: the measure leaves out queries, or pandas is not installed.
    """
    scorer = _read(measure, qrels, None, time, negatives)
    if scorer.measures[0].over() != EITHER or scorer.measures[0].COLLECTIVE:
        raise UsageError(f"{scorer.measures[0]!r} leaves out queries; name nDCG(silence=True)")
    lists = scorer.read(run, "the run", time)
    [(queries, accuracy)] = scorer.per_query(lists).values()
    best = best_scores(align(scorer.qrels, next(iter(lists.values()))))
    order = np.argsort(-best, kind="stable")
    return make_frame({
        "query_id": [queries[row] for row in order.tolist()],
        "score": best[order],
        "coverage": np.arange(1, len(best) + 1) / len(best),
        "risk": trace_risk(best, accuracy),
    })  # fmt: skip


def evaluator(
    measures: Measures, qrels: Data, convention: Chosen = None, negatives: Negatives = ()
) -> Evaluator:
    """Return an evaluator that scores runs of any kind against the same qrels.

    >>> scorer = mr.evaluator("AxIoU@2", "demo.qrels")
    >>> other = [("q1", "garden", 5, 12), ("q2", "kitchen", 0, 9)]
    >>> [scorer.calc_aggregate(run)["AxIoU@2"] for run in ("demo.run", other)]
    [0.6726..., 0.5]

    For errors, see `evaluate`.
    """
    return _read(measures, qrels, convention, negatives=negatives)


def iter_calc(
    measures: Measures, qrels: Data, run: Data, convention: Chosen = None
) -> Iterator[Metric]:
    """Yield the value of each measure for each scored query; see `evaluate`.

    >>> for metric in mr.iter_calc("R@1,0.5", "demo.qrels", "demo.run"):
    ...     print(*metric)
    q1 R(iou=0.5,strict=True)@1 1.0
    q2 R(iou=0.5,strict=True)@1 0.0
    """
    return _read(measures, qrels, convention).iter_calc(run)


def calc_aggregate(measures: Measures, qrels: Data, run: Data, convention: Chosen = None) -> Scores:
    """Return each measure over all scored queries; see `evaluate`.

    >>> mr.calc_aggregate(["R@1,0.5", "NumQ"], "demo.qrels", "demo.run")
    {R(iou=0.5,strict=True)@1: 0.5, NumQ: 2.0}
    """
    return _read(measures, qrels, convention).calc_aggregate(run)


def calc(measures: Measures, qrels: Data, run: Data, convention: Chosen = None) -> CalcResults:
    """Return each measure over all queries, and for each query; see `evaluate`.

    >>> result = mr.calc("R@1,0.5", "demo.qrels", "demo.run")
    >>> result.aggregated["R@1,0.5"], [metric.value for metric in result.per_query]
    (0.5, [1.0, 0.0])
    """
    return _read(measures, qrels, convention).calc(run)


def _choose(convention: Chosen) -> "Convention":
    return conventions.get(convention or conventions.PAPER)


def _read(
    measures: Measures,
    qrels: Data,
    convention: Chosen,
    time: Time | None = None,
    negatives: Negatives = (),
) -> Evaluator:
    chosen = _choose(convention)
    how: Any = {"negative": chosen.negative, "negatives": chosen.check_negatives(negatives)}
    truth = data.as_truth(qrels, time or chosen.time, warn, **how)
    if convention is None and (official := formats.official_convention(truth)):
        warn(f"for the official numbers of {truth.format} pass convention={official!r}")
    return Evaluator(_parse(measures), truth, chosen)


def _parse(measures: Measures) -> list[Measure]:
    listed = [measures] if isinstance(measures, Measure | str) else measures
    return [parse_measure(measure) if isinstance(measure, str) else measure for measure in listed]


def _read_runs(
    qrels: Data,
    runs: Mapping[str, Data],
    measures: Measures,
    convention: Chosen,
    time: Time | None,
    negatives: Negatives,
) -> tuple[Evaluator, dict[str, formats.Lists]]:
    if not isinstance(runs, Mapping):
        raise UsageError("runs must be a dict of names and runs, such as {'ours': 'a.run'}")
    scorer = _read(measures, qrels, convention, time, negatives)
    return scorer, {name: scorer.read(run, name, time) for name, run in runs.items()}
