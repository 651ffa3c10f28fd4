"""What every way of rewriting offers the stage: drafts, or the reason why there is none."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

OK = "ok"


class Item(NamedTuple):
    """A description to rewrite."""

    moment_id: str
    description: str


class Draft(NamedTuple):
    """What came back for one item: a caption, or None and the named `outcome` that tells why."""

    moment_id: str
    caption: str | None
    outcome: str = OK


class Rewriter(Protocol):
    """A way of rewriting; `source`, `model` and `prompt` go into the captions table."""

    source: str
    model: str | None
    prompt: str | None

    def rewrite(self, items: Sequence[Item], attempt: int) -> Iterator[Draft]:
        """Yield one draft for every item, in any order.

        `attempt` is 0 the first time; repairs are 1, 2, ... and must not answer the same.
        """
