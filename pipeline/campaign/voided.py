"""Voided judgments: the lead has withdrawn them. They stay in judgments.csv but count nowhere.

`python -m annotation.people void` writes to voided.csv whose they are, and from when on.
"""

from collections import Counter

import pandas as pd

from pipeline.core import tables

NO_END = pd.Timestamp("9999-12-31", tz="UTC").as_unit("us")


def mark_voided(judgments: pd.DataFrame, voided: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the judgments that are voided: submitted at `since` or later, and before `until`.

    `judgments` is any table with `annotator, submitted_at`; `voided` is `tables.VOIDED`, where
    an empty `until` means no end.
    """
    marks = pd.Series(data=False, index=judgments.index)
    when, annotators = judgments["submitted_at"], judgments["annotator"]
    ends = voided["until"].fillna(NO_END)
    for annotator, since, until in zip(voided["annotator"], voided["since"], ends, strict=True):
        marks |= (annotators == annotator) & (when >= since) & (when < until)
    return marks


def drop_voided(judgments: pd.DataFrame, voided: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments that are not voided."""
    return judgments[~mark_voided(judgments, voided)]


def count_withdrawn(judgments: pd.DataFrame, voided: pd.DataFrame) -> dict[int, int]:
    """Return how many votes (excluding gold and repeats) of each annotator are voided."""
    votes = judgments[judgments["kind"].isin(tables.VOTING)]
    return dict(Counter(sorted(votes.loc[mark_voided(votes, voided), "annotator"].tolist())))


def voided_for_good(voided: pd.DataFrame) -> frozenset[int]:
    """Return the annotators whose future judgments would be voided too: they get no tasks."""
    return frozenset(voided.loc[voided["until"].isna(), "annotator"].tolist())
