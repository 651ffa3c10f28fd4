"""Every measure and relevance model against the definitions of `oracle.py`."""

import random
from collections import defaultdict

import oracle
import pytest

from momentrank import calc_aggregate, evaluator
from momentrank.measures import REGISTRY
from momentrank.segments import judged, ranked

PLAIN = {"NumQ", "NumRet", "VideosRet", "VideosRel", "LengthRet", "LengthRel"}
NOT_CONDENSED = {"Judged", "NumRelRet"}
SETTINGS = [
    (name, params, convention)
    for name, params, convention in oracle.SETTINGS
    if not (name in NOT_CONDENSED and params.get("judged_only"))
]


def measure_of(name, params):
    kept = {key: value for key, value in params.items() if name not in PLAIN or key != "match"}
    return type(REGISTRY[name])(**kept)


def segments(collection, make, value):
    rows = [(query, *segment) for query, listed in collection.items() for segment in listed]
    columns = [[row[at] for row in rows] for at in range(4)]
    values = [row[4] if value else 0.0 for row in rows]
    return make(*columns, values, queries=list(collection))


def joined(cases):
    """Return many cases as one: queries know nothing of each other."""
    qrels = {
        f"{n}/{query}": listed for n, c in enumerate(cases) for query, listed in c.qrels.items()
    }
    run = {f"{n}/{query}": listed for n, c in enumerate(cases) for query, listed in c.run.items()}
    return qrels, run


def scores(name, params, convention, qrels, run):
    measure = measure_of(name, params)
    found = evaluator([measure], segments(qrels, judged, value=True), convention).iter_calc(
        segments(run, ranked, value=False)
    )
    return {metric.query_id: metric.value for metric in found}


def compare(count, seed):
    rng = random.Random(seed)
    by_setting = defaultdict(list)
    for n in range(count):
        number = rng.randrange(len(SETTINGS))
        whole = SETTINGS[number][2] == "sh-eval"
        by_setting[number].append(oracle.case(f"{seed}-{n}", integer=whole))
    for number, cases in by_setting.items():
        name, params, convention = SETTINGS[number]
        qrels, run = joined(cases)
        expected = oracle.score(name, params, qrels, run, convention)
        ours = scores(name, params, convention, qrels, run)
        assert ours.keys() == expected.keys(), SETTINGS[number]
        for query, value in expected.items():
            assert ours[query] == pytest.approx(value, abs=1e-12), (SETTINGS[number], query, cases)


def test_every_setting_on_random_cases():
    compare(8_000, 7)


@pytest.mark.slow
def test_every_setting_on_100_000_random_cases():
    compare(100_000, 11)


@pytest.mark.parametrize("seed", range(200))
def test_over_all_queries_as_each_convention_counts(seed):
    rng = random.Random(seed)
    name, params, convention = rng.choice(SETTINGS)
    made = oracle.case(seed, integer=convention == "sh-eval")
    measure = measure_of(name, params)
    qrels, run = segments(made.qrels, judged, value=True), segments(made.run, ranked, value=False)
    ours = calc_aggregate([measure], qrels, run, convention)[measure]
    expected = oracle.mean(name, params, made.qrels, made.run, convention)
    assert ours == pytest.approx(expected, abs=1e-12)
