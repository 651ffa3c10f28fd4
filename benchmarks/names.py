"""Name finding in hand-labelled texts: by the tagger, by letter case, and by both.

    python -m benchmarks.names LABELLED [--corpus TEXTS]

LABELLED has one text per line, with names in square brackets: `[Nora] waves to Dr. [Reed].`
TEXTS has unlabelled texts from the same corpus, one per line, from which letter case is learnt
(by default, from the labelled ones). A name is correct if both its ends are. Params and tagger
are those of the current folder.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.script import parse_arguments, time_call
from pipeline.core.params import load
from pipeline.names import flair_tagger, truecase
from pipeline.names.base import NameTagger, Span
from pipeline.names.finder import NameFinder
from pipeline.names.grammar import Example
from pipeline.names.truecase import ABBREVIATIONS, Casings
from pipeline.tagger import measure

Find = Callable[[Sequence[str]], list[list[Span]]]


class By(NamedTuple):
    """A finder that calls a function."""

    find: Find


def read(line: str) -> Example:
    """Parse a text with names in brackets."""
    text, names = "", []
    for piece in re.split(r"(\[[^\]]*\])", line.strip()):
        if piece.startswith("["):
            names.append((len(text), len(text) + len(piece) - 2))
        text += piece.strip("[]")
    return Example(text, tuple(names))


def name_like(counts: Casings) -> frozenset[str]:
    """Return the keys of words that a corpus writes as names, except titles (Dr.)."""
    like = frozenset(key for key, casing in counts.items() if casing.is_name_like)
    return like - ABBREVIATIONS


def by_case(corpus: Sequence[str]) -> Find:
    """Return a finder that uses letter case alone: words that the corpus writes as names."""
    names = name_like(truecase.casings(corpus))

    def find(texts: Sequence[str]) -> list[list[Span]]:
        return [
            [
                Span(word.start, word.end, text[word.start : word.end], 1.0)
                for word in truecase.words(text)
                if word.key in names and not word.is_lower
            ]
            for text in texts
        ]

    return find


def main() -> None:
    """Print precision, recall and F1 of each way, and the tagger's speed."""
    options = parse_arguments(__doc__, "labelled", corpus=Path)
    test = [read(line) for line in options.labelled.read_text().splitlines()]
    corpus = [example.text for example in test]
    if options.corpus:
        corpus = options.corpus.read_text().splitlines()
    names = load().names
    tagger = flair_tagger.load(flair_tagger.locate(names.model, names.revision))
    seconds, finder = time_call(lambda: NameFinder(tagger, corpus))
    distinct = len(set(corpus))
    print(f"{len(test)} texts, {sum(len(example.names) for example in test)} names in them")
    print(f"read {distinct} distinct texts in {seconds:.0f} s: {distinct / seconds:.0f} a second")
    ways: dict[str, NameTagger] = {"tagger": tagger, "case": By(by_case(corpus)), "both": finder}
    for name, way in ways.items():
        print(name, *(f"{key} {value:.3f}" for key, value in measure(way, test).items()))


if __name__ == "__main__":
    main()
