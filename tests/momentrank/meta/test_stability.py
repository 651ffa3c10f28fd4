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
    one, two = rng.integers(0, levels, (2, 300, 7)).astype(float)
    for a, b, tau in zip(one, two, correlation.tau_b(one, two), strict=True):
        assert tau == pytest.approx(stats.kendalltau(a, b).statistic, nan_ok=True)


def test_tau_ap_is_its_definition():
    rng = np.random.default_rng(3)
    for _ in range(100):
        truth, other = rng.permuted(np.arange(6.0)), rng.permuted(np.arange(6.0))
        ranked = [truth[run] for run in np.argsort(-other)]
        shares = [sum(above > ranked[i] for above in ranked[:i]) / i for i in range(1, 6)]
        assert correlation.tau_ap(truth, other) == pytest.approx(2 * np.mean(shares) - 1)
    assert correlation.tau_ap(truth, truth) == 1
    assert correlation.tau_ap(truth, -truth) == -1


def test_stability_is_that_of_trials_one_by_one():
    values = random_values()
    found = list(stability.measure_stability(values, [5, 20], trials=50, seed=7))
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
    for one, tau in zip(found, taus, strict=False):
        assert one.tau == pytest.approx(np.mean(tau))
        assert one.variance == pytest.approx(np.var(tau))
    assert found == list(stability.measure_stability(values, [5, 20], trials=50, seed=7))


def test_blocks_change_nothing(monkeypatch):
    values = random_values()
    whole = list(stability.measure_stability(values, [10], trials=30))
    monkeypatch.setattr(stability, "DRAWN", 40 * 7)
    assert [one.queries for one in stability.measure_stability(values, [10], trials=30)] == [10] * 3
    assert [one.tau for one in stability.measure_stability(values, [10], trials=30)] == (
        pytest.approx([one.tau for one in whole])
    )


def test_halves_share_no_query_unless_asked_to():
    rng = np.random.default_rng(1)
    one, two = stability.draw_halves(10, 5, 100, rng, overlap=False)
    assert all(not set(a) & set(b) for a, b in zip(one, two, strict=True))
    one, two = stability.draw_halves(10, 8, 100, rng, overlap=True)
    assert all(len(set(a)) == 8 for a in (*one, *two))


@pytest.mark.parametrize("seed", [5, 6, 7, 8])
def test_swaps_are_counted_as_they_are_defined(seed):
    values = random_values(measures=1, runs=3, queries=20, seed=seed)
    found = next(stability.measure_stability(values, [10], trials=200, seed=3))
    rng = np.random.default_rng([3, 10])
    halves = stability.draw_halves(20, 10, 200, rng, overlap=False)
    seen = []
    for t in range(200):
        one, two = (np.round(values.table[0][:, rows[t]].mean(axis=1), 12) for rows in halves)
        for i in range(3):
            for j in range(i + 1, 3):
                swapped = (one[i] - one[j]) * (two[i] - two[j]) < 0
                seen += [(abs(one[i] - one[j]), swapped), (abs(two[i] - two[j]), swapped)]
    smallest = None
    for step in range(1000, -1, -1):
        above = [swapped for size, swapped in seen if size >= step / 1000]
        if above and np.mean(above) > stability.MAX_SWAPS:
            break
        smallest = step / 1000 if above else None
    assert found.difference == smallest


def test_more_queries_are_more_stable_and_what_is_needed_is_found():
    values = random_values(measures=1, runs=4, queries=200)
    sizes = stability.default_sizes(200)
    assert sizes == list(range(10, 101, 10))
    found = list(stability.measure_stability(values, sizes, trials=300))
    assert found[-1].tau > found[0].tau
    wanted = (found[0].tau + found[-1].tau) / 2
    tau, difference = stability.find_needed(found, wanted, found[5].difference)
    assert (tau.measure, tau.goal, tau.wanted, tau.largest) == ("m0", "tau", wanted, 100)
    assert sizes[0] < tau.queries < sizes[-1]
    assert difference.goal == "difference"
    assert sizes[4] <= difference.queries <= sizes[5]
    assert stability.find_needed(found, 1.1, 1e-9)[0].queries is None
    assert stability.find_needed(found, -1.0, 1.0)[0].queries == 10


def test_between_two_sizes_the_number_of_queries_is_interpolated():
    found = [
        stability.Stability("m", size, tau, 0.0, difference)
        for size, tau, difference in [(10, 0.5, None), (20, 0.8, 0.06), (30, 1.0, 0.02)]
    ]
    tau, difference = stability.find_needed(found, 0.9, 0.05)
    errors = [20**-0.5 + share * (30**-0.5 - 20**-0.5) for share in (1 / 2, 1 / 4)]
    assert [tau.queries, difference.queries] == [np.ceil(e**-2) for e in errors] == [25, 22]
    assert stability.find_needed(found, 0.9, 0.07)[1].queries == 20  # smaller: none was seen


def test_what_is_needed_lies_where_more_sizes_find_it():
    values = random_values(measures=2, runs=5, queries=600, seed=5)
    coarse, fine = (
        stability.find_needed(
            list(stability.measure_stability(values, sizes, trials=2000)), difference=0.08
        )
        for sizes in ([20, 60, 180], range(60, 100, 8))
    )
    for one, other in zip(coarse[1::2], fine[1::2], strict=True):
        assert one.queries == pytest.approx(other.queries, rel=0.1)


def test_values_above_1_have_a_scale_of_their_own():
    values = random_values(measures=1, runs=5, queries=80)
    larger = values.__class__(values.measures, values.runs, values.queries, values.table * 64)
    (one,), (other,) = (
        list(stability.measure_stability(each, [40], trials=200)) for each in (values, larger)
    )
    assert other.difference == pytest.approx(64 * one.difference, abs=0.13)
    assert other.tau == one.tau


def test_a_size_that_can_not_be_drawn_is_refused():
    with pytest.raises(UsageError, match="1 to 20"):
        next(stability.measure_stability(random_values(), [21]))
