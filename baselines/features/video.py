"""Frames of videos, in parts: an hour-long video takes no more memory than a short one."""

import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import numpy.typing as npt

from baselines.features.store import FeatureError, Rows

FRAMES = 4
"""Frames read per clip."""
AT_ONCE = 16 * FRAMES
Pictures = npt.NDArray[np.uint8]
"""(frames, height, width, 3), RGB."""


def locate(pattern: str, name: str) -> Path:
    """Return the file of a video: `{video_id}` stands for its name, `.*` for any extension.

    Raises:
        FeatureError: there is no such file.
    """
    path = Path(pattern.replace("{video_id}", name))
    paths = sorted(path.parent.glob(path.name)) if path.name.endswith(".*") else [path]
    if not paths or not paths[0].is_file():
        raise FeatureError(f"{path}: no such video; see features.videos in baselines/params.yaml")
    return paths[0]


class VideoExtractor(ABC):
    """Features of videos; a subclass describes frames.

    Args:
        pattern: where the videos are, with `{video_id}` for the name.
        clip_seconds: seconds that a row covers.
    """

    size = (24, 16)
    """The width and height to which frames are scaled."""

    def __init__(self, pattern: str, clip_seconds: float) -> None:
        self._pattern, self._rate = pattern, FRAMES / clip_seconds

    def __call__(self, names: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Rows]]]:
        """Yield each video with its features by kind.

        Raises:
            FeatureError: a video is missing or can't be read.
        """
        for name in names:
            frames = read_frames(locate(self._pattern, name), self._rate, *self.size)
            chunks = list(map(self.describe, frames))
            kinds = {kind: [chunk[kind] for chunk in chunks] for kind in chunks[0]}
            yield name, {kind: np.concatenate(rows) for kind, rows in kinds.items()}

    @abstractmethod
    def describe(self, frames: Pictures) -> Mapping[str, Rows]:
        """Return the rows of each kind for frames read at `FRAMES` per clip, (clips, width)."""


def mean_clips(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Return the mean over each clip's frames: (frames, width) to (clips, width)."""
    clips = [values[first : first + FRAMES] for first in range(0, len(values), FRAMES)]
    return np.stack([clip.mean(axis=0) for clip in clips])


def read_frames(path: Path, rate: float, width: int, height: int) -> Iterator[Pictures]:
    """Yield a video's frames, `rate` per second, scaled, in parts of whole clips.

    Raises:
        FeatureError: ffmpeg can read no frame of it.
    """
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-nostdin", "-v", "error", "-i", f"file:{path}"]
    command += ["-vf", f"fps={rate},scale={width}:{height}:flags=area"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    size, any_frame = width * height * 3, False
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said) as process,  # noqa: S603  (ours)
    ):
        while process.stdout and (chunk := process.stdout.read(AT_ONCE * size)):
            any_frame = True
            yield np.frombuffer(chunk, dtype=np.uint8).reshape(-1, height, width, 3)
        if process.wait() or not any_frame:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or ["no frames"]
            raise FeatureError(f"{path}: can't be read as a video ({lines[-1]})")
