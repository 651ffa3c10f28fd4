"""Sentences with labelled names, drawn from a grammar: datasets/tagger/templates.yaml.

`{symbol}` stands for one of the symbol's productions, or for a word of a list (`WORDS`).
The symbols of `NAMES` are person names, and labelled; a possessive ending is not part of one.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from momentrank.errors import MomentRankError
from pipeline.core import files

TEMPLATES = Path("datasets/tagger/templates.yaml")
START = "sentence"
WORDS = frozenset({"first", "last", "full", "first_s", "upper", "last_plain", "UPPER", "w", "W"})
NAMES = WORDS - {"last_plain", "UPPER", "w", "W"} | {"word_name"}
SYMBOL = re.compile(r"\{(\w+)\}")

Rules = Mapping[str, Sequence[str]]


class GrammarError(MomentRankError):
    """The grammar is not valid."""


class Example(NamedTuple):
    """A text, and the half-open character ranges of the person names in it."""

    text: str
    names: tuple[tuple[int, int], ...]


def read(path: Path = TEMPLATES) -> dict[str, list[str]]:
    """Read the grammar: symbols with their productions.

    Raises:
        FileError: the file is missing or not YAML.
        GrammarError: it is not symbols with lists of texts, or a symbol is not defined.
    """
    rules = files.read_yaml(path)
    if not isinstance(rules, dict) or not isinstance(rules.get(START), list):
        raise GrammarError(f"{path}: must map symbols to lists, {START!r} among them")
    for symbol, productions in rules.items():
        if not isinstance(productions, list) or not productions:
            raise GrammarError(f"{path}: {symbol}: must be a list of texts")
        for text in productions:
            if not isinstance(text, str):
                raise GrammarError(f"{path}: {symbol}: {text!r} is not text; put quotes around it")
            unknown = set(SYMBOL.findall(text)) - WORDS - rules.keys()
            if unknown:
                raise GrammarError(f"{path}: {symbol}: {{{min(unknown)}}} is not defined")
    return rules


def draw(rules: Rules, words: Rules, rng: random.Random) -> Example:
    """Draw one sentence; `words` gives the symbols that the rules leave open."""
    text, names = "", []
    for piece, is_name in _expand("{" + START + "}", {**rules, **words}, rng):
        if is_name:
            names.append((len(text), len(text) + len(piece)))
        text += piece
    return Example(text, tuple(names))


def _expand(text: str, rules: Rules, rng: random.Random) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in SYMBOL.finditer(text):
        yield text[at : match.start()], False
        symbol, at = match[1], match.end()
        choice = rng.choice(rules[symbol])
        if symbol in NAMES:
            yield choice, True
        else:
            yield from _expand(choice, rules, rng)
    yield text[at:], False
