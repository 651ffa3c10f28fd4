"""Bounds and expected values of unjudged results, against all assignments of levels."""

from itertools import islice

import numpy as np
import scorer
from oracle import BOUNDED, SETTINGS, assignable, cases, score_unjudged
from oracle import MODELS as MATCHES

from momentrank import Evaluator
from momentrank.segments import build_qrels, build_run

MOST = 400
"""Assignments of a query that the oracle tries."""
POSSIBLE = [
    (name, params, convention)
    for name, params, convention in SETTINGS
    if name in BOUNDED and convention != "sh-eval" and "judged_only" not in params
]


def small_cases(seed):
    """Yield a case, a setting and the highest level, of few enough assignments."""
    rng = np.random.default_rng(seed)
    for case in cases(seed):
        name, params, convention = POSSIBLE[rng.integers(len(POSSIBLE))]
        levels = [segment.level for rows in case.qrels.values() for segment in rows]
        top = max([params.get("rel", 1), *levels])
        match = "video" if name == "VR" else params.get("match", MATCHES[name][0])
        own = params | ({"iou": 0.9} if isinstance(params.get("iou"), str) else {})
        run = {query: rows[: rng.integers(1, 9)] for query, rows in case.run.items()}
        most = max(
            (
                len(assignable(match, own, case.qrels[query], run.get(query, [])))
                for query in case.qrels
            ),
            default=0,
        )
        if (top + 1) ** most <= MOST and most:
            yield name, params, convention, case.qrels, run, top


def ours(name, params, convention, qrels, run, unjudged):
    measure = scorer.measure_of(name, params)
    judged = scorer.segments(qrels, build_qrels, value=True)
    results = {"": scorer.segments(run, build_run, value=False)}
    metrics = Evaluator([measure], judged, convention).iter_calc(results, unjudged)
    return {metric.query_id: metric.value for metric in metrics}


def apart(found, expected):
    assert found.keys() == expected.keys()
    return max((abs(found[query] - value) for query, value in expected.items()), default=0.0)


def test_bounds_are_the_highest_of_all_assignments():
    for *case, _ in islice(small_cases(35), 600):
        name, params, convention, qrels, run = case
        expected = score_unjudged(name, params, qrels, run, convention)
        assert apart(ours(*case, "bounds"), expected) < 1e-9, case
