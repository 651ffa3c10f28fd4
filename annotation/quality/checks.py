"""Hidden checks in figures: each person's agreement with gold, and with themselves.

A hit is a level within 1 of the known one; "can't judge" is neither a hit nor a miss.
"""

from typing import Any

import numpy as np
import pandas as pd

from annotation.quality.gold import CLEAR, join_gold
from annotation.reliability import kappa
from annotation.reliability.scores import Couples
from annotation.votes.votes import MAX_DIFFERENCE, Bools
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core.tables import LINK, VOTING

THIRDS = ("early", "middle", "late")


def measure_checks(judgments: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Return the figures of everyone with a hidden check, a row for each `annotator`.

    The argument `gold` is from `collect_gold`. Columns: of the `gold` pairs with a level from the
    lead or the exam, `hits` are within 1 and `exact` equal; the `share` of hits with `low` and
    `high`, Wilson's 95 % interval (1927); the shares in each third by time, `early`, `middle` and
    `late`. `adjudicated` and `adjudicated_hits` count pairs that people could not agree on;
    `without_level` are "can't judge" answers to gold. Of `repeats`, pairs judged twice with a
    level, `same` and `near` (within 1) count how the second answer compares with the first;
    `kappa` is quadratic. Of `links`, decided pairs that the person judged again after a reopening,
    `apart` is the mean level less that of the old votes. Undefined figures are null.
    """
    parts = _gold_answers(judgments, gold), _repeats(judgments), _links(judgments)
    people = sorted({who for part in parts for who in part["annotator"].tolist()})
    rows = {who: _person(*(part[part["annotator"] == who] for part in parts)) for who in people}
    columns = _person(*(part.iloc[:0] for part in parts)).keys()
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns)).round(6)
    return table.rename_axis("annotator").reset_index()


def _person(answers: pd.DataFrame, twice: pd.DataFrame, links: pd.DataFrame) -> dict[str, Any]:
    judged = answers[answers["level"].notna()]
    clear = judged["source"].isin(CLEAR)
    marks, other = (judged.loc[rows, "hit"].to_numpy() for rows in (clear, ~clear))
    hits, thirds = int(marks.sum()), np.array_split(marks, len(THIRDS))
    low, high = _bound(hits, len(marks)) if len(marks) else (None, None)
    return {
        "gold": len(marks),
        "hits": hits,
        "exact": int(judged.loc[clear, "exact"].sum()),
        "share": _share(marks),
        "low": low,
        "high": high,
        **{name: _share(third) for name, third in zip(THIRDS, thirds, strict=True)},
        "adjudicated": len(other),
        "adjudicated_hits": int(other.sum()),
        "without_level": int(answers["level"].isna().sum()),
        "repeats": len(twice),
        "same": int((twice["apart"] == 0).sum()),
        "near": int((twice["apart"] <= MAX_DIFFERENCE).sum()),
        "kappa": _kappa(twice),
        "links": len(links),
        "apart": float(links["apart"].mean()) if len(links) else None,
    }


def _share(marks: Bools) -> float | None:
    return float(marks.mean()) if len(marks) else None


def _bound(hits: int, number: int) -> tuple[float, float]:
    from scipy.stats import binomtest  # noqa: PLC0415  (--help needs none)

    interval = binomtest(hits, number).proportion_ci(method="wilson")
    return interval.low, interval.high


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
