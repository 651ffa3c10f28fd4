"""How long judging takes: the one measure that status, agreement, estimate and report share.

Label Studio times a judgment from opening the page to submitting it, so a page left open overnight
counts as twelve hours. A judgment counts for at most `plan.pause` minutes. The page's clock is its
user's: for payment, an answer took no longer than the time since their last one, by the server's.
"""

import pandas as pd

HOUR, MINUTE = 3600, 60


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
