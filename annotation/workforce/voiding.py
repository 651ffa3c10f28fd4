"""Void an annotator's judgments from an instant on: the row for voided.csv, and its effect."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

import pandas as pd

from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.voided import mark_voided
from pipeline.core import tables


class Period(NamedTuple):
    """A row of `tables.VOIDED`: from when on, and until when, judgments are voided (UTC)."""

    annotator: int
    since: datetime
    until: datetime | None = None
    note: str | None = None

    @property
    def text(self) -> str:
        """The period as the lead reads it."""
        end = "on" if self.until is None else f"to {_text(self.until)}"
        return f"from {_text(self.since)} {end} (UTC)"


class Voiding(NamedTuple):
    """The new table of voided periods, and how many judgments, on how many pairs, it adds.

    `judgments` are those that counted until now, of `of_annotator` by this annotator.
    """

    voided: pd.DataFrame
    judgments: int
    pairs: int
    of_annotator: int


def void(
    voided: pd.DataFrame,
    judgments: pd.DataFrame,
    listed: Collection[int],
    period: Period,
    now: datetime,
) -> Voiding:
    """Return the table with this period added, and what it voids.

    Raises:
        CampaignError: nobody has this number, the period is in the future, or it is already
            voided.
    """
    annotator = period.annotator
    theirs = judgments[judgments["annotator"] == annotator]
    _refuse(period, voided, {*listed, *judgments["annotator"].tolist()}, now)
    row = pd.DataFrame([period], columns=tables.VOIDED.columns)
    both = pd.concat([voided.astype(object), row.astype(object)], ignore_index=True)
    table = tables.VOIDED.check(both.sort_values(list(tables.VOIDED.key), ignore_index=True))
    lost = theirs[mark_voided(theirs, table) & ~mark_voided(theirs, voided)]
    return Voiding(table, len(lost), len(lost.drop_duplicates(PAIR_KEY)), len(theirs))


def _refuse(period: Period, voided: pd.DataFrame, people: Collection[int], now: datetime) -> None:
    annotator, since, until, _ = period
    if annotator not in people:
        numbers = ", ".join(map(str, sorted(people))) or "nobody"
        raise CampaignError(f"there is no annotator {annotator} (known: {numbers})")
    if since > now:
        raise CampaignError(f"--from {_text(since)} is in the future; it is {_text(now)} (UTC)")
    periods = voided[voided["annotator"] == annotator]
    covering = (periods["since"] <= since) & (
        periods["until"].isna()
        if until is None
        else periods["until"].isna() | (periods["until"] >= until)
    )
    if covering.any():
        raise CampaignError(
            f"{tables.VOIDED.path}: annotator {annotator} is already voided {period.text}"
        )
    if (periods["since"] == since).any():
        raise CampaignError(
            f"{tables.VOIDED.path}: has a row for annotator {annotator} from {_text(since)} on;"
            " change its `until` there"
        )


def _text(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M}"
