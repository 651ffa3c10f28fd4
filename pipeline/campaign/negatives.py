"""Queries to which nothing that was shown answers, and how many of them may have an answer.

A *candidate* is a judged query that has no own moment, or whose own moment does not answer it. It
is *negative* if nothing that people were shown of it has level 2 or higher. An answer may still lie
outside its pool. How many have one is bounded from what the pool shows of itself:

**How often a pool misses.** Of the audited queries, every moment of level 2 or higher but a query's
own, which similarity finds anyway: the share beyond the first batch, whether later batches, runs or
the audit found it (`estimator.beyond`, upper end of its 95 % interval: one-sided 97.5 %).

**How many have an answer.** If each candidate with an answer shows one in its first batch with a
chance of 1 - m or more, and `found` do, then how many others do not is at most the 97.5 % quantile
of a negative binomial: misses before find number `found` + 1. That is the exact bound of a
binomial's number of trials (Feldman and Fox, JASA 63, 1968), and holds if the chances differ and
1 - m is their mean (Hoeffding, Annals of Mathematical Statistics 27, 1956). Candidates whose answer
was found otherwise are known, and leave the rest for the negatives. Both bounds hold together with
95 % (Bonferroni). It bounds those that there are, not an expectation, and needs no prior.

**What it assumes.** An answer of a candidate ranks like the other answers. Where it ranks lower,
more are missed. `python -m benchmarks.negatives` measures how often it holds, and what happens
there.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pipeline.campaign.collection import ANSWERS, Collection
from pipeline.campaign.estimator import LEVEL, Counts, beyond
from pipeline.campaign.next_step import LEAST_AUDITED
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import AUDIT

TAIL = (1 - LEVEL) / 2
"""The chance that each of both bounds may be wrong."""
NEAR, DEEP = "near", "deep"
WITHIN, BELOW = "1 first batch", "2 below it"
"""The strata of which every moment was judged; they stand before those of the audit."""
CLOSE, AUDITING = "the campaign is not closed", "its audit is not complete"
NO_AUDIT = "no audit of what the pool left out"
FEW = "the audit found too little to tell"


class Tally(NamedTuple):
    """Candidates: those that show an answer in their first batch, only elsewhere, or nowhere."""

    found: int
    later: int
    negative: int


def count(collection: Collection, batch: int) -> Tally:
    """Count the candidates of which nothing waits; a first batch has ranks up to `batch`."""
    judged = collection.judged
    answers = judged[judged["level"] >= ANSWERS]
    own = _is_own(answers, collection)
    waiting = collection.pairs.loc[collection.pairs["outcome"] == "waiting", "query_id"]
    candidates = {*judged["query_id"]} - {*answers.loc[own, "query_id"]} - {*waiting}
    rank = answers.groupby("query_id")["rank"].min()
    best = rank[rank.index.isin(candidates)]
    found = int((best <= batch).sum())
    return Tally(found, len(best) - found, len(candidates) - len(best))


def bound_negatives(tally: Tally, missed: float) -> int:
    """Return how many of the negatives have an answer at most (97.5 %, one-sided).

    `missed` is the highest chance with which a first batch shows no answer of a query that has one.
    """
    from scipy import stats  # noqa: PLC0415  (--help needs none)

    if missed >= 1:
        return tally.negative
    unseen = int(stats.nbinom.ppf(1 - TAIL, tally.found + 1, 1 - missed))
    return min(max(unseen - tally.later, 0), tally.negative)


def bound_missed(counts: Counts, population: int) -> float | None:
    """Return the highest share of answers beyond the first stratum (97.5 %, one-sided).

    `counts` are of queries drawn from `population` ones. None if they have no answer at all.
    """
    high = float(beyond(counts, 1, population).share.high)
    return None if pd.isna(high) else min(high, 1.0)


def count_answers(collection: Collection, batch: int, *, deep: bool) -> Counts | None:
    """Count the audited queries' answers: in the first batch, below it, and as the audit drew.

    A query's own moment is left out. Ranks end at the audit's depth, or nowhere if `deep`. Queries
    without a level in one of the audit's strata are left out; None if fewer than two are left.
    """
    audit = collection.audit
    if audit is None:
        return None
    depth = collection.pairs["rank"].max() if deep else audit.depth
    parts = [NEAR, DEEP] if deep else [NEAR]
    pairs = collection.pairs[["rank", *PAIR_KEY, "level", "origin"]]
    pairs = pairs[~_is_own(pairs, collection)]
    drawn = audit.pairs[audit.pairs["part"].isin(parts)].merge(pairs, on=PAIR_KEY, how="left")
    outside = (drawn["origin"] == AUDIT) & ~drawn["taken"]
    drawn = drawn.assign(relevant=(drawn["level"] >= ANSWERS).fillna(value=False) & outside)
    levels = drawn.groupby(["query_id", "stratum"])["level"].count()
    queries = sorted(audit.queries - {*levels.index[levels == 0].get_level_values("query_id")})
    if len(queries) < LEAST_AUDITED:
        return None
    only_drawn = pairs.merge(drawn.loc[outside, PAIR_KEY], how="left", indicator=True)["_merge"]
    known = pairs[(only_drawn == "left_only").to_numpy() & (pairs["rank"] <= depth)]
    known = known.dropna(subset="level")
    stratum = (known["rank"] <= batch).map({True: WITHIN, False: BELOW})
    known = known.assign(stratum=stratum, relevant=known["level"] >= ANSWERS)
    known["size"] = known.groupby(["query_id", "stratum"])["level"].transform("size")
    columns = ["query_id", "stratum", "size", "level", "relevant"]
    return _tabulate(pd.concat([known[columns], drawn[columns]]), queries)


def _tabulate(rows: pd.DataFrame, queries: list[str]) -> Counts:
    """Return what rows (`query_id, stratum, size, level, relevant`) say, by query and stratum."""
    names = sorted({WITHIN, BELOW, *rows["stratum"]})
    cells, shape = pd.MultiIndex.from_product([queries, names]), (len(queries), len(names))
    grouped = rows.groupby(["query_id", "stratum"])
    columns = grouped["size"].first(), grouped["level"].count(), grouped["relevant"].sum()
    size, judged, relevant = (
        np.asarray(column.reindex(cells, fill_value=0), dtype=np.int64).reshape(shape)
        for column in columns
    )
    return Counts(size, judged, relevant, len(names) - 2)


def _is_own(pairs: pd.DataFrame, collection: Collection) -> "pd.Series[bool]":
    """Mark the pairs of a query and the moment that it was made from."""
    own = collection.frozen.set_index("query_id")["moment_id"]
    return pairs["query_id"].map(own) == pairs["moment_id"]


def explain_unknown(collection: Collection) -> str | None:
    """Return why an audit can't tell yet what the pool missed; None if it can."""
    if collection.audit is None:
        return NO_AUDIT
    if collection.status != "closed":
        return CLOSE
    return None if collection.audit.is_drawn else AUDITING


