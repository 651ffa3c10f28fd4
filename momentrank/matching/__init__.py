"""Relevance models: what makes a result relevant.

All three papers keep the measures and adapt the relevance of a result. So a model turns an aligned
run into `Relevance`, and a measure turns that into numbers. One module per model:

* `iou`: greedy one-to-one matches at an IoU threshold (TVR-Ranking)
* `maxiou`: the highest IoU with any relevant segment (AxIoU)
* `overlap`, `bins`, `tolerance`: the three of Aly et al. (2013)
"""

from collections.abc import Callable

from momentrank.matching import aly, iou
from momentrank.matching.aligned import AlignedRun, Params, Relevance, ranks

MODELS: dict[str, Callable[[AlignedRun, Params], Relevance]] = {
    "iou": iou.rate_matches,
    "maxiou": iou.rate_highest,
    "overlap": aly.rate_overlap,
    "bin": aly.rate_bins,
    "tol": aly.rate_tolerance,
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

    Without a model nothing is relevant. With `judged_only` unjudged results are removed
    (condensed lists: Sakai, SIGIR 2007).
    """
    if not params["match"]:
        return aligned.unrated
    found = MODELS[params["match"]](aligned, params)
    if not params["judged_only"]:
        return found
    if params["match"] == "tol":  # only there an unjudged result has an effect on others
        return aly.rate_tolerance(aligned.select(found.judged), params)
    judged = Relevance._make([*(column[found.judged] for column in found[:-1]), found.total])
    return judged._replace(rank=ranks(judged.query))
