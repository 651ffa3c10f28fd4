"""Draw an audit (paper, Appendix B.3): n queries, of each the top ranks and random others.

Both draws are simple random samples: by the order of SHA-256(seed, id), so that the same
seed draws the same on every machine, and one query or moment more changes little.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling.design import AuditError, Design
from annotation.pooling.ranked import rank_pool
from pipeline.core import rng, tables
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.similarity import Ints

TOP, RANDOM = 60, 60
LEAST_QUERIES = 2


class Sizes(NamedTuple):
    """What is to be drawn: so many queries, and of each so many top ranks and others."""

    seed: int
    queries: int
    top: int = TOP
    random: int = RANDOM


class AuditDraw(NamedTuple):
    """The pairs (`tables.AUDIT`), sorted by query and rank, and how they were drawn."""

    table: pd.DataFrame
    design: Design


def draw(
    queries: pd.DataFrame, moments: pd.DataFrame, embedded: Embeddings, sizes: Sizes
) -> AuditDraw:
    """Draw an audit of `queries` (`query_id, query`) among described `moments`.

    Ranks are those over the whole pool, the query's own moment included, as the candidates'.

    Raises:
        AuditError: more queries are wanted than there are, or fewer than two.
        PoolError: there is no moment.
    """
    if not LEAST_QUERIES <= sizes.queries <= len(queries):
        raise AuditError(
            f"an audit needs {LEAST_QUERIES} queries or more, and {len(queries)} are judged:"
            f" --queries can't be {sizes.queries}"
        )
    order = draw_order(sizes.seed, queries["query_id"])
    chosen = queries.iloc[order[: sizes.queries]].sort_values("query_id")
    parts, pool = [], 0
    for query_id, ranking in rank_pool(chosen, moments, embedded):
        parts.append(_draw_query(query_id, ranking, sizes))
        pool = len(ranking)
    table = tables.AUDIT.check(pd.concat(parts, ignore_index=True))
    design = Design(
        seed=sizes.seed,
        queries=len(queries),
        drawn=sizes.queries,
        pool=pool,
        top=sizes.top,
        random=sizes.random,
    )
    return AuditDraw(table, design)


def _draw_query(query_id: str, ranking: pd.DataFrame, sizes: Sizes) -> pd.DataFrame:
    top, rest = ranking[: sizes.top], ranking[sizes.top :]
    order = draw_order(sizes.seed, rest["moment_id"], within=query_id)
    others = rest.iloc[np.sort(order[: sizes.random])]
    rows = pd.concat([top.assign(origin="top"), others.assign(origin="random")])
    return rows.assign(query_id=query_id)[tables.AUDIT.columns]


def draw_order(seed: int, ids: Iterable[str], within: str = "") -> Ints:
    """Return the positions of ids in the order in which a seed draws them, shape (n,)."""
    draws = [rng.draw(f"{seed}\n{within}\n{one}") for one in ids]
    return np.argsort(np.array(draws, dtype="S64")).astype(np.int64)


def cost(table: pd.DataFrame, candidates: pd.DataFrame) -> dict[str, int]:
    """Count the pairs of an audit, those that are candidates, and the first votes they cost.

    Batch 1 is judged anyway, batch 2 only where a query is extended: the votes lie between
    `votes_at_least` and `votes_at_most`, besides those where the first two disagree.
    """
    pairs = len(table)
    batch = table.merge(candidates, on=["query_id", "moment_id"])["batch"]
    first, second = int((batch == 1).sum()), int((batch > 1).sum())
    return {
        "pairs": pairs,
        "in_batch_1": first,
        "in_batch_2": second,
        "votes_at_least": 2 * (pairs - first - second),
        "votes_at_most": 2 * (pairs - first),
    }
