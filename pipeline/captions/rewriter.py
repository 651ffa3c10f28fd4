"""The protocol of a rewriter: it returns captions for descriptions, or reasons for failure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

OK = "ok"


class Moment(NamedTuple):
    """A described moment whose description is rewritten."""

    moment_id: str
    description: str


class Rewrite(NamedTuple):
    """The result for one moment: a caption, or None and the named `outcome` as the reason."""

    moment_id: str
    caption: str | None
    outcome: str = OK


class Rewriter(Protocol):
    """A way of rewriting; `source`, `model` and `prompt` go into the captions table."""

    source: str
    model: str | None
    prompt: str | None

    def rewrite(self, moments: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:
        """Yield one rewrite for every moment, in any order.

        `attempt` is 0 the first time; repairs are 1, 2, ... and must not repeat the answer.
        """


class IdentityRewriter:
    """The `none` backend: captions are the descriptions, for a corpus without names."""

    source = "none"
    model: str | None = None
    prompt: str | None = None

    def rewrite(self, moments: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:  # noqa: ARG002  (the protocol's)
        """Yield every description as it is."""
        for moment in moments:
            yield Rewrite(moment.moment_id, moment.description)
