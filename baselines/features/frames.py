"""Frame features from a trained image model of torchvision, timm or open_clip.

    features.video: torchvision:resnet152, timm:vit_base_patch16_224, open_clip:ViT-B-32/openai

A row is the mean over a clip's frames. The libraries are imported on use; none is needed
otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from baselines.features.store import FeatureError, Rows
from baselines.features.video import Pictures, VideoExtractor, mean_clips

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""ImageNet's: for torchvision's models, and timm's that do not specify their own."""
PACKAGES = {"torchvision": "torchvision", "timm": "timm", "open_clip": "open-clip-torch"}
SIDE = 224
Encode = Callable[[Tensor], Tensor]
"""Maps pictures (N, 3, side, side) to features (N, width)."""
Loaded = tuple[Any, Encode, int, Sequence[float], Sequence[float]]
"""The model, its encoding function, its pictures' side, and their mean and deviation."""


def _torchvision(library: ModuleType, name: str) -> Loaded:
    model = library.models.get_model(name, weights="DEFAULT")
    head = next(
        (layer for layer in ("fc", "classifier", "heads", "head") if hasattr(model, layer)), None
    )
    if head is None:
        raise FeatureError(f"features.video: torchvision:{name} has no known head; use timm")
    setattr(model, head, nn.Identity())
    return model, model, SIDE, MEAN, DEVIATION


def _timm(library: ModuleType, name: str) -> Loaded:
    model = library.create_model(name, pretrained=True, num_classes=0)
    config = getattr(model, "pretrained_cfg", {})
    side = int(config.get("input_size", (3, SIDE, SIDE))[-1])
    return model, model, side, config.get("mean", MEAN), config.get("std", DEVIATION)


def _open_clip(library: ModuleType, name: str) -> Loaded:
    architecture, _, weights = name.partition("/")
    model = library.create_model(architecture, pretrained=weights or None)
    size = model.visual.image_size
    side = int(size if isinstance(size, int) else size[0])
    constants = import_module("open_clip.constants")
    mean, deviation = constants.OPENAI_DATASET_MEAN, constants.OPENAI_DATASET_STD
    return model, model.encode_image, side, mean, deviation


LOADERS = {"torchvision": _torchvision, "timm": _timm, "open_clip": _open_clip}


class FrameExtractor(VideoExtractor):
    """Features of videos from an image model.

    Args:
        pattern: where the videos are, with `{video_id}` for the name.
        clip_seconds: seconds that a row covers.
        model: LIBRARY:NAME.
        device: the device that the model runs on.

    Raises:
        FeatureError: the library is not installed, or lacks the model.
    """

    key = "features.video"
    """That names the model."""

    def __init__(self, pattern: str, clip_seconds: float, model: str, device: torch.device) -> None:
        super().__init__(pattern, clip_seconds)
        library, _, self.name = model.partition(":")
        if library not in LOADERS or not self.name:
            raise FeatureError(
                f"{self.key}: {model!r} must be builtin, a file of features (.h5), or"
                f" {', '.join(f'{one}:NAME' for one in LOADERS)}"
            )
        try:
            module = import_module(library)
        except ImportError as exc:
            command = f"pip install {PACKAGES[library]}"
            raise FeatureError(f"{self.key}: {model} needs {library}; type: {command}") from exc
        try:
            self.model, self._encode, side, *colours = LOADERS[library](module, self.name)
        except (ValueError, RuntimeError, KeyError, OSError) as exc:
            raise FeatureError(f"{self.key}: {model}: {str(exc).splitlines()[0]}") from exc
        self.model.to(device).eval()
        self._device, self.size = device, (side, side)
        self._mean, self._deviation = torch.tensor(colours, device=device)[..., None, None]

    def describe(self, frames: Pictures) -> Mapping[str, Rows]:
        """Return the encoded clips of frames."""
        pictures = torch.from_numpy(frames.copy()).to(self._device).permute(0, 3, 1, 2) / 255
        with torch.inference_mode():
            encoded = self._encode((pictures - self._mean) / self._deviation).float().flatten(1)
        return {"video": mean_clips(encoded.cpu().numpy())}
