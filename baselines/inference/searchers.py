"""The searcher that a model needs."""

from baselines.core.sections import Predict
from baselines.features.inputs import Inputs
from baselines.inference.first_stage import FirstStage
from baselines.inference.reranking import Reranker
from baselines.inference.search import Searcher
from baselines.inference.segments import SegmentSearcher
from baselines.models.registry import Model


def open_searcher(
    model: Model, inputs: Inputs, settings: Predict, first_stage: FirstStage | None = None
) -> Searcher | SegmentSearcher | Reranker:
    """Encode the corpus of a release for search with a model.

    Raises:
        TypeError: the model re-ranks, and there is no first stage.
    """
    if model.search == "reranking":
        if first_stage is None:
            raise TypeError("CONQUER needs a first stage")
        return Reranker(model, inputs, settings, first_stage)
    if model.search == "segments":
        return SegmentSearcher(model, inputs, settings)
    return Searcher(model, inputs, settings)
