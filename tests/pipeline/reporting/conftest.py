"""The small collection, made once, half judged; and one in which every text means harm."""

import contextlib
import shutil

import pytest
import small_collection


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return the folder of the small collection; nothing changes it."""
    folder = tmp_path_factory.mktemp("small")
    small_collection.make(folder)
    return folder


@pytest.fixture(scope="session")
def inputs(small):
    """Return what the report reads of the small collection."""
    with contextlib.chdir(small):
        return small_collection.read()


@pytest.fixture
def copied(small, tmp_path):
    """Return a copy of the small collection that a test may change."""
    return shutil.copytree(small, tmp_path / "small")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """Return the folder of a collection in which every text means harm; its report is made."""
    folder, harm = tmp_path_factory.mktemp("hostile"), small_collection.HOSTILE
    small_collection.make(folder, text=harm, name=harm)
    small_collection.pages(folder)
    return folder
