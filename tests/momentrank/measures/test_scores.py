"""Every measure and relevance model against the definitions of `oracle.py`."""

import random
from collections import defaultdict

import oracle
import pytest
from scorer import measure_of, scores, segments

from momentrank import Evaluator, conventions
from momentrank.segments import build_qrels, build_run

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # random ids need not meet

NOT_CONDENSED = {"Judged", "NumRelRet"}
SETTINGS = [
    (name, params, convention)
    for name, params, convention in oracle.SETTINGS
    if not (name in NOT_CONDENSED and params.get("judged_only"))
]


def join(cases):
    """Return many cases as one: queries know nothing of each other."""
    qrels = {
        f"{n}/{query}": listed for n, c in enumerate(cases) for query, listed in c.qrels.items()
    }
    run = {f"{n}/{query}": listed for n, c in enumerate(cases) for query, listed in c.run.items()}
    return qrels, run


def compare(count, seed):
    rng = random.Random(seed)
    by_setting = defaultdict(list)
    for n in range(count):
        number = rng.randrange(len(SETTINGS))
        whole = SETTINGS[number][2] == "sh-eval"
        by_setting[number].append(oracle.case(f"{seed}-{n}", integer=whole))
    for number, cases in by_setting.items():
        name, params, convention = SETTINGS[number]
        qrels, run = join(cases)
        expected = oracle.score(name, params, qrels, run, convention)
        ours = scores(name, params, convention, qrels, run)
        assert ours.keys() == expected.keys(), SETTINGS[number]
        for query, value in expected.items():
            assert abs(ours[query] - value) <= 1e-12, (SETTINGS[number], query, cases)


def test_every_setting_on_random_cases():
    compare(8_000, 7)


@pytest.mark.slow
def test_every_setting_on_100_000_random_cases():
    compare(100_000, 11)


@pytest.mark.parametrize("seed", range(200))
def test_over_all_queries_as_each_convention_counts(seed):
    rng = random.Random(seed)
    name, params, convention = rng.choice(SETTINGS)
    case = oracle.case(seed, integer=convention == "sh-eval")
    measure = measure_of(name, params)
    qrels, run = (
        segments(case.qrels, build_qrels, value=True),
        segments(case.run, build_run, value=False),
    )
    ours = Evaluator([measure], qrels, convention).calc_aggregate({"": run})[measure]
    expected = oracle.mean(name, params, case.qrels, case.run, convention)
    assert ours == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_the_table_of_sh_eval():
    for seed in range(300):
        case = oracle.case(seed, integer=True)
        qrels = segments(case.qrels, build_qrels, value=True)
        table = conventions.get("sh-eval").table(qrels, segments(case.run, build_run, value=False))
        assert table == pytest.approx(oracle.sh_table(case.qrels, case.run), abs=1e-12), seed
