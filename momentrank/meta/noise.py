"""Label noise: what measures would report had others drawn the boundaries (AxIoU, Figure 7).

For every judged moment [s, e) five annotators are simulated; the medians of their starts and of
their ends are the new moment. `variance` is in square seconds.

* `ends`, our own model: start and end are normal around s and e.
* `written`, the paper's: a start s' is normal around s, a length l exponential with mean e - s,
  whatever the variance; the end is s' + l. The paper's mean IoUs are far from those of this model,
  and those of `ends` fit only one of its two collections: what was run is unknown.

A moment whose end comes before its start is empty.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from momentrank.meta.correlation import tau_b
from momentrank.meta.systems import Systems
from momentrank.segments import Floats, Segments, iou
from momentrank.significance import SEED

KINDS = ("ends", "written")
VARIANCES, COPIES, ANNOTATORS = (1.0, 2.0, 3.0, 4.0), 100, 5


class LabelNoise(NamedTuple):
    """A measure under noise: how far the runs' means move, over all noisy truths and runs.

    `kept` is the mean IoU of a moment with its noisy one (of noisy levels: the share of pairs that
    keep theirs), `rmse` the mean of the runs' RMSEs, `bias` the mean movement, and `tau` the mean
    tau-b of the order of the runs with their order without noise; if undefined, it counts as 0.
    """

    noise: str
    variance: float | None
    kept: float
    measure: str
    rmse: float
    bias: float
    tau: float


def draw_moments(qrels: Segments, kind: str, variance: float, rng: np.random.Generator) -> Segments:
    """Return the qrels with the boundaries that five simulated annotators agree on."""
    size = (ANNOTATORS, len(qrels.start))
    starts = qrels.start + rng.standard_normal(size) * variance**0.5
    if kind == "written":
        ends = starts + rng.standard_exponential(size) * (qrels.end - qrels.start)
    else:
        ends = qrels.end + rng.standard_normal(size) * variance**0.5
    start, end = _median(starts), _median(ends)
    return qrels._replace(start=start, end=np.maximum(start, end))


def _median(drawn: Floats) -> Floats:
    middle: Floats = np.sort(drawn, axis=0)[ANNOTATORS // 2]
    return middle


def measure_label_noise(
    systems: Systems,
    kinds: Sequence[str] = KINDS,
    variances: Sequence[float] = VARIANCES,
    *,
    copies: int = COPIES,
    seed: int = SEED,
    done: Callable[[int], object] = int,
) -> Iterator[LabelNoise]:
    """Yield each measure under each noise; `done` counts noisy truths.

    A seed draws the same for all variances.
    """
    for kind in kinds:
        for variance in variances:
            noisy = Noisy(systems.evaluator.qrels, kind, variance, seed)
            means = systems.score_copies(noisy.change, copies, done)
            yield from summarise(systems, means, kind, variance, float(np.mean(noisy.kept)))


class Noisy:
    """Noisy copies of qrels, and what they `kept`: the mean IoU of each copy."""

    def __init__(self, qrels: Segments, kind: str, variance: float, seed: int) -> None:
        """Take the qrels and the noise; a copy's draws depend on the seed and its number."""
        self._qrels, self._kind, self._variance, self._seed = qrels, kind, variance, seed
        self.kept: list[float] = []

    def change(self, copy: int) -> Segments:
        """Return a copy by its number."""
        rng = np.random.default_rng([self._seed, copy])
        qrels = self._qrels
        drawn = draw_moments(qrels, self._kind, self._variance, rng)
        self.kept.append(float(iou(qrels.start, qrels.end, drawn.start, drawn.end).mean()))
        return drawn


def summarise(
    systems: Systems, means: Floats, noise: str, variance: float | None, kept: float
) -> Iterator[LabelNoise]:
    """Yield a row for each measure of means under noise, shape (measures, runs, copies)."""
    clean = systems.values.means()
    errors = means - clean[:, :, None]
    taus = np.nan_to_num(tau_b(means.swapaxes(1, 2), clean[:, None, :]))
    for name, moved, tau in zip(systems.measures, errors, taus, strict=True):
        rmse, bias = float(np.sqrt((moved**2).mean(axis=1)).mean()), float(moved.mean())
        yield LabelNoise(noise, variance, kept, name, rmse, bias, float(tau.mean()))
