"""Channels: any system's ranking of moments, as a further way into the pool than captions.

**Admission.** People judge a sample: of some queries, the channel's first moments that are not in
the pool, and as many of those that captions would bring next. A channel is admitted if it finds
more than captions: if the whole 95 % interval of the difference of both yields (level 2 or higher,
per moment judged), by Student's t over queries, is above 0. Captions' best moments are in the pool
already, the channel's are not: so one as good as captions finds clearly more, and one that finds
only as much as captions' next is too weak to help where captions are poor.
`python -m benchmarks.pooling` measures both errors.

**In the model** (`level_model`) a channel is a number in [0, 1] that depends on its rank alone, as
scores of different systems can't be compared.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.pooling.topup import MIN_IOU, NOWHERE, match_results
from annotation.votes.votes import Floats, is_in
from momentrank.paired_tests import t_quantile
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import CAPTIONS
from pipeline.campaign.yields import LEVEL, RELEVANT_FROM
from pipeline.core import rng, tables
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import places
from pipeline.retrieval.similarity import MICRO, micro_similarities

QUERIES, SIZE = 50, 5
"""Of a sample: queries, and moments of each side per query."""
LEAST_QUERIES = 10
BLOCK = 64
"""Queries matched at a time."""
ORDER = {"rank": True, "similarity": False, "moment_id": True}


class Verdict(NamedTuple):
    """Yields of `pairs` sampled moments each, and the difference's 95 % interval.

    `found` and `captions` are how many are of level 2 or higher.
    """

    queries: int
    pairs: int
    found: int
    captions: int
    low: float
    high: float

    @property
    def admitted(self) -> bool:
        """Whether the channel finds more than captions."""
        return self.low > 0


def score_ranks(ranks: npt.ArrayLike, depth: int) -> Floats:
    """Return features: 1 for rank 1, falling with its logarithm to nearly 0 at `depth`."""
    score: Floats = 1 - np.log(np.asarray(ranks, dtype=np.float64)) / np.log(depth + 1)
    return score


def match_channel(
    run: pd.DataFrame, queries: pd.DataFrame, moments: pd.DataFrame, embedded: Embeddings
) -> pd.DataFrame:
    """Return a run's results as moments (`tables.CHANNEL`), those that match none left out.

    `run` is `query_id, video_id, start, end, rank`, `queries` are those judged, `moments` as
    `captions.join_captions` returns them. Results are matched as in `topup.top_up`; moments of the
    same video, start and end are the one with the most similar caption. Ranks are without gaps.
    """
    described = moments.assign(place=places(moments))[["place", "moment_id", "caption"]]
    parts = [tables.CHANNEL.empty()]
    ids = sorted(set(run["query_id"]) & set(queries["query_id"]))
    texts = queries.set_index("query_id")["query"]
    for first in range(0, len(ids), BLOCK):
        results = run[run["query_id"].isin(ids[first : first + BLOCK])].reset_index(drop=True)
        results["place"] = match_results(results, moments, MIN_IOU)
        found = results[results["place"] != NOWHERE].sort_values(["query_id", "rank"])
        found = found.drop_duplicates(["query_id", "place"])[["query_id", "place", "rank"]]
        for query, rows in found.merge(described, on="place").groupby("query_id"):
            asked = embedded.vectors[embedded.rows(texts[texts.index == query])]
            near = embedded.vectors[embedded.rows(rows["caption"])]
            similar = rows.assign(similarity=micro_similarities(asked, near[None])[0] / MICRO)
            by = similar.sort_values([*ORDER], ascending=[*ORDER.values()])
            best = by.drop_duplicates("place")
            parts.append(best.assign(rank=np.arange(len(best)) + 1)[tables.CHANNEL.columns])
    return tables.CHANNEL.check(pd.concat(parts, ignore_index=True))


def draw_queries(
    channel: pd.DataFrame, inside: pd.DataFrame, campaign: str, number: int
) -> list[str]:
    """Return the queries of a sample, drawn by hash from those with enough moments to ask about.

    `inside` are the pairs of the pool (`query_id, moment_id`).
    """
    left = channel.loc[~is_in(channel, inside, PAIR_KEY), "query_id"].value_counts()
    order = sorted(left.index[left >= SIZE], key=lambda query: rng.draw(campaign, "channel", query))
    return sorted(order[:number])


def draw_sample(
    channel: pd.DataFrame, rankings: Iterator[tuple[str, pd.DataFrame]], inside: pd.DataFrame
) -> pd.DataFrame:
    """Return `query_id, moment_id, rank, similarity, by`: the first `SIZE` of each not in the pool.

    `rankings` are the whole pool in captions' order, for each query of the sample. A pair that both
    bring is in it twice.
    """
    parts = []
    for query, ranking in rankings:
        ranked = ranking.assign(query_id=query)
        outside = ranked[~is_in(ranked, inside, PAIR_KEY)]
        own = channel.loc[channel["query_id"] == query, ["moment_id", "rank"]]
        listed = outside.merge(own.rename(columns={"rank": "listed"}), on="moment_id")
        parts.append(listed.nsmallest(SIZE, "listed").assign(by="channel"))
        parts.append(outside.nsmallest(SIZE, "rank").assign(by=CAPTIONS))
    return pd.concat(parts, ignore_index=True)[[*PAIR_KEY, "rank", "similarity", "by"]]


def compare_yields(sample: pd.DataFrame) -> Verdict:
    """Compare what both sides of a sample found: `query_id, by, level`; no level is no find."""
    relevant = (sample["level"] >= RELEVANT_FROM).fillna(value=False).astype("float64")
    found = sample.assign(relevant=relevant)
    shares = found.pivot_table("relevant", "query_id", "by", "mean")
    difference = (shares["channel"] - shares[CAPTIONS]).to_numpy()
    queries = len(difference)
    half = t_quantile(LEVEL, queries - 1) * difference.std(ddof=1) / np.sqrt(queries)
    low, high = difference.mean() + np.array([-half, half])
    sums = found.groupby("by")["relevant"].sum()
    pairs, finds = int((sample["by"] == CAPTIONS).sum()), int(sums["channel"])
    return Verdict(queries, pairs, finds, int(sums[CAPTIONS]), float(low), float(high))
