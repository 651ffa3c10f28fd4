"""The small collection, made once: half judged."""

import contextlib

import pytest
import small_collection


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return the folder of the small collection; nothing changes it."""
    folder = tmp_path_factory.mktemp("small")
    small_collection.make(folder)
    return folder


@pytest.fixture(scope="session")
def found(small):
    """Return what the report reads of the small collection."""
    with contextlib.chdir(small):
        return small_collection.read()
