"""Gold: the pairs whose level is known, and the source of each level.

The lead's own levels, the right levels of the exam once it is frozen, and adjudicated ones. The
last are pairs that people could not agree on, so they say less about a person than the others.
"""

import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY
from pipeline.core import tables

SOURCES = ("lead", "exam", "adjudicated")
"""Sources of a level: if a pair has several, the first counts."""
CLEAR = ("lead", "exam")
"""The sources that may stop a person: not the pairs on which people could not agree."""


def collect_gold(lead: pd.DataFrame, exam: pd.DataFrame, adjudicated: pd.DataFrame) -> pd.DataFrame:
    """Return the known levels, as `query_id, moment_id, query_sha, clip_sha, level, source`.

    `lead`, `exam` and `adjudicated` are as `tables.GOLD`, `EXAM` and `ADJUDICATIONS`. The hashes
    are of what was judged; the lead's levels, which have none, apply however a pair is shown.
    """
    sources = zip(SOURCES, (lead, exam, adjudicated), strict=True)
    whole = pd.concat(
        [
            table.reindex(columns=[*SHOWN_KEY, "level"]).assign(source=name)
            for name, table in sources
        ]
    )
    whole = whole[whole["level"].notna()].astype({"level": "int64", "query_sha": "str"})
    return whole.astype({"clip_sha": "str"}).reset_index(drop=True)


def read_gold() -> pd.DataFrame:
    """Return the known levels of this campaign, as `collect_gold`.

    Raises:
        FileError: a table is missing or wrong.
    """
    return collect_gold(tables.GOLD.read(), tables.EXAM.read(), tables.ADJUDICATIONS.read())


def join_gold(rows: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Return `rows` of `SHOWN_KEY` with `truth` and `source`, null where a pair is not gold."""
    if gold.empty:  # as in most plans: the joins would be a sixth of their time
        return rows.assign(
            truth=pd.Series(pd.NA, rows.index, dtype="Int64"),
            source=pd.Series(None, rows.index, dtype="str"),
        )
    names = {"level": "truth"}
    everywhere = gold[gold["query_sha"].isna()].drop(columns=["query_sha", "clip_sha"])
    as_shown = gold[gold["query_sha"].notna()].drop_duplicates(SHOWN_KEY)
    known = rows.merge(everywhere.rename(columns=names), on=PAIR_KEY, how="left")
    other = rows.merge(as_shown.rename(columns=names), on=SHOWN_KEY, how="left")
    joined = known.set_axis(rows.index).astype({"truth": "Int64", "source": "str"})
    other = other.set_axis(rows.index).astype({"truth": "Int64", "source": "str"})
    return joined.assign(
        truth=joined["truth"].fillna(other["truth"]),
        source=joined["source"].fillna(other["source"]),
    )
