"""Boundary noise at people's agreement: its variance, and what it does to runs."""

import numpy as np
import pytest

from momentrank.measures import P, nDCG
from momentrank.meta.boundaries import describe, find_variance, measure_boundary_noise
from momentrank.meta.noise import draw_moments
from momentrank.scoring import Evaluator
from momentrank.segments import build_qrels, build_run, iou

NAMES = [f"q{n}" for n in range(300)]


@pytest.fixture
def qrels():
    start = np.random.default_rng(5).uniform(0, 50, 300)
    return build_qrels(NAMES, ["v"] * 300, start, start + 4 + start / 5, [3.0] * 300)


@pytest.mark.parametrize("agreement", [0.725, 0.641, 0.95])
def test_the_variance_is_where_moments_agree_as_people_do(qrels, agreement):
    variance = find_variance(qrels, agreement)
    kept = []
    for seed in range(20):  # other draws
        drawn = draw_moments(qrels, "ends", variance, np.random.default_rng([9, seed]))
        kept.append(iou(qrels.start, qrels.end, drawn.start, drawn.end).mean())
    assert np.mean(kept) == pytest.approx(agreement, abs=0.006)


def test_a_run_that_has_the_moments_loses_what_others_would_have_drawn(qrels):
    runs = {
        "exact": {"": build_run(NAMES, ["v"] * 300, qrels.start, qrels.end)},
        "none": {"": build_run(NAMES, ["w"] * 300, qrels.start, qrels.end)},
    }
    exact, none = measure_boundary_noise(Evaluator([nDCG(iou=0.5) @ 5], qrels, "paper"), runs)
    assert (exact.measure, exact.value, none.value, none.noisy) == ("nDCG(iou=0.7)@5", 1, 0, 0)
    shares = []
    for copy in range(20):
        drawn = draw_moments(qrels, "ends", exact.variance, np.random.default_rng([7, copy]))
        shares.append((iou(qrels.start, qrels.end, drawn.start, drawn.end) >= 0.7).mean())
    assert exact.noisy == pytest.approx(np.mean(shares), abs=0.02)
    assert f"{exact.noisy:.3f} for exact ({exact.noisy - 1:+.3f})" in describe([exact, none])


def test_moments_without_length_have_no_boundaries_to_move():
    qrels = build_qrels(["q"], ["v"], [5.0], [5.0], [1.0])
    run = {"a": {"": build_run(["q"], ["v"], [5.0], [5.0])}}
    assert measure_boundary_noise(Evaluator([P(iou=0.5) @ 5], qrels, "paper"), run) == []
