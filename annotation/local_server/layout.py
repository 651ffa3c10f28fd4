"""Where this folder's server keeps its files, and the error class of everything about it."""

from pathlib import Path

from momentrank.errors import MomentRankError

PROGRAM = Path(".venv-label-studio/bin/label-studio")
HOME = Path(".label-studio")
DATA, MEDIA = HOME / "data", HOME / "media"
DATABASE, EMPTY = DATA / "label_studio.sqlite3", PROGRAM.parent.parent / "empty.sqlite3"
KEY = DATA / ".env"
"""Label Studio's key, written by every server."""

CLIPS, CUT_CLIPS = MEDIA / "clips", Path("datasets/work/clips")
LOG, LOCK = HOME / "server.log", HOME / "server.lock"


class ServerError(MomentRankError):
    """The server can't be started or stopped."""
