"""What asking costs: tokens, prices, and how requests ended.

No tokenizer is used, as a server may run any model. English has about four bytes of UTF-8 per
token, which serves for cost estimates. Hardly any text has fewer than three, in any script, which
serves for limits.
"""

import json
import logging
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pipeline.llm.answers import Answer
from pipeline.llm.outcomes import CallFailed, LLMError, Outcome, Purpose

OK = "ok"

LIKELY_BYTES = 4
"""Bytes of UTF-8 per token of English, for estimates."""

FEWEST_BYTES = 3
"""Bytes of UTF-8 per token where a count must not be too low: for limits."""

_PER_MESSAGE = 4  # tokens that separate one message from the next
_log = logging.getLogger(__name__)


class Prices(NamedTuple):
    """USD per million tokens."""

    input: float
    output: float

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the price of so many tokens in USD."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def count_tokens(text: str, bytes_per_token: int = LIKELY_BYTES) -> int:
    """Return about how many tokens a text has."""
    # A server may send half a character (a lone surrogate); it costs as much as a whole one.
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / bytes_per_token)


def count_prompt_tokens(body: dict[str, Any], bytes_per_token: int = LIKELY_BYTES) -> int:
    """Return about how many input tokens a request has: its messages and its schema."""
    schema = json.dumps(body.get("response_format", {}), ensure_ascii=False)
    texts = [schema, *(text for message in body["messages"] for text in _texts(message["content"]))]
    return sum(count_tokens(text, bytes_per_token) + _PER_MESSAGE for text in texts)


def _texts(content: str | list[dict[str, Any]]) -> list[str]:
    """Return the texts of a message; `Pictures` counts the pictures' tokens."""
    if isinstance(content, str):
        return [content]
    return ["".join(part["text"] for part in content if part["type"] == "text")]


@dataclass
class Spending:
    """Requests sent, tokens and USD paid, and how many answers were there already.

    `cache_hits` counts answers from the cache, `reused` texts whose captions it had from a request
    with other neighbours. `outcomes` counts the requests sent, by how they ended; `answers` counts
    the answers received, good or bad.
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
    _result: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def was_answered(self) -> bool:
        """Whether the model ever answered, now or in an earlier run whose answers are used."""
        return self.answers + self.cache_hits + self.reused > 0

    def pay(self, answer: Answer, likely_in: Callable[[], int]) -> int:
        """Add an answer to what was paid; return its tokens, in and out.

        If the server did not count them, they are estimated.
        """
        tokens_in, tokens_out = _count_answer(answer, likely_in)
        self.answers += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.cost += self.prices.cost(tokens_in, tokens_out)
        return tokens_in + tokens_out

    def count_towards_result(self, key: str, answer: Answer, likely_in: Callable[[], int]) -> None:
        """Count an answer once, whichever run bought it."""
        self._result[key] = _count_answer(answer, likely_in)

    def count(self, outcome: Outcome | None) -> None:
        """Count how a request ended."""
        self.outcomes[outcome.name if outcome else OK] += 1

    def metrics(self) -> dict[str, Any]:
        """Return the figures for the stage's metrics.

        They are those of this run, and, as `result_...`, those of the whole result: what its
        answers cost in all the runs that bought them, at today's prices.
        """
        result_in = sum(tokens_in for tokens_in, _ in self._result.values())
        result_out = sum(tokens_out for _, tokens_out in self._result.values())
        return {
            "requests": self.requests,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost_usd": round(self.cost, 6),
            "cache_hits": self.cache_hits,
            "reused_captions": self.reused,
            "outcomes": dict(sorted(self.outcomes.items())),
            "result_tokens_in": result_in,
            "result_tokens_out": result_out,
            "result_cost_usd": round(self.prices.cost(result_in, result_out), 6),
        }


def _count_answer(answer: Answer, likely_in: Callable[[], int]) -> tuple[int, int]:
    if answer.tokens_in is None or answer.tokens_out is None:
        return likely_in(), count_tokens(answer.content or answer.refusal or "")
    return answer.tokens_in, answer.tokens_out


class FailureLog:
    """How many texts got no result in a run, by reason; each reason is logged once.

    `given_up` are the requests that failed on every try, by key.
    """

    def __init__(self, purpose: Purpose) -> None:
        """Begin with none."""
        self._purpose = purpose
        self.given_up: dict[str, CallFailed] = {}
        self._count: Counter[Outcome] = Counter()
        self._failures: dict[Outcome, CallFailed] = {}

    def give_up(self, key: str, failure: CallFailed) -> None:
        """Record a request that is given up, and the first failure of each kind."""
        self.given_up[key] = failure
        self._failures.setdefault(failure.outcome, failure)

    def count(self, outcome: Outcome, texts: int) -> None:
        """Count texts that are given up, and log each reason the first time."""
        if outcome not in self._count:
            _log.warning("no %s: %s", self._purpose.wanted, self._explain(outcome))
        self._count[outcome] += texts

    def error(self) -> LLMError:
        """Return the error for a run without any answer, with the commonest reason."""
        commonest = max(self._count, key=lambda outcome: (self._count[outcome], outcome.name))
        return LLMError(f"{self._explain(commonest)}; no request was answered")

    def _explain(self, outcome: Outcome) -> str:
        return f"{self._failures.get(outcome, outcome.name)} ({self._purpose.hint(outcome)})"
