"""What the tests of the baselines share."""

import pytest
from tiny_release import write_tiny

from baselines.collection.release import read_release
from baselines.core.params import load
from baselines.features.inputs import open_inputs


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """Be in a folder with a tiny release, features and parameters; return it."""
    monkeypatch.chdir(tmp_path)
    write_tiny(tmp_path)
    return tmp_path


@pytest.fixture
def val_inputs(tiny):
    """Return the parameters, features and validation queries of the tiny release."""
    params = load()
    queries = read_release(tiny / "datasets/release").read_queries("val")
    return params, open_inputs(params, queries), queries
