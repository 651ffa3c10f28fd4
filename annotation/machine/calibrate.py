"""A machine's levels compared with people's: all figures, and the verdicts: pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.alternative_test import LEAST_PAIRS, run_both
from annotation.machine.confusion import draw_queries
from annotation.machine.leave_one_out import Panel, compare_people
from annotation.machine.others import find_others
from annotation.machine.similarity_control import compare_control
from annotation.machine.slices import confusion, slice_pairs
from annotation.machine.verdicts import judge
from annotation.reliability.alpha import Bootstrap
from annotation.votes.votes import NO_LEVEL
from pipeline.core.people_sections import Calibration

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
