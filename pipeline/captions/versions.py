"""Which version of a caption is kept: a repair must fix something and make nothing worse.

A rewriter that is asked again may well leave out what the check disliked: "someone does
something" names nobody. So a later version replaces an earlier one only if it fails fewer checks
and none that the earlier one passed, is as similar to the description, and keeps as many details.
"""

import pandas as pd

FAILURES = ["named", "unlike", "vague"]
"""Columns of booleans: which checks a version fails."""


def improves(later: pd.DataFrame, earlier: pd.DataFrame) -> pd.Series:
    """Tell of each row whether the later version replaces the earlier one.

    Both have `named`, `unlike`, `vague`, `similarity` and `detail`, and the same index. Where
    details are not measured, fewer failures are enough, as in the paper.
    """
    new, old = later[FAILURES].astype(bool), earlier[FAILURES].astype(bool)
    fixes = (old & ~new).any(axis=1) & ~(new & ~old).any(axis=1)
    return fixes & ~_is_worse(later, earlier)


def _is_worse(later: pd.DataFrame, earlier: pd.DataFrame) -> pd.Series:
    """Tell whether a score fell; what was not measured is no worse."""
    unlike = later["similarity"].astype(float) < earlier["similarity"].astype(float)
    vaguer = later["detail"].astype(float) < earlier["detail"].astype(float)
    return (unlike | vaguer) & earlier["detail"].notna()
