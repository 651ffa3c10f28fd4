"""Figures of each annotator, and what is worth a look: for the lead only.

A flag is a question, not a verdict: a person who was asked only about disputed pairs agrees less
with others than one who was not.
"""

import numpy as np
import pandas as pd

from annotation.reliability.scores import Scores
from annotation.votes.rule import LEVELS
from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE, Bools, Floats, select_rows
from pipeline.core.people_sections import Agreement


def measure_annotators(scores: Scores, params: Agreement) -> pd.DataFrame:
    """Return the figures and flags of everyone with a score, a row for each `annotator`.

    `bias` is the mean difference from the mean of the *others* on the same pair, `correlation` is
    with that mean, `spread` the standard deviation of the levels, `most_frequent` the share of
    the level given most often, `seconds` the median of a judgment, `drift` how much higher the
    bias is in the later half of the person's judgments, `in_bursts` how many of them are part of
    a burst (`bursts`). `escalated` is the share of pairs whose first two levels were too far apart:
    among pairs where the person's score was one of the two, or, if times are unknown, among all of
    theirs. Unknown figures are null; `flags` may be empty.
    """
    others = _mean_of_others(scores)
    asked_first = True if scores.first is None else scores.first
    rows = pd.DataFrame(
        {
            "annotator": scores.annotator,
            "level": scores.level,
            "others": others,
            "bias": scores.level - others,
            "escalated": np.where(asked_first, _escalated(scores), np.nan),
            "seconds": np.nan if scores.seconds is None else scores.seconds,
        }
    )
    grouped = rows.groupby("annotator")
    statistics = pd.DataFrame(
        {
            "number": grouped.size(),
            "mean": grouped["level"].mean(),
            "spread": grouped["level"].std(ddof=0),
            "bias": grouped["bias"].mean(),
            "correlation": _correlation(rows),
            "most_frequent": _most_frequent(scores, grouped.size()),
            "seconds": grouped["seconds"].median(),
            "drift": _drift(rows, scores),
            "escalated": grouped["escalated"].mean(),
        }
    )
    fast = bursts(scores, params.min_seconds, params.burst).reindex(statistics.index)
    table = statistics.round(6).assign(
        in_bursts=None if _untimed(scores) else fast["judgments"].fillna(0).astype("int64"),
        flags=_flags(statistics.join(fast), params),
    )
    names = scores.annotators[table.index]
    return table.set_axis(names).rename_axis("annotator").reset_index()


def bursts(scores: Scores, min_seconds: float, length: int) -> pd.DataFrame:
    """Return who judged in bursts, by annotator, as `judgments, longest, begin`.

    A burst is `length` or more judgments of a person in a row, each of which took less than
    `min_seconds`. `judgments` counts those in bursts, `longest` those in the longest one (the first
    of several), which begins at `begin`. If times or seconds are unknown, nobody is listed; a
    judgment without seconds ends a burst.
    """
    if _untimed(scores):
        return pd.DataFrame({"judgments": [], "longest": [], "begin": []})
    rows = pd.DataFrame(
        {
            "annotator": scores.annotator,
            "time": scores.time,
            "pair": scores.pair,
            "fast": np.asarray(scores.seconds) < min_seconds,
        }
    ).sort_values(["annotator", "time", "pair"])
    run = (rows[["annotator", "fast"]] != rows[["annotator", "fast"]].shift()).any(axis=1).cumsum()
    runs = rows[rows["fast"]].groupby(["annotator", run])["time"].agg(["size", "min"])
    long = runs[runs["size"] >= length].reset_index("annotator")
    longest = long.sort_values(["size", "min"], ascending=[False, True])
    by = longest.groupby("annotator")
    return pd.DataFrame(
        {"judgments": by["size"].sum(), "longest": by["size"].first(), "begin": by["min"].first()}
    )


def _untimed(scores: Scores) -> bool:
    return scores.time is None or scores.seconds is None


