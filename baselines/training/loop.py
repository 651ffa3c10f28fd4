"""The training loop: seeded, resumable to the same weights, stopped by the validation score.

A run can be killed at any moment and resumed: the order of an epoch depends only on its seed and
number, and a checkpoint stores weights, optimizer, random numbers and the position in the epoch. On
a CPU, with the same number of threads, the weights are then identical to the last bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.optim import AdamW

from baselines.core.cli import log, progress
from baselines.core.sections import Train
from baselines.models.batch import Batch
from baselines.models.registry import Model
from baselines.models.two_stream import TwoStream
from baselines.training.batches import BatchMaker
from baselines.training.checkpoint import Progress, Run
from momentrank.errors import MomentRankError

UNDECAYED = ("bias", "norm.weight", "norm.bias")


class TrainingError(MomentRankError):
    """A training run that can't continue."""


@dataclass(frozen=True)
class Setting:
    """What determines a run in addition to `params.train`."""

    name: str
    """For progress and errors."""
    path: Path
    """Of the checkpoint."""
    identity: str
    """Of all that determines the weights: settings, release, features."""
    seed: int
    hard_negatives: tuple[int, int] | None
    """From which epoch on, and from how many of the hardest; None: the batch has its own."""


class Trainer:
    """Trains a model until its validation score has not risen for `patience` validations."""

    def __init__(self, model: Model, batches: BatchMaker, params: Train, setting: Setting) -> None:
        self._model, self._batches = model, batches
        self._params, self._setting = params, setting
        self._steps = batches.steps(params.batch_size)
        optimizer = AdamW(
            _groups(model, params.weight_decay), lr=params.learning_rate, foreach=False
        )
        self._run = Run(setting.path, model, optimizer, setting.identity)

    def run(self, validate: Callable[[], float]) -> Progress:
        """Train to the end, or load a finished run; the model gets the best validation's weights.

        Raises:
            TrainingError: a loss is NaN or infinite.
        """
        run = self._run
        if run.restore() and not run.progress.finished:
            position = f"epoch {run.progress.epoch + 1}, batch {run.progress.step + 1}"
            log(f"{self._setting.name}: resumes at {position}")
        while not run.progress.finished:
            while not self._is_due():
                self._epoch()
            self._model.eval()
            self._judge(validate())
            run.save()
        self._model.load_state_dict(run.best)
        self._model.eval()
        return run.progress

    def _is_due(self) -> bool:
        """Return whether the model is to be validated: each `validate_every` epochs, at the end."""
        state, params = self._run.progress, self._params
        done, length = state.epoch * self._steps + state.step, self._steps * params.validate_every
        has_passed = done // length > (done - state.batches) // length
        return state.batches > 0 and (has_passed or state.epoch >= params.epochs)

    def _judge(self, score: float) -> None:
        """Note a validation score.

        The watched value is the mean of the last `smoothing` scores: a score over few queries is
        noisy, and a lucky early one would be the best.
        """
        state, params = self._run.progress, self._params
        losses = {name: value / state.batches for name, value in state.sums.items()}
        scores = [*(entry["validation"] for entry in state.history), score][-params.smoothing :]
        watched = sum(scores) / len(scores)
        epoch = state.epoch + (round(state.step / self._steps, 3) if state.step else 0)
        entry = {"epoch": epoch, **losses, "validation": score, "watched": watched}
        state.history.append(entry)
        state.waited += 1
        if watched > state.best:
            state.best, state.waited = watched, 0
            weights = self._model.state_dict().items()
            self._run.best = {name: tensor.detach().clone() for name, tensor in weights}
        state.batches, state.sums = 0, {}
        state.finished = state.epoch >= params.epochs or state.waited >= params.patience
        log(f"{self._setting.name}: epoch {epoch:g}, validation {score:.4f}")

    def _epoch(self) -> None:
        """Continue to the end of the epoch, or to the next validation."""
        state, params = self._run.progress, self._params
        if self._setting.hard_negatives is not None:
            first_hard, pool = self._setting.hard_negatives
            for part in self._model.modules():  # SPR's is its refiner
                if isinstance(part, TwoStream):
                    part.hard_pool = pool if state.epoch >= first_hard else None
        self._model.train()
        what = f"{self._setting.name}, epoch {state.epoch + 1}"
        batches = self._batches.epoch(
            self._setting.seed, state.epoch, params.batch_size, state.step
        )
        with progress(what, total=self._steps, unit="batches") as bar:
            bar.update(state.step)
            for batch in batches:
                self._step(batch)
                means = {name: value / state.batches for name, value in state.sums.items()}
                losses = {name: f"{value:.3f}" for name, value in means.items()}
                bar.set_postfix(losses, refresh=False)
                bar.update()
                if self._is_due():
                    break

    def _step(self, batch: Batch) -> None:
        run, state, params = self._run, self._run.progress, self._params
        device = next(self._model.parameters()).device
        step, steps = state.epoch * self._steps + state.step, params.epochs * self._steps
        rate = learning_rate(step, steps, params)
        for group in run.optimizer.param_groups:
            group["lr"] = rate
        with torch.autocast(device.type, torch.bfloat16, enabled=params.precision == "bf16"):
            losses = self._model(batch.to(device))
        loss = torch.stack(list(losses.values())).sum()
        if not bool(loss.isfinite()):
            raise TrainingError(
                f"{self._setting.name}: the loss is {loss.item()} in epoch {state.epoch + 1}, batch"
                f" {state.step + 1}; lower train.learning_rate"
            )
        run.optimizer.zero_grad()
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(self._model.parameters(), params.max_norm)
        run.optimizer.step()
        for name, value in losses.items():
            state.sums[name] = state.sums.get(name, 0.0) + float(value.detach())
        state.step, state.batches = state.step + 1, state.batches + 1
        if state.step == self._steps:
            state.epoch, state.step = state.epoch + 1, 0
        if state.step % params.save_every == 0:
            run.save()


def learning_rate(step: int, total: int, params: Train) -> float:
    """Return the rate of a step: a linear rise over the share `warmup`, then a fall to 0.

    As in the published code (`warmup_linear` of BertAdam).
    """
    done = step / total
    if done < params.warmup:
        return params.learning_rate * done / params.warmup
    return params.learning_rate * (1 - done) / (1 - params.warmup)


def _groups(model: nn.Module, decay: float) -> list[dict[str, object]]:
    """Return the parameters in two groups: biases and layer norms do not decay."""
    named = list(model.named_parameters())
    free = [tensor for name, tensor in named if name.endswith(UNDECAYED)]
    decayed = [tensor for name, tensor in named if not name.endswith(UNDECAYED)]
    return [{"params": decayed, "weight_decay": decay}, {"params": free, "weight_decay": 0.0}]
