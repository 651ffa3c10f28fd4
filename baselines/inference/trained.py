"""Trained models, loaded from checkpoints."""

from baselines.core import paths
from baselines.core.devices import choose_device
from baselines.core.sections import Params
from baselines.features.inputs import Inputs
from baselines.models.registry import Model, build
from baselines.training.checkpoint import load_best


def load_model(params: Params, name: str, inputs: Inputs, top: int, seed: int) -> Model:
    """Return a model with the best weights of its training.

    Raises:
        FileError: it is not trained, or was trained with other sizes or features.
    """
    model = build(name, inputs.widths, params, params.train.mode)
    load_best(paths.checkpoint(name, top, seed), model)
    return model.to(choose_device(params.train.device)).eval()
