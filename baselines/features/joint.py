"""Frames and queries in one space, without training: an open_clip model, or colours' names.

`builtin` needs no image model, for trying things out: a frame is the mean of its pixels' colour
names, the eleven basic ones (Berlin and Kay, 1969), as the packaged MiniLM embeds them.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module

import numpy as np
import torch

from baselines.features.frames import FrameExtractor
from baselines.features.store import Rows
from baselines.features.tokens import TokenExtractor
from baselines.features.video import Pictures, VideoExtractor, mean_clips

COLOURS = {
    "black": (0, 0, 0),
    "white": (255, 255, 255),
    "grey": (128, 128, 128),
    "red": (220, 30, 30),
    "green": (40, 150, 60),
    "blue": (40, 90, 200),
    "yellow": (250, 225, 60),
    "orange": (250, 145, 30),
    "brown": (125, 80, 45),
    "pink": (250, 170, 190),
    "purple": (130, 50, 150),
}


class ClipSpace(FrameExtractor):
    """Frames and texts as an open_clip model embeds them."""

    key = "zero_shot.model"

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return the vector of each text, (N, D)."""
        tokenize = import_module("open_clip").get_tokenizer(self.name.partition("/")[0])
        with torch.inference_mode():
            vectors = [self.model.encode_text(tokenize([t]).to(self._device)) for t in texts]
        return np.concatenate([vector.float().cpu().numpy() for vector in vectors])


class ColourSpace(VideoExtractor):
    """Frames as the names of their colours, `builtin`; its arguments are `FrameExtractor`'s."""

    def __init__(self, pattern: str, clip_seconds: float, _: str, device: torch.device) -> None:
        super().__init__(pattern, clip_seconds)
        self._device = device

    @cached_property
    def _vectors(self) -> Rows:
        return self.embed([*COLOURS])

    def describe(self, frames: Pictures) -> Mapping[str, Rows]:
        """Return what the colours' names are, (clips, D)."""
        return {"video": mean_clips(name_colours(frames)) @ self._vectors}

    def embed(self, texts: Sequence[str]) -> Rows:
        """Return the mean of each text's token states, (N, D)."""
        numbered = {str(number): text for number, text in enumerate(texts)}
        extract = TokenExtractor("builtin", numbered, 256, self._device)
        return np.stack(
            [rows["queries"].mean(axis=0) for n in numbered for _, rows in extract([n])]
        )


def name_colours(frames: Pictures) -> Rows:
    """Return how much of each frame is nearest to each of `COLOURS`, (frames, 11)."""
    pixels = frames.reshape(len(frames), -1, 1, 3).astype(np.int64)
    nearest = ((pixels - np.array([*COLOURS.values()])) ** 2).sum(axis=-1).argmin(axis=-1)
    shares: Rows = (nearest[..., None] == np.arange(len(COLOURS))).mean(axis=1, dtype=np.float32)
    return shares
