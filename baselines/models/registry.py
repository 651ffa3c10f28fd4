"""All models by name."""

from collections.abc import Callable

from baselines.core.sections import Mode, Params
from baselines.features.inputs import Widths
from baselines.models.conquer import CONQUER
from baselines.models.reloclnet import ReLoCLNet
from baselines.models.spr import SPR
from baselines.models.two_stream import TwoStream
from baselines.models.xml import XML

Model = TwoStream | SPR | CONQUER
"""`search` says how a model finds moments."""


def build(name: str, widths: Widths, params: Params, mode: Mode) -> Model:
    """Return a model with new weights, drawn from torch's generator."""
    makers: dict[str, Callable[[], Model]] = {
        "reloclnet": lambda: ReLoCLNet(widths, params.reloclnet, mode),
        "xml": lambda: XML(widths, params.xml, mode),
        "spr": lambda: SPR(widths, params.spr, mode, params.features.clip_seconds),
        "conquer": lambda: CONQUER(widths, params.conquer),
    }
    return makers[name]()
