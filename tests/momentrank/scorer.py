"""The scorer on the oracle's cases: what both are asked in the same words."""

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


def scores(name, params, convention, qrels, run):
    measure = measure_of(name, params)
    evaluator = Evaluator([measure], segments(qrels, build_qrels, value=True), convention)
    metrics = evaluator.iter_calc({"": segments(run, build_run, value=False)})
    return {metric.query_id: metric.value for metric in metrics}
