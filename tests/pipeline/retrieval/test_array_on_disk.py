"""Rows of an array on disk: the same, and its pages are the system's again."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.retrieval import array_on_disk
from pipeline.retrieval.array_on_disk import release, take

ROWS, DIMENSIONS = 40_000, 256  # 41 MB


@pytest.fixture
def vectors(tmp_path):
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).random((ROWS, DIMENSIONS), "f4"))
    return np.load(tmp_path / "vectors.npy", mmap_mode="r")


def mapped_mb():
    """Return how much of files this process holds in memory."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"RssFile:\s+(\d+)", status)[1]) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the pages of a process")
@pytest.mark.parametrize("limit", [0, 2**40])
def test_pages_of_large_arrays_are_given_back(vectors, monkeypatch, limit):
    monkeypatch.setattr(array_on_disk, "RELEASED", limit)
    before = mapped_mb()
    some = np.arange(0, ROWS, 2)
    assert np.array_equal(take(vectors, some), vectors[::2])
    release(vectors)
    assert mapped_mb() - before < 5 if limit == 0 else mapped_mb() - before > 30


@pytest.mark.parametrize("rows", [[3], [3, 4, 5], [5, 3, 4], [7, 7, 1], list(range(99))])
@pytest.mark.parametrize("limit", [0, 2**40])
def test_rows_are_those_of_the_array(vectors, monkeypatch, rows, limit):
    monkeypatch.setattr(array_on_disk, "RELEASED", limit)
    monkeypatch.setattr(array_on_disk, "GATHERED", 2)
    assert np.array_equal(take(vectors, np.array(rows)), vectors[rows])
