"""How the pool grows: its first batches, and those that people's levels have chosen."""

import pandas as pd

from annotation.assignment.extension import decisions_by_judged_query
from annotation.assignment.pair_states import judged_queries
from annotation.pooling.learned_pool import LEARNED, State, choose_next, find_due
from annotation.pooling.pool_state import Answered, PoolError, limits, read_source
from annotation.votes.votes import is_in
from pipeline.campaign.campaign import FILE, Campaign
from pipeline.campaign.pairs import PAIR_KEY, query_sha
from pipeline.core import csv_files, tables
from pipeline.core.params import Params
from pipeline.core.sections import Further


def begin(candidates: pd.DataFrame, further: Further) -> pd.DataFrame:
    """Return what the pool begins with: by similarity, as far as it goes; else one batch."""
    rows = candidates if further == "similarity" else candidates[candidates["batch"] == 1]
    return tables.POOL.check(rows.assign(channel="similarity", expected=float("nan"), basis=None))


def read_pool(shown: pd.DataFrame) -> pd.DataFrame:
    """Return the pool; `shown` are the pairs that people were shown (`query_id, moment_id`).

    Raises:
        PoolError: a batch was chosen twice, as two clones can do.
        FileError, TableError: it is missing or wrong.
    """
    if tables.POOL.path.is_file():  # before its key is checked: both may have the same moments
        refuse_forks(csv_files.read_csv(tables.POOL.path, [*PAIR_KEY, "batch", "basis"]), shown)
    return tables.POOL.read()


def refuse_forks(pool: pd.DataFrame, shown: pd.DataFrame) -> None:
    """Refuse a batch that was chosen twice: `pool` has `query_id, moment_id, batch, basis`.

    Raises:
        PoolError: there is one.
    """
    learned = pool[pool["basis"].fillna("") != ""]
    number = learned.groupby(["query_id", "batch"])["basis"].transform("nunique")
    if (number == 1).all():
        return
    first = learned[number > 1].iloc[0]
    same = (learned["query_id"] == first["query_id"]) & (learned["batch"] == first["batch"])
    bases = learned[same].assign(shown=is_in(learned[same], shown, PAIR_KEY))
    by_basis = bases.groupby("basis")["shown"].sum()
    stands = by_basis.idxmax() if by_basis.max() else by_basis.index.min()
    why = "people were shown it" if by_basis.max() else "it is the older one"
    other = ", ".join(basis for basis in by_basis.index if basis != stands)
    raise PoolError(
        f"{tables.POOL.path}: batch {first['batch']} of query {first['query_id']} was chosen twice,"
        f" by basis {stands} and by {other}; keep the lines of {stands} ({why}), delete the others"
    )


def update(pool: pd.DataFrame, campaign: Campaign, params: Params) -> pd.DataFrame:
    """Return the pool as it goes on: what people were shown stays, with the batches learned since.

    Queries that nobody was shown yet, as they are now, begin again. Moments that the corpus no
    longer has are left out, as are queries.

    Raises:
        PoolError: `candidates.further` has changed.
    """
    if campaign.further != params.candidates.further:
        raise PoolError(
            f"params.yaml: candidates.further: {FILE} was opened with {campaign.further}: set it"
            " back, what was judged depends on it"
        )
    answers, candidates = Answered.read(campaign), tables.CANDIDATES.read()
    queries = tables.FROZEN_QUERIES.read()
    now = queries.assign(query_sha=queries["query"].map(query_sha))
    begun = answers.ledger.merge(now[["query_id", "query_sha"]])["query_id"]
    known = pool["moment_id"].isin(tables.MOMENTS.read()["moment_id"])
    kept = pool[pool["query_id"].isin(begun) & known]
    new = candidates[~candidates["query_id"].isin(kept["query_id"])]
    pool = pd.concat([kept, begin(new, campaign.further)], ignore_index=True)
    if campaign.further == LEARNED:
        pool = pd.concat([pool, learn_next(pool, answers, params)], ignore_index=True)
    return pool.sort_values(["query_id", "batch", "moment_id"], ignore_index=True)


def learn_next(pool: pd.DataFrame, answers: Answered, params: Params) -> pd.DataFrame:
    """Return the next batches, of the queries that get one now.

    A query of an audit gets none, unless the lead asks for it: what the pool missed is measured.
    """
    judged = answers.judge(pool, params)
    if judged["level"].isna().all():
        return tables.POOL.empty()
    decisions = _read_decisions()
    state = State(judged, decisions, answers.newest())
    audited = set(tables.AUDIT.read()["query_id"]) - {q for q, more in decisions.items() if more}
    if not (due := find_due(state, limits(params)) - audited):
        return tables.POOL.empty()
    source = read_source(pool["moment_id"], params.candidates.depth)
    return choose_next(state, due, source, limits(params))


def find_growing(campaign: Campaign | None, params: Params) -> set[str]:
    """Return the queries of an open campaign that the next `dvc repro` gives a batch.

    Raises:
        PoolError: the pool can't be continued as it is.
    """
    if campaign is None or campaign.further != LEARNED:
        return set()
    answers = Answered.read(campaign)
    return set(learn_next(read_pool(answers.ledger), answers, params)["query_id"])


def _read_decisions() -> dict[str, bool]:
    """Return the lead's decisions by the query that is judged, of those with equal texts."""
    extend = tables.EXTEND.read()
    decisions = dict(zip(extend["query_id"], extend["extend"] == "yes", strict=True))
    return decisions_by_judged_query(decisions, judged_queries(tables.FROZEN_QUERIES.read()))
