"""Numbered videos, which tests of the clips cut and read back."""

import pytest
from numbered import write_numbered


@pytest.fixture(scope="session")
def numbered(tmp_path_factory):
    """Return a video of 8 s: 12 frames a second, each with its number, keyframes at 0 and 4 s."""
    path = tmp_path_factory.mktemp("numbered") / "numbered.mp4"
    write_numbered(path, 96)
    return path
