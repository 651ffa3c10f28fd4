"""Which pairs a machine judges, and what it may be shown of each."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, query_sha, select_newest
from pipeline.core import tables
from pipeline.core.machine_pool import read_machine_pool
from pipeline.core.params import Params
from pipeline.judges.base import Pair

CLIPS = tables.WORK / "clips"
"""The folder of the clips that annotators see."""


class PairTables(NamedTuple):
    """The tables that pairs come from; the first four have pairs, the others what is shown."""

    candidates: pd.DataFrame
    audit: pd.DataFrame
    topup: pd.DataFrame
    pool: pd.DataFrame
    queries: pd.DataFrame
    moments: pd.DataFrame
    captions: pd.DataFrame
    clips: pd.DataFrame


def read_tables(params: Params) -> PairTables:
    """Read the tables that pairs come from."""
    return PairTables(
        *(tables.POOL.read(), tables.AUDIT.read(), tables.TOPUP.read()),
        *(read_machine_pool(params), tables.QUERIES.read(), tables.MOMENTS.read()),
        *(tables.CAPTIONS.read(), tables.CLIPS.read()),
    )


def select_pairs(source: PairTables) -> pd.DataFrame:
    """Return every pair that a machine judges, once: `PAIR_KEY, similarity`.

    They are the candidates, the audit's and top-up's pairs, and the machine's pool, in this order.
    """
    listed = (source.candidates, source.audit, source.topup, source.pool)
    pairs = pd.concat([table[[*PAIR_KEY, "similarity"]] for table in listed])
    return pairs.drop_duplicates(PAIR_KEY, ignore_index=True)


def join_shown(pairs: pd.DataFrame, source: PairTables, folder: Path = CLIPS) -> pd.DataFrame:
    """Return the pairs that have a clip, as columns of `Pair`, and `query_sha, clip_sha`.

    Sorted by query and moment. Like people, a machine judges no pair without a clip.
    """
    moments = source.moments[["moment_id", "start", "end"]]
    rows = (
        pairs.merge(source.queries[["query_id", "query", "split"]], on="query_id")
        .merge(moments, on="moment_id")
        .merge(source.captions[["moment_id", "caption"]], on="moment_id")
        .merge(source.clips, on="moment_id")
    )
    rows["query_sha"] = rows["query"].map(query_sha)
    rows["clip"] = [folder / name for name in rows["clip"]]
    columns = [*Pair._fields, "query_sha", "clip_sha"]
    return rows[columns].sort_values(PAIR_KEY, ignore_index=True)


def list_pairs(shown: pd.DataFrame) -> Sequence[Pair]:
    """Return the rows of `join_shown` as pairs."""
    rows: Iterator[tuple[object, ...]] = zip(
        *(shown[name].tolist() for name in Pair._fields), strict=True
    )
    return [Pair._make(row) for row in rows]


def select_levels_of_people(
    consensus: pd.DataFrame, ledger: pd.DataFrame, shown: pd.DataFrame
) -> pd.DataFrame:
    """Return `query_id, moment_id, level`: people's levels of what is shown now.

    `consensus` has each pair as it was last shown (`ledger`): a level for an older text or clip
    does not count for the pair as it is now. They are the levels of votes, without second looks:
    what a machine is compared with must not depend on a machine.
    """
    levels = consensus.loc[consensus["voted_level"].notna(), [*PAIR_KEY, "voted_level"]]
    dated = levels.merge(select_newest(ledger)[SHOWN_KEY], on=PAIR_KEY)
    fresh = dated.merge(shown[SHOWN_KEY], on=SHOWN_KEY)
    people = fresh.rename(columns={"voted_level": "level"})
    return people[[*PAIR_KEY, "level"]].astype({"level": "int64"})
