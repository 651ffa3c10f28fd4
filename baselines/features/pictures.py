"""Small colour pictures and their motion: video features for trying things out, without a model.

A row per `clip_seconds`: `video` is the mean of the clip's frames, `sub` its last frame minus its
first, 24 x 16 RGB each. They distinguish drawn scenes; for real videos use a trained model.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from baselines.features.store import Rows
from baselines.features.video import FRAMES, Pictures, mean_clips, read_videos

SIZE = (24, 16)


def describe(frames: Pictures) -> dict[str, Rows]:
    """Return both streams of frames read at `FRAMES` per clip, (clips, 1152) each."""
    values = frames.reshape(len(frames), -1).astype(np.float32) / 255
    clips = [values[first : first + FRAMES] for first in range(0, len(values), FRAMES)]
    return {"video": mean_clips(values), "sub": np.stack([clip[-1] - clip[0] for clip in clips])}


class PictureExtractor:
    """Both streams of videos.

    Args:
        pattern: where the videos are, with `{video_id}` for the name.
        clip_seconds: seconds that a row covers.
    """

    def __init__(self, pattern: str, clip_seconds: float) -> None:
        self._pattern, self._rate = pattern, FRAMES / clip_seconds

    def __call__(self, names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Rows]]]:
        """Yield each video with its streams.

        Raises:
            FeatureError: a video is missing or can't be read.
        """
        kinds = ("video", "sub")
        for name, read in read_videos(self._pattern, names, self._rate, SIZE):
            chunks = [describe(chunk) for chunk in read]
            yield name, {kind: np.concatenate([chunk[kind] for chunk in chunks]) for kind in kinds}
