"""Import the weights of a published XML or ReLoCLNet checkpoint.

python -m baselines.import_weights reloclnet best_model.pt --top 20 --seed 2024

Writes datasets/work/baselines/models/MODEL/topNN-seed.safetensors, which `baselines.predict`
reads. Sizes come from baselines/params.yaml: set them as they were in training. Only the
checkpoint's tensors are read; no code in it is run.
"""

import argparse
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING

from baselines.collection.release import SPLITS, read_release
from baselines.core import cli, paths
from baselines.core.params import load
from baselines.features.inputs import open_inputs
from baselines.models.published import CheckpointError, convert

if TYPE_CHECKING:
    from torch import Tensor


def read_published(path: Path) -> dict[str, "Tensor"]:
    """Return the tensors of a published checkpoint.

    Raises:
        CheckpointError: the file is not a checkpoint, or contains more than tensors and settings.
    """
    import torch  # noqa: PLC0415  (--help needs none)

    # Settings are stored next to the weights; their classes may be loaded, but are not used.
    allowed: list[Callable[..., object] | tuple[Callable[..., object], str]] = [
        (OrderedDict, "easydict.EasyDict"),
        (argparse.Namespace, "argparse.Namespace"),
    ]
    try:
        with torch.serialization.safe_globals(allowed):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as exc:
        raise CheckpointError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
    except (UnpicklingError, RuntimeError, EOFError) as exc:
        raise CheckpointError(f"{path}: not a checkpoint ({str(exc).splitlines()[0]})") from exc
    weights = content.get("model", content) if isinstance(content, dict) else None
    if not isinstance(weights, dict) or not all(
        isinstance(tensor, torch.Tensor) for tensor in weights.values()
    ):
        raise CheckpointError(f"{path}: has no weights under 'model'")
    return weights


def main(name: str, path: Path, top: int, seed: int) -> None:
    """Write the weights as a finished training run."""
    from baselines.models.registry import build  # noqa: PLC0415  (--help needs none)
    from baselines.training.checkpoint import save_finished  # noqa: PLC0415  (--help needs none)

    params = load()
    release = read_release(Path(params.train.release))
    queries = [query for split in SPLITS for query in release.read_queries(split)]
    model = build(name, open_inputs(params, queries).widths, params, params.train.mode)
    weights = convert(name, read_published(path), model.state_dict())
    model.load_state_dict(weights)
    target = paths.checkpoint(name, top, seed)
    save_finished(target, model, 0.0, f"imported:{path.name}")
    cli.log(f"{target}: {len(weights)} tensors of {path}")


if __name__ == "__main__":
    parser = cli.parser()
    parser.add_argument("model", choices=("reloclnet", "xml"))
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--top", type=int, required=True, help="N of its training set")
    parser.add_argument("--seed", type=int, required=True)
    arguments: argparse.Namespace = parser.parse_args()
    values = (arguments.model, arguments.checkpoint, arguments.top, arguments.seed)
    cli.run_command(lambda: main(*values))
