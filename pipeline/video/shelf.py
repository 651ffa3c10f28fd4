"""The folder of clips: how each is called, which are there, and away with the others."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from pipeline.video.recipe import RECIPE, Stretch, Style


def name_of(video_sha: str, stretch: Stretch, style: Style) -> str:
    """Return a clip's file name: a hash of what it shows, and of nothing else.

    So it is the same for whoever wants the clip and whichever ffmpeg cuts it, holds no name
    of a video and leads out of no folder; and a clip that is there need not be cut again.
    """
    facts = [RECIPE, video_sha, stretch.start, stretch.end, style.format, style.height]
    digest = hashlib.sha256(json.dumps(facts).encode())
    return f"{digest.hexdigest()[:32]}.{style.format}"


def holds(folder: Path, clip: str) -> bool:
    """Tell whether a clip is there: cut by us it is whole, but a disk may have emptied it."""
    path = folder / clip
    return path.is_file() and path.stat().st_size > 0


def keep_only(folder: Path, clips: Collection[str]) -> None:
    """Remove what is no wanted clip, and what a killed run has left unfinished."""
    for path in folder.iterdir():
        if path.name not in clips and not path.is_dir():
            path.unlink()
