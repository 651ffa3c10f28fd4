"""A machine's levels compared with people's: all figures, and the verdicts: pure.

Slices say where the machine is off: by batch, similarity, length and rank.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.alternative_test import LEAST_PAIRS, run_both
from annotation.machine.confusion import STATISTICS, draw_queries, measure, tabulate
from annotation.machine.leave_one_out import Panel, compare_people
from annotation.machine.others import find_others
from annotation.machine.similarity_control import compare_control
from annotation.machine.verdicts import judge
from annotation.reliability.alpha import Bootstrap
from annotation.reliability.scores import number
from annotation.votes.votes import NO_LEVEL, Floats, Ints
from pipeline.core.people_sections import Calibration

EDGES = {
    "first_batch": [0.0, 1.0],
    "similarity": [round(edge / 10, 1) for edge in range(11)],
    "seconds": [0.0, 2.0, 5.0, 10.0, 20.0, 40.0],
    "rank": [1.0, 6.0, 11.0, 16.0, 21.0, 31.0, 41.0],
}
"""Where slices begin: each goes up to the next; the last has no end, the first no beginning. Of
`first_batch`, 1 is the first batch, and 0 what was judged otherwise."""


def confusion(panel: Panel) -> list[list[int]]:
    """Return how many pairs have which level from people (rows) and the machine (columns)."""
    table = _tabulate(panel, np.zeros_like(panel.query), 1)[0]
    return [[int(cell) for cell in row] for row in table]


def slice_pairs(panel: Panel) -> list[dict[str, Any]]:
    """Return `by, low, pairs` and figures of the pairs in each non-empty slice.

    A slice begins at `low`. Where the first batch is known, ranks are those of its pairs alone.
    """
    rows = []
    first, rank = panel.first_batch, panel.rank
    if first is not None and rank is not None:
        rank = np.where(first, rank, np.nan)
    columns = {
        "first_batch": first,
        "similarity": panel.similarity,
        "seconds": panel.seconds,
        "rank": rank,
    }
    for name, values in columns.items():
        if values is not None:
            rows += _slice(panel, name, np.asarray(values, dtype=np.float64))
    return rows


def _slice(panel: Panel, name: str, values: Floats) -> list[dict[str, Any]]:
    edges: Sequence[float] = EDGES[name]
    bin_of = np.maximum(np.searchsorted(edges, values, side="right") - 1, 0)
    has_value = ~np.isnan(values)
    tables = _tabulate(panel, np.where(has_value, bin_of, len(edges)), len(edges) + 1)[:-1]
    statistics = measure(tables)
    pairs = tables.sum(axis=(1, 2)).astype(int)
    return [
        {"by": name, "low": low, "pairs": count}
        | {statistic: number(statistics[statistic][index]) for statistic in STATISTICS}
        for index, (low, count) in enumerate(zip(edges, pairs.tolist(), strict=True))
        if count
    ]


def _tabulate(panel: Panel, bin_of: Ints, bins: int) -> Floats:
    both = (panel.machine != NO_LEVEL) & (panel.consensus != NO_LEVEL)
    return tabulate(bin_of[both], panel.consensus[both], panel.machine[both], bins)


Answers = Mapping[str, Any]
"""What the machine was asked: of `asked` answers, `with_level` have a level, and `reasons` counts
why others have none. `stale` answers are for another text or clip, and do not count."""


class Calibrated(NamedTuple):
    """Figures for JSON, without single people, and for the lead a row for each annotator."""

    metrics: dict[str, Any]
    annotators: pd.DataFrame


def calibrate(
    panel: Panel,
    answers: Answers,
    params: Calibration,
    *,
    is_control: bool = False,
) -> Calibrated:
    """Return what is known about a machine from the pairs that people have judged as well.

    `is_control`: these levels are made from caption similarity, without looking at any clip.
    """
    bootstrap = Bootstrap(params.resamples, params.confidence, params.seed)
    draws = draw_queries(panel.queries, bootstrap)
    both = (panel.machine != NO_LEVEL) & (panel.consensus != NO_LEVEL)
    others = find_others(panel.scores, params.seed)
    people = compare_people(panel, others, draws, LEAST_PAIRS)
    test = run_both(panel, others, params.epsilon, params.seed)
    annotators = people.pop("annotators").merge(
        test.pop("annotators")[["annotator", "p", "better"]], on="annotator", how="left"
    )
    metrics = {
        "answers": dict(answers),
        "pairs": int(both.sum()),
        "queries": len(np.unique(panel.query[both])),
        "confidence": params.confidence,
        **people,
        "first_votes": "known" if panel.scores.time is not None else "drawn",
        "alternative_test": test,
        "control": None if is_control else compare_control(panel, draws),
        "confusion": confusion(panel),
        "slices": slice_pairs(panel),
    }
    verdicts = judge(metrics, params, is_control=is_control)
    return Calibrated(
        metrics | {"verdicts": [verdict._asdict() for verdict in verdicts]}, annotators
    )
