"""A ground truth: judged segments, and what else its file tells."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from momentrank.segments import Segments

Durations = Callable[[], Mapping[str, float]]
Texts = Callable[[], Mapping[str, str]]


@dataclass(frozen=True)
class Truth:
    """Judged segments, the format that they were read from, and more as far as it is known."""

    segments: Segments
    format: str = ""
    read_durations: Durations = dict
    read_texts: Texts = dict

    @cached_property
    def durations(self) -> Mapping[str, float]:
        """The duration of each video in seconds."""
        return self.read_durations()

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of each query."""
        return self.read_texts()

    @cached_property
    def videos(self) -> Mapping[str, str]:
        """The video of each query: that of its first judged segment."""
        segments = self.segments
        names = [segments.queries[query] for query in segments.query.tolist()[::-1]]
        return dict(zip(names, segments.video[::-1], strict=True))
