"""The noise band: the quantiles of differences against noisy truths, one by one."""

import numpy as np
import pytest

from momentrank.measures import AxIoU, nDCG
from momentrank.meta import noise
from momentrank.meta.band import Band, Noise, measure_bands
from momentrank.meta.systems import Systems
from momentrank.meta.votes import NO_LEVEL, Judgments, Votes, draw_levels
from momentrank.scoring import Evaluator
from momentrank.segments import build_qrels, build_run


@pytest.fixture
def systems():
    rng = np.random.default_rng(2)
    names = [f"q{n}" for n in range(20)]
    start = rng.uniform(0, 50, 20)
    qrels = build_qrels(names, ["v"] * 20, start, start + 8, rng.integers(0, 5, 20).astype(float))
    runs = {
        name: {"": build_run(names, ["v"] * 20, start + rng.normal(0, 2, 20), start + 8)}
        for name in "ab"
    }
    return Systems(Evaluator([AxIoU @ 1, nDCG(iou=0.5) @ 1], qrels, "paper"), runs)


def test_a_band_holds_the_differences_of_noisy_truths(systems):
    bands = measure_bands(systems, Noise(2.0, copies=30, seed=4), 0.9)
    differences = []
    for copy in range(30):
        rng = np.random.default_rng([4, copy])
        truth = noise.draw_moments(systems.evaluator.qrels, "ends", 2.0, rng)
        scorer = Evaluator([AxIoU @ 1], truth, "paper")
        first, second = (scorer.calc_aggregate(lists)[AxIoU @ 1] for lists in systems.runs.values())
        differences.append(second - first)
    low, high = np.quantile(differences, [0.05, 0.95])
    assert bands["AxIoU@1", "a", "b"] == (pytest.approx(low), pytest.approx(high))
    assert bands["AxIoU@1", "b", "a"] == (pytest.approx(-high), pytest.approx(-low))
    assert bands["AxIoU@1", "a", "a"] == (0, 0)


@pytest.mark.parametrize(
    ("band", "difference", "turns"),
    [
        ((0.1, 0.3), 0.2, False),
        ((-0.1, 0.3), 0.2, True),
        ((-0.3, -0.1), 0.2, True),
        ((-0.3, -0.1), -0.05, False),
        ((0.0, 0.1), 0.1, True),
        ((0.1, 0.2), 0.0, True),
        ((0.0, 0.1), 0.0, True),
        ((0.0, 0.0), 0.0, False),
        ((0.0, 1e-17), -1e-17, False),
    ],
)
def test_a_difference_is_within_the_noise_if_it_may_lose_its_sign(band, difference, turns):
    assert Band(*band).can_turn(difference) is turns


def test_boundaries_and_levels_can_both_be_noisy(systems):
    qrels = systems.evaluator.qrels
    none = np.empty((0, 4), np.int64)
    votes = Judgments((Votes(np.array([3]), np.array([[0, 4]])), Votes(none[:, 0], none)), 19, 0)
    for copy in range(20):
        noisy = Noise(1.0, votes).change(qrels, copy)
        rng = np.random.default_rng([2024, copy])
        alone = noise.draw_moments(qrels, "ends", 1.0, rng)
        level = draw_levels(qrels, votes, rng)  # other numbers than those of the boundaries
        has_level = level != NO_LEVEL
        assert len(noisy.start) in {19, 20}, "0 and 4 give no level"
        assert noisy.start.tolist() == alone.start[has_level].tolist()
        assert noisy.value.tolist() == level[has_level].tolist()
        assert noisy.queries == qrels.queries
    assert (
        Noise(None, votes).describe() == "levels (votes drawn again), 100 noisy truths, seed 2024"
    )
