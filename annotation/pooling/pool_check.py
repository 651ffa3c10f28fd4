"""Whether the pool is what it was chosen to be, and whether people saw anything else."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from annotation.pooling.learned_pool import State, choose_next, hash_levels
from annotation.pooling.pool_state import Answered, limits, read_source
from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params

TOLERANCE = 2e-6
"""By which an expected level may differ: it is written with 6 decimals."""


class Finding(NamedTuple):
    """Something that `check` found; not `wrong` if answers have only changed since."""

    text: str
    wrong: bool = True


def check(pool: pd.DataFrame, answers: Answered, params: Params) -> Iterator[Finding]:
    """Choose each learned batch again, from what had been judged then; yield what differs."""
    source, begun = read_source(pool["moment_id"], params.candidates.depth), pool["basis"].isna()
    instants = pd.to_datetime(pool["basis"].str.split().str[0], format="ISO8601")
    for basis, chosen in pool[~begun].groupby("basis"):
        instant = instants[chosen.index[0]]
        earlier = answers.until(instant).judge(pool[begun | (instants < instant)], params)
        batches = set(chosen["query_id"].tolist())
        state = State(earlier, dict.fromkeys(batches, True), instant.isoformat())
        names = _find_channels(str(basis), earlier, list(source.channels))
        if names is None:
            yield Finding(f"{basis}: answers were changed, voided or set apart since", wrong=False)
            continue
        then = source._replace(channels={name: source.channels[name] for name in names})
        again = choose_next(state, batches, then, limits(params))
        both = chosen.merge(again, on=PAIR_KEY, how="outer", suffixes=("", "_again"))
        wrong = both[~(abs(both["expected"] - both["expected_again"]) <= TOLERANCE)]
        for row in wrong.itertuples():
            yield Finding(
                f"{basis}: {row.query_id} {row.moment_id}: expected {row.expected:.6f} as written,"
                f" {row.expected_again:.6f} now (nan: not chosen)"
            )


def _find_channels(basis: str, earlier: pd.DataFrame, admitted: Sequence[str]) -> list[str] | None:
    """Return the channels that had been admitted then; None if none make the basis's hash."""
    for number in range(len(admitted) + 1):
        if basis.endswith(hash_levels(earlier, admitted[:number])):
            return list(admitted[:number])
    return None


def find_strangers(pool: pd.DataFrame, shown: pd.DataFrame) -> Iterator[Finding]:
    """Yield the pairs that people were shown, and that nothing has asked for."""
    asked = pd.concat(
        [table[PAIR_KEY] for table in (pool, tables.AUDIT.read(), tables.TOPUP.read())]
    )
    for row in shown[~is_in(shown, asked, PAIR_KEY)].itertuples():
        yield Finding(f"{row.query_id} {row.moment_id}: shown to people, in no pool")
