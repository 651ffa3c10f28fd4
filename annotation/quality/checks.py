"""Hidden checks in figures: each person's agreement with gold, and with themselves.

A hit is a level within 1 of the known one; "can't judge" is neither a hit nor a miss.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.quality.gold import CLEAR, join_gold
from annotation.reliability import kappa
from annotation.reliability.scores import Couples
from annotation.votes.votes import MAX_DIFFERENCE
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core.tables import LINK, VOTING

Z = 1.959964
"""The normal deviate of a 95 % interval."""


class Hits(NamedTuple):
    """The hits among a number of answers, with Wilson's interval (1927), 95 %."""

    hits: int
    number: int

    @classmethod
    def tally(cls, marks: Sequence[bool]) -> "Hits":
        """Return how many of the marks are true."""
        return cls(sum(map(bool, marks)), len(marks))

    @property
    def share(self) -> float | None:
        """The share of hits; None if there are no answers."""
        return self.hits / self.number if self.number else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval of the share; 0 and 1 if there are no answers."""
        if not self.number:
            return 0.0, 1.0
        share, room = self.hits / self.number, Z * Z / self.number
        half = Z * math.sqrt(share * (1 - share) / self.number + room / (4 * self.number))
        low, high = ((share + room / 2 + way * half) / (1 + room) for way in (-1, 1))
        return max(low, 0.0), min(high, 1.0)

    @property
    def text(self) -> str:
        """The figures in words."""
        low, high = self.bounds
        return f"{self.hits} of {self.number} within 1 ({100 * low:.0f}-{100 * high:.0f} %)"


def difference(first: Hits, second: Hits) -> tuple[float, float]:
    """Return the 95 % interval of how much higher the second share is (Newcombe 1998, method 10).

    If either has no answers, it is -1 to 1.
    """
    if first.share is None or second.share is None:
        return -1.0, 1.0
    (low, high), (other_low, other_high) = first.bounds, second.bounds
    change = second.share - first.share
    return (
        change - math.hypot(second.share - other_low, high - first.share),
        change + math.hypot(other_high - second.share, first.share - low),
    )


THIRDS = ("early", "middle", "late")


def measure_checks(
    judgments: pd.DataFrame, gold: pd.DataFrame, min_gold: float, window: int
) -> pd.DataFrame:
    """Return the figures and flags of everyone with a hidden check, a row for each `annotator`.

    The argument `gold` is from `collect_gold`. Columns: of the `gold` pairs with a level from the
    lead or the exam, `hits` are within 1 and `exact` equal; the `share` of hits with `low` and
    `high`, and the same for the `last` ones; the shares in each third by time, `early`, `middle`
    and `late`. `adjudicated` and `adjudicated_hits` count pairs that people could not agree on;
    `without_level` are "can't judge" answers to gold. Of `repeats`, pairs judged twice with a
    level, `same` and `near` (within 1) count how the second answer compares with the first;
    `kappa` is quadratic. Of `links`, decided pairs that the person judged again after a reopening,
    `apart` is the mean level less that of the old votes. Undefined figures are null.
    """
    parts = _gold_answers(judgments, gold), _repeats(judgments), _links(judgments)
    people = sorted({who for part in parts for who in part["annotator"].tolist()})
    measure = partial(_person, min_gold=min_gold, window=window)
    rows = {who: measure(*(part[part["annotator"] == who] for part in parts)) for who in people}
    columns = measure(*(part.iloc[:0] for part in parts)).keys()
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns)).round(6)
    return table.rename_axis("annotator").reset_index()


def _person(
    answers: pd.DataFrame, twice: pd.DataFrame, links: pd.DataFrame, *, min_gold: float, window: int
) -> dict[str, Any]:
    judged = answers[answers["level"].notna()]
    clear = judged["source"].isin(CLEAR)
    marks, other = (judged.loc[rows, "hit"].tolist() for rows in (clear, ~clear))
    whole, last = Hits.tally(marks), Hits.tally(marks[-window:])
    thirds = [Hits.tally(group.tolist()) for group in np.array_split(np.array(marks), len(THIRDS))]
    same, near = (Hits.tally((twice["apart"] <= far).tolist()) for far in (0, MAX_DIFFERENCE))
    return {
        "gold": whole.number,
        "hits": whole.hits,
        "exact": int(judged.loc[clear, "exact"].sum()),
        **_share(whole, ""),
        "last": last.number,
        "last_hits": last.hits,
        **_share(last, "last_"),
        **{name: third.share for name, third in zip(THIRDS, thirds, strict=True)},
        "adjudicated": len(other),
        "adjudicated_hits": sum(other),
        "without_level": int(answers["level"].isna().sum()),
        "repeats": near.number,
        "same": same.hits,
        "near": near.hits,
        "kappa": _kappa(twice),
        "links": len(links),
        "apart": float(links["apart"].mean()) if len(links) else None,
        "flags": "; ".join(_flags(last, near, thirds, min_gold)),
    }


def _share(hits: Hits, prefix: str) -> dict[str, float | None]:
    low, high = hits.bounds if hits.number else (None, None)
    return {f"{prefix}share": hits.share, f"{prefix}low": low, f"{prefix}high": high}


def _flags(last: Hits, near: Hits, thirds: list[Hits], min_gold: float) -> list[str]:
    """Return what is worth a look: missed gold, inconsistent answers, a trend."""
    flags = []
    if last.bounds[1] < min_gold:
        flags.append(f"gold: {last.text}")
    if near.bounds[1] < min_gold:
        flags.append(f"disagrees with oneself: {near.text}")
    first, late = thirds[0], thirds[-1]
    low, high = difference(first, late)
    if not low <= 0 <= high:
        word = "tiring" if high < 0 else "learning"
        shares = f"{first.hits} of {first.number} within 1, at the end {late.hits} of {late.number}"
        flags.append(f"{word}: of gold at first {shares}")
    return flags


def _gold_answers(judgments: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments of pairs that are still gold, with `truth`, in order of time."""
    answers = join_gold(judgments[judgments["kind"] == "gold"], gold)
    answers = answers[answers["truth"].notna()]
    apart = (answers["level"] - answers["truth"]).abs()
    marks = {"hit": apart <= MAX_DIFFERENCE, "exact": apart == 0}
    answers = answers.assign(**{name: mark.fillna(value=False) for name, mark in marks.items()})
    return answers.sort_values(["submitted_at", "origin"], ignore_index=True)


