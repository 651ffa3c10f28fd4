"""Average precision; over segments, Aly et al. (2013), section 2."""

from typing import Any, ClassVar

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.measures.base import share, total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import DEPTH
from momentrank.segments import Floats


class AP(ByModel):
    """The sum of the precisions at relevant results over the number of relevant segments."""

    NAME = "AP"
    PARAMS: ClassVar = {"cutoff": DEPTH, **MODEL_PARAMS}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        hits = found.relevant.astype(np.float64)
        so_far = np.cumsum(hits)
        before = total(found, hits, lists.count).cumsum() - total(found, hits, lists.count)
        precision = (so_far - before[found.query]) / found.rank
        summed = total(found, precision * hits, lists.count, params["cutoff"])
        return share(summed, found.total.astype(np.float64))
