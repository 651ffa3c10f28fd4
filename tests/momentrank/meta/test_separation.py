"""Agreement, power and ties: each against its definition, measure by measure."""

import numpy as np
import pytest
from scipy import stats

from momentrank.errors import UsageError
from momentrank.functions import evaluator, score_runs
from momentrank.meta.agreement import measure_agreement, measure_effectiveness
from momentrank.meta.correlation import tau_ap
from momentrank.meta.estimation import measure_estimation
from momentrank.meta.separation import measure_power, measure_ties
from momentrank.meta.systems import Systems
from momentrank.meta.values import Values


def values(table):
    """Return values (measures, runs, queries) with names."""
    names = [
        [f"{kind}{n}" for n in range(size)] for kind, size in zip("mrq", table.shape, strict=True)
    ]
    return Values(*names, np.array(table, dtype=float))


def test_agreement_is_tau_of_the_means_for_every_ordered_pair():
    run_values = values(np.random.default_rng(4).integers(0, 4, (3, 5, 7)))
    rows = list(measure_agreement(run_values))
    assert [(row.measure, row.other) for row in rows] == [
        (a, b) for a in run_values.measures for b in run_values.measures if a != b
    ]
    means = dict(zip(run_values.measures, run_values.table.mean(axis=2), strict=True))
    for measure, other, tau, ap in rows:
        assert tau == pytest.approx(stats.kendalltau(means[measure], means[other]).statistic)
        assert ap == pytest.approx(float(tau_ap(means[measure], means[other])))


def test_a_measure_that_ties_all_runs_agrees_with_none():
    table = np.array([[[1, 1], [1, 1]], [[0, 1], [1, 1]]])
    assert [row[2:] for row in measure_agreement(values(table))] == [(None, None)] * 2


def test_power_is_the_share_of_pairs_whose_exact_p_is_below_alpha():
    table = np.random.default_rng(8).random((2, 3, 9)) + np.array([0, 0.02, 0.5])[None, :, None]
    for row, scores in zip(measure_power(values(table), rounds=20_000), table, strict=True):
        exact = [
            stats.permutation_test(
                (scores[b] - scores[a],), np.mean, permutation_type="samples", n_resamples=np.inf
            ).pvalue
            for a, b in [(0, 1), (0, 2), (1, 2)]
        ]
        assert min(abs(p - 0.05) for p in exact) > 0.01, "no p is too close to call"
        assert (row.pairs, row.significant) == (3, sum(p < 0.05 for p in exact))
        assert row.power == row.significant / 3


def test_effectiveness_is_the_mean_of_each_run_by_each_measure():
    rows = list(measure_effectiveness(values(np.array([[[0, 1], [1, 1]], [[0.5, 0], [0, 0]]]))))
    assert [tuple(row) for row in rows] == [
        *[("m0", 1, "r0", 0.5), ("m0", 2, "r1", 1.0)],
        *[("m1", 1, "r0", 0.25), ("m1", 2, "r1", 0.0)],
    ]


@pytest.mark.filterwarnings("ignore:[ab]:")
def test_estimation_errors_are_those_of_drawn_noise():
    ends = [5, 2, 9, 1]  # IoUs .5, .2, .9 and 0 with a moment of 10 s; one query has no result
    qrels = [(f"q{n}", "v", 0, 10, 1) for n in range(4)]
    runs = {"a": [(f"q{n}", "v", 0, end) for n, end in enumerate(ends[:3])],
            "b": [("q0", "v", 0, 5), ("q3", "w", 0, 1)]}  # fmt: skip
    scorer = evaluator("AxIoU@1", qrels)
    rows = list(
        measure_estimation(Systems(scorer, {n: scorer.read(r, n) for n, r in runs.items()}))
    )
    true = np.array([0.5, 0.2, 0.9, 0, 0.5, 0, 0, 0])
    noise = np.random.default_rng(5).standard_normal((200_000, 1))
    for row in rows:
        if row.gamma not in {0.1, 0.3} or (row.theta or 0.5) not in {0.2, 0.4, 0.5, 0.9}:
            continue
        drawn = true + row.gamma * noise
        moved = (
            drawn - true if row.theta is None else (drawn > row.theta) - 1.0 * (true > row.theta)
        )
        figures = (moved.mean(axis=0) ** 2).mean(), moved.var(axis=0).mean(), (moved**2).mean()
        assert tuple(row[3:]) == pytest.approx(figures, abs=3e-3)


def test_at_the_threshold_half_of_the_noisy_hits_are_wrong():
    qrels, run = [("q", "v", 0, 10, 1)], [("q", "v", 0, 5)]
    scorer = evaluator("AxIoU@1", qrels)
    rows = measure_estimation(Systems(scorer, {"a": scorer.read(run, "a")}))
    errors = {(row.theta, row.gamma): row[3:] for row in rows}
    assert errors[0.5, 0.05] == pytest.approx((0.25, 0.25, 0.5))  # the peak of Figure 10
    assert errors[0.1, 0.05] == pytest.approx((0, 0, 0), abs=1e-9)


def test_ties_are_queries_with_one_value_for_all_runs():
    table = np.array([[[0, 0.1 + 0.2, 1, 0], [0, 0.3, 1, 1], [0, 0.3, 1, 0]]])
    [ties] = measure_ties(values(table))
    assert ties == ("m0", 4, 0.75, 0.25)


@pytest.mark.filterwarnings("ignore:half")
def test_runs_are_scored_by_the_library_too():
    qrels = [("q1", "v", 0, 10, 1), ("q2", "v", 10, 20, 1)]
    runs = {"good": [("q1", "v", 0, 10), ("q2", "v", 10, 20)], "half": [("q1", "v", 0, 5)]}
    run_values = score_runs(qrels, runs, ["AxIoU@1", "R@1,0.5"])
    assert (run_values.measures, run_values.runs) == (
        ["AxIoU@1", "R(iou=0.5,strict=True)@1"],
        ["good", "half"],
    )
    assert run_values.table.tolist() == [[[1, 1], [0.5, 0]], [[1, 1], [0, 0]]]
    with pytest.raises(UsageError, match="at least two runs"):
        score_runs(qrels, {"good": runs["good"]}, "AxIoU@1")
    with pytest.raises(UsageError, match="different set of queries"):
        score_runs(qrels, runs, "nDCG(iou=0.5)@1", "tvr-ranking")
