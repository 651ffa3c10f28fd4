"""Draw an audit (paper, Appendix B.3): n queries, and for each the top ranks and random others.

Both draws are simple random samples, in the order of SHA-256(seed, id), so the same seed draws the
same on every machine, and one more query or moment changes little. With a machine's levels, the
others are drawn by strata (`pooling.machine_strata`), each a simple random sample.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling import machine_strata
from annotation.pooling.design import LEAST_QUERIES, AuditError, Design
from annotation.pooling.ranked import rank_pool
from pipeline.core import rng, tables
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.similarity import Ints

TOP, RANDOM = 60, 60


class Sizes(NamedTuple):
    """What to draw: the number of queries, and for each the number of top ranks and others."""

    seed: int
    queries: int
    top: int = TOP
    random: int = RANDOM


class Machine(NamedTuple):
    """A model, and the strata by its levels: `query_id, moment_id, stratum`."""

    model: str
    strata: pd.DataFrame


class AuditDraw(NamedTuple):
    """The pairs (`tables.AUDIT`), sorted by query and rank, and how they were drawn.

    `strata` is `tables.AUDIT_STRATA`, empty if no machine was used.
    """

    table: pd.DataFrame
    design: Design
    strata: pd.DataFrame


def draw(
    queries: pd.DataFrame,
    moments: pd.DataFrame,
    embedded: Embeddings,
    sizes: Sizes,
    machine: Machine | None = None,
) -> AuditDraw:
    """Draw an audit of `queries` (`query_id, query`) among described `moments`.

    Ranks are over the whole pool, including the query's own moment, as for the candidates. With a
    `machine`, more of the random others are drawn where it gives a high level.

    Raises:
        AuditError: more queries are requested than there are, or fewer than two.
        PoolError: there are no moments.
    """
    if not LEAST_QUERIES <= sizes.queries <= len(queries):
        raise AuditError(
            f"an audit needs {LEAST_QUERIES} queries or more, and at most the {len(queries)} that"
            f" are judged: --queries can't be {sizes.queries}"
        )
    order = draw_order(sizes.seed, queries["query_id"])
    chosen = queries.iloc[order[: sizes.queries]].sort_values("query_id")
    tables_of_queries: list[pd.DataFrame] = []
    strata = [tables.AUDIT_STRATA.empty()]
    pool = 0
    for query_id, ranking in rank_pool(chosen, moments, embedded):
        placed = _assign_strata(query_id, ranking[sizes.top :], machine)
        rows = _draw_query(query_id, ranking, placed, sizes)
        tables_of_queries.append(rows[tables.AUDIT.columns])
        if machine is not None:
            random = rows[rows["origin"] == "random"]
            strata.append(random[tables.AUDIT_STRATA.columns])
        pool = len(ranking)
    table = tables.AUDIT.check(pd.concat(tables_of_queries, ignore_index=True))
    design = Design(
        seed=sizes.seed,
        queries=len(queries),
        drawn=sizes.queries,
        pool=pool,
        top=sizes.top,
        random=sizes.random,
        machine=None if machine is None else machine.model,
    )
    return AuditDraw(table, design, tables.AUDIT_STRATA.check(pd.concat(strata, ignore_index=True)))


def _assign_strata(query_id: str, rest: pd.DataFrame, machine: Machine | None) -> pd.Series:
    """Return the stratum of each moment below the top; one for all without a machine."""
    if machine is None:
        return pd.Series(machine_strata.NAMES[0], rest.index)
    strata = machine.strata[machine.strata["query_id"] == query_id]
    return machine_strata.place_moments(rest, strata)


def _draw_query(
    query_id: str, ranking: pd.DataFrame, placed: pd.Series, sizes: Sizes
) -> pd.DataFrame:
    """Return the drawn moments of a query; random ones also have `stratum` and its `size`."""
    top, rest = ranking[: sizes.top], ranking[sizes.top :]
    order = draw_order(sizes.seed, rest["moment_id"], within=query_id)
    code = placed.map(machine_strata.NAMES.index).to_numpy("int64")
    size = np.bincount(code, minlength=len(machine_strata.NAMES))
    number = machine_strata.allocate(size, sizes.random)
    picked = [order[code[order] == stratum][:most] for stratum, most in enumerate(number.tolist())]
    rows = np.sort(np.concatenate(picked))
    others = rest.iloc[rows].assign(stratum=placed.iloc[rows], size=size[code[rows]])
    parts = pd.concat([top.assign(origin="top"), others.assign(origin="random")])
    return parts.assign(query_id=query_id)


def draw_order(seed: int, ids: Iterable[str], within: str = "") -> Ints:
    """Return the positions of ids in the order in which a seed draws them, shape (n,)."""
    draws = [rng.draw(f"{seed}\n{within}\n{moment_id}") for moment_id in ids]
    return np.argsort(np.array(draws, dtype="S64")).astype(np.int64)


def cost(table: pd.DataFrame, candidates: pd.DataFrame) -> dict[str, int]:
    """Count the pairs of an audit, those that are candidates, and the first votes they cost.

    Batch 1 is judged anyway, batch 2 only if a query is extended: the number of votes is between
    `votes_at_least` and `votes_at_most`, not counting those where the first two disagree.
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
