"""The first results of the runs of top-ups: who found what, and in which order.

A pair of a top-up names the first run that found it. To leave a run out, what others found too must
be known, and how the run ranks it.
"""

import pandas as pd

from pipeline.core import tables
from pipeline.retrieval.ranking import places

RECORDED = 20
"""Results of a query that are recorded, even if fewer are pooled: as in nDCG at 20."""


def record(results: pd.DataFrame, pooled: pd.DataFrame, moments: pd.DataFrame) -> pd.DataFrame:
    """Return the first `results` of the runs (`tables.POOLED_RUNS`) for the queries of `pooled`.

    `pooled` are those that were looked up, with their `place` in the pool of `moments`, or
    below 0. A run that was pooled deeper than 20 results is recorded as deep.
    """
    deepest = max([RECORDED, *pooled["rank"]])
    known = pooled[pooled["known_query"]]
    results = results[(results["rank"] <= deepest) & results["query_id"].isin(known["query_id"])]
    columns = {"start": "pooled_start", "end": "pooled_end"}
    segments = moments.assign(place=places(moments)).drop_duplicates("place")
    segments = segments[["place", *columns]].rename(columns=columns)
    found = known.merge(segments, on="place", how="left")
    key = ["origin", "query_id", "rank"]
    rows = results.merge(found[[*key, *columns.values()]], on=key, how="left")
    return tables.POOLED_RUNS.check(rows[tables.POOLED_RUNS.columns].reset_index(drop=True))


def add(runs: pd.DataFrame) -> None:
    """Add recorded runs to the file; a run of the same name replaces the one before."""
    earlier = tables.POOLED_RUNS.read_or_empty()
    kept = earlier[~earlier["origin"].isin(runs["origin"])]
    both = pd.concat([kept, runs], ignore_index=True)
    tables.POOLED_RUNS.write(both.sort_values(list(tables.POOLED_RUNS.key), ignore_index=True))