def _repeats(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return pairs that a person judged twice with a level: `annotator, level, again, apart`."""
    whole = judgments[judgments["level"].notna()].sort_values(["submitted_at", "origin"])
    person = [*SHOWN_KEY, "annotator"]
    votes = whole[whole["kind"].isin(VOTING)].drop_duplicates(person, keep="last")
    again = whole[whole["kind"] == "repeat"].rename(columns={"level": "again"})
    both = votes[[*person, "level"]].merge(again[[*person, "again"]], on=person)
    return both.assign(apart=(both["level"] - both["again"]).abs())


def _links(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the link judgments with a level, and how far each is `apart` from the old votes."""
    levels = judgments[judgments["level"].notna()]
    old = levels[levels["kind"].isin(VOTING)].groupby(SHOWN_KEY)["level"].mean().rename("old")
    links = levels[levels["kind"] == LINK].merge(old.reset_index(), on=SHOWN_KEY)
    return links.assign(apart=links["level"] - links["old"])


def _kappa(twice: pd.DataFrame) -> float | None:
    if twice.empty:
        return None
    names = ("annotator", "annotator", "level", "again")
    couples = Couples(*(twice[name].to_numpy("int64") for name in names))
    return float(kappa.by_annotators(couples)["quadratic"].iloc[0])
