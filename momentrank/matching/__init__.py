"""Relevance models: what makes a result relevant.

All three papers keep the measures and adapt the relevance of a result. So a model turns an aligned
run into `Relevance`, and a measure turns that into numbers. One module per model:

* `iou`: greedy one-to-one matches at an IoU threshold (TVR-Ranking)
* `maxiou`: the highest IoU with any relevant segment (AxIoU)
* `overlap`, `bins`, `tolerance`: the three of Aly et al. (2013)
"""

from collections.abc import Callable

from momentrank.matching import bins, iou, maxiou, overlap, tolerance
from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.segments import Bools

Model = tuple[Callable[[AlignedRun, Params], Bools], Callable[[AlignedRun, Params], Relevance]]
"""Which results are judged, and the relevance of all results."""

MODELS: dict[str, Model] = {
    "iou": (iou.mask_judged, iou.relevance),
    "maxiou": (maxiou.mask_judged, maxiou.relevance),
    "overlap": (overlap.mask_judged, overlap.relevance),
    "bin": (bins.mask_judged, bins.relevance),
    "tol": (tolerance.mask_judged, tolerance.relevance),
}

READ = {
    "": (),
    "iou": ("iou", "strict"),
    "maxiou": ("iou", "strict"),
    "overlap": ("once",),
    "bin": ("bin",),
    "tol": ("tol", "seen"),
}
"""The parameters that a model reads, beside `rel` and `judged_only`."""


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results by the model `params["match"]` and its parameters.

    Without a model nothing is relevant. With `judged_only` unjudged results are removed first
    (condensed lists: Sakai, SIGIR 2007).
    """
    if not params["match"]:
        return aligned.unrated
    mask_judged, relevance_of = MODELS[params["match"]]
    if params["judged_only"]:
        aligned = aligned.select(mask_judged(aligned, params))
    return relevance_of(aligned, params)
