"""Choosing a system by one measure on validation: how good it is on test (AxIoU, Figure 8)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.meta.values import Values
from momentrank.significance import DECIMALS


class Selection(NamedTuple):
    """The run that is best by a measure on validation, and its value by another on test.

    `z` is how many standard deviations its value is above the mean of all runs; None if all
    runs have one value.
    """

    chosen_by: str
    run: str
    measure: str
    value: float
    z: float | None


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
    spread = np.round(means.std(axis=1), DECIMALS)
    for measure, scores in zip(validation.measures, validation.means(), strict=True):
        best = int(scores.argmax())
        for other, values, deviation in zip(test.measures, means, spread, strict=True):
            z = float((values[best] - values.mean()) / deviation) if deviation else None
            yield Selection(measure, test.runs[best], other, float(values[best]), z)
