"""What people judged besides the candidates: audit and top-up (paper, Appendix B.3).

How many relevant moments were missed is estimated by `python -m annotation.audit report`,
which knows the sampling design; here stands what was seen.
"""

import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY
from pipeline.pages.sources import Sources
from pipeline.pages.tables import Grid, count, decimal, percent

SHARES = ("at_least_1", "at_least_3")
HEAD = ("Why", "Pairs", "With level", "Mean level", "Level 1 or higher", "Level 3 or higher")
NOTE = (
    "A candidate that an audit drew as well is counted here too. How many relevant moments lie"
    " beyond the judged ranks, with an interval: python -m annotation.audit report."
)


def besides(sources: Sources) -> pd.DataFrame:
    """Return `why, pairs, with_level, mean, at_least_1, at_least_3`; no rows where nobody asked."""
    asked = pd.concat([_of_audit(sources), _of_runs(sources.topup)], ignore_index=True)
    judged = asked.merge(sources.collection.judged[[*PAIR_KEY, "level"]], on=PAIR_KEY, how="left")
    rows = [
        {
            "why": why,
            "pairs": len(pairs),
            "with_level": len(levels := pairs["level"].dropna()),
            "mean": levels.mean(),
            "at_least_1": (levels >= 1).mean(),
            "at_least_3": (levels >= 3).mean(),  # noqa: PLR2004  (a level)
        }
        for why, pairs in judged.groupby("why", sort=False)
    ]
    return pd.DataFrame(rows, columns=["why", "pairs", "with_level", "mean", *SHARES])


def _of_audit(sources: Sources) -> pd.DataFrame:
    """Name the audit's parts: ranks that candidates have, the next ones, and random others."""
    audit, deepest = sources.audit, sources.deepest
    last = audit.loc[audit["origin"] == "top", "rank"].max()
    why = audit["origin"].map(
        {"top": f"Audit: ranks {deepest + 1} to {last:.0f}", "random": "Audit: random others"}
    )
    near = (audit["origin"] == "top") & (audit["rank"] <= deepest)
    named = audit.assign(why=why.mask(near, f"Audit: ranks 1 to {deepest}"))
    return named.sort_values(["origin", "rank"], ascending=[False, True])[[*PAIR_KEY, "why"]]


def _of_runs(topup: pd.DataFrame) -> pd.DataFrame:
    ordered = topup.assign(why="Found by " + topup["origin"]).sort_values(["why", *PAIR_KEY])
    return ordered[[*PAIR_KEY, "why"]]


def besides_grid(found: pd.DataFrame) -> Grid:
    """Return it as a table."""
    rows = [
        (
            row["why"],
            count(row["pairs"]),
            count(row["with_level"]),
            decimal(row["mean"]),
            *(percent(row[name]) for name in SHARES),
        )
        for row in found.to_dict("records")
    ]
    return Grid("Judged besides the candidates", HEAD, rows, NOTE)
