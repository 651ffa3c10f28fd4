"""A published collection: its levels against its raw votes, and its second batches.

Ranks are those of the pairs with a level, by similarity: discarded pairs are not published, so a
rank may be higher up than the one that annotators saw.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from annotation.assignment.inputs import Rule
from annotation.pooling.published_files import read_pairs
from annotation.reliability.scores import number
from annotation.reliability.statistics import TOP_LEVEL, alike_below_top
from annotation.votes.raw import Raw
from annotation.votes.rule import decide
from annotation.votes.votes import NO_LEVEL
from momentrank.formats.source import FormatError

PAIR = "pair_id"


def read_judged(paths: Iterable[Path]) -> pd.DataFrame:
    """Read judged moments as `query_id, pair_id, similarity, level`, in the files' order.

    Raises:
        FormatError: a file is malformed, or a query or pair appears twice, with the place.
    """
    parts: list[pd.DataFrame] = []
    for path in paths:
        file = pd.DataFrame(read_pairs(path)._asdict())
        for name in ("query_id", PAIR):
            earlier_ids = {pair_id for earlier in parts for pair_id in earlier[name]}
            if repeated := earlier_ids.intersection(file[name]):
                raise FormatError(f"{path}: {name} {min(repeated)!r} is also in another file")
        parts.append(file)
    return pd.concat(parts, ignore_index=True)


def examine(votes: Raw, judged: pd.DataFrame, rule: Rule) -> dict[str, Any]:
    """Return what the files of a published collection show, for JSON.

    `levels` counts the pairs whose published level is the one that the rule gives for their votes,
    `similarity_1` those that read just like their query (paper, Appendix B.5).
    """
    return {
        "queries": int(judged["query_id"].nunique()),
        "pairs": len(judged),
        "levels": compare_levels(votes, judged),
        "similarity_1": alike_below_top(judged["similarity"], judged["level"]),
        "extension": measure_extension(judged, rule),
    }


def compare_levels(votes: Raw, judged: pd.DataFrame) -> dict[str, int]:
    """Count published levels that follow from the votes by the paper's rule, and others.

    `without_votes` are published pairs that nobody voted on, `discarded` those that the rule
    discards, `unpublished` pairs that the rule keeps but that no file has.
    """
    decided = decide(votes.pair, votes.level, len(votes.pairs), closed=True)
    by_rule = pd.Series(decided.level, index=votes.pairs.astype("str"))
    level = by_rule.reindex(judged[PAIR]).to_numpy()
    has_votes, has_level = ~np.isnan(level), level != NO_LEVEL
    is_same = level == judged["level"].to_numpy()
    unpublished = (by_rule != NO_LEVEL) & ~by_rule.index.isin(judged[PAIR])
    return {
        "same": int(is_same.sum()),
        "different": int((has_votes & has_level & ~is_same).sum()),
        "discarded": int((has_votes & ~has_level).sum()),
        "without_votes": int((~has_votes).sum()),
        "unpublished": int(unpublished.sum()),
    }


def measure_extension(judged: pd.DataFrame, rule: Rule) -> dict[str, Any]:
    """Return how many queries have a second batch, and how many should by the rule.

    A query was extended if more of its pairs than one batch have a level. The rule extends it if
    the mean level over the last ranks of the first batch is high enough; it can't decide
    (`undecided`) if none of these has a level. `batches` compares the levels in both.
    """
    ordered = judged.sort_values(["query_id", "similarity"], ascending=[True, False], kind="stable")
    rank = ordered.groupby("query_id").cumcount() + 1
    last = ordered[rank.between(rule.batch - rule.last_ranks + 1, rule.batch)]
    mean = last.groupby("query_id")["level"].mean().reindex(ordered["query_id"].unique())
    extended = (rank.groupby(ordered["query_id"]).max() > rule.batch).reindex(mean.index)
    by_rule, has_mean = mean >= rule.min_mean, mean.notna()
    number_of = max(len(mean), 1)
    return {
        "queries": len(mean),
        "extended": int(extended.sum()),
        "share": number(extended.sum() / number_of),
        "by_rule": int(by_rule.sum()),
        "share_by_rule": number(by_rule.sum() / number_of),
        "same": int((by_rule == extended)[has_mean].sum()),
        "undecided": int((~has_mean).sum()),
        "batches": [
            _batch(name, ordered.loc[rows, "level"])
            for name, rows in (
                ("first", rank <= rule.batch),
                ("first_of_extended", (rank <= rule.batch) & ordered["query_id"].map(extended)),
                ("second", rank > rule.batch),
            )
        ],
    }


def _batch(name: str, level: pd.Series) -> dict[str, Any]:
    return {
        "batch": name,
        "pairs": len(level),
        "mean": number(level.mean()) if len(level) else None,
        "top_levels": number((level >= TOP_LEVEL - 1).mean()) if len(level) else None,
    }
