"""How far the campaign is: `campaign_state.json`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from annotation.planning.extension import Extension
from annotation.planning.people import Annotator
from annotation.planning.standing import Standing
from annotation.votes import Bools, Ints

DECIDED = ("two", "four", "discarded", "unjudgeable")


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
