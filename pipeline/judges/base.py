"""The protocol of a judge: for each pair it returns a level, or the reason for having none."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class Pair(NamedTuple):
    """A query and a moment, with what people see of them and what they never see.

    `clip` is the file that annotators see, `seconds` its length; it shows [`start`, `end`), the
    moment's seconds in its video, and `clips.padding` around them. `caption` and `similarity`
    (of query and caption) are for judges that look at no pictures.
    """

    query_id: str
    moment_id: str
    split: str
    query: str
    caption: str
    similarity: float
    start: float
    end: float
    clip: Path
    seconds: float


class Answer(NamedTuple):
    """A judge's answer on a pair, the `repeat`-th time that it is asked.

    It has a `level` (0 to 4), or None and a `reason` from `tables.MACHINE_REASONS`, never both.
    `expected` is the mean level by the judge's own probabilities, `remark` is in its own words, and
    `frames` is the number of pictures that it was shown.
    """

    query_id: str
    moment_id: str
    repeat: int = 0
    level: int | None = None
    expected: float | None = None
    reason: str | None = None
    remark: str | None = None
    frames: int = 0


class Judge(Protocol):
    """A way of judging; `model`, `prompt` and `guideline` go into the table of judgments.

    `prompt` is the label of a prompt, `guideline` the version of the annotators' guideline; None
    if the judge reads none.
    """

    model: str
    prompt: str | None
    guideline: str | None

    def judge(self, pairs: Sequence[Pair]) -> Iterator[Answer]:
        """Yield one answer for each pair and repeat, in any order."""

    def metrics(self) -> Mapping[str, object]:
        """Return what judging took, for the metrics."""
