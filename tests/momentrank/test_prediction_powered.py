"""Means by people and a machine: against loops, what changes nothing, and how often they cover."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.judged_collections import JUDGES, covers, draw, simulate, width

import momentrank as mr
from momentrank.paired_tests import t_quantile
from momentrank.prediction_powered import effective_number, estimate_mean

SEED = 7


def by_definition(judged, predicted, others, confidence=0.95):
    """Return the interval with the machine, by loops; None where people alone are as good."""
    n, whole = len(judged), [*predicted, *others]
    unseen = 1 - n / len(whole)
    residuals = []
    for i in range(n):
        ys = [y for j, y in enumerate(judged) if j != i]
        fs = [f for j, f in enumerate(predicted) if j != i]
        slope = 0.0
        if np.ptp(fs) > 0:
            slope = max(0.0, np.cov(ys, fs)[0, 1] / np.var(fs, ddof=1))
        residuals.append(judged[i] - slope * (predicted[i] - np.mean(whole)))
    spread = sum((residual - np.mean(residuals)) ** 2 for residual in residuals) / (n - 3)
    half = stats.t.ppf((1 + confidence) / 2, n - 3) * math.sqrt(unseen * spread / n)
    alone = stats.t.ppf((1 + confidence) / 2, n - 1) * math.sqrt(
        unseen * np.var(judged, ddof=1) / n
    )
    return (np.mean(residuals), half) if half < alone else None


def values(random, judged, others, tie=0.0):
    """Return values from 0 to 1, as a measure's, with a machine that sees something of them."""
    people = np.round(random.beta(0.8, 0.8, judged + others), 2)
    machine = np.where(random.random(len(people)) < tie, 0.5, people * 0.7 + 0.3 * random.random())
    machine = np.round(machine + random.normal(scale=0.2, size=len(people)), 2)
    return people[:judged], machine[:judged], machine[judged:]


shapes = st.tuples(st.integers(0, 10**6), st.integers(4, 30), st.integers(1, 60))


@settings(max_examples=60, deadline=None)
@given(shapes, st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.sampled_from([0.0, 1.0]))
def test_the_estimate_is_that_of_the_definition(shape, confidence, tie):
    seed, judged, others = shape
    parts = values(np.random.default_rng(seed), judged, others, tie)
    estimate = estimate_mean(*parts, confidence)
    expected = by_definition(*parts, confidence)
    if estimate.weight == 0:
        assert estimate.combined == estimate.people
        assert estimate.effective == judged
    if expected is None:
        assert estimate.weight == 0
    elif estimate.weight:
        value, half = expected
        assert estimate.combined == pytest.approx((value, value - half, value + half), abs=1e-9)
    assert estimate.people.value == pytest.approx(parts[0].mean())
    assert estimate.machine == pytest.approx(np.concatenate(parts[1:]).mean())


@settings(max_examples=40, deadline=None)
@given(shapes, st.floats(0.1, 10), st.floats(-3, 3))
def test_the_scale_of_the_machine_does_not_matter(shape, scale, shift):
    seed, judged, others = shape
    people, own, rest = values(np.random.default_rng(seed), judged, others)
    estimate = estimate_mean(people, own, rest)
    rescaled = estimate_mean(people, scale * own + shift, scale * rest + shift)
    assert rescaled.combined == pytest.approx(estimate.combined, nan_ok=True, abs=1e-9)
    assert rescaled.effective == pytest.approx(estimate.effective)


@settings(max_examples=40, deadline=None)
@given(shapes)
def test_it_is_never_wider_than_people_alone(shape):
    seed, judged, others = shape
    estimate = estimate_mean(*values(np.random.default_rng(seed), judged, others))
    if not math.isnan(estimate.people.low):
        assert width(estimate.combined) <= width(estimate.people)
        assert judged <= estimate.effective <= judged + others


