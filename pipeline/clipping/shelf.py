"""The folder of clips: how each is called, which are there, and away with the others."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

from pipeline.clipping.cutter import RECIPE, Stretch, Style


def name_of(video_id: str, video_sha: str, stretch: Stretch, padding: float, style: Style) -> str:
    """Return a clip's file name: a hash of all that makes it what it is.

    So it is the same for whoever wants the clip, holds no name of a video and leads out of
    no folder; and a clip that is there under its name need not be cut again.
    """
    facts = [RECIPE, video_id, video_sha, *stretch, padding, style.format, style.height]
    digest = hashlib.sha256(json.dumps(facts).encode())
    return f"{digest.hexdigest()[:32]}.{style.format}"


def holds(folder: Path, clip: str) -> bool:
    """Tell whether a clip is there; what is there under its name is whole."""
    return (folder / clip).is_file()


def keep_only(folder: Path, clips: Collection[str]) -> None:
    """Remove what is no wanted clip, and what a killed run has left unfinished."""
    for path in folder.iterdir():
        if path.name not in clips and not path.is_dir():
            path.unlink()
