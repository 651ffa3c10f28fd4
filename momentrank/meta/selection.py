"""Choosing a system by one measure on validation: how good it is on test (AxIoU, Figure 8)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.meta.values import Values
from momentrank.segments import Floats, Ints
from momentrank.significance import DECIMALS


class Selection(NamedTuple):
    """The run that is best by a measure on validation, and its value by another on test.

    `z` is how many standard deviations its value is above the mean of all runs; `z_selected`, as in
    the paper, above that of the selected runs, one for each measure. None if they have one value.
    """

    chosen_by: str
    run: str
    measure: str
    value: float
    z: float | None
    z_selected: float | None


def measure_selection(validation: Values, test: Values) -> Iterator[Selection]:
    """Yield the choice by each measure, reported by every measure.

    The runs of both are the same systems in the same order; of equal runs the first is chosen.

    Raises:
        UsageError: there are more runs on one side.
    """
    if len(validation.runs) != len(test.runs):
        raise UsageError(
            f"{len(validation.runs)} runs on validation and {len(test.runs)} on test: name the"
            " same systems' runs in the same order"
        )
    means = test.means()
    chosen = validation.means().argmax(axis=1)
    z, z_selected = _z_scores(means, chosen), _z_scores(means[:, chosen])
    for row, (measure, run) in enumerate(zip(validation.measures, chosen.tolist(), strict=True)):
        for column, other in enumerate(test.measures):
            value, scores = float(means[column, run]), (z[column][row], z_selected[column][row])
            yield Selection(measure, test.runs[run], other, value, *scores)


def _z_scores(means: Floats, chosen: Ints | slice = slice(None)) -> list[list[float | None]]:
    """Return Z-scores over each row, (measures, runs), of the chosen; None if all are equal."""
    spread = np.round(means.std(axis=1), DECIMALS).tolist()
    away = (means - means.mean(axis=1, keepdims=True))[:, chosen].tolist()
    return [
        [distance / deviation if deviation else None for distance in row]
        for row, deviation in zip(away, spread, strict=True)
    ]
