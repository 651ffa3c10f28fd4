"""The widths of features, which determine the shapes of a model's weights."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Widths:
    """Widths of features, and the longest sequences."""

    tokens: int
    streams: tuple[int, ...]
    max_tokens: int
    max_rows: int
