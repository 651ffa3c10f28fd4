"""The protocol of taggers of person names."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

BUILTIN = Path("datasets/work/tagger/model.pt")
"""The tagger that the stage `tagger` trains."""


class Span(NamedTuple):
    """A person's name in a text: characters [start, end), and how sure the tagger is, 0 to 1."""

    start: int
    end: int
    text: str
    score: float


class NameTagger(Protocol):
    """Finds person names in texts."""

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text, in the order of the text."""