def _mean_of_others(scores: Scores) -> Floats:
    """Return the mean level that other people gave the same pair, NaN if nobody did."""
    keys = scores.pair * len(scores.annotators) + scores.annotator
    _, slot = np.unique(keys, return_inverse=True)
    total = np.bincount(scores.pair, scores.level, scores.pairs)[scores.pair]
    others = scores.per_pair[scores.pair] - np.bincount(slot)[slot]
    mean = (total - np.bincount(slot, scores.level)[slot]) / np.maximum(others, 1)
    return np.where(others > 0, mean, np.nan)


def _escalated(scores: Scores) -> Bools:
    """Mark the scores on pairs whose first two levels are too far apart, or with more than two."""
    opening = scores if scores.first is None else select_rows(scores, scores.first)
    high, low = np.zeros(scores.pairs, dtype=np.int64), np.full(scores.pairs, LEVELS)
    np.maximum.at(high, opening.pair, opening.level)
    np.minimum.at(low, opening.pair, opening.level)
    apart = (
        (high - low > MAX_DIFFERENCE) if scores.first is not None else scores.per_pair > FIRST_VOTES
    )
    return apart[scores.pair]


CONSTANT = 1e-9
"""Values that differ by less are equal: means of the same levels are rounded differently."""


def _correlation(rows: pd.DataFrame) -> pd.Series:
    """Return Pearson's correlation of level and others' mean; NaN if either is constant."""
    compared = rows.dropna(subset=["others"])
    by = compared.groupby("annotator")[["level", "others"]]
    constant = (by.max() - by.min() < CONSTANT).any(axis=1)
    off = compared[["level", "others"]] - by.transform("mean")
    sums = pd.DataFrame(
        {"both": off["level"] * off["others"], "one": off["level"] ** 2, "two": off["others"] ** 2}
    )
    total = sums.groupby(compared["annotator"]).sum()
    size = (total["one"] * total["two"]) ** 0.5
    return (total["both"] / size.mask(constant)).clip(-1, 1)


def _most_frequent(scores: Scores, size: pd.Series) -> pd.Series:
    levels = pd.DataFrame({"annotator": scores.annotator, "level": scores.level})
    return levels.groupby(["annotator", "level"]).size().groupby("annotator").max() / size


def _drift(rows: pd.DataFrame, scores: Scores) -> pd.Series:
    if scores.time is None:
        return pd.Series(dtype="float64")
    compared = rows.assign(time=scores.time, pair=scores.pair).dropna(subset=["bias"])
    ordered = compared.sort_values(["annotator", "time", "pair"])
    by = ordered.groupby("annotator")
    late = by.cumcount() >= by["level"].transform("size") / 2
    halves = [ordered[half].groupby("annotator")["bias"].mean() for half in (late, ~late)]
    return halves[0] - halves[1]


def _flags(statistics: pd.DataFrame, params: Agreement) -> list[str]:
    enough = statistics["number"] >= params.min_judgments
    marks = {
        "too fast: the median judgment took {0.seconds:.1f} s": statistics["seconds"]
        < params.min_seconds,
        "constant: {0.most_frequent:.0%} are one level": statistics["most_frequent"]
        > params.max_same,
        "burst: {0.longest:.0f} in a row took under {1.min_seconds:g} s each, from"
        " {0.begin:%Y-%m-%d %H:%M} UTC ({0.judgments:.0f} in bursts)": statistics["judgments"] > 0,
        "contrary: correlation with the others is {0.correlation:.2f}": statistics["correlation"]
        < params.min_correlation,
    }
    marked_people = {text: (marked & enough).to_dict() for text, marked in marks.items()}
    return [
        "; ".join(
            text.format(row, params) for text, marked in marked_people.items() if marked[person]
        )
        for person, row in zip(statistics.index, statistics.itertuples(), strict=True)
    ]
