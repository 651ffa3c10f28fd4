"""Checkpoints of a training run: all that determines how it continues, in one safetensors file.

Nothing is unpickled. A checkpoint of other settings, another release or other features is not
resumed.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import AdamW

from baselines.core import files, paths
from baselines.core.devices import choose_device
from baselines.core.sections import Params
from baselines.features.inputs import Inputs
from baselines.models.registry import Model, build

STATES = ("exp_avg", "exp_avg_sq", "step")


@dataclass
class Progress:
    """Where a run is, and what it has seen."""

    epoch: int = 0
    step: int = 0
    """Batches of this epoch that are done."""
    batches: int = 0
    """Batches since the last validation."""
    sums: dict[str, float] = field(default_factory=dict)
    """Of their losses."""
    best: float = -1.0
    waited: int = 0
    """Validations since the best one."""
    history: list[dict[str, float]] = field(default_factory=list)
    """An entry for each validation: the losses before it, and its score."""
    finished: bool = False


@dataclass
class Run:
    """A training run: the content of a checkpoint."""

    path: Path
    model: nn.Module
    optimizer: AdamW
    identity: str
    """Of all that determines the weights: settings, release, features."""
    progress: Progress = field(default_factory=Progress)
    best: dict[str, Tensor] = field(default_factory=dict)
    """The weights with the best validation score."""

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for name, parameter in self.model.named_parameters():
            state = self.optimizer.state.get(parameter, {})
            tensors |= {f"{key}.{name}": state[key] for key in STATES if key in state}
        tensors["random"] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors["random.cuda"] = torch.cuda.get_rng_state()
        stored = {
            name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()
        }
        about = {"identity": self.identity, "progress": json.dumps(asdict(self.progress))}
        with files.unfinished(self.path) as unfinished_path:
            save_file(stored, unfinished_path, about)

    def restore(self) -> bool:
        """Restore weights, optimizer, random numbers and progress.

        False if there is no checkpoint of this identity: the run starts from scratch.
        """
        tensors, about = _read(self.path)
        if about.get("identity") != self.identity:
            return False
        self.model.load_state_dict(_select(tensors, "model."))
        for name, parameter in self.model.named_parameters():
            if f"exp_avg.{name}" in tensors:
                self.optimizer.state[parameter] = {
                    key: tensors[f"{key}.{name}"].to("cpu" if key == "step" else parameter.device)
                    for key in STATES
                }
        torch.set_rng_state(tensors["random"])
        if torch.cuda.is_available() and "random.cuda" in tensors:
            torch.cuda.set_rng_state(tensors["random.cuda"])
        self.progress = Progress(**json.loads(about["progress"]))
        self.best = _select(tensors, "best.")
        return True


def save_finished(path: Path, model: nn.Module, score: float, origin: str = "untrained") -> None:
    """Write a model's weights as a finished run's."""
    weights = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    progress = Progress(best=score, finished=True)
    Run(path, model, AdamW(model.parameters()), origin, progress, weights).save()


def read_best(path: Path) -> dict[str, Tensor]:
    """Return the best weights of a run.

    Raises:
        FileError: there is no checkpoint.
    """
    tensors, about = _read(path)
    if not about:
        raise files.FileError(f"{path}: no trained model; type: dvc repro baselines/dvc.yaml")
    return _select(tensors, "best.")


def load_model(params: Params, name: str, inputs: Inputs, top: int, seed: int) -> Model:
    """Return a model with the best weights of its training.

    Raises:
        FileError: it is not trained, or was trained with other sizes or features.
    """
    model = build(name, inputs.widths, params, params.train.mode)
    load_best(paths.checkpoint(name, top, seed), model)
    return model.to(choose_device(params.train.device)).eval()


def load_best(path: Path, model: nn.Module) -> None:
    """Load the best weights of a run into a model.

    Raises:
        FileError: there is no checkpoint, or it is of other settings or features.
    """
    weights = read_best(path)
    shapes = {name: tensor.shape for name, tensor in model.state_dict().items()}
    if {name: tensor.shape for name, tensor in weights.items()} != shapes:
        raise files.FileError(
            f"{path}: trained with other sizes, other features or an older version of the model;"
            " type: dvc repro baselines/dvc.yaml"
        )
    model.load_state_dict(weights)


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return tensors and metadata; both are empty if the file is missing or incomplete."""
    if not path.is_file():
        return {}, {}
    try:
        with safe_open(path, "pt") as file:
            names = file.keys()  # the file itself can't be iterated
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except SafetensorError:
        return {}, {}


def _select(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
