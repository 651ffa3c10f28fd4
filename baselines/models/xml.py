"""XML: cross-modal moment localization (Lei et al., ECCV 2020).

One encoder of the query, and one after the attention to the other stream. Videos are retrieved by
the rows before that attention, spans are found in the rows after it.

See `baselines.models.two_stream`.
"""

from collections.abc import Sequence

from baselines.models.batch import Context
from baselines.models.two_stream import Layer, TwoStream


class XML(TwoStream):
    """The model; its settings are `sections.XML`."""

    query_encoder_count, later_encoder_count = 1, 1

    def select_context(self, layers: Sequence[Layer]) -> Context:
        """Return what inference keeps of videos."""
        return Context(retrieval=layers[0], spans=layers[1])
