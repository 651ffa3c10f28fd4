"""Random choices that are the same on every machine and in any order of work."""

import hashlib

import numpy as np


def generator(*keys: object) -> np.random.Generator:
    """Return the generator that belongs to these words or numbers, and to no others."""
    return np.random.default_rng(list(bytes.fromhex(draw(*keys))))


def draw(*keys: object) -> str:
    """Return the hash of these words or numbers: sorting by it shuffles, each time alike."""
    return hashlib.sha256(" ".join(map(str, keys)).encode()).hexdigest()


def fraction(*keys: object) -> float:
    """Return a number in [0, 1) that belongs to these words or numbers."""
    return int(draw(*keys)[:8], 16) / 16**8
