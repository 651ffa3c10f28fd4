"""The convention of MediaEval's script for search and hyperlinking.

It differs from Aly et al. (2013) in what it calls relevant and in MAiSP (`sh_eval_models`). Means
are over the queries of both files. `VideosRet` and `VideosRel` are means too, and `LengthRet` and
`LengthRel` the means of each query's mean length. In its own table the means of counts and lengths
are truncated to integers.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from momentrank.conventions.base import Convention
from momentrank.conventions.sh_eval_models import (
    MODELS,
    POINTS,
    Query,
    Segment,
    Watched,
    merge,
    trace,
    watch,
)
from momentrank.errors import UsageError
from momentrank.matching import Trace
from momentrank.matching.aligned import AlignedRun, Params, Relevance, Truth, align, memoize
from momentrank.measures import (
    AP,
    Judged,
    LengthRel,
    LengthRet,
    NumQ,
    NumRel,
    NumRelRet,
    P,
    VideosRel,
    VideosRet,
)
from momentrank.measures.base import Measure, share
from momentrank.segments import Bools, Floats, Segments

HAS = (
    "P, AP and Judged with match='overlap', 'bin' or 'tol', MAiSP, and the counts,"
    " with their defaults"
)
BY_MODEL = {"P", "AP", "Judged", "NumRel", "NumRelRet"}
OTHERS = {"NumQ", "NumRet", "VideosRet", "VideosRel", "LengthRet", "LengthRel", "MAiSP"}
GENERAL = {
    "num_q": NumQ,
    "videos_ret": VideosRet,
    "videos_rel": VideosRel,
    "avglength_ret": LengthRet,
    "avglength_rel": LengthRel,
}
ENDINGS = {"overlap": "", "bin": "_bin", "tol": "_tol"}
"""Of a relevance model's cells."""
COUNTS = ("num_", "videos_", "avglength_")
"""Prefixes of cells that are truncated to integers."""


class ShEval(Convention):
    """MediaEval's script for search and hyperlinking."""

    name = "sh-eval"
    source = "MediaEval's script for search and hyperlinking"
    time = "mm.ss in lines"
    negative = True
    needs_match = False

    def check(self, measure: Measure) -> None:
        params = set(measure.params) - {"cutoff"}
        allowed = {"match"} if measure.NAME in BY_MODEL else set[str]()
        is_known = measure.NAME in BY_MODEL and measure.settings()["match"] in MODELS
        if not (is_known or measure.NAME in OTHERS) or not params <= allowed:
            raise UsageError(f"{measure!r} is not a measure of sh-eval, which has {HAS}")

    def depth(self, measures: Iterable[Measure]) -> None:  # noqa: ARG002  (the base class's)
        """Return None: all results are read."""
        return

    def is_summed(self, measure: Measure) -> bool:
        return measure.NAME.startswith("Num")

    def select_counted(self, _: Measure | None, aligned: AlignedRun) -> Bools:
        return aligned.in_run

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        if measure.NAME == "MAiSP":
            return np.array([query.value for query in _watched(aligned)])
        run, judged = _judged(aligned, params["match"] or "overlap")
        values = measure.per_query(run, judged, params)
        if measure.NAME.startswith("Length"):
            rows = run.truth if measure.NAME == LengthRel.NAME else run.results
            number = np.bincount(rows.query, minlength=run.count)
            return share(values, number.astype(np.float64))
        return values

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        match = measure.settings(self.changes)["match"] or "overlap"
        return trace(aligned, _queries(aligned), match)

    def table(self, qrels: Segments, run: Segments) -> dict[str, float]:
        aligned = align(qrels, run)
        counted = self.select_counted(None, aligned)
        return {name: _total(name, of[counted]) for name, of in self._cells(aligned).items()}

    def is_count(self, cell: str) -> bool:
        return cell.startswith(COUNTS)

    def _cells(self, aligned: AlignedRun) -> dict[str, Floats]:
        cells = {name: self.values(measure, aligned) for name, measure in GENERAL.items()}
        for match, end in ENDINGS.items():
            relevance = _judged(aligned, match)[1]
            measures = {
                "num_rel_ret": NumRelRet(match=match),
                "map": AP(match=match),
                **{f"P_{cutoff}": P(match=match) @ cutoff for cutoff in (5, 10, 20)},
                **{f"Judged_{cutoff}": Judged(match=match) @ cutoff for cutoff in (10, 20, 30)},
            }
            retrieved = np.bincount(relevance.query, minlength=aligned.count)
            cells[f"num_rel{end}"] = self.values(NumRel(match=match), aligned)
            cells[f"num_ret{end}"] = retrieved.astype(np.float64)
            cells |= {
                f"{name}{end}": self.values(measure, aligned) for name, measure in measures.items()
            }
        watched = _watched(aligned)
        seconds = {
            "num_rel_secs": [query.relevant for query in watched],
            "num_ret_secs": [query.retrieved for query in watched],
            "num_rel_ret_secs": [query.seen for query in watched],
            "maisp": [query.value for query in watched],
            **{
                f"maisp_{point / POINTS:.2f}": [query.at(point) for query in watched]
                for point in (5, 10, 20)
            },
        }
        return cells | {name: np.array(values, np.float64) for name, values in seconds.items()}