@settings(max_examples=20, deadline=None)
@given(shapes)
def test_a_perfect_machine_leaves_no_doubt(shape):
    seed, judged, others = shape
    people = np.random.default_rng(seed).random(judged + others)
    estimate = estimate_mean(people[:judged], people[:judged], people[judged:])
    assert estimate.combined == pytest.approx((people.mean(),) * 3)
    assert estimate.effective == pytest.approx(judged + others)


@pytest.mark.parametrize("machine", ["constant", "contrary"])
def test_a_machine_that_is_of_no_use_changes_nothing(machine):
    people = np.random.default_rng(SEED).random(40)
    guesses = np.full(40, 3.0) if machine == "constant" else 1 - people
    estimate = estimate_mean(people[:20], guesses[:20], guesses[20:])
    mean, half = people[:20].mean(), t_quantile(0.95, 19) * people[:20].std(ddof=1)
    half *= math.sqrt((1 - 20 / 40) / 20)
    assert estimate.people == pytest.approx((mean, mean - half, mean + half))
    assert (estimate.combined, estimate.weight, estimate.effective) == (estimate.people, 0, 20)


def test_where_people_judged_all_there_is_no_doubt_and_without_spread_no_interval():
    people, nothing = np.array([0.2, 0.4, 0.9, 0.5]), np.array([])
    assert estimate_mean(people, people, nothing).combined == pytest.approx((0.5,) * 3)
    same = np.full(5, 0.3)
    assert estimate_mean(same, people[[0, 1, 2, 3, 1]], nothing).combined == (0.3, 0.3, 0.3)
    unknown = estimate_mean(same, people[[0, 1, 2, 3, 1]], people).combined
    assert unknown.value == 0.3
    assert math.isnan(unknown.low)
    assert math.isnan(unknown.high)


@pytest.mark.parametrize(("judged", "predicted"), [(3, 3), (5, 4)])
def test_too_few_values_are_refused(judged, predicted):
    with pytest.raises(mr.UsageError, match=f"at least 4 values.*not {judged} and {predicted}"):
        estimate_mean(np.ones(judged), np.ones(predicted), np.ones(9))


@pytest.mark.parametrize("degrees", [1, 2, 5, 28, 499])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_quantiles_of_student(degrees, confidence):
    assert t_quantile(confidence, degrees) == pytest.approx(
        stats.t.ppf((1 + confidence) / 2, degrees)
    )


def test_the_effective_number_is_that_of_the_same_interval():
    judged, population, ratio = 50, 400, 0.6
    effective = effective_number(judged, population, ratio)
    widths = [math.sqrt((1 - n / population) / n) for n in (judged, effective)]
    assert widths[1] == pytest.approx(ratio * widths[0])
    assert effective_number(500, 10**9, math.sqrt(0.5)) == pytest.approx(1000, rel=1e-5)


@pytest.fixture(scope="module")
def collection():
    """Return one collection of 120 queries, judged by people and by several judges."""
    return simulate(np.random.default_rng(SEED), 120)


@pytest.mark.parametrize("judge", JUDGES)
def test_the_interval_covers_the_mean_of_full_human_judgment(collection, judge):
    random = np.random.default_rng(SEED)
    rows = [draw(random, collection.people, collection.judges[judge], 40) for _ in range(800)]
    covered = np.mean([covers(row.estimate.combined, row.truth) for row in rows])
    assert 0.93 <= covered <= (1 if judge == "perfect" else 0.97)
    ratio = [width(row.estimate.combined) / width(row.estimate.people) for row in rows]
    assert max(ratio) <= 1
    wide = {"all at random": 0.99, "always 3": 1, "perfect": 0}
    if judge in wide:
        assert np.mean(ratio) == pytest.approx(wide[judge], abs=0.02)
    if judge == "as good as a person":
        assert np.mean(ratio) < 0.85
        assert np.mean([row.estimate.effective for row in rows]) > 48


