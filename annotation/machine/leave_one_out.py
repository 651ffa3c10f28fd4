"""Is the machine as good as one more person? Each is compared with the others on the same pairs.

A person's vote and the machine's level of the same pair are compared with one reference, the
consensus of the other people (`annotation.machine.others`). So both have the same pairs and the
same references, and contribute to none of them.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.confusion import (
    STATISTICS,
    Draws,
    Measured,
    describe,
    measure_draws,
    subtract,
    tabulate,
)
from annotation.machine.others import Others, find_references
from annotation.reliability.scores import Scores, number
from annotation.votes.rule import LEVELS, Rounding
from annotation.votes.votes import NO_LEVEL, Bools, Floats, Ints, select_rows


class Panel(NamedTuple):
    """People's scores on pairs, and what is compared with them, an entry for each pair.

    `query` is the number of the pair's query, 0 to `queries` - 1. `machine` is its level or
    NO_LEVEL, `consensus` people's. `similarity` is of query and caption, NaN where unknown (None:
    everywhere); `control` is the level made from it, or NO_LEVEL. `seconds` are the lengths of
    clips, NaN where unknown, and `rounding` is that of the campaign's consensus. `first_batch`
    marks the pairs of the first batch of candidates; None where that is not known.
    """

    scores: Scores
    query: Ints
    queries: int
    machine: Ints
    consensus: Ints
    similarity: Floats | None = None
    rank: Ints | None = None
    control: Ints | None = None
    seconds: Floats | None = None
    rounding: Rounding = "up"
    first_batch: Bools | None = None


class Left(NamedTuple):
    """Votes with a reference, on pairs with a machine level: columns of one length."""

    annotator: Ints
    query: Ints
    reference: Ints
    person: Ints
    machine: Ints


def leave_out(panel: Panel, others: Others) -> Left:
    """Return each vote that can be compared, with its reference and the machine's level."""
    scores = panel.scores
    machine = panel.machine[scores.pair]
    reference = find_references(scores, others, panel.rounding)
    columns = (scores.annotator, panel.query[scores.pair], reference, scores.level, machine)
    return select_rows(Left(*columns), (reference != NO_LEVEL) & (machine != NO_LEVEL))


def compare_people(panel: Panel, others: Others, draws: Draws, least: int) -> dict[str, Any]:
    """Return the machine compared with people, for JSON; `annotators` has a row for each of them.

    `people` and `machine` cover all votes, `difference` is the machine's figure minus people's.
    `standing` counts, among annotators with at least `least` votes, those for whom the machine
    agrees with the others better than they do, by kappa. `by_level` says how far people and the
    machine are above the reference, at each of its levels.
    """
    left = leave_out(panel, others)
    person, machine = (_measure(left, level, panel, draws) for level in (left.person, left.machine))
    annotators = _each(left, panel, draws)
    return {
        "people": describe(person, draws),
        "machine": describe(machine, draws),
        "difference": subtract(machine, person, draws),
        "standing": _stand(annotators, least),
        "by_level": _by_level(left),
        "annotators": annotators,
    }


def _measure(left: Left, level: Ints, panel: Panel, draws: Draws) -> Measured:
    return measure_draws(tabulate(left.query, left.reference, level, panel.queries), draws)


def _each(left: Left, panel: Panel, draws: Draws) -> pd.DataFrame:
    """Return each annotator's figures and the machine's on the same pairs, and the difference."""
    rows = []
    for annotator in np.unique(left.annotator).tolist():
        votes = select_rows(left, left.annotator == annotator)
        person, machine = (
            _measure(votes, level, panel, draws) for level in (votes.person, votes.machine)
        )
        more = subtract(machine, person, draws)["kappa"]
        rows.append(
            {"annotator": panel.scores.annotators[annotator], "votes": person.pairs}
            | {name: number(person.whole[name]) for name in STATISTICS}
            | {f"machine_{name}": number(machine.whole[name]) for name in STATISTICS}
            | {"kappa_more": more["value"], "kappa_low": more["low"], "kappa_high": more["high"]}
        )
    return pd.DataFrame(rows, columns=COLUMNS)


COLUMNS = [
    *("annotator", "votes", *STATISTICS),
    *(f"machine_{name}" for name in STATISTICS),
    *("kappa_more", "kappa_low", "kappa_high"),
]
"""Columns: the annotator's figures, the machine's, and how much higher its kappa is."""


def _stand(annotators: pd.DataFrame, least: int) -> dict[str, Any]:
    people_measured = annotators[(annotators["votes"] >= least) & annotators["kappa_more"].notna()]
    people = people_measured["kappa"].astype("float64")
    return {
        "annotators": len(people_measured),
        "below_machine": int((people_measured["kappa_more"] > 0).sum()),
        "lowest": number(people.min()),
        "median": number(people.median()),
        "highest": number(people.max()),
        "machine_mean": number(people_measured["machine_kappa"].astype("float64").mean()),
    }


def _by_level(left: Left) -> list[dict[str, Any]]:
    rows = []
    for level in range(LEVELS):
        votes = select_rows(left, left.reference == level)
        both = (
            number((said - level).mean()) if len(said) else None
            for said in (votes.person, votes.machine)
        )
        rows.append(
            {"level": level, "votes": len(votes.person)} | dict(zip(BIASES, both, strict=True))
        )
    return rows


BIASES = ("people", "machine")
