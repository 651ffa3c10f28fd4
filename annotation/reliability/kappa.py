"""Cohen's kappa of each two annotators, plain and with quadratic weights (Cohen 1960, 1968)."""

from typing import Any

import numpy as np
import pandas as pd

from annotation.reliability.scores import Couples, number
from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats, Ints

_STEPS = np.subtract.outer(np.arange(LEVELS), np.arange(LEVELS))
WEIGHTS: dict[str, Floats] = {"plain": (_STEPS != 0) * 1.0, "quadratic": _STEPS**2 * 1.0}


def by_annotators(couples: Couples) -> pd.DataFrame:
    """Return `annotator, other, couples, exact, plain, quadratic` of each two annotators.

    Kappa is NaN where chance alone would make them agree: both always gave the same level.
    """
    people = np.stack([couples.annotator, couples.other], axis=1)
    pairs, row = np.unique(people, axis=0, return_inverse=True)
    cells = (row.reshape(-1) * LEVELS + couples.level) * LEVELS + couples.other_level
    tables = np.bincount(cells, minlength=len(pairs) * LEVELS**2).reshape(-1, LEVELS, LEVELS)
    size = tables.sum(axis=(1, 2))
    equal = tables.trace(axis1=1, axis2=2)
    return pd.DataFrame(
        {
            "annotator": pairs[:, 0],
            "other": pairs[:, 1],
            "couples": size,
            "exact": equal / size,
            **{name: kappa(tables, weights) for name, weights in WEIGHTS.items()},
        }
    )


def kappa(tables: Ints | Floats, weights: Floats) -> Floats:
    """Return kappa of each table of two annotators' levels (shape n, 5, 5)."""
    size = tables.sum(axis=(1, 2))
    chance = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
    observed = (tables * weights).sum(axis=(1, 2)) * size
    expected = (chance * weights).sum(axis=(1, 2))
    undefined = expected == 0
    return np.where(undefined, np.nan, 1 - observed / np.where(undefined, 1, expected))


def summary(couples: Couples) -> dict[str, Any]:
    """Return the plain mean of kappa over annotator pairs, and kappa of all couples together.

    The mean leaves out annotator pairs for which kappa is undefined, and counts them. In kappa of
    all couples nobody comes first: each couple is counted both ways.
    """
    each = by_annotators(couples)
    columns = couples.level, couples.other_level
    [levels, other_levels] = (np.concatenate(both) for both in (columns, columns[::-1]))
    whole = np.bincount(levels * LEVELS + other_levels, minlength=LEVELS**2).reshape(
        1, LEVELS, LEVELS
    )
    return {
        "annotator_pairs": len(each),
        "undefined": int(each["plain"].isna().sum()),
        "mean_over_annotator_pairs": {name: number(each[name].mean()) for name in WEIGHTS},
        "all_couples": {name: number(kappa(whole, w)[0]) for name, w in WEIGHTS.items()},
    }
