"""Agreement in figures: numbers for a whole collection, not for any person.

Paper, section 3.4 and Appendix B.5: the matrix of lowest and highest level (Figure 5a), the
distribution of final levels (5b), and the levels of moments that read just like the query.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from annotation.reliability import kappa, voting
from annotation.reliability.alpha import Bootstrap, alphas
from annotation.reliability.scores import (
    Couples,
    Scores,
    between_people,
    couples,
    nearness,
    number,
    within_person,
)
from annotation.votes.rule import LEVELS
from annotation.votes.votes import FIRST_VOTES, Bools, select_rows
from pipeline.campaign.pairs import ALL_VOTES
from pipeline.core.people_sections import Agreement

ALIKE = 1.0
TOP_LEVEL = LEVELS - 1


def agreement(scores: Scores, params: Agreement) -> dict[str, Any]:
    """Return how well annotators agree, for JSON: undefined figures are null.

    Couples are scores of two people on one pair; two answers of one person are counted separately
    (`one_person_twice`). Alpha uses all scores of a pair.
    """
    between = between_people(couples(scores))
    return {
        "pairs": int((scores.per_pair > 0).sum()),
        "scores": len(scores.pair),
        "annotators": len(np.unique(scores.annotator)),
        **nearness(between),
        "kappa": kappa.summary(between),
        "people_per_pair": voting.people_per_pair(scores),
        "disputes": voting.count_disputes(scores),
        "groups": _groups(scores, params),
        "first_two_limits": None if scores.first is not None else voting.first_two_limits(scores),
    }


def _groups(scores: Scores, params: Agreement) -> dict[str, Any]:
    per_pair = scores.per_pair[scores.pair]
    opening = scores.first
    groups = {
        "all": scores,
        "two": select_rows(scores, per_pair == FIRST_VOTES),
        "four": select_rows(scores, per_pair == ALL_VOTES),
        "first_two": None if opening is None else select_rows(scores, opening),
    }
    bootstrap = Bootstrap(params.resamples, params.confidence, params.seed)
    return {
        name: None if group is None else _group(group, bootstrap) for name, group in groups.items()
    }


def by_batch(scores: Scores, first: Bools, params: Agreement) -> dict[str, Any]:
    """Return the agreement of the first two votes on the pairs of the `first` batch, and others.

    Second batches, runs and an audit bring other pairs: fewer or more that are easy to agree on.
    """
    return by_group(scores, {"first_batch": first, "otherwise": ~first}, params)


def by_group(scores: Scores, groups: Mapping[str, Bools], params: Agreement) -> dict[str, Any]:
    """Return the agreement of the first two votes on each group of pairs, marked in (pairs,)."""
    opening = scores.first
    first = scores if opening is None else select_rows(scores, opening)
    bootstrap = Bootstrap(params.resamples, params.confidence, params.seed)
    return {
        name: _group(select_rows(first, own[first.pair]), bootstrap) for name, own in groups.items()
    }


def _group(scores: Scores, bootstrap: Bootstrap) -> dict[str, Any]:
    all_couples: Couples = couples(scores)
    return {
        "pairs": int((scores.per_pair > 1).sum()),
        **nearness(between_people(all_couples)),
        "one_person_twice": nearness(within_person(all_couples)),
        "alpha": alphas(scores.counts, bootstrap),
    }


def summarize(scores: Scores) -> dict[str, Any]:
    """Return the agreement of the first two votes of every pair, for a release's card.

    Which pairs got four votes depends on the first two: only these are free of that selection.
    Undefined figures are null.
    """
    first_votes = scores.first
    first = scores if first_votes is None else select_rows(scores, first_votes)
    between = between_people(couples(first))
    whole = kappa.summary(between)["all_couples"]
    return {
        "pairs": int((first.per_pair > 1).sum()),
        **nearness(between),
        "alpha": alphas(first.counts, voting.NO_INTERVAL)["ordinal"]["alpha"],
        "kappa": whole["plain"],
        "kappa_quadratic": whole["quadratic"],
    }


def min_max(scores: Scores) -> pd.DataFrame:
    """Return how many pairs have which lowest and highest level: `min, max, range, pairs`.

    For pairs with two scores or more (paper, Figure 5a), including combinations that none has.
    """
    has = scores.counts[scores.per_pair > 1] > 0
    low, high = has.argmax(axis=1), TOP_LEVEL - has[:, ::-1].argmax(axis=1)
    number_of = np.bincount(low * LEVELS + high, minlength=LEVELS**2)
    lows, highs = np.triu_indices(LEVELS)
    return pd.DataFrame(
        {
            "min": lows,
            "max": highs,
            "range": [f"{low} to {high}" for low, high in zip(lows, highs, strict=True)],
            "pairs": number_of[lows * LEVELS + highs],
        }
    )


def final_levels(level: pd.Series) -> pd.DataFrame:
    """Return how many pairs have which final level: `level, pairs, share` (Figure 5b).

    If no pair has a level, shares are empty.
    """
    known = level.dropna().astype("int64")
    pairs = np.bincount(known, minlength=LEVELS)
    share = (pairs / len(known)).round(6) if len(known) else np.nan
    return pd.DataFrame({"level": range(LEVELS), "pairs": pairs, "share": share})


def alike_below_top(similarity: pd.Series, level: pd.Series) -> dict[str, float | int | None]:
    """Return how many pairs of similarity 1.0 have a level, and how many of them below 4 (B.5)."""
    alike = level[(similarity == ALIKE) & level.notna()]
    below = int((alike < TOP_LEVEL).sum())
    share = number(below / len(alike)) if len(alike) else None
    return {"pairs": len(alike), "below_top": below, "share": share}
