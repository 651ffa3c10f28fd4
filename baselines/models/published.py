"""Parameter names of the published XML and ReLoCLNet, and ours.

XML: github.com/jayleicn/TVRetrieval. ReLoCLNet: github.com/26hzhang/ReLoCLNet, and its adaptation
github.com/Ranking-VMR/TVR-Ranking. All three use the same names for what they share.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from momentrank.errors import MomentRankError

if TYPE_CHECKING:
    from torch import Tensor

STREAMS = {"video": "streams.0", "sub": "streams.1"}
ENCODER = {
    r"self\.(query|key|value)": r"attention.\1",
    r"output\.dense": "linear",
    r"output\.LayerNorm": "norm",
}
PROJECTION = {r"LayerNorm": "norm", r"net\.1": "linear"}
POSITIONS = {r"position_embeddings": "embedding", r"LayerNorm": "norm"}


class CheckpointError(MomentRankError):
    """A checkpoint that does not fit the model."""


def _rules(model: str) -> Iterable[tuple[str, str]]:
    """Yield (published name as a pattern, ours), both without `.weight` and `.bias`."""

    def nested(published: str, ours: str, inner: Mapping[str, str]) -> Iterable[tuple[str, str]]:
        return ((rf"{published}\.{name}", f"{ours}.{our_name}") for name, our_name in inner.items())

    queries = {"query_encoder": "query_encoder"}
    encoders = {"encoder1": "encoder", "encoder2": "later.0"}
    if model == "reloclnet":
        queries = {"query_encoder": "query_encoders.0", "query_encoder1": "query_encoders.1"}
        encoders["encoder3"] = "later.1"
    yield from nested("query_pos_embed", "query_positions", POSITIONS)
    yield from nested("ctx_pos_embed", "row_positions", POSITIONS)
    yield from nested("query_input_proj", "query_projection", PROJECTION)
    for published, ours in queries.items():
        yield from nested(published, ours, ENCODER)
    yield "modular_vector_mapping", "pooling.linear"
    yield "merged_st_predictor", "spans.start"
    yield "merged_ed_predictor", "spans.end"
    for stream, prefix in STREAMS.items():
        yield from nested(f"{stream}_input_proj", f"{prefix}.projection", PROJECTION)
        for published, ours in encoders.items():
            yield from nested(f"{stream}_{published}", f"{prefix}.{ours}", ENCODER)
        yield rf"{stream}_cross_att\.(query|key|value)", rf"{prefix}.cross.\1"
        yield f"{stream}_cross_layernorm", f"{prefix}.cross_norm"
        yield f"{stream}_query_linear", f"{prefix}.query"


def rename(model: str, published: Iterable[str]) -> dict[str, str]:
    """Return our name of each published parameter.

    Raises:
        CheckpointError: the model has no such parameter.
    """
    rules = [
        (re.compile(rf"{pattern}\.(weight|bias)"), our_name) for pattern, our_name in _rules(model)
    ]
    names = {}
    for name in published:
        match = next(
            (hit for rule, our_name in rules if (hit := _apply(rule, our_name, name))), None
        )
        if match is None:
            raise CheckpointError(f"the checkpoint has {name!r}, which {model} does not have")
        names[name] = match
    return names


def _apply(rule: re.Pattern[str], our_name: str, name: str) -> str | None:
    """Return our name if the rule matches the published one."""
    match = rule.fullmatch(name)
    return f"{match.expand(our_name)}.{name.rpartition('.')[2]}" if match else None


def convert(
    model: str, published: Mapping[str, "Tensor"], ours: Mapping[str, "Tensor"]
) -> dict[str, "Tensor"]:
    """Return published weights under our names, checked against the model's own.

    Raises:
        CheckpointError: a parameter is unknown, missing or of another shape.
    """
    named = {our_name: published[name] for name, our_name in rename(model, published).items()}
    if missing := sorted(set(ours) - set(named)):
        raise CheckpointError(f"the checkpoint lacks what {model} calls {missing[0]!r}")
    for name, tensor in named.items():
        if tensor.shape != ours[name].shape:
            raise CheckpointError(
                f"{name!r} is {tuple(tensor.shape)} in the checkpoint, {tuple(ours[name].shape)}"
                " in the settings; set the sizes that it was trained with"
            )
    return named
