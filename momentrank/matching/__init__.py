"""Relevance models: what makes a result relevant (DESIGN.md, section 5).

All three papers say the same: adapt the relevance of a result, keep the measure. So a model
turns lists into one `Relevance`, and a measure turns that into a number; neither knows the
other. One module per model:

* `iou`: greedy one-to-one matches at an IoU threshold (TVR-Ranking)
* `maxiou`: the highest IoU with any relevant segment (AxIoU)
* `overlap`, `bins`, `tolerance`: the three of Aly et al. (2013)
"""

from collections.abc import Callable, Mapping
from typing import Any

from momentrank.matching import bins, iou, maxiou, overlap, tolerance
from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools

Params = Mapping[str, Any]
Model = tuple[Callable[[Lists, Params], Bools], Callable[[Lists, Params], Relevance]]
"""Which results are judged, and the relevance of all."""

MODELS: dict[str, Model] = {
    "iou": (iou.judged, iou.relevance),
    "maxiou": (maxiou.judged, maxiou.relevance),
    "overlap": (overlap.judged, overlap.relevance),
    "bin": (bins.judged, bins.relevance),
    "tol": (tolerance.judged, tolerance.relevance),
}


def relevance(lists: Lists, params: Params) -> Relevance:
    """Return the relevance of results by the model `params["match"]` and its parameters.

    With `judged_only` the unjudged results are dropped first, and those after them move up
    (condensed lists: Sakai, SIGIR 2007).
    """
    judged, relevance_of = MODELS[params["match"]]
    if params["judged_only"]:
        lists = lists.take(judged(lists, params))
    return relevance_of(lists, params)
