"""Rows of a memory-mapped array, without its pages filling memory.

A page that was read counts as the process's until the system reclaims it. So a search over an
array larger than memory would seem to need all of it, and could reach a memory limit.
"""

import mmap

import numpy as np

from pipeline.retrieval.similarity import Ints, Vectors

RELEASED = 2**30
"""From this size in bytes, an array's pages are given back once they are read."""
GATHERED = 8192
"""Rows read before that: each may load 64 KB of its neighbours."""


def take(vectors: Vectors, rows: Ints) -> Vectors:
    """Return rows of the array, as a view if they are contiguous; see `release`."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 == len(rows) and np.array_equal(rows, np.arange(first, last + 1)):
        return np.ascontiguousarray(vectors[first : last + 1])
    if not _is_large(vectors):
        return vectors[rows]
    taken = np.empty((len(rows), vectors.shape[1]), dtype=vectors.dtype)
    for at in range(0, len(rows), GATHERED):
        taken[at : at + GATHERED] = vectors[rows[at : at + GATHERED]]
        release(vectors)
    return taken


def release(vectors: Vectors) -> None:
    """Give the pages of a large memory-mapped array back: they stay in the system's cache."""
    if _is_large(vectors) and isinstance(vectors.base, mmap.mmap):
        vectors.base.madvise(mmap.MADV_DONTNEED)


def _is_large(vectors: Vectors) -> bool:
    return isinstance(vectors, np.memmap) and vectors.nbytes > RELEASED
