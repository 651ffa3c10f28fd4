"""What asking has cost until now, and how it ended."""

import math
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
    _serving: dict[str, tuple[int, int, float]] = field(default_factory=dict)

    @property
    def was_answered(self) -> bool:
        """Whether the model ever answered, now or in a run whose answers served this one."""
        return self.answers + self.cache_hits + self.reused > 0

    def paid(self, answer: Answer, likely_in: Callable[[], int], share: float = 1.0) -> int:
        """Add an answer that came at `share` of the price; return its tokens, in and out.

        Where the server did not count them, they are the likely ones.
        """
        tokens_in, tokens_out = _tokens(answer, likely_in)
        self.answers += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost += share * self.prices.cost(tokens_in, tokens_out)
        return tokens_in + tokens_out

    def serves(self, key: str, answer: Answer, likely_in: Callable[[], int], share: float) -> None:
        """Note an answer that serves the result, whichever run bought it; once by its key."""
        tokens_in, tokens_out = _tokens(answer, likely_in)
        cost = share * self.prices.cost(tokens_in, tokens_out)
        self._serving[key] = tokens_in, tokens_out, cost

    def ended(self, outcome: Outcome | None) -> None:
        """Count how a request ended."""
        self.outcomes[outcome.name if outcome else OK] += 1

    def metrics(self) -> dict[str, Any]:
        """Return the figures for the stage's metrics.

        Those of this run, and as `result_...` those of the whole result: what its answers cost
        in all the runs that bought them, at the prices of now.
        """
        serving = self._serving.values()
        return {
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": round(self.cost, 6),
            "cache_hits": self.cache_hits,
            "reused_captions": self.reused,
            "outcomes": dict(sorted(self.outcomes.items())),
            "result_tokens_in": sum(tokens_in for tokens_in, _, _ in serving),
            "result_tokens_out": sum(tokens_out for _, tokens_out, _ in serving),
            "result_cost_usd": round(math.fsum(cost for _, _, cost in serving), 6),
        }


def _tokens(answer: Answer, likely_in: Callable[[], int]) -> tuple[int, int]:
    if answer.tokens_in is None or answer.tokens_out is None:
        return likely_in(), tokens.of_text(answer.content or answer.refusal or "")
    return answer.tokens_in, answer.tokens_out