def test_the_estimate_is_unbiased(collection):
    random = np.random.default_rng(SEED)
    judge = collection.judges["lenient by a level"]
    rows = [draw(random, collection.people, judge, 25) for _ in range(800)]
    errors = np.array([row.estimate.combined.value - row.truth for row in rows])
    assert abs(errors.mean()) < 0.004
    assert errors.std() < np.std([row.estimate.people.value - row.truth for row in rows])


# Runs


def qrels_of(levels, offset=0):
    return [(f"q{n + offset}", "v", 0.0, 10.0, int(level)) for n, level in enumerate(levels)]


RUN = [(f"q{n}", "v", 0.0, 5.0 + n % 5, 1.0) for n in range(12)]


def test_a_run_is_estimated_over_the_machines_queries():
    people = qrels_of([1, 0, 1, 1, 1, 0], offset=2)
    machine = qrels_of([1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0])
    table = mr.evaluate_with_machine(people, RUN, machine, ["AxIoU@1"])

    def values(qrels):
        """Return each query's value; the mean over those that count is the mean over all."""
        results = [row for row in RUN if row[0] in {query for query, *_ in qrels}]
        found = {m.query_id: m.value for m in mr.iter_calc("AxIoU@1", qrels, results)}
        mean, share = sum(found.values()) / len(found), len(found) / len(qrels)
        assert mean == pytest.approx(mr.evaluate(qrels, results, "AxIoU@1")["AxIoU@1"])
        return {q: mean + (found.get(q, mean) - mean) / share for q, *_ in qrels}

    ours, theirs = values(people), values(machine)
    sample = list(ours)
    expected = estimate_mean(
        np.array([ours[query] for query in sample]),
        np.array([theirs[query] for query in sample]),
        np.array([value for query, value in theirs.items() if query not in ours]),
    )
    assert table["AxIoU@1"] == table[mr.AxIoU @ 1]
    assert table["AxIoU@1"].as_json() == pytest.approx(expected.as_json(), nan_ok=True)
    assert table["AxIoU@1"].people.value == pytest.approx(sum(ours.values()) / 6)
    frame = table.to_frame()
    assert frame["measure"].tolist() == ["AxIoU@1"]
    assert frame["queries"].tolist() == [6]
    with pytest.raises(KeyError):
        table["AxIoU@2"]


@pytest.mark.parametrize(
    ("measures", "convention", "message"),
    [
        (["NumRel"], None, "NumRel is a sum"),
        (["AxIoU@1", "NullAcc"], None, "NullAcc counts silence.*without --machine"),
        (["nDCG(iou=0.3,silence=True)@5"], None, "silence=True.*counts silence"),
        ([], "qvhighlights", "the table of qvhighlights has no"),
        (["nDCG(iou=0.3)@5"], "spr", "spr counts a query by its levels.*use --convention paper"),
    ],
)
def test_what_is_no_mean_over_known_queries_is_refused(measures, convention, message):
    people, machine = qrels_of([1, 1, 0, 1]), qrels_of([1, 0, 1, 1, 1, 1])
    with pytest.raises(mr.UsageError, match=message):
        mr.evaluate_with_machine(people, RUN[:6], machine, measures, convention)


def test_a_query_that_the_machine_lacks_is_named():
    with pytest.raises(
        mr.UsageError, match=r"lacks 2 of 5 queries that people judged .q3, q4.: the"
    ):
        mr.evaluate_with_machine(qrels_of([1] * 5), RUN, qrels_of([1] * 3), ["AxIoU@1"])


def test_queries_are_known_by_their_numbers_too():
    from momentrank.ids import query_number

    machine = qrels_of([1, 0, 1, 1, 1, 1])
    people = qrels_of([1, 1, 0, 1])
    numbered = [(str(query_number(query)), *rest) for query, *rest in people]
    args = RUN[:6], machine, ["AxIoU@1"]
    assert mr.evaluate_with_machine(numbered, *args) == mr.evaluate_with_machine(people, *args)
