"""How far the campaign is: `campaign_state.json`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from annotation import roster
from annotation.planning.campaign import Campaign
from annotation.planning.extension import SECOND, Extension
from annotation.planning.people import Annotator
from annotation.planning.standing import Standing, standing
from annotation.votes import Bools, Ints, last_shown, rows_of
from pipeline import tables

DECIDED = ("two", "four", "discarded", "unjudgeable")


def ended(campaign: Campaign, ledger: pd.DataFrame) -> dict[str, Any]:
    """Return where a closed campaign stands: what was shown and waits is discarded.

    The pairs are those of the ledger, as in the consensus: what was never shown is not counted.
    """
    shown = last_shown(ledger)
    known = standing(replace(campaign, shown=shown), closed=True)
    counted = rows_of(known.pairs, shown) >= 0
    second = counted & (known.pairs["batch"] == SECOND) & ~known.pairs["extra"]
    extension = Extension(set(known.pairs.loc[second, "query_id"]), set())
    nobody = known.given.iloc[:0]
    return {
        "pairs": pair_counts(known, counted, known.missing),
        "queries": query_counts(known, extension, campaign.candidates),
        "annotators": people_counts(campaign.annotators, nobody, campaign.done),
    }


def pair_counts(known: Standing, wanted: Bools, unfilled: Ints) -> dict[str, int]:
    """Count the wanted pairs: where each stands, and what keeps it from going on.

    What waits for a clip is not in `waiting`. `nobody_left` counts the pairs of `waiting` that
    every active person has seen: they wait for new people.
    """
    outcome = known.verdicts.outcome[wanted]
    counts = Counter(outcome.tolist())
    waiting = int(known.waiting[wanted].sum())
    return {
        "all": len(outcome),
        "without_clip": counts["waiting"] - waiting,
        "waiting": waiting,
        **{name: counts[name] for name in DECIDED},
        "escalated": int(known.escalated[wanted].sum()),
        "nobody_left": int((unfilled > 0).sum()),
    }


def query_counts(known: Standing, extension: Extension, candidates: pd.DataFrame) -> dict[str, Any]:
    """Count the queries, and name those that are extended or wait for the lead."""
    judged = known.pairs["query_id"].nunique()
    return {
        "all": judged,
        "left_out_as_equal": candidates["query_id"].nunique() - judged,
        "extended": sorted(extension.extended),
        "for_the_lead": sorted(extension.for_the_lead),
    }


def people_counts(
    annotators: Sequence[Annotator], assignments: pd.DataFrame, done: Mapping[int, int]
) -> dict[str, dict[str, Any]]:
    """Return what each person has open and done, by number; also of people who left the list."""
    waiting = Counter(assignments["annotator"].tolist())
    named = {who.number: {"role": who.role, "active": who.active} for who in annotators}
    gone = {"role": None, "active": False}
    return {
        str(number): {
            **named.get(number, gone),
            "open": waiting[number],
            "done": done.get(number, 0),
        }
        for number in sorted(named.keys() | done.keys())
    }


def remark(figures: Mapping[str, Any], wanted: int) -> str:
    """Return in a line or two where the campaign stands, and what keeps it from going on."""
    pairs, queries = figures["pairs"], figures["queries"]
    decided = sum(pairs[name] for name in DECIDED)
    told = [f"plan: {decided} of {pairs['all']} pairs decided, {wanted} judgments wanted"]
    if pairs["without_clip"]:
        told.append(f"{pairs['without_clip']} pairs have no clip: see {tables.FAILED_CLIPS.path}")
    if pairs["nobody_left"]:
        told.append(
            f"{pairs['nobody_left']} pairs have been seen by everybody who is active, and wait:"
            f" add people to {roster.PUBLIC}"
        )
    if queries["for_the_lead"]:
        told.append(
            f"{len(queries['for_the_lead'])} queries wait for a decision in {tables.EXTEND.path}:"
            f" none of the last ranks has a level ({', '.join(queries['for_the_lead'][:5])} ...)"
        )
    return "\n".join(told)
