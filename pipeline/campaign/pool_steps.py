"""Why each pair was judged: a batch by similarity, a learned one, a run, or the audit.

The second batch is judged only for queries whose first is rich, runs are read where they differ,
and an audit looks beyond the pool: what each brings is no sample of one and the same population.
"""

import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY

CANDIDATES, AUDIT = "candidates", "audit"
CAPTIONS = "captions"
"""The origin of moments that captions would have brought next, judged beside a channel's."""
FIRST, SECOND, LEARNED = "first batch", "second batch", "learned"


def select_learned(pool: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `tables.POOL` that people's levels have chosen."""
    return pool[pool["channel"] != "similarity"]


def add_learned(topup: pd.DataFrame, pool: pd.DataFrame) -> pd.DataFrame:
    """Return `tables.TOPUP` with what was learned (`tables.POOL`) as a run of its own."""
    learned = select_learned(pool).assign(origin=LEARNED)
    return pd.concat([learned[topup.columns], topup], ignore_index=True)


def extra_pairs(
    audit: pd.DataFrame, topup: pd.DataFrame, shown: pd.DataFrame, batch: int, top: int
) -> pd.DataFrame:
    """Return what was judged besides the candidates, as `PAIR_KEY, origin`.

    `origin` is `audit`, or else `learned`, or the name of the run that found the pair. The
    candidates are ranks 1 to `batch` of each query, and ranks up to `top` of the queries that were
    extended: those of which such a pair was `shown` that neither an audit nor a run asked for.
    """
    both = pd.concat([audit.assign(origin=AUDIT), topup]).drop_duplicates(PAIR_KEY)
    second = shown.loc[(shown["rank"] > batch) & (shown["rank"] <= top), PAIR_KEY]
    asked = second.merge(both[PAIR_KEY], on=PAIR_KEY, how="left", indicator=True)
    extended = asked.loc[asked["_merge"] == "left_only", "query_id"]
    is_extended = both["query_id"].isin(extended)
    deepest = is_extended.map({True: top, False: batch}).astype("int64")
    return both.loc[both["rank"] > deepest, [*PAIR_KEY, "origin"]]


def name_steps(pairs: pd.DataFrame, batch: int) -> "pd.Series[str]":
    """Return the step of the pool that each pair (`origin, rank`) came with.

    It is `FIRST` or `SECOND` for candidates, else the origin: `audit`, `learned`, or the name of a
    run.
    """
    batches = pd.Series(SECOND, pairs.index, dtype="str").mask(pairs["rank"] <= batch, FIRST)
    return pairs["origin"].astype("str").mask(pairs["origin"] == CANDIDATES, batches)


def order_steps(names: "pd.Series[str]") -> list[str]:
    """Return the distinct steps in their order: the batches, the runs by name, the audit."""
    present, batches = set(names), (FIRST, SECOND, LEARNED)
    runs = sorted(present - {*batches, AUDIT})
    return [name for name in (*batches, *runs, AUDIT) if name in present]
