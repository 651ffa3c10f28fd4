"""What is done where papers and scripts differ; named in every output.

* `paper`: each measure as its paper defines it. Every query of the qrels counts, one that the
  run lacks with 0.
* `tvr-ranking`: as the scorer released with TVR-Ranking, which published numbers come from:
  gain 2^level - 1, IoU > threshold, the mean over the queries that the run has.
* `sh-eval`: as MediaEval's script for search and hyperlinking (`momentrank.sh_eval`); the mean
  over the queries that both files have.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from momentrank import matching, sh_eval
from momentrank.errors import UsageError
from momentrank.matching.aligned import AlignedRun
from momentrank.segments import Bools, Floats

if TYPE_CHECKING:
    from momentrank.measures.base import Measure

PAPER, TVR_RANKING, SH_EVAL = "paper", "tvr-ranking", "sh-eval"
CONVENTIONS = (PAPER, TVR_RANKING, SH_EVAL)
T = TypeVar("T")


def check(measure: "Measure", convention: str) -> None:
    """Check that a convention has a measure.

    Raises:
        UsageError: there is no such convention, or it does not have the measure.
    """
    if convention not in CONVENTIONS:
        raise UsageError(f"{convention!r} is not a convention: use {', '.join(CONVENTIONS)}")
    if convention == SH_EVAL and not sh_eval.has(measure):
        raise UsageError(f"{measure!r} is not a measure of sh-eval, which has {sh_eval.HAS}")


def values(measure: "Measure", aligned: AlignedRun, convention: str) -> Floats:
    """Return the value of each query, shape (queries,)."""
    params = measure.settings(convention)
    if convention == SH_EVAL:
        merged, relevance = _memoize(
            aligned, params["match"], lambda: sh_eval.relevance(aligned, params["match"])
        )
        return measure.per_query(merged, relevance, params)
    key = tuple((name, params[name]) for name in sorted(params) if name not in {"cutoff", "dcg"})
    return measure.per_query(
        aligned, _memoize(aligned, key, lambda: matching.relevance(aligned, params)), params
    )


def select_counted(aligned: AlignedRun, convention: str) -> Bools:
    """Return which queries count."""
    return aligned.in_run | (convention == PAPER)


def _memoize(aligned: AlignedRun, key: object, make: Callable[[], T]) -> T:
    """Return what is made of an aligned run, from its cache where it was made before."""
    if key not in aligned.cache:
        aligned.cache[key] = make()
    made: T = aligned.cache[key]
    return made
