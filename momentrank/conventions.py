"""What is done where papers and scripts differ; named in every output.

* `paper`: each measure as its paper defines it. Every query of the qrels counts, one that the
  run lacks with 0.
* `tvr-ranking`: as the scorer released with TVR-Ranking, which published numbers come from:
  gain 2^level - 1, IoU > threshold, the mean over the queries that the run has.
* `sh-eval`: as MediaEval's script for search and hyperlinking (`momentrank.sh_eval`); the mean
  over the queries that both files have.
"""

from collections.abc import Callable
from typing import TypeVar

from momentrank import matching, sh_eval
from momentrank.errors import UsageError
from momentrank.matching.aligned import Lists
from momentrank.measures.base import Measure
from momentrank.segments import Bools, Floats

PAPER, TVR_RANKING, SH_EVAL = "paper", "tvr-ranking", "sh-eval"
CONVENTIONS = (PAPER, TVR_RANKING, SH_EVAL)
T = TypeVar("T")


def check(measure: Measure, convention: str) -> None:
    """Check that a convention has a measure.

    Raises:
        UsageError: there is no such convention, or it does not have the measure.
    """
    if convention not in CONVENTIONS:
        known = ", ".join(CONVENTIONS)
        raise UsageError(f"there is no convention {convention!r}, only {known}")
    if convention == SH_EVAL and not sh_eval.has(measure):
        raise UsageError(f"{measure!r} is no measure of sh-eval, which has {sh_eval.HAS}")


def values(measure: Measure, lists: Lists, convention: str) -> Floats:
    """Return the value of each query, shape (queries,)."""
    params = measure.settings(convention)
    if convention == SH_EVAL:
        merged, found = _once(
            lists, params["match"], lambda: sh_eval.relevance(lists, params["match"])
        )
        return measure.per_query(merged, found, params)
    key = tuple((name, params[name]) for name in sorted(params) if name not in {"cutoff", "dcg"})
    return measure.per_query(
        lists, _once(lists, key, lambda: matching.relevance(lists, params)), params
    )


def counting(lists: Lists, convention: str) -> Bools:
    """Return which queries count."""
    return lists.listed | (convention == PAPER)


def _once(lists: Lists, key: object, make: Callable[[], T]) -> T:
    """Return what is made of lists; what was made before is not made again."""
    if key not in lists.known:
        lists.known[key] = make()
    made: T = lists.known[key]
    return made
