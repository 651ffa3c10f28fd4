"""Estimation errors: how far noise in an IoU moves a measure of one result (AxIoU, Figure 10).

An observed IoU is normal around the true one, with standard deviation gamma (appendix C). AxIoU@1
has no bias, and the variance gamma^2. R@1,theta is 1 with the probability that the observed IoU is
above theta, so it is biased, most where IoUs are close to theta.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from momentrank.conventions import PAPER
from momentrank.measures import AxIoU, R, mIoU
from momentrank.meta.systems import Systems
from momentrank.scoring import Evaluator

THETAS = tuple(step / 10 for step in range(1, 10))
GAMMAS = (0.05, 0.1, 0.2, 0.3)


class EstimationError(NamedTuple):
    """A measure under noise: squared bias, variance and their sum, means over queries and runs."""

    measure: str
    theta: float | None
    gamma: float
    squared_bias: float
    variance: float
    mse: float


def measure_estimation(systems: Systems) -> Iterator[EstimationError]:
    """Yield AxIoU@1 and R@1 at each threshold, by gamma.

    The true IoU is that of each first result with its best relevant moment, by `paper`.
    """
    scorer = Evaluator([mIoU], systems.evaluator.qrels, PAPER)
    of_runs = [scorer.per_query(lists)[mIoU][1] for lists in systems.runs.values()]
    true, number = np.unique(np.concatenate(of_runs), return_counts=True)
    weight = number / number.sum()
    erfc = np.vectorize(math.erfc, otypes=[np.float64])
    for gamma in GAMMAS:
        yield EstimationError(repr(AxIoU @ 1), None, gamma, 0.0, gamma**2, gamma**2)
        for theta in THETAS:
            above = erfc((theta - true) / (gamma * math.sqrt(2))) / 2
            bias = float(weight @ (above - (true > theta)) ** 2)
            variance = float(weight @ (above * (1 - above)))
            name = repr(R(iou=theta, strict=True) @ 1)
            yield EstimationError(name, theta, gamma, bias, variance, bias + variance)
