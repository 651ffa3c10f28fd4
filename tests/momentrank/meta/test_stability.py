import numpy as np
import pytest
from scipy import stats

from momentrank.errors import UsageError
from momentrank.meta import correlation, stability
from momentrank.meta.values import Values


def random_values(measures=3, runs=5, queries=40, seed=1, levels=None):
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.2, 0.6, runs)[None, :, None]
    table = (rng.random((measures, runs, queries)) < skill) * rng.random((measures, runs, queries))
    names = [
        [f"{kind}{n}" for n in range(count)]
        for kind, count in (("m", measures), ("r", runs), ("q", queries))
    ]
    return Values(*names, table if levels is None else np.round(table * levels))


@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_tau_b_is_scipys_also_with_ties(levels):
    rng = np.random.default_rng(levels)
    first, second = rng.integers(0, levels, (2, 300, 7)).astype(float)
    for a, b, tau in zip(first, second, correlation.tau_b(first, second), strict=True):
        assert tau == pytest.approx(stats.kendalltau(a, b).statistic, nan_ok=True)


def test_tau_ap_is_its_definition():
    rng = np.random.default_rng(3)
    for _ in range(100):
        truth, scores = rng.permuted(np.arange(6.0)), rng.permuted(np.arange(6.0))
        ranked = [truth[run] for run in np.argsort(-scores)]
        shares = [sum(above > ranked[i] for above in ranked[:i]) / i for i in range(1, 6)]
        assert correlation.tau_ap(truth, scores) == pytest.approx(2 * np.mean(shares) - 1)
    assert correlation.tau_ap(truth, truth) == 1
    assert correlation.tau_ap(truth, -truth) == -1


def test_stability_is_that_of_trials_one_by_one():
    values = random_values()
    stabilities = list(stability.measure_stability(values, [5, 20], trials=50, seed=7))
    rng = np.random.default_rng([7, 5])
    halves = stability.draw_halves(40, 5, 50, rng, overlap=False)
    taus = [
        [
            np.nan_to_num(
                stats.kendalltau(
                    *(np.round(m[:, rows[t]].mean(axis=1), 12) for rows in halves)
                ).statistic
            )
            for t in range(50)
        ]
        for m in values.table
    ]
    for row, tau in zip(stabilities, taus, strict=False):
        assert row.tau == pytest.approx(np.mean(tau))
        assert row.variance == pytest.approx(np.var(tau))
    assert stabilities == list(stability.measure_stability(values, [5, 20], trials=50, seed=7))


def test_blocks_change_nothing(monkeypatch):
    values = random_values()
    whole = list(stability.measure_stability(values, [10], trials=30))
    monkeypatch.setattr(stability, "DRAWN", 40 * 7)
    assert [row.queries for row in stability.measure_stability(values, [10], trials=30)] == [10] * 3
    assert [row.tau for row in stability.measure_stability(values, [10], trials=30)] == (
        pytest.approx([row.tau for row in whole])
    )


def test_halves_share_no_query_unless_asked_to():
    rng = np.random.default_rng(1)
    first, second = stability.draw_halves(10, 5, 100, rng, overlap=False)
    assert all(not set(a) & set(b) for a, b in zip(first, second, strict=True))
    first, second = stability.draw_halves(10, 8, 100, rng, overlap=True)
    assert all(len(set(a)) == 8 for a in (*first, *second))


@pytest.mark.parametrize("seed", [5, 6, 7, 8])
def test_swaps_are_counted_as_they_are_defined(seed):
    values = random_values(measures=1, runs=3, queries=20, seed=seed)
    result = next(stability.measure_stability(values, [10], trials=200, seed=3))
    rng = np.random.default_rng([3, 10])
    halves = stability.draw_halves(20, 10, 200, rng, overlap=False)
    swaps = []
    for t in range(200):
        first, second = (np.round(values.table[0][:, rows[t]].mean(axis=1), 12) for rows in halves)
        for i in range(3):
            for j in range(i + 1, 3):
                swapped = (first[i] - first[j]) * (second[i] - second[j]) < 0
                swaps += [
                    (abs(first[i] - first[j]), swapped),
                    (abs(second[i] - second[j]), swapped),
                ]
    smallest = None
    for step in range(1000, -1, -1):
        above = [swapped for size, swapped in swaps if size >= step / 1000]
        if above and np.mean(above) > stability.MAX_SWAPS:
            break
        smallest = step / 1000 if above else None
    assert result.difference == smallest


def test_more_queries_are_more_stable_and_what_is_needed_is_found():
    values = random_values(measures=1, runs=4, queries=200)
    sizes = stability.default_sizes(200)
    assert sizes == list(range(10, 101, 10))
    rows = list(stability.measure_stability(values, sizes, trials=300))
    assert rows[-1].tau > rows[0].tau
    goal = (rows[0].tau + rows[-1].tau) / 2
    tau, difference = stability.find_needed(rows, goal, rows[5].difference)
    assert (tau.measure, tau.goal, tau.wanted, tau.largest) == ("m0", "tau", goal, 100)
    assert sizes[0] < tau.queries < sizes[-1]
    assert difference.goal == "difference"
    assert sizes[4] <= difference.queries <= sizes[5]
    assert stability.find_needed(rows, 1.1, 1e-9)[0].queries is None
    assert stability.find_needed(rows, -1.0, 1.0)[0].queries == 10


def test_between_two_sizes_the_number_of_queries_is_interpolated():
    rows = [
        stability.Stability("m", size, tau, 0.0, difference)
        for size, tau, difference in [(10, 0.5, None), (20, 0.8, 0.06), (30, 1.0, 0.02)]
    ]
    tau, difference = stability.find_needed(rows, 0.9, 0.05)
    errors = [20**-0.5 + share * (30**-0.5 - 20**-0.5) for share in (1 / 2, 1 / 4)]
    assert [tau.queries, difference.queries] == [np.ceil(e**-2) for e in errors] == [25, 22]
    assert stability.find_needed(rows, 0.9, 0.07)[1].queries == 20  # smaller: none was seen


def test_what_is_needed_lies_where_more_sizes_find_it():
    values = random_values(measures=2, runs=5, queries=600, seed=5)
    coarse, fine = (
        stability.find_needed(
            list(stability.measure_stability(values, sizes, trials=2000)), difference=0.08
        )
        for sizes in ([20, 60, 180], range(60, 100, 8))
    )
    for rough, precise in zip(coarse[1::2], fine[1::2], strict=True):
        assert rough.queries == pytest.approx(precise.queries, rel=0.1)


def test_values_above_1_have_a_scale_of_their_own():
    values = random_values(measures=1, runs=5, queries=80)
    larger = values.__class__(values.measures, values.runs, values.queries, values.table * 64)
    (plain,), (scaled,) = (
        list(stability.measure_stability(each, [40], trials=200)) for each in (values, larger)
    )
    assert scaled.difference == pytest.approx(64 * plain.difference, abs=0.13)
    assert scaled.tau == plain.tau


def test_a_size_that_can_not_be_drawn_is_refused():
    with pytest.raises(UsageError, match="1 to 20"):
        next(stability.measure_stability(random_values(), [21]))
