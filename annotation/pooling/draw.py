"""Draw an audit: n queries, and for each, moments from outside its judged pool.

Of a query's moments outside the pool, `near` are drawn among its `candidates.depth` best, and
`deep` among all others (paper, Appendix B.3: 60 of the best and 60 others). All draws are simple
random samples, in the order of SHA-256(seed, id): they depend on no level, the same seed draws the
same on every machine, and one more query or moment changes little. With a machine's levels, both
are drawn by strata (`pooling.machine_strata`), each a simple random sample.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling import machine_strata
from annotation.pooling.ranked import rank_pool
from pipeline.campaign.design import AuditError
from pipeline.campaign.next_step import LEAST_AUDITED
from pipeline.core import rng, tables
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.similarity import Ints

NEAR, DEEP = 60, 60


class Sizes(NamedTuple):
    """What to draw: the number of queries, and of moments of each."""

    seed: int
    queries: int
    near: int = NEAR
    deep: int = DEEP


class Machine(NamedTuple):
    """A model, and the strata by its levels: `query_id, moment_id, stratum`."""

    model: str
    strata: pd.DataFrame


class Frame(NamedTuple):
    """What there is to draw from: described moments, each query's best ones, and its judged pool.

    `neighbours` and `inside` are pairs (`query_id, moment_id`).
    """

    moments: pd.DataFrame
    embedded: Embeddings
    neighbours: pd.DataFrame
    inside: pd.DataFrame


class AuditDraw(NamedTuple):
    """The pairs (`tables.AUDIT`), by query and rank, their strata, and the size of the whole pool.

    `strata` is `tables.AUDIT_STRATA`; `whole` are the queries of which every moment is judged, so
    that nothing was drawn; `machine` is the model whose levels were used.
    """

    table: pd.DataFrame
    strata: pd.DataFrame
    pool: int
    whole: list[str]
    machine: str | None


def choose(queries: Iterable[str], sizes: Sizes) -> list[str]:
    """Return the ids of the queries to audit, sorted: all, if there are no more than requested.

    Raises:
        AuditError: these are fewer than two.
    """
    ids = sorted(queries)
    if min(sizes.queries, len(ids)) < LEAST_AUDITED:
        raise AuditError(
            f"an audit needs {LEAST_AUDITED} queries or more: {len(ids)} are judged, and --queries"
            f" is {sizes.queries}"
        )
    return sorted(ids[at] for at in draw_order(sizes.seed, ids)[: sizes.queries])


def draw(
    queries: pd.DataFrame, frame: Frame, sizes: Sizes, machine: Machine | None = None
) -> AuditDraw:
    """Draw moments for each of `queries` (`query_id, query`) from outside its judged pool.

    Ranks are over the whole pool, including the query's own moment, as for the candidates. With a
    `machine`, more moments are drawn where it gives a high level.

    Raises:
        PoolError: there are no moments.
    """
    drawn, pool, whole = [tables.AUDIT.empty().assign(stratum="", size=1)], 0, []
    neighbours, inside = _by_query(frame.neighbours), _by_query(frame.inside)
    levels = {} if machine is None else dict(list(machine.strata.groupby("query_id")))
    for query_id, ranking in rank_pool(queries, frame.moments, frame.embedded):
        outside = ranking[~ranking["moment_id"].isin(inside.get(query_id, set()))]
        if outside.empty:
            whole.append(query_id)
        close = outside["moment_id"].isin(neighbours.get(query_id, set()))
        for origin, part, number in (
            ("near", outside[close], sizes.near),
            ("deep", outside[~close], sizes.deep),
        ):
            placed = _assign_strata(part, levels.get(query_id))
            rows = _draw_part(query_id, part, placed, number, sizes.seed)
            drawn.append(rows.assign(query_id=query_id, origin=origin))
        pool = len(ranking)
    rows = pd.concat(drawn, ignore_index=True).sort_values(["query_id", "rank"], ignore_index=True)
    return AuditDraw(
        tables.AUDIT.check(rows[tables.AUDIT.columns]),
        tables.AUDIT_STRATA.check(rows[tables.AUDIT_STRATA.columns]),
        pool,
        whole,
        None if machine is None else machine.model,
    )


def _by_query(pairs: pd.DataFrame) -> dict[str, set[str]]:
    return {str(query): set(own) for query, own in pairs.groupby("query_id")["moment_id"]}


def _assign_strata(part: pd.DataFrame, levels: pd.DataFrame | None) -> pd.Series:
    """Return the stratum of each moment; one for all without a machine's levels of the query."""
    if levels is None:
        return pd.Series(machine_strata.NAMES[0], part.index, dtype="str")
    return machine_strata.place_moments(part, levels)


def _draw_part(
    query_id: str, part: pd.DataFrame, placed: pd.Series, number: int, seed: int
) -> pd.DataFrame:
    """Return `number` moments of a part of a query's ranking, with `stratum` and its `size`."""
    order = draw_order(seed, part["moment_id"], within=query_id)
    code = placed.map(machine_strata.NAMES.index).to_numpy("int64")
    size = np.bincount(code, minlength=len(machine_strata.NAMES))
    most = machine_strata.allocate(size, number)
    picked = [order[code[order] == stratum][:some] for stratum, some in enumerate(most.tolist())]
    rows = np.sort(np.concatenate(picked))
    return part.iloc[rows].assign(stratum=placed.iloc[rows], size=size[code[rows]])


def draw_order(seed: int, ids: Iterable[str], within: str = "") -> Ints:
    """Return the positions of ids in the order in which a seed draws them, shape (n,)."""
    draws = [rng.draw(f"{seed}\n{within}\n{moment_id}") for moment_id in ids]
    return np.argsort(np.array(draws, dtype="S64")).astype(np.int64)
