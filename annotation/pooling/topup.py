"""Pooling: add results of systems' own runs that nobody has judged to a campaign.

Candidates are chosen by captions, and so favour systems that rely on captions. The first results
of other systems, each labelled with its run, compensate for this.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling.pooled_runs import record
from annotation.pooling.ranked import rank_pool
from annotation.votes.votes import is_in
from momentrank.errors import UsageError
from momentrank.segments import iou
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.collection import select_distinct_texts
from pipeline.core import captions, tables
from pipeline.core.params import Params
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import places

SAME = 1e-6
"""Seconds by which the times of one moment may differ after being written as text."""
MIN_IOU = 0.5
"""As in nDCG at IoU >= 0.5, where such a result gets the level of that moment."""
NOWHERE = -1


RESERVED = (
    *("candidates", "captions", "first batch", "second batch", "learned"),
    *("audit", "near", "deep", "top", "random"),
)


class Pool(NamedTuple):
    """Where results are looked up: queries, described moments, and their embeddings."""

    queries: pd.DataFrame
    moments: pd.DataFrame
    embedded: Embeddings


def read_pool(params: Params) -> Pool:
    """Return this checkout's pool: the distinct queries that are judged, and all moments."""
    queries, campaign = tables.QUERIES.read(), load_campaign()
    queries = queries if campaign is None else campaign.select_kept(queries)
    modalities = params.ingest.pool_modalities
    moments = captions.join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    judged = select_distinct_texts(queries[queries["split"] != "train"])
    return Pool(judged[["query_id", "query", "split"]], moments, Embeddings.open())


class TopUp(NamedTuple):
    """The new pairs (`tables.TOPUP`), what became of each run's results, and the first of them.

    `runs` is `tables.POOLED_RUNS`.
    """

    table: pd.DataFrame
    counts: pd.DataFrame
    runs: pd.DataFrame


def top_up(
    runs: Mapping[str, pd.DataFrame],
    pool: Pool,
    judged: pd.DataFrame,
    *,
    depth: int,
    min_iou: float,
) -> TopUp:
    """Return the pairs among the runs' first `depth` results that are not `judged`.

    A run is `query_id, video_id, start, end, rank`; `judged` are the pairs (`query_id,
    moment_id`) that are judged or about to be. A pair from several runs is labelled with the first
    of their names. Runs may be deeper than `depth`, for what is recorded of them. A result is
    matched to the moment of the same video with the same start and end (to 1e-6 s), else to that of
    the highest IoU, at least `min_iou`; among equal ones, to the smallest moment_id. Results that
    are not in the pool can't be judged: they are counted as `unmatched`, and those for other
    queries as `of_other_queries`.
    """
    named = [run.assign(origin=name) for name, run in sorted(runs.items())]
    whole = pd.concat(named, ignore_index=True)
    results = whole[whole["rank"] <= depth].reset_index(drop=True)
    results["known_query"] = results["query_id"].isin(pool.queries["query_id"])
    results["place"] = np.where(
        results["known_query"], match_results(results, pool.moments, min_iou), NOWHERE
    )
    place = places(pool.moments)
    judged = judged.merge(pool.moments.assign(place=place)[["moment_id", "place"]], on="moment_id")
    spot = ["query_id", "place"]
    results["judged"] = is_in(results, judged, spot)
    matched = (results["place"] != NOWHERE) & ~results["judged"]
    new = results[matched].drop_duplicates(spot)[[*spot, "origin"]]
    recorded = record(whole, results, pool.moments)
    return TopUp(_pairs(new, pool), _counts(runs, results, new), recorded)


def runs_by_name(paths: Sequence[Path]) -> dict[str, Path]:
    """Return runs by name: the file name, up to its first dot.

    Raises:
        UsageError: two runs have the same name, or a name is reserved.
    """
    runs: dict[str, Path] = {}
    for path in paths:
        name = name_run(path)
        if name in runs:
            raise UsageError(f"{path}: {runs[name]} is also called {name!r}: rename one of them")
        runs[name] = path
    return runs


def name_run(path: Path) -> str:
    """Return a run's name: the file name, up to its first dot.

    Raises:
        UsageError: it has none, or the name is reserved.
    """
    name = path.name.partition(".")[0]
    if not name or name in RESERVED:
        raise UsageError(f"{path}: {name!r} is not a valid name for a run: rename the file")
    return name


def match_results(results: pd.DataFrame, moments: pd.DataFrame, min_iou: float) -> pd.Series:
    """Return the place of each result in the pool, or NOWHERE."""
    columns = ["video_id", "start", "end"]
    pool_places = moments[[*columns, "moment_id"]].assign(place=places(moments))
    pool_places = pool_places.sort_values("moment_id").drop_duplicates("place")
    asked = results[columns].reset_index(names="result")
    both = asked.merge(pool_places, on="video_id", suffixes=("", "_of_place"))
    names = ("start", "end", "start_of_place", "end_of_place")
    start, end, other, other_end = (both[name].to_numpy("float64") for name in names)
    both["same"] = (abs(start - other) <= SAME) & (abs(end - other_end) <= SAME)
    both["iou"] = iou(start, end, other, other_end)
    order = ["result", "same", "iou", "moment_id"]
    best = both[both["same"] | (both["iou"] >= min_iou)]
    best = best.sort_values(order, ascending=[True, False, False, True]).drop_duplicates("result")
    position = best.set_index("result")["place"].reindex(results.index)
    return position.fillna(NOWHERE).astype("int64")


def _pairs(new: pd.DataFrame, pool: Pool) -> pd.DataFrame:
    """Return the new places as pairs, with moment, rank and similarity per query."""
    wanted = pool.queries[pool.queries["query_id"].isin(new["query_id"])]
    parts = [tables.TOPUP.empty()]
    if len(wanted):
        for query_id, ranking in rank_pool(wanted, pool.moments, pool.embedded):
            results = new[new["query_id"] == query_id]
            parts.append(results.merge(ranking, on="place")[tables.TOPUP.columns])
    pairs = pd.concat(parts, ignore_index=True)
    return tables.TOPUP.check(pairs.sort_values(["query_id", "rank"], ignore_index=True))


def _counts(
    runs: Mapping[str, pd.DataFrame], results: pd.DataFrame, new: pd.DataFrame
) -> pd.DataFrame:
    """Count each run's first results by kind; the kinds add up to `results`."""
    nowhere = results["place"] == NOWHERE
    kinds = {
        "results": pd.Series(data=True, index=results.index),
        "of_other_queries": ~results["known_query"],
        "unmatched": results["known_query"] & nowhere,
        "judged_or_wanted": results["judged"] & ~nowhere,
        "new": pd.Series(results.index.isin(new.index), results.index),
    }
    by_run = pd.DataFrame({"origin": results["origin"], **kinds}).groupby("origin").sum()
    counts = by_run.reindex(sorted(runs), fill_value=0).astype("int64")
    repeated = counts["results"] - counts.drop(columns="results").sum(axis=1)
    return counts.assign(repeated=repeated).reset_index(names="run")
