"""Small colour pictures and their motion: video features for trying things out, without a model.

A row per `clip_seconds`: `video` is the mean of the clip's frames, `sub` its last frame minus its
first, 24 x 16 RGB each. They distinguish drawn scenes; for real videos use a trained model.
"""

import numpy as np

from baselines.features.store import Rows
from baselines.features.video import FRAMES, Pictures, VideoExtractor, mean_clips


class PictureExtractor(VideoExtractor):
    """Both streams of videos."""

    def describe(self, frames: Pictures) -> dict[str, Rows]:
        """Return both streams, (clips, 1152) each."""
        values = frames.reshape(len(frames), -1).astype(np.float32) / 255
        clips = [values[first : first + FRAMES] for first in range(0, len(values), FRAMES)]
        motion = np.stack([clip[-1] - clip[0] for clip in clips])
        return {"video": mean_clips(values), "sub": motion}
