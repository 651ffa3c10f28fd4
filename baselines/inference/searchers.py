"""The searcher that a model needs."""

from baselines.core.sections import Predict
from baselines.features.inputs import Inputs
from baselines.inference.first_stage import FirstStage
from baselines.inference.reranking import Reranker
from baselines.inference.search import Searcher
from baselines.inference.segments import SegmentSearcher
from baselines.models.conquer import CONQUER
from baselines.models.registry import Model
from baselines.models.spr import SPR


def open_searcher(
    model: Model, inputs: Inputs, own: Predict, first_stage: FirstStage | None = None
) -> Searcher | SegmentSearcher | Reranker:
    """Encode the corpus of a release for search with a model.

    Raises:
        TypeError: the model re-ranks, and there is no first stage.
    """
    if isinstance(model, CONQUER):
        if first_stage is None:
            raise TypeError("CONQUER needs a first stage")
        return Reranker(model, inputs, own, first_stage)
    if isinstance(model, SPR):
        return SegmentSearcher(model, inputs, own)
    return Searcher(model, inputs, own)