def _total(cell: str, values: Floats) -> float:
    """Return a cell over all queries; 0 without queries."""
    total = float(values.sum())
    if not cell.startswith("num_") and len(values):
        total /= len(values)
    return float(int(total)) if cell.startswith(COUNTS) else total


def _watched(aligned: AlignedRun) -> list[Watched]:
    return memoize(
        aligned,
        "watched",
        lambda: [watch(query.results, merge(query.relevant)) for query in _queries(aligned)],
    )


def _judged(aligned: AlignedRun, match: str) -> tuple[AlignedRun, Relevance]:
    return memoize(aligned, match, lambda: _relevance(aligned, match))


def _relevance(aligned: AlignedRun, match: str) -> tuple[AlignedRun, Relevance]:
    queries = _queries(aligned)
    judgments = [MODELS[match](query) for query in queries]
    rows = [
        (query, rank, item.relevant, item.judged)
        for query, (items, _) in enumerate(judgments)
        for rank, item in enumerate(items, start=1)
    ]
    query, rank, hit, judged = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    total = np.array([count for _, count in judgments], dtype=np.int64)
    gain = hit.astype(np.float64)
    relevance = Relevance(query, rank, gain, hit.astype(bool), judged.astype(bool), total)
    whole = aligned.results._replace(
        start=np.trunc(aligned.results.start), end=np.trunc(aligned.results.end)
    )
    return replace(aligned, truth=_truth(queries), results=whole, cache={}), relevance


def _queries(aligned: AlignedRun) -> list[Query]:
    queries = [Query([], [], []) for _ in range(aligned.count)]
    truth, results = aligned.truth, aligned.results
    columns = (results.query, results.video, results.start, results.end)
    for query, *segment in zip(*(column.tolist() for column in columns), strict=True):
        queries[query].results.append(Segment(*map(int, segment)))
    for query, *segment, level in zip(*(column.tolist() for column in truth), strict=True):
        judged = queries[query].relevant if level >= 1 else queries[query].irrelevant
        judged.append(Segment(*map(int, segment)))
    return queries


def _truth(queries: Iterable[Query]) -> Truth:
    rows = [
        (number, video, *span)
        for number, query in enumerate(queries)
        for video, spans in merge(query.relevant).items()
        for span in spans
    ]
    query, video, start, end = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    times = start.astype(np.float64), end.astype(np.float64)
    return Truth(query, video, *times, np.ones(len(query)))


CONVENTIONS = (ShEval(),)
