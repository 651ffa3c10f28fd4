"""Departures: when annotators left and returned; answers in between do not count.

`until` in annotators.yaml says when a person leaves. `active: false` has no date: departures.csv
records the first pull that sees it, and the first that sees the person active again.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime, time, timedelta

import pandas as pd

from pipeline.core import tables

Left = Callable[[str, str], bool]
"""Whether an answer's version (origin and `updated_at`) came after its annotator left."""


def never(_origin: str, _updated_at: str) -> bool:
    """Return False: the annotator has not left."""
    return False


def update_departures(
    departures: pd.DataFrame, inactive: Collection[int], now: datetime
) -> pd.DataFrame:
    """Return `tables.DEPARTURES` as of a pull at `now` (UTC) that sees these people inactive."""
    away = departures["returned"].isna()
    back = away & ~departures["annotator"].isin(list(inactive))
    updated = departures.assign(returned=departures["returned"].mask(back, now))
    gone = sorted(set(inactive) - set(departures.loc[away, "annotator"].tolist()))
    new = pd.DataFrame({"annotator": gone, "since": now, "returned": None})
    both = pd.concat([updated.astype(object), new.astype(object)], ignore_index=True)
    key = list(tables.DEPARTURES.key)
    return tables.DEPARTURES.check(both.sort_values(key, ignore_index=True))


def find_left(
    departures: pd.DataFrame, until: Mapping[int, date | None], versions: pd.DataFrame
) -> Callable[[int], Left]:
    """Return a function that gives an annotator's test for answers that came after they left.

    `until` has their last days (UTC) by number. None of `versions` (`tables.JUDGMENT_HISTORY`)
    did: what was pulled once still counts.
    """
    pulled = set(zip(versions["origin"], versions["updated_at"], strict=True))

    def make_test(annotator: int) -> Left:
        rows = departures[departures["annotator"] == annotator]
        away = list(zip(rows["since"], rows["returned"], strict=True))
        last = until.get(annotator)
        if last is not None:
            midnight = datetime.combine(last + timedelta(days=1), time(), UTC)
            away.append((pd.Timestamp(midnight), pd.NaT))
        if not away:
            return never

        def came_after(origin: str, updated_at: str) -> bool:
            when = pd.Timestamp(updated_at).tz_convert("UTC")
            absent = any(a <= when and (pd.isna(b) or when < b) for a, b in away)
            return absent and (origin, when) not in pulled

        return came_after

    return make_test
