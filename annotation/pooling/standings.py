"""Where runs stand, and what the judgments that are asked for could make of their order.

A moment that is found relevant enters the ideal list of every run, whichever run found it. So the
bounds are over the levels of all pairs that are asked for; `Evaluator.bound_differences` looks at
those of two runs alone. Which segment a result takes does not depend on levels (but for equal
IoUs): both DCGs are sums over pairs, and their ratio has bounds for each query, some a little wider
than needed. A pair that stays without a level counts as level 0.

As in a release, a query without a level of `ANSWERS` or more is negative, and not in the mean; it
enters with its first such level.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.votes.votes import is_in
from momentrank.data import as_lists
from momentrank.functions import evaluator
from momentrank.matching.aligned import align
from momentrank.matching.models import match_greedily
from momentrank.measures.ratios import find_highest_ratio
from momentrank.segments import Bools, Floats, Ints, Segments, distinct
from momentrank.significance import DECIMALS, Band
from pipeline.campaign.collection import ANSWERS
from pipeline.campaign.leave_one_out import MEASURE, PLACE
from pipeline.core.tables import LEVELS

IOU, CUTOFF = 0.5, 20
"""Those of `MEASURE`."""
ASKED = len(LEVELS)
"""Stands for the level of a pair that is asked for."""
IDEAL = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2, CUTOFF + 2))))


class Standings(NamedTuple):
    """Runs by value, the highest first: `run, judged, value, low, high, best, worst`.

    `judged` is Judged@depth, `value` that of `MEASURE`, as `momentrank evaluate` has both. `low`
    and `high` bound the value once all is judged, `best` and `worst` the run's place. `swaps` are
    the pairs of runs whose order could change.
    """

    runs: pd.DataFrame
    swaps: list[tuple[str, str]]
    queries: int


class _Truth(NamedTuple):
    """Judged segments and those asked for, by row; `known` counts the judged ones, from a level up.

    `counted` are the queries that are not negative, `may_count` those that could become one.
    """

    query: Ints
    level: Floats
    known: Ints
    counted: Bools
    may_count: Bools

    def bound(self, weight: Floats) -> float:
        """Return the highest mean over all levels asked for; `weight` is each row's discount.

        The mean is that of the sums of weighted levels, over the ideal DCG.
        """
        asked = self.level == ASKED
        judged = np.where(asked, 0.0, self.level)
        taken = np.bincount(self.query, weight * judged, len(self.counted)).astype(np.float64)
        rows = np.flatnonzero(asked)
        rows = rows[np.lexsort((-weight[rows], self.query[rows]))]
        values = find_highest_ratio(
            taken, self.query[rows], weight[rows], len(LEVELS) - 1, self._costs
        )
        more = np.append(0.0, np.cumsum(np.sort(values[self.may_count])[::-1]))
        sizes = self.counted.sum() + np.arange(len(more))
        return float(((values[self.counted].sum() + more) / sizes).max())

    def _costs(self, queries: Ints, more: Ints) -> list[tuple[float, Floats]]:
        return [
            (1.0, IDEAL[np.minimum(known[queries, None] + more, CUTOFF)]) for known in self.known
        ]


def measure(
    levels: pd.DataFrame, asked: pd.DataFrame, runs: Mapping[str, pd.DataFrame], depth: int
) -> Standings | None:
    """Return where runs stand by the `levels` (`PLACE, level`) of a split, and could stand.

    `asked` (`PLACE`) are the moments that are asked for; runs are `PLACE, rank`. None if no query
    has an answer yet, or there is no run.
    """
    highest = levels.groupby("query_id")["level"].max()
    if not runs or not (highest >= ANSWERS).any():
        return None
    asked = asked[~is_in(asked, levels, PLACE)].drop_duplicates(PLACE)
    both = pd.concat([levels[[*PLACE, "level"]], asked[PLACE].assign(level=ASKED)])
    whole = evaluator([MEASURE], both.reset_index(drop=True)).qrels
    measures, negatives = [MEASURE, f"Judged(iou={IOU})@{depth}"], highest.index[highest < ANSWERS]
    shown = evaluator(measures, levels[[*PLACE, "level"]], negatives=negatives)
    rows, weights = [], {}
    for name, run in runs.items():
        known = run[run["query_id"].isin(whole.queries)]
        listed = distinct(as_lists(known, name, warn=lambda _: None)[""])
        value, judged = shown.calc_aggregate({"": listed}).values()
        weights[name] = _find_discounts(whole, listed)
        rows.append((name, judged, value))
    truth = _build_truth(whole)
    table = pd.DataFrame(rows, columns=["run", "judged", "value"])
    table["low"] = [max(0.0, -truth.bound(-weights[name])) for name in table["run"]]
    table["high"] = [truth.bound(weights[name]) for name in table["run"]]
    table = table.sort_values(["value", "run"], ascending=[False, True], ignore_index=True)
    bands = {
        (a, b): Band(-truth.bound(weights[a] - weights[b]), truth.bound(weights[b] - weights[a]))
        for a, b in combinations(table["run"], 2)
    }
    value_of = table.set_index("run")["value"]
    swaps = [(a, b) for (a, b), band in bands.items() if band.can_turn(value_of[b] - value_of[a])]
    return Standings(_add_places(table, bands), swaps, int(truth.counted.sum()))


def _build_truth(whole: Segments) -> _Truth:
    count, asked = len(whole.queries), whole.value == ASKED
    known = np.array([
        np.bincount(whole.query[(whole.value >= least) & ~asked], minlength=count)
        for least in LEVELS[1:]
    ])  # fmt: skip
    counted = known[ANSWERS - 1] > 0
    may_count = np.bincount(whole.query[asked], minlength=count) > 0
    return _Truth(whole.query, whole.value, known, counted, may_count & ~counted)


def _find_discounts(whole: Segments, run: Segments) -> Floats:
    """Return the discount of the result that takes each segment; 0 where none does."""
    aligned = align(whole, run, CUTOFF)
    match = match_greedily(aligned, IOU, strict=False)
    found = match >= 0
    discounts = np.zeros(len(whole.query))
    discounts[match[found]] = 1.0 / np.log2(aligned.results.rank[found] + 1)
    return discounts


def _add_places(table: pd.DataFrame, bands: Mapping[tuple[str, str], Band]) -> pd.DataFrame:
    best = dict.fromkeys(table["run"], 1)
    worst = dict.fromkeys(table["run"], 1)
    for (a, b), band in bands.items():
        low, high = (round(bound, DECIMALS) for bound in band)
        best[a] += low > 0
        best[b] += high < 0
        worst[a] += high > 0
        worst[b] += low < 0
    return table.assign(best=table["run"].map(best), worst=table["run"].map(worst))
