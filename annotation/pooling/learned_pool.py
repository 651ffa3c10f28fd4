"""The next batches of a pool, by what people's levels have taught: a pure function of tables."""

import hashlib
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling.level_model import DECIMALS, Choice, Judged, choose, has_ended, learn
from annotation.votes.votes import Floats
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.progress import progress
from pipeline.retrieval.similarity import Vectors

LEARNED, ASKED = "learned", "asked"
DIGITS = 16
"""Of the hash of the levels."""


class Limits(NamedTuple):
    """The moments of a learned batch, the most of a query, and the least that one should yield."""

    size: int
    top: int
    min_yield: float


class Source(NamedTuple):
    """What there is to choose from: each query's best moments (`tables.NEIGHBOURS`), and captions.

    `vectors` (n, d) are captions' unit vectors, and `rows` has their rows by moment_id. `channels`
    are the moments of each admitted channel, by its name: rows like `neighbours`, with the `score`
    that is its feature. Their rank is 1 more than the neighbours are deep.
    """

    neighbours: pd.DataFrame
    vectors: Vectors
    rows: pd.Series
    channels: Mapping[str, pd.DataFrame] = {}

    @property
    def moments(self) -> pd.DataFrame:
        """The moments that can be chosen: the neighbours, and what only channels list."""
        if not self.channels:
            return self.neighbours
        columns = self.neighbours.columns
        frames = [self.neighbours, *(listed[columns] for listed in self.channels.values())]
        return pd.concat(frames, ignore_index=True).drop_duplicates(PAIR_KEY)

    def join_channels(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return pairs with a column for each channel: its score, 0 where it doesn't list one."""
        for name, listed in self.channels.items():
            scores = listed[[*PAIR_KEY, "score"]].rename(columns={"score": _feature(name)})
            pairs = pairs.merge(scores, on=PAIR_KEY, how="left").fillna({_feature(name): 0.0})
        return pairs

    def judged(self, pool: pd.DataFrame) -> Judged:
        """Return the rows of a query's pool that have a level."""
        known = pool[pool["level"].notna()]
        numbers = known["level"].to_numpy("float64"), known["batch"].to_numpy("int64")
        return Judged(*self.describe(known), *numbers)

    def describe(self, pairs: pd.DataFrame) -> tuple[Floats, Floats]:
        """Return the vectors (n, d) and features (n, 1 + channels) of pairs with their channels."""
        vectors = self.vectors[self.rows.loc[pairs["moment_id"]].to_numpy("int64")]
        features = pairs[["similarity", *map(_feature, self.channels)]].to_numpy("float64")
        return vectors.astype(np.float64), features


class State(NamedTuple):
    """How far the pool is judged.

    `pool` are rows of `tables.POOL` with their `level` (empty without one), and whether people can
    still give them one (`waits`). `extend` are the lead's decisions, by query_id. `judged_at` is
    the instant of the newest judgment or decision.
    """

    pool: pd.DataFrame
    extend: Mapping[str, bool]
    judged_at: str


def find_due(state: State, limits: Limits) -> set[str]:
    """Return the queries that may get a batch now.

    None of their pairs waits, something in their newest batch has a level, they have fewer than
    `top` moments, and the lead has not said `no`; a `yes` asks for one batch beyond.
    """
    return {
        str(query)
        for query, pool in state.pool.groupby("query_id")
        if not pool["waits"].any()
        and pool.loc[pool["batch"] == pool["batch"].max(), "level"].notna().any()
        and state.extend.get(str(query), True)
        and (len(pool) < limits.top or _is_asked(str(query), pool, state))
    }


def choose_next(state: State, due: Set[str], source: Source, limits: Limits) -> pd.DataFrame:
    """Return the next batch (rows of `tables.POOL`) of the `due` queries that get one.

    It must be expected to hold `min_yield` relevant moments, unless the lead asked for it. People's
    levels of all queries teach what to expect.
    """
    whole = source.join_channels(state.pool)
    queries = {str(query): rows for query, rows in whole.groupby("query_id")}
    judged = {query: source.judged(rows) for query, rows in queries.items()}
    model = learn(list(judged.values()))
    moments = source.moments
    near = source.join_channels(moments[moments["query_id"].isin(due)])
    parts = [tables.POOL.empty()]
    further = progress("pool", near.groupby("query_id"), total=len(due), unit="queries")
    for query, rows in further:
        pool, mine = queries[query], judged[query]
        others = rows[~rows["moment_id"].isin(pool["moment_id"])].sort_values("moment_id")
        left = limits.top - len(pool)
        size = min(limits.size, left) if left > 0 else limits.size
        choice = choose(model, mine, *source.describe(others), size)
        ended = left <= 0 or has_ended(mine, choice, limits.min_yield)
        if not ended or (len(choice.chosen) and _is_asked(query, pool, state)):
            parts.append(_batch(others, choice, pool, ASKED if ended else LEARNED))
    basis = f"{state.judged_at} {hash_levels(state.pool, source.channels)}"
    chosen = pd.concat(parts, ignore_index=True).assign(basis=basis)[tables.POOL.columns]
    return tables.POOL.check(chosen.sort_values(PAIR_KEY, ignore_index=True))


def hash_levels(pool: pd.DataFrame, channels: Iterable[str]) -> str:
    """Return a hash of the levels in `State.pool`, their batches, and the admitted channels."""
    known = pool[pool["level"].notna()].sort_values(PAIR_KEY)
    text = known[[*PAIR_KEY, "batch", "level"]].to_csv(index=False, lineterminator="\n")
    text += "".join(f"{name}\n" for name in channels)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _feature(channel: str) -> str:
    return f"channel {channel}"


def _is_asked(query: str, pool: pd.DataFrame, state: State) -> bool:
    """Return whether the lead's `yes` still asks for a batch: it asks for one."""
    return state.extend.get(query, False) and not (pool["channel"] == ASKED).any()


def _batch(others: pd.DataFrame, choice: Choice, pool: pd.DataFrame, channel: str) -> pd.DataFrame:
    return others.iloc[choice.chosen].assign(
        batch=pool["batch"].max() + 1, channel=channel, expected=choice.expected.round(DECIMALS)
    )
