"""The scorer on the oracle's cases: what both are asked in the same words."""

import numpy as np
import oracle

from momentrank import Evaluator
from momentrank.measures import REGISTRY
from momentrank.segments import build_qrels, build_run

PLAIN = {"NumQ", "NumRet", "VideosRet", "VideosRel", "LengthRet", "LengthRel"}


def measure_of(name, params):
    own_params = {
        key: value for key, value in params.items() if name not in PLAIN or key != "match"
    }
    return type(REGISTRY[name])(**own_params)


def segments(collection, make, value):
    rows = [(query, *segment) for query, listed in collection.items() for segment in listed]
    columns = [[row[at] for row in rows] for at in range(4)]
    values = [row[4] if value else 0.0 for row in rows]
    return make(*columns, values, queries=list(collection))


def scores(name, params, convention, qrels, run, unjudged=None):
    measure = measure_of(name, params)
    evaluator = Evaluator([measure], segments(qrels, build_qrels, value=True), convention)
    metrics = evaluator.iter_calc({"": segments(run, build_run, value=False)}, unjudged)
    return {metric.query_id: metric.value for metric in metrics}


MOST = 400
"""Assignments of a query that the oracle tries."""
UNJUDGED = [
    setting
    for setting in oracle.SETTINGS
    if setting[0] in oracle.BOUNDED and setting[2] != "sh-eval" and "judged_only" not in setting[1]
]
"""Measures, parameters and conventions that have bounds."""


def unjudged_cases(seed):
    """Yield measures with cases in which something, but not too much, is unjudged."""
    rng = np.random.default_rng(seed)
    for case in oracle.cases(seed):
        name, params, convention = UNJUDGED[rng.integers(len(UNJUDGED))]
        run = {query: rows[: rng.integers(1, 9)] for query, rows in case.run.items()}
        top = max([params.get("rel", 1), *(s.level for rows in case.qrels.values() for s in rows)])
        match = "video" if name == "VR" else params.get("match", oracle.MODELS[name][0])
        highest = params | ({"iou": 0.95} if isinstance(params.get("iou"), str) else {})
        unjudged = (
            len(oracle.assignable(match, highest, judged, run.get(query, [])))
            for query, judged in case.qrels.items()
        )
        if 1 < (top + 1) ** max(unjudged) <= MOST:
            yield name, params, convention, case.qrels, run


def largest_difference(found, expected):
    assert found.keys() == expected.keys()
    return max((abs(found[query] - value) for query, value in expected.items()), default=0.0)