def describe(collection: Collection, batch: int) -> dict[str, Any]:
    """Return what is known of the negatives, for JSON; empty if there is none.

    `missed` and `at_most` are bounds among the `depth` moments most similar to each query (the
    audit's), `missed_anywhere` and `at_most_anywhere` among all: the share of answers beyond the
    first `batch` ranks, and the share of negatives that have one. They are null where they are not
    known, for the reason in `unknown`. `by_stratum` has each stratum's, if there are several.
    """
    if not collection.negatives:
        return {}
    unknown = explain_unknown(collection)
    missed: list[float | None] = [None, None]
    if unknown is None:
        missed = [_bound_beyond(collection, batch, deep=deep) for deep in (False, True)]
        unknown = FEW if missed[0] is None else None
    audit = collection.audit
    strata = {name: collection.select(name) for name in collection.strata}
    return {
        "batch": batch,
        "depth": None if audit is None else audit.depth,
        "missed": missed[0],
        "missed_anywhere": missed[1],
        **_tell(collection, batch, missed),
        "unknown": unknown,
        "by_stratum": {name: _tell(part, batch, missed) for name, part in strata.items()},
    }


def _bound_beyond(collection: Collection, batch: int, *, deep: bool) -> float | None:
    counts = count_answers(collection, batch, deep=deep)
    if counts is None or collection.audit is None:
        return None
    bound = bound_missed(counts, collection.audit.population)
    return None if bound is None else round(bound, 6)


def _tell(collection: Collection, batch: int, missed: list[float | None]) -> dict[str, Any]:
    tally = count(collection, batch)
    shares = [
        None if share is None or not tally.negative
        else round(bound_negatives(tally, share) / tally.negative, 6)
        for share in missed
    ]  # fmt: skip
    return {**tally._asdict(), "at_most": shares[0], "at_most_anywhere": shares[1]}
