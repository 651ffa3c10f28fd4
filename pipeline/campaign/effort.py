"""How long judging takes: the one measure that status, agreement, estimate and report share.

Label Studio times a judgment from opening the page to submitting it, so a page left open overnight
counts as twelve hours. A judgment counts for at most `plan.pause` minutes.
"""

import pandas as pd

HOUR, MINUTE = 3600, 60


def active_seconds(seconds: pd.Series, pause: float) -> pd.Series:
    """Return the seconds of judgments, each at most `pause` minutes; unknown ones stay NaN."""
    return seconds.clip(upper=pause * MINUTE)
