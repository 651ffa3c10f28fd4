"""What files hold, by the SHA-256 of their content, read once for each change.

A copy of the corpus on another disk is the same corpus, so content decides, not a date.
"""

from pathlib import Path

from pipeline.core import files
from pipeline.core.file_cache import FileCache


class Hashes(FileCache[str]):
    """Hashes of files, in hexadecimal, remembered in `cache`."""

    def __init__(self, cache: Path) -> None:
        """Read what is remembered."""
        super().__init__(cache, _sha256, str)


def _sha256(path: Path) -> str:
    return files.file_sha256(path)
