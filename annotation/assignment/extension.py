"""Extension: the queries of which further batches are judged (docs/campaign.md)."""

from collections.abc import Mapping, Set
from typing import NamedTuple

import pandas as pd

from annotation.assignment.inputs import PlanError, Rule
from annotation.assignment.pair_states import PairStates
from annotation.assignment.shown import FIRST_EXTRA
from annotation.votes.votes import NO_LEVEL
from pipeline.core import tables


class Extension(NamedTuple):
    """Query_ids: those whose further batches are judged, and those that the lead has to decide.

    `undecided` are all for which it is still open whether their batch 2 will be judged, and
    `decided` those that have a batch 2 and for which this is settled.
    """

    extended: set[str]
    for_the_lead: set[str]
    undecided: Set[str] = frozenset()
    decided: Set[str] = frozenset()


def find_extension(states: PairStates, decisions: Mapping[str, bool], rule: Rule) -> Extension:
    """Extend by the lead's decision, else by the mean level over the last ranks of batch 1.

    The rule waits until no pair of batch 1 is waiting. A second batch that was begun is continued,
    even if later answers change the mean, unless the lead says no; pairs from the audit or a
    top-up do not begin it. Batches that are learned (`Rule.learned`) were chosen to be judged.
    """
    queries = _by_query(states, rule)
    yes, no = (_mark_decided(queries, decisions, answer) for answer in (True, False))
    certain = yes | no | queries["begun"]
    by_rule = ~queries["waits"] & queries["high"]
    if rule.learned:
        return Extension(_ids(queries["further"] & ~no), set())
    extended = queries["more"] & ~no & (certain | by_rule)
    unsure = queries["more"] & ~certain & ~queries["waits"] & ~queries["levels"]
    undecided = unsure | (queries["more"] & ~certain & queries["waits"])
    settled = queries["more"] & ~undecided
    return Extension(_ids(extended), _ids(unsure), _ids(undecided), _ids(settled))


def _by_query(states: PairStates, rule: Rule) -> pd.DataFrame:
    """Return what the rule needs to know about each query, as columns of bool."""
    pairs, level = states.pairs, states.consensus.level
    first, second = pairs["batch"] == 1, is_further(pairs)
    ranks = pairs["rank"].between(rule.batch - rule.last_ranks + 1, rule.batch)
    last = first & ranks & (level != NO_LEVEL)
    voted = states.answered.loc[states.answered["kind"].isin(tables.VOTING), "pair"]
    begun = pairs.index.isin(voted) | pairs.index.isin(states.open_tasks["pair"])
    queries = pd.DataFrame({"query_id": pairs["query_id"]}).assign(
        candidates=first | second,
        more=second,
        further=second,
        waits=first & states.waiting,
        begun=second & ~pairs["extra"] & begun,
        levels=last,
        surplus=(level - rule.min_mean) * last,
    )
    sums = queries.groupby("query_id").sum()
    return sums.assign(high=(sums["surplus"] >= 0) & (sums["levels"] > 0)).assign(
        more=(sums["more"] > 0) & (sums["candidates"] >= rule.batch),
        **{name: sums[name] > 0 for name in ("further", "waits", "begun", "levels")},
    )


def is_further(pairs: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the pairs of the pool's batches after the first; other pairs have higher numbers."""
    return (pairs["batch"] > 1) & (pairs["batch"] < FIRST_EXTRA)


def _mark_decided(queries: pd.DataFrame, decisions: Mapping[str, bool], answer: bool) -> pd.Series:
    chosen = [query for query, decision in decisions.items() if decision == answer]
    return pd.Series(queries.index.isin(chosen), index=queries.index)


def _ids(marks: pd.Series) -> set[str]:
    return set(marks.index[marks])


def decisions_by_judged_query(
    decisions: Mapping[str, bool], same: Mapping[str, str]
) -> dict[str, bool]:
    """Return the decisions by judged query; among equal queries, that of the smallest id.

    `same` names that query for every query of the campaign.

    Raises:
        PlanError: a decision names a query that the campaign does not have.
    """
    unknown = sorted(decisions.keys() - same.keys())
    if unknown:
        raise PlanError(f"{tables.EXTEND.path}: unknown query {unknown[0]!r}; delete the line")
    return {same[query]: decisions[query] for query in sorted(decisions, reverse=True)}
