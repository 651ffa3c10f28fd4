"""Import the weights of a published XML or ReLoCLNet checkpoint.

    python -m baselines.import_weights reloclnet best_model.pt --top 20 --seed 2024

Writes datasets/work/baselines/models/MODEL/topNN-seed.safetensors, which `baselines.predict`
reads. Reads the checkpoints of TVRetrieval and ReLoCLNet (`model`), and TVR-Ranking's
(`model_state_dict`). Sizes come from baselines/params.yaml: set them as they were in training.
Of the checkpoint, only tensors and settings are read; no code that it names is loaded or run.
"""

import argparse
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from baselines.collection.release import SPLITS, read_release
from baselines.core import cli, paths
from baselines.core.params import load
from baselines.core.sections import Params
from baselines.features.inputs import open_inputs
from baselines.models.published import CheckpointError, convert

if TYPE_CHECKING:
    from torch import Tensor

KEYS = ("model_state_dict", "model")
"""Where weights are: TVR-Ranking's key, and that of TVRetrieval and ReLoCLNet."""


class Ignored:
    """Stands for each class that a checkpoint names, such as an optimizer's schedule."""

    def __init__(self, *_: object) -> None:
        """Ignore the arguments."""

    def __setstate__(self, _: object) -> None:
        """Ignore the state."""


def read_published(path: Path) -> tuple[dict[str, "Tensor"], dict[str, Any]]:
    """Return the tensors of a published checkpoint, and the settings of their training.

    Raises:
        CheckpointError: the file is not a checkpoint, or has no weights.
    """
    import torch  # noqa: PLC0415  (--help needs none)

    serialization = torch.serialization
    try:
        with serialization.safe_globals([argparse.Namespace, (OrderedDict, "easydict.EasyDict")]):
            names: list[str] = []
            with suppress(ValueError):  # the format before torch 1.6, whose names can't be listed
                names = serialization.get_unsafe_globals_in_checkpoint(path)
            with serialization.safe_globals([(Ignored, name) for name in names]):
                content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as exc:
        raise CheckpointError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
    except (UnpicklingError, RuntimeError, EOFError) as exc:
        what = "not a checkpoint, or code in it would run: then save its weights alone"
        raise CheckpointError(f"{path}: {what} ({str(exc).splitlines()[0]})") from exc
    content = content if isinstance(content, dict) else {}
    weights = next((content[key] for key in KEYS if key in content), content)
    if (
        not isinstance(weights, dict)
        or not weights
        or not all(isinstance(tensor, torch.Tensor) for tensor in weights.values())
    ):
        raise CheckpointError(f"{path}: has no weights under {' or '.join(map(repr, KEYS))}")
    settings = content.get("model_cfg")
    stored = dict(settings) if isinstance(settings, dict) else {}
    return weights, {**stored, **getattr(settings, "__dict__", {})}


def check_settings(path: Path, name: str, stored: dict[str, Any], params: Params) -> None:
    """Check what shapes of weights don't show: the number of heads, and what is normalized.

    Raises:
        CheckpointError: it was trained with other settings.
    """
    features, heads = params.features, getattr(params, name).heads
    ours = {
        f"{name}.heads": (heads, stored.get("n_heads")),
        "features.normalize_video": (features.normalize_video, stored.get("no_norm_vfeat")),
        "features.normalize_sub": (features.normalize_sub, stored.get("no_norm_tfeat")),
        "features.normalize_queries": (features.normalize_queries, stored.get("no_norm_tfeat")),
    }
    for key, (value, theirs) in ours.items():
        wanted = not theirs if isinstance(theirs, bool) else theirs
        if theirs is not None and wanted != value:
            raise CheckpointError(
                f"{path}: was trained with {str(wanted).lower()} for {key}, which is"
                f" {str(value).lower()}; set it in baselines/params.yaml"
            )


def main(name: str, path: Path, top: int, seed: int) -> None:
    """Write the weights as a finished training run."""
    from baselines.models.registry import build  # noqa: PLC0415  (--help needs none)
    from baselines.training.checkpoint import save_finished  # noqa: PLC0415  (--help needs none)

    params = load()
    release = read_release(Path(params.train.release))
    queries = [query for split in SPLITS for query in release.read_queries(split)]
    model = build(name, open_inputs(params, queries).widths, params, params.train.mode)
    published, stored = read_published(path)
    check_settings(path, name, stored, params)
    weights = convert(name, published, model.state_dict())
    model.load_state_dict(weights)
    target = paths.checkpoint(name, top, seed)
    save_finished(target, model, 0.0, f"imported:{path.name}")
    cli.log(f"{target}: {len(weights)} tensors of {path}")
    if params.train.mode == "as_paper":
        cli.log("train.mode is as_paper: rankings differ from those of the published code")


if __name__ == "__main__":
    parser = cli.parser()
    parser.add_argument("model", choices=("reloclnet", "xml"), help="the model that it is of")
    parser.add_argument("checkpoint", type=Path, metavar="CHECKPOINT", help="its file")
    parser.add_argument("--top", type=int, required=True, help="N of its training set, top N")
    parser.add_argument("--seed", type=int, required=True, help="the seed of its training")
    arguments: argparse.Namespace = parser.parse_args()
    values = (arguments.model, arguments.checkpoint, arguments.top, arguments.seed)
    cli.run_command(lambda: main(*values))
