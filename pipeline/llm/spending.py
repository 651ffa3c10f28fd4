"""What asking has cost until now, and how it ended."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pipeline.llm import tokens
from pipeline.llm.answers import Answer
from pipeline.llm.outcomes import Outcome
from pipeline.llm.tokens import Prices

OK = "ok"


@dataclass
class Spending:
    """Requests sent, tokens and USD paid for, and how many answers were there already.

    `cache_hits` counts answers that the cache had, `reused` captions that it had from a
    request with other neighbours. `outcomes` counts what was sent, by how it ended; `answers`
    those that brought one, good or bad.
    """

    prices: Prices
    requests: int = 0
    answers: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    cache_hits: int = 0
    reused: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def was_answered(self) -> bool:
        """Whether the model ever answered, now or in a run whose answers served this one."""
        return self.answers + self.cache_hits + self.reused > 0

    def paid(self, answer: Answer, likely_in: Callable[[], int], share: float = 1.0) -> int:
        """Add an answer that came at `share` of the price; return its tokens, in and out.

        Where the server did not count them, they are the likely ones.
        """
        tokens_in, tokens_out = answer.tokens_in, answer.tokens_out
        if tokens_in is None or tokens_out is None:
            tokens_in = likely_in()
            tokens_out = tokens.of_text(answer.content or answer.refusal or "")
        self.answers += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost += share * self.prices.cost(tokens_in, tokens_out)
        return tokens_in + tokens_out

    def ended(self, outcome: Outcome | None) -> None:
        """Count how a request ended."""
        self.outcomes[outcome.name if outcome else OK] += 1

    def metrics(self) -> dict[str, Any]:
        """Return the figures for the stage's metrics."""
        return {
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": round(self.cost, 6),
            "cache_hits": self.cache_hits,
            "reused_captions": self.reused,
            "outcomes": dict(sorted(self.outcomes.items())),
        }
