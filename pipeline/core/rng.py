"""Random choices that are the same on every machine and in any order of work."""

import hashlib

import numpy as np


def generator(*parts: object) -> np.random.Generator:
    """Return the generator that belongs to these words or numbers, and to no others."""
    return np.random.default_rng(list(bytes.fromhex(draw(*parts))))


def draw(*parts: object) -> str:
    """Return the hash of these words or numbers: sorting by it shuffles, each time alike."""
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()
