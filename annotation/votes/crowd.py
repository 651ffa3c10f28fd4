"""Other ways to combine levels into one: crowd-kit's aggregators, for comparison.

They weight annotators by their estimated reliability (Dawid and Skene 1979; MACE, Hovy et al.
2013), or take the majority. They decide every pair that has a level. If levels are equally likely,
the higher one is taken, as the paper rounds up: the order of rows does not matter.
"""

import importlib
from typing import Any, Literal

import numpy as np
import pandas as pd

from annotation.votes.raw import Raw
from annotation.votes.rule import LEVELS
from annotation.votes.votes import NO_LEVEL, Ints
from momentrank.errors import UsageError

Aggregator = Literal["dawid-skene", "mace", "majority"]
AS_LIKELY = 1e-9


def aggregate(raw: Raw, method: Aggregator) -> Ints:
    """Return the level of each pair, NO_LEVEL if none of its answers has one.

    Raises:
        UsageError: crowd-kit is not installed.
    """
    aggregator = _aggregator(method)
    level = np.full(len(raw.pairs), NO_LEVEL)
    votes = _votes(raw)
    if len(votes):
        likely = aggregator.fit_predict_proba(votes).reindex(columns=range(LEVELS)).fillna(0.0)
        likely = likely.to_numpy()
        among_best = likely >= likely.max(axis=1, keepdims=True) - AS_LIKELY
        level[np.unique(votes["task"])] = LEVELS - 1 - among_best[:, ::-1].argmax(axis=1)
    return level


def _votes(raw: Raw) -> pd.DataFrame:
    """Return the answers as crowd-kit's `task, worker, label`, in a fixed order."""
    votes = pd.DataFrame({"task": raw.pair, "worker": raw.annotator, "label": raw.level})
    judged = votes[votes["label"] != NO_LEVEL]
    return judged.sort_values(["task", "label", "worker"], ignore_index=True)


def _aggregator(method: Aggregator) -> Any:  # noqa: ANN401  (crowd-kit is optional)
    try:
        kit = importlib.import_module("crowdkit.aggregation")
    except ImportError as exc:
        raise UsageError(f"--method {method} needs crowd-kit; type: pip install crowd-kit") from exc
    if method == "majority":
        return kit.MajorityVote()
    return kit.DawidSkene(n_iter=100) if method == "dawid-skene" else kit.MACE(random_state=0)
