"""How long judging takes: the one measure that status, agreement, estimate and report share.

Label Studio times a judgment from opening the page to submitting it, so a page left open overnight
counts as twelve hours. A judgment counts for at most `plan.pause` minutes. The page's clock is its
user's: for payment, an answer took no longer than the time since their last one, by the server's.
"""

from pathlib import Path

import pandas as pd

from pipeline.campaign.voided import drop_voided
from pipeline.core import tables
from pipeline.core.params import Params

HOUR, MINUTE = 3600, 60
SECONDS, ESCALATED = 19.0, 0.18
"""TVR-Ranking's seconds per judgment, and its share of pairs on which two people disagreed."""


def active_seconds(seconds: pd.Series, pause: float) -> pd.Series:
    """Return the seconds of judgments, each at most `pause` minutes; unknown ones stay NaN."""
    return seconds.clip(upper=pause * MINUTE)


def bound_seconds(answers: pd.DataFrame) -> pd.Series:
    """Return the seconds of answers, each at most the time since its annotator's last answer.

    `answers` has `annotator, submitted_at, seconds`: everything that these people submitted.
    """
    ordered = answers.sort_values("submitted_at", kind="stable")
    since = ordered.groupby("annotator")["submitted_at"].diff().dt.total_seconds()
    return answers["seconds"].clip(upper=since.reindex(answers.index).fillna(float("inf")))


def measure_seconds(params: Params, path: Path = tables.JUDGMENTS.path) -> float | None:
    """Return this checkout's median seconds per judgment; None if there are too few."""
    if not path.is_file():
        return None
    voided = tables.VOIDED.read(path.with_name(tables.VOIDED.path.name))
    judgments = drop_voided(tables.JUDGMENTS.read(path), voided)
    seconds = active_seconds(judgments["seconds"].dropna(), params.plan.pause)
    return float(seconds.median()) if len(seconds) >= params.agreement.min_judgments else None
