"""Has the machine looked at the video? Its levels compared with what caption similarity knows.

There are two questions. Does it agree with people better than the similarity control, whose levels
come from an ordinal regression on the similarity of query and caption? And do its levels say more
about people's than similarity does: are both still correlated once what similarity and rank explain
is removed? The second is not affected by a bias, and a judge that uses only similarity has no such
correlation, however it turns it into levels.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from annotation.machine.confusion import (
    Draws,
    describe,
    describe_estimate,
    measure_draws,
    subtract,
    tabulate,
)
from annotation.machine.leave_one_out import Panel
from annotation.votes.votes import NO_LEVEL, Bools, Floats, Ints
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.judges.base import Pair
from pipeline.judges.similarity_judge import FITTED_ON, SimilarityJudge

MOST_BINS, PAIRS_PER_BIN = 20, 40
FOLDS = 10
ROUNDING = 1e-9


def find_control(pairs: pd.DataFrame, people: Ints) -> Ints:
    """Return the control's level of each pair (`query_id, moment_id, split, similarity`).

    `people` are people's levels, or NO_LEVEL. No level is derived from those of its own query.
    """
    has_level = people != NO_LEVEL
    judge = SimilarityJudge(pairs.loc[has_level, PAIR_KEY].assign(level=people[has_level]))
    asked = [
        Pair(query, moment, split, "", "", similarity, 0.0, 0.0, Path(), 0.0)
        for query, moment, split, similarity in pairs[
            [*PAIR_KEY, "split", "similarity"]
        ].itertuples(index=False, name=None)
    ]
    said = {(answer.query_id, answer.moment_id): answer.level for answer in judge.judge(asked)}
    levels = [said[pair] for pair in pairs[PAIR_KEY].itertuples(index=False, name=None)]
    return np.array([NO_LEVEL if level is None else level for level in levels], dtype=np.int64)


def find_control_in_folds(query: Ints, similarity: Floats, people: Ints) -> Ints:
    """Return the control's level of each pair if queries have no split: a tenth at a time."""
    fold = (query % FOLDS).astype("str")
    numbers = np.arange(len(query)).astype("str")
    pairs = {"query_id": fold, "moment_id": numbers, "split": FITTED_ON, "similarity": similarity}
    return find_control(pd.DataFrame(pairs), people)


def compare_control(panel: Panel, draws: Draws) -> dict[str, Any] | None:
    """Return the control and the machine, and what the machine adds; None without similarity.

    `control`, `machine` and `difference` (machine minus control) are against people's consensus, on
    pairs for which all three have a level. `beyond` is the correlation of people's and the
    machine's levels that is left once similarity and rank are known; null if a level never varies.
    """
    if panel.similarity is None:
        return None
    both = (panel.machine != NO_LEVEL) & (panel.consensus != NO_LEVEL)
    both &= ~np.isnan(panel.similarity)
    metrics: dict[str, Any] = {"beyond": measure_beyond(panel, both, draws)}
    if panel.control is None:
        return metrics | dict.fromkeys(("control", "machine", "difference"))
    rows = both & (panel.control != NO_LEVEL)
    query, people = panel.query[rows], panel.consensus[rows]
    machine, control = (
        measure_draws(tabulate(query, people, level[rows], panel.queries), draws)
        for level in (panel.machine, panel.control)
    )
    return metrics | {
        "control": describe(control, draws),
        "machine": describe(machine, draws),
        "difference": subtract(machine, control, draws),
    }


def measure_beyond(panel: Panel, rows: Bools, draws: Draws) -> dict[str, Any]:
    """Return the partial correlation of both levels on the given pairs, with its interval.

    It is 0 where similarity and rank explain all of a side's levels.
    """
    columns = _explain(panel, rows)
    levels = np.stack([panel.consensus[rows], panel.machine[rows]], axis=1).astype(np.float64)
    if not len(levels) or not np.ptp(levels, axis=0).all():
        return describe_estimate(np.nan, np.empty(0), draws.confidence)
    fitted, *_ = np.linalg.lstsq(columns, levels, rcond=None)
    people, machine = (levels - columns @ fitted).T
    products = (people * machine, people**2, machine**2)
    sums = np.stack(
        [np.bincount(panel.query[rows], product, panel.queries) for product in products], axis=1
    )
    [whole] = _correlate(sums.sum(axis=0, keepdims=True))
    return describe_estimate(whole, _correlate(draws.times @ sums), draws.confidence)


def _correlate(sums: Floats) -> Floats:
    size = np.sqrt(sums[:, 1] * sums[:, 2])
    defined = size > ROUNDING
    correlation: Floats = np.where(defined, sums[:, 0] / np.where(defined, size, 1), 0.0)
    return correlation


def _explain(panel: Panel, rows: Bools) -> Floats:
    """Return the regressors for levels: similarity and rank, in pieces."""
    count = int(rows.sum())
    bins = int(np.clip(count // PAIRS_PER_BIN, 1, MOST_BINS))
    if panel.similarity is None:
        return np.ones((count, 1))
    similarity = panel.similarity[rows]
    piece = _cut(similarity, bins)
    columns = [piece, piece * similarity[:, None]]
    if panel.rank is not None:
        columns.append(_cut(panel.rank[rows].astype(np.float64), max(bins // 2, 1)))
    return np.concatenate(columns, axis=1)


def _cut(values: Floats, bins: int) -> Floats:
    """Return the bin of each value, a column per bin, with bins of about equal size."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1])) if len(values) else []
    bin_of: Ints = np.searchsorted(edges, values, side="right")
    inside: Floats = (bin_of[:, None] == np.arange(len(edges) + 1)).astype(np.float64)
    return inside
