"""The progress of the campaign, in counts: `campaign_state.json`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pandas as pd

from annotation.assignment import check_summary
from annotation.assignment.extension import Extension, is_further
from annotation.assignment.inputs import PlanInputs, Rule
from annotation.assignment.pair_states import PairStates, find_pair_states
from annotation.assignment.quotas import Quota
from annotation.votes.votes import FIRST_VOTES, Bools, last_shown, pair_rows
from pipeline.campaign.next_step import Step, format_steps
from pipeline.core import tables

DECIDED = tuple(outcome for outcome in tables.OUTCOMES if outcome != "waiting")


def closed_state(campaign: PlanInputs, ledger: pd.DataFrame) -> dict[str, Any]:
    """Return the state of a closed campaign: pairs that were shown and still wait are discarded.

    The pairs are those of the ledger, as in the consensus: pairs never shown are not counted.
    """
    shown = last_shown(ledger)
    states = find_pair_states(replace(campaign, shown=shown), closed=True)
    counted = pair_rows(states.pairs, shown) >= 0
    second = counted & is_further(states.pairs) & ~states.pairs["extra"]
    extension = Extension(set(states.pairs.loc[second, "query_id"]), set())
    nobody = states.open_tasks.iloc[:0]
    return {
        "pairs": pair_counts(states, counted, states.missing > 0),
        "queries": query_counts(states, extension, campaign.candidates),
        "annotators": people_counts(campaign, nobody),
        "checks": check_summary.summarize(campaign),
    }


def pair_counts(states: PairStates, wanted: Bools, beyond: Bools) -> dict[str, int]:
    """Count the wanted pairs: the state of each, and what blocks it.

    Pairs without a clip are not in `waiting`. `nobody_left` counts the pairs of `waiting` that
    need more votes than there are people who have not seen them: they wait for new people.
    """
    outcome = states.outcome[wanted]
    counts = Counter(outcome.tolist())
    waiting = int(states.waiting[wanted].sum())
    return {
        "all": len(outcome),
        "without_clip": counts["waiting"] - waiting,
        "waiting": waiting,
        **{name: counts[name] for name in DECIDED},
        "escalated": int(states.escalated[wanted].sum()),
        "nobody_left": int(beyond.sum()),
    }


def query_counts(
    states: PairStates, extension: Extension, candidates: pd.DataFrame
) -> dict[str, Any]:
    """Count the queries, and list those that are extended or wait for the lead."""
    judged = states.pairs["query_id"].nunique()
    return {
        "all": judged,
        "left_out_as_equal": candidates["query_id"].nunique() - judged,
        "extended": sorted(extension.extended),
        "for_the_lead": sorted(extension.for_the_lead),
    }


def people_counts(
    campaign: PlanInputs,
    assignments: pd.DataFrame,
    quotas: Mapping[int, Quota] = MappingProxyType({}),
    later: int = 0,
) -> dict[str, dict[str, Any]]:
    """Return what each person has open and done, by number, including people no longer listed.

    `later` is their part of the judgments not handed out yet, by their shares.
    """
    waiting, done = Counter(assignments["annotator"].tolist()), campaign.done
    people = campaign.annotators
    named = {person.number: {"role": person.role, "active": person.active} for person in people}
    whole = sum(quota.share for quota in quotas.values())
    later_of = {number: later * quota.share / whole for number, quota in quotas.items()}
    left = {"role": None, "active": False}
    return {
        str(number): {
            **named.get(number, left),
            "open": waiting[number],
            "later": round(later_of.get(number, 0)),
            "done": done.get(number, 0),
        }
        for number in sorted(named.keys() | done.keys())
    }


def outlook(states: PairStates, wanted: Bools, further: Extension, rule: Rule) -> dict[str, int]:
    """Count what the forecast of judgments to come needs (`pace.forecast`).

    `first` pairs lack one of their first two levels; of the `compared` ones, which have both,
    `disputed` went to four people. `second_pairs` are the pairs of the second batches of the
    `undecided` queries; of the `decided` ones, `extended` got theirs. Where batches are learned,
    these are the pairs that the queries with an open batch have left, and the queries whose first
    batch is done.
    """
    counts = _count_learned(states, rule.learned) if rule.learned else _count(states, further)
    scores = states.consensus.scores
    return {
        "first": int((states.waiting & wanted & (scores < FIRST_VOTES)).sum()),
        "compared": int((scores >= FIRST_VOTES).sum()),
        "disputed": int(states.escalated.sum()),
        **counts,
    }


def _count(states: PairStates, further: Extension) -> dict[str, int]:
    undecided = states.pairs["query_id"].isin(further.undecided)
    second = undecided & is_further(states.pairs) & ~states.pairs["extra"] & states.clip
    return {
        "second_pairs": int(second.sum()),
        "undecided": len(further.undecided),
        "decided": len(further.decided),
        "extended": len(further.extended),
    }


def _count_learned(states: PairStates, top: int) -> dict[str, int]:
    pairs = states.pairs.assign(waits=states.waiting, further=is_further(states.pairs))
    pooled = pairs[pairs["further"] | (pairs["batch"] == 1)]
    queries = pooled.groupby("query_id")
    left = (top - queries.size()).where(queries["waits"].any(), 0).clip(lower=0)
    begun = pooled[pooled["waits"] & ~pooled["further"]]["query_id"]
    decided = queries["further"].any().drop(begun.unique())
    return {
        "second_pairs": int(left.sum()),
        "undecided": int((left > 0).sum()),
        "decided": len(decided),
        "extended": int(decided.sum()),
    }


def summarize(state: Mapping[str, Any], wanted: int, steps: Sequence[Step]) -> str:
    """Return the state of the campaign and the next steps, in a few lines."""
    pairs = state["pairs"]
    decided = sum(pairs[name] for name in DECIDED)
    later = f", {state['later']} later" if state["later"] else ""
    line = f"plan: {decided} of {pairs['all']} pairs decided, {wanted} judgments wanted now{later}"
    return "\n".join([line, *format_steps(steps)])
