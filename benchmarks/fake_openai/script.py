"""How the server behaves, what it saw, and what goes back."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

FAULTS = ("429", "500", "timeout", "cut", "broken-json", "reordered", "missing", "extra", "twice")
OK, FIRST_ERROR = 200, 400
Json = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """How the server behaves."""

    seed: int = 0
    latency: float = 0.01  # seconds of each answer
    faults: float = 0.0  # the share of requests on which one of `kinds` befalls
    kinds: tuple[str, ...] = FAULTS
    hang: float = 2.0  # seconds of a fault "timeout"
    retry_after: float = 0.01
    money: int = -1  # tokens until the account is empty; -1: never
    poison: str = ""  # a description with this word spoils its whole answer, as `spoilt` says
    spoilt: str = "broken-json"  # or refused, filtered, truncated, rejected, 500, empty
    wrapping: str = ""  # what stands around each answer: fenced, talks, thinks, drafts, prose
    only_completion_tokens: bool = False  # max_tokens is refused, as by newer models of OpenAI
    requests: int = 0  # per window; 0: no limit
    tokens: int = 0
    window: float = 60.0
    fixed: bool = False  # windows that start on the clock, not sliding ones
    at_answer: bool = False  # the limit counts what was used, when it is answered
    batches: tuple[str, ...] = ()  # how each batch ends: completed if not said
    polls: int = 2  # looks at a batch until it has ended
    create_delay: float = 0.0  # seconds between making a batch and telling of it


class Reply(NamedTuple):
    """What goes back: a status, a body, headers, and whether it is cut off half way."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False


@dataclass
class Stats:
    """What the server saw."""

    requests: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    own_429: int = 0  # refused by the limits: the client's fault
    faults: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)  # whole answers, by request
    batched: Counter[str] = field(default_factory=Counter)  # answers in batches, by request
    keys: list[str] = field(default_factory=list)  # the Authorization headers seen


def error(status: int, code: str, message: str, *headers: tuple[str, str]) -> Reply:
    """Return an error as OpenAI words it."""
    body = {"error": {"message": message, "type": code, "param": None, "code": code}}
    return Reply(status, json.dumps(body).encode(), headers)


def of_json(value: Json) -> Reply:
    """Return a reply that holds a JSON object."""
    return Reply(OK, json.dumps(value).encode())
