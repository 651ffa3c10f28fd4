"""Parameter names of the published XML and ReLoCLNet, and ours.

XML: github.com/jayleicn/TVRetrieval. ReLoCLNet: github.com/26hzhang/ReLoCLNet, and its adaptation
github.com/Ranking-VMR/TVR-Ranking. All three use the same names for what they share.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from momentrank.errors import MomentRankError

if TYPE_CHECKING:
    from torch import Tensor

RULES = {
    "^query_pos_embed": "query_positions",
    "^ctx_pos_embed": "row_positions",
    "^query_input_proj": "query_projection",
    "^modular_vector_mapping": "pooling.linear",
    "^merged_st_predictor": "spans.start",
    "^merged_ed_predictor": "spans.end",
    "^video_": "streams.0.",
    "^sub_": "streams.1.",
    r"\.input_proj\.": ".projection.",
    r"\.encoder1\.": ".encoder.",
    r"\.encoder2\.": ".later.0.",
    r"\.encoder3\.": ".later.1.",
    r"\.cross_att\.": ".cross.",
    r"\.cross_layernorm\.": ".cross_norm.",
    r"\.query_linear\.": ".query.",
    r"\.self\.": ".attention.",
    r"\.output\.dense\.": ".linear.",
    r"(\.output)?\.LayerNorm\.": ".norm.",
    r"\.net\.1\.": ".linear.",
    r"\.position_embeddings\.": ".embedding.",
}
"""Parts of names as patterns, in the order in which they are replaced."""
RULES_OF = {
    "xml": RULES,
    "reloclnet": RULES
    | {r"^query_encoder\.": "query_encoders.0.", r"^query_encoder1\.": "query_encoders.1."},
}


class CheckpointError(MomentRankError):
    """A checkpoint that does not fit the model."""


def rename(model: str, published: str) -> str:
    """Return our name of a published parameter."""
    for pattern, ours in RULES_OF[model].items():
        published = re.sub(pattern, ours, published)
    return published


def convert(
    model: str, published: Mapping[str, "Tensor"], ours: Mapping[str, "Tensor"]
) -> dict[str, "Tensor"]:
    """Return published weights under our names, checked against the model's own.

    Raises:
        CheckpointError: a parameter is unknown, missing or of another shape.
    """
    named = {}
    for name, tensor in published.items():
        if (own := rename(model, name)) not in ours:
            raise CheckpointError(f"the checkpoint has {name!r}, which {model} does not have")
        named[own] = tensor
    if missing := sorted(set(ours) - set(named)):
        raise CheckpointError(f"the checkpoint lacks what {model} calls {missing[0]!r}")
    for name, tensor in named.items():
        if tensor.shape != ours[name].shape:
            raise CheckpointError(
                f"{name!r} is {tuple(tensor.shape)} in the checkpoint, {tuple(ours[name].shape)}"
                " in the settings; set the sizes that it was trained with"
            )
    return named
