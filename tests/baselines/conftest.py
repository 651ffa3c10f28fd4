"""What the tests of the baselines share."""

import pytest
from tiny_release import write_tiny


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Be in a folder with a tiny release, features and parameters; return it."""
    monkeypatch.chdir(tmp_path)
    write_tiny(tmp_path)
    return tmp_path
