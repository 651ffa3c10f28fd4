"""XML: cross-modal moment localization (Lei et al., ECCV 2020).

One encoder of the query, and one after the attention to the other stream. Videos are retrieved by
the rows before that attention, spans are found in the rows after it.

See `baselines.models.two_stream`.
"""

from baselines.models.two_stream import TwoStream


class XML(TwoStream):
    """The model; its settings are `sections.XML`."""

    query_encoder_count, later_encoder_count = 1, 1
    retrieval_layer, span_layer = 0, 1
