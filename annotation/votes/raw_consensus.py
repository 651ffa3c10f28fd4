"""The command `python -m annotation.consensus --raw FILE`: levels of any raw judgments.

A raw file counts as closed: a pair that would wait for more votes is discarded, and counted
separately from pairs that four votes could not decide.
"""

from collections import Counter
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from annotation.votes import crowd, raw
from annotation.votes.raw import Raw, Repeated
from annotation.votes.rule import LEVELS, Consensus, Rounding, decide
from annotation.votes.votes import NO_LEVEL
from momentrank.errors import UsageError
from pipeline.campaign.pairs import ALL_VOTES
from pipeline.core import csv_files

Rounded = Literal["up", "nearest", "exact"]
Method = Literal["paper", "dawid-skene", "mace", "majority"]


class Options(NamedTuple):
    """What is read and written, and the rule (the paper's by default)."""

    source: Path
    out: Path | None = None
    rounding: Rounded = "up"
    repeated: Repeated = "both"
    method: Method = "paper"


def run(options: Options) -> dict[str, Any]:
    """Write the levels of a raw file, and return the resulting figures.

    Raises:
        FileError: the file can't be read, or the levels can't be written.
        UsageError: both are the same file, or the method is not installed.
    """
    if options.out and options.out.resolve() == options.source.resolve():
        raise UsageError(f"{options.out}: --out would overwrite the raw judgments")
    table = levels(raw.read(options.source, options.repeated), options.method, options.rounding)
    if options.out:
        columns = table.drop(columns="votes")  # few numbers, many rows: each is spelt once
        csv_files.write_csv(options.out, columns.astype({"level": "category", "mean": "category"}))
    return summarize(table)


def levels(judgments: Raw, method: Method = "paper", rounding: Rounded = "up") -> pd.DataFrame:
    """Return `pair_id, level, mean, scores, outcome, votes`, sorted by pair_id.

    `mean` is exact: of the levels that are left, or of all if the `method` is not the paper's.
    `level` and `mean` are empty if a pair is not kept. `rounding` is only for the paper's method;
    with `exact` the level is the mean itself. `votes` counts a pair's levels.
    """
    whole: Rounding = "nearest" if rounding == "nearest" else "up"
    votes = judgments.pair, judgments.level, len(judgments.pairs)
    consensus = decide(*votes, closed=True, rounding=whole)
    if method != "paper":
        consensus = _aggregate(judgments, consensus, method)
    level = pd.Series(consensus.level, dtype="Int64").mask(consensus.level == NO_LEVEL)
    return pd.DataFrame(
        {
            "pair_id": judgments.pairs,
            "level": consensus.mean if rounding == "exact" else level,
            "mean": consensus.mean,
            "scores": _texts(consensus),
            "outcome": pd.Categorical(consensus.outcome),
            "votes": consensus.scores,
        }
    )


def _aggregate(judgments: Raw, consensus: Consensus, method: crowd.Aggregator) -> Consensus:
    level = crowd.aggregate(judgments, method)
    owner = np.repeat(np.arange(len(level)), consensus.scores)
    total = np.bincount(owner, weights=consensus.levels, minlength=len(level))
    mean = np.where(level == NO_LEVEL, np.nan, total / np.maximum(consensus.scores, 1))
    outcome = np.where(level == NO_LEVEL, "discarded", method)
    return consensus._replace(outcome=outcome, level=level, mean=mean)


def _texts(consensus: Consensus) -> pd.Categorical:
    """Return each pair's levels as text; there are few distinct combinations."""
    counts = consensus.counts()
    combination = pd.DataFrame(counts).groupby([*range(LEVELS)], sort=False).ngroup().to_numpy()
    _, first = np.unique(combination, return_index=True)
    spelt = [" ".join(map(str, np.repeat(range(LEVELS), number))) for number in counts[first]]
    return pd.Categorical.from_codes(combination, pd.Index(spelt, dtype="str"))


def summarize(table: pd.DataFrame) -> dict[str, Any]:
    """Count pairs by outcome and level, including levels that no pair has."""
    outcomes = Counter(table["outcome"].tolist())
    short = (table["outcome"] == "discarded") & (table["votes"] != ALL_VOTES)
    by_level = Counter(table["level"].dropna().tolist())
    by_votes = sorted(Counter(table.loc[short, "votes"].tolist()).items())
    return {
        "pairs": len(table),
        "kept": int(table["level"].notna().sum()),
        "discarded": outcomes["discarded"],
        "discarded_by_four_votes": outcomes["discarded"] - int(short.sum()),
        "discarded_with_too_few_votes": int(short.sum()),
        "discarded_by_number_of_votes": {str(votes): number for votes, number in by_votes},
        "unjudgeable": outcomes["unjudgeable"],
        "levels": {f"{level:g}": by_level[level] for level in sorted({*range(LEVELS), *by_level})},
    }
