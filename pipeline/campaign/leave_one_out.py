"""Leave one run out: what the collection would say if nobody had judged a run's own finds.

For each run that brought pairs into the pool: the relevant moments that it alone found; its score
with and without their levels; and what becomes of the order of all pooled runs. It shows how a new
system would fare that finds others (Zobel, SIGIR 1998; Buckley, Dimmick, Soboroff and Voorhees,
Bias and the limits of pooling for large collections, Information Retrieval 10, 2007).

The candidates are a run, too: similarity of captions. What was learned or an audit found stays
judged.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from momentrank.data import as_lists
from momentrank.formats import Lists
from momentrank.functions import evaluator
from momentrank.meta.correlation import tau_b
from pipeline.campaign.collection import RELEVANT, Collection
from pipeline.campaign.pool_steps import AUDIT, CANDIDATES, CAPTIONS, LEARNED
from pipeline.campaign.yields import RELEVANT_FROM
from pipeline.core.tables import JUDGED_SPLITS

MEASURE = "nDCG(iou=0.5)@20"
SEGMENT = ["video_id", "start", "end"]
PLACE = ["query_id", *SEGMENT]
NO_RUNS = (LEARNED, AUDIT)
NOT_SHOWN = "(not shown)"
"""The video of a candidate that nobody could be shown: its rank stays taken."""


class LeftOut(NamedTuple):
    """What a run added to the pool, and what changes if its own finds had not been judged.

    Relevant moments (level 2 or higher): those it `found`, and those that it found `alone`. Its
    mean `score` becomes `score_without`, and its place among the pooled runs, from 1, changes from
    `place` to `place_without`. `tau` is Kendall's tau-b between both orders; `fall` is the largest
    number of places that a run loses, and `fallen` is the first run that loses them. A run whose
    results are not recorded has neither score nor place; with fewer than two runs, or equal
    scores, there is no tau.
    """

    run: str
    found: int
    alone: int
    score: float | None
    score_without: float | None
    place: int | None
    place_without: int | None
    tau: float | None
    fall: int | None
    fallen: str | None


class Pool(NamedTuple):
    """The pooled runs on a split: its judged `queries`, its `relevant` moments, and each run."""

    split: str
    queries: int
    relevant: int
    runs: list[LeftOut]


def leave_one_out(collection: Collection) -> Pool | None:
    """Return what each pooled run added, on the test queries, or else on the validation queries.

    Returns:
        None if nothing is judged.
    """
    judged = collection.judged
    split = next((name for name in reversed(JUDGED_SPLITS) if (judged["split"] == name).any()), "")
    if not split:
        return None
    judged = judged[judged["split"] == split].reset_index(drop=True)
    finders = _find_finders(judged, collection.runs)
    runs = {name: run for name, run in _runs(collection).items() if name in finders}
    lists = {name: _read(run, judged["query_id"]) for name, run in runs.items()}
    scores = _score(judged, judged, lists)
    left_out = [
        _leave_out(name, judged, finders, lists, scores)
        for name in finders.columns
        if name not in NO_RUNS
    ]
    relevant = int((judged["level"] >= RELEVANT_FROM).sum())
    return Pool(split, judged["query_id"].nunique(), relevant, left_out)


def _runs(collection: Collection) -> dict[str, pd.DataFrame]:
    """Return the results of each pooled run that are known: `PLACE, rank`."""
    pairs, recorded = collection.pairs, collection.runs
    candidates = pairs.loc[pairs["origin"] == CANDIDATES, [*PLACE, "rank"]]
    return {CANDIDATES: _fill_ranks(candidates)} | {
        str(name): rows[[*PLACE, "rank"]] for name, rows in recorded.groupby("origin")
    }


def _fill_ranks(candidates: pd.DataFrame) -> pd.DataFrame:
    """Return the candidates with every rank up to a query's last; those without a clip too."""
    last = candidates.groupby("query_id")["rank"].max()
    whole = pd.DataFrame({"query_id": last.index.repeat(last)})
    whole["rank"] = whole.groupby("query_id").cumcount() + 1
    filled = whole.merge(candidates, on=["query_id", "rank"], how="left")
    return filled.fillna({"video_id": NOT_SHOWN, "start": 0.0, "end": 1.0})


def _find_finders(judged: pd.DataFrame, recorded: pd.DataFrame) -> pd.DataFrame:
    """Mark who found each judged pair: a column of bool for each run, and for `NO_RUNS`.

    A pair's origin is one of them; a run that an earlier one hid is in its recorded results.
    """
    finders = pd.get_dummies(judged["origin"].replace(CAPTIONS, CANDIDATES)).astype(bool)
    pooled = recorded[recorded["pooled_start"].notna()]
    pooled = pooled.assign(start=pooled["pooled_start"], end=pooled["pooled_end"])
    for name, rows in pooled.groupby("origin"):
        found = judged[PLACE].merge(rows[PLACE].drop_duplicates(), how="left", indicator=True)
        own = (found["_merge"] == "both").to_numpy()
        finders[str(name)] = own | finders.get(str(name), default=False)
    runs = sorted(map(str, set(finders) - {CANDIDATES, *NO_RUNS}))
    return finders[[name for name in (CANDIDATES, *runs, *NO_RUNS) if name in finders]]


def _leave_out(
    name: str,
    judged: pd.DataFrame,
    finders: pd.DataFrame,
    lists: Mapping[str, Lists],
    scores: Mapping[str, float],
) -> LeftOut:
    alone = finders[name] & (finders.sum(axis=1) == 1)
    relevant = judged["level"] >= RELEVANT_FROM
    found, own = int((finders[name] & relevant).sum()), int((alone & relevant).sum())
    if name not in scores:
        return LeftOut(name, found, own, *[None] * 7)
    without = _score(judged[~alone], judged, lists)
    before, after = _places(scores), _places(without)
    falls = {run: after[run] - before[run] for run in before}
    fallen = max(sorted(falls), key=lambda run: falls[run])
    return LeftOut(
        name, found, own, round(scores[name], 6), round(without[name], 6),
        before[name], after[name], _tau(scores, without),
        max(falls[fallen], 0), fallen if falls[fallen] > 0 else None,
    )  # fmt: skip


def _score(
    levels: pd.DataFrame, judged: pd.DataFrame, runs: Mapping[str, Lists]
) -> dict[str, float]:
    """Return each run's mean over the queries of `judged` with a relevant moment, by given levels.

    A query that is left without a relevant moment stays in the mean, as 0.
    """
    lost = judged[~judged["query_id"].isin(levels["query_id"])].drop_duplicates("query_id")
    qrels = pd.concat([levels, lost.assign(level=0)])[[*PLACE, "level"]]
    scorer = evaluator([MEASURE], qrels.reset_index(drop=True))
    queries = judged.loc[judged["level"] >= RELEVANT, "query_id"].nunique()
    result = {}
    for name, run in runs.items():
        [(_, values)] = scorer.per_query(run).values()
        result[name] = float(values.sum()) / max(queries, 1)
    return result


def _read(run: pd.DataFrame, queries: pd.Series) -> Lists:
    known = run[run["query_id"].isin(queries.unique())]
    return as_lists(known, "the run", warn=lambda _: None)


def _places(scores: Mapping[str, float]) -> dict[str, int]:
    """Return each run's place, 1 for the highest score; equal scores share the better place."""
    return {name: 1 + sum(other > own for other in scores.values()) for name, own in scores.items()}


def _tau(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    if len(before) == 1:
        return None
    tau = float(tau_b(*(np.array(list(scores.values())) for scores in (before, after))))
    return None if math.isnan(tau) else round(tau, 6)
