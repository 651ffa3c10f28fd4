"""Whether anything about a task tells that it is a hidden check: features, and a classifier."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pandas as pd
from lazy import Lazy

ensemble, linear_model = Lazy("sklearn.ensemble"), Lazy("sklearn.linear_model")
metrics, model_selection = Lazy("sklearn.metrics"), Lazy("sklearn.model_selection")
pipeline, preprocessing = Lazy("sklearn.pipeline"), Lazy("sklearn.preprocessing")

SHOWN = ("query", "clip_html")
"""What a task is about: a pair that is asked again shows what it showed."""
ANSWERED = ("annotations", "drafts", "predictions", "annotations_results", "annotations_ids")
"""What its annotator has made of it."""
FOLDS, TREES, SIGMAS = 5, 100, 3.3
PERMUTED = 30
"""Drawings of labels that tell nothing. A model of many fields varies more than ranks do: an area
somewhat beyond the limit of ranks is compared with these."""


class Separation(NamedTuple):
    """The area under the ROC curve, of classes that were cross-validated, and chance's limit."""

    area: float
    limit: float


def features(tasks: list[Mapping]) -> pd.DataFrame:
    """Return every field of one person's tasks as numbers, and where each stands."""
    ordered = sorted(tasks, key=lambda task: task["id"])
    table = pd.DataFrame([dict(_numbers(task)) for task in ordered])
    batch = pd.Series([task["created_at"][:19] for task in ordered])
    within, size = batch.groupby(batch).cumcount(), batch.map(batch.value_counts())
    place = {"place": (within + 1) / (size + 1), "first": within == 0, "last": within == size - 1}
    times = table.filter(like="_at").rank(pct=True)  # as one sees them: before and after
    return table.assign(**place, **times).fillna(-1).astype("float64")


def _numbers(field, name=""):
    if isinstance(field, Mapping):
        for key, value in field.items():
            if key not in (*SHOWN, *ANSWERED):
                yield from _numbers(value, f"{name}.{key}")
    elif isinstance(field, list):
        yield f"{name}.length", len(field)
    elif isinstance(field, str) and name.endswith("_at"):
        yield name, datetime.fromisoformat(field).timestamp()
    elif isinstance(field, str):
        yield f"{name}.length", len(field)
        text = field.encode()
        yield from ((f"{name}.{letter}", text.count(letter)) for letter in range(32, 127))
        yield from ((f"{name}[{at}]", byte) for at, byte in enumerate(text[:24]))
    elif field is not None:
        yield name, float(field)


def classify(
    table: pd.DataFrame, checks: np.ndarray, seed: int = 0, rounds: pd.Series | None = None
) -> list[Separation]:
    """Return how well a linear model and a forest tell `checks` from the other tasks.

    The linear model chooses few columns: with all of hundreds, it would miss one that tells them
    all in a campaign of 76 judgments.

    What was given out later holds more pairs that were judged before, and so more checks: that is
    no secret. `rounds` says which tasks were given out together; chance is drawn within these.
    """
    together = pd.Series(0, range(len(checks))) if rounds is None else rounds
    folds = model_selection.StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    models = (
        pipeline.make_pipeline(
            preprocessing.StandardScaler(),
            linear_model.LogisticRegression(
                l1_ratio=1, solver="liblinear", class_weight="balanced", random_state=seed
            ),
        ),
        ensemble.RandomForestClassifier(TREES, class_weight="balanced", random_state=seed),
    )
    results = []
    for model in models:

        def measure_area(labels: np.ndarray, model: object = model) -> float:
            score = model_selection.cross_val_predict(
                model, table, labels, cv=folds, method="predict_proba"
            )[:, 1]
            return float(metrics.roc_auc_score(labels, score))

        area, error = measure_area(checks), SIGMAS * _error(checks)
        limit = 0.5 + error
        if limit <= area < limit + error:
            random = np.random.default_rng(seed)
            shuffled = pd.Series(checks).groupby(together.to_numpy())
            chance = [
                measure_area(shuffled.transform(random.permutation).to_numpy())
                for _ in range(PERMUTED)
            ]
            limit = float(np.mean(chance) + SIGMAS * np.std(chance, ddof=1))
        results.append(Separation(area, limit))
    return results


def _error(checks: np.ndarray) -> float:
    """Return the standard error of the area by chance alone (of Mann and Whitney's U)."""
    some, rest = int(checks.sum()), int((~checks).sum())
    return float(np.sqrt((some + rest + 1) / (12 * some * rest)))
