"""Conventions, for where papers and scripts differ; every output names its own.

* `paper`: each measure as its paper defines it. Every query of the qrels counts; one that is
  missing from the run counts as 0.
* `tvr-ranking`: as in the scorer released with TVR-Ranking, the source of published numbers:
  gain 2^level - 1, IoU > threshold, the mean over the queries of the run.
* `sh-eval`: as in MediaEval's script for search and hyperlinking (`momentrank.sh_eval`); the
  mean over the queries of both files.
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
    """Check that a convention defines a measure.

    Raises:
        UsageError: the convention does not exist or does not define the measure.
    """
    if convention not in CONVENTIONS:
        raise UsageError(
            f"{convention!r} is not a valid convention, must be one of {', '.join(CONVENTIONS)}"
        )
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
    """Return which queries are scored, shape (queries,)."""
    return aligned.in_run | (convention == PAPER)


def _memoize(aligned: AlignedRun, key: object, make: Callable[[], T]) -> T:
    """Return what `make` returns for an aligned run, cached under `key`."""
    if key not in aligned.cache:
        aligned.cache[key] = make()
    value: T = aligned.cache[key]
    return value
