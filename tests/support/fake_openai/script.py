"""The server's behaviour, statistics and replies."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

FAULTS = ("429", "500", "timeout", "cut", "broken-json", "reordered", "missing", "extra", "twice")
OK = 200
UNSEEN = re.compile(rb"I can't judge (.*?)\.\\\"")
"""Finds in a reply why a clip got no level: a sentence at the end of a quoted text."""
Json = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """How the server behaves."""

    seed: int = 0
    latency: float = 0.01  # seconds per answer
    faults: float = 0.0  # the share of requests with a fault, one of `kinds`
    kinds: tuple[str, ...] = FAULTS
    hang: float = 2.0  # seconds of the fault "timeout"
    retry_after: float = 0.01
    money: int = -1  # tokens until the account is empty; -1: never
    poison: str = ""  # a description with this word ruins its whole answer, as `spoilt` says
    spoilt: str = "broken-json"  # or refused, filtered, truncated, rejected, 500, empty, or a
    # gateway's: error-in-body, thoughts, tools, stopped
    wrapping: str = ""  # text around each answer: fenced, talks, thinks, drafts, prose
    only_completion_tokens: bool = False  # refuse max_tokens, like newer OpenAI models
    requests: int = 0  # per window; 0: no limit
    tokens: int = 0
    window: float = 60.0
    fixed: bool = False  # windows aligned with the clock, not sliding
    at_answer: bool = False  # count the tokens used, after the answer
    truth: str = ""  # the file with which it judges clips: see `judges`
    logprobs: bool = False  # send log-probabilities if requested
    picture_tokens: int = 425  # counted for a picture


class Reply(NamedTuple):
    """A reply: status, body, headers, and whether it is cut off halfway."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    cut: bool = False


@dataclass
class Stats:
    """What the server has seen."""

    requests: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    own_429: int = 0  # refused because of the limits, the client's fault
    faults: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)  # complete answers, by request
    unseen: Counter[str] = field(default_factory=Counter)  # clips without a level, by reason
    keys: list[str] = field(default_factory=list)  # the Authorization headers seen

    def note(self, reply: "Reply") -> None:
        """Count a reply that says why it has no level."""
        if said := UNSEEN.search(reply.body):
            self.unseen[said[1].decode()] += 1

    def summary(self) -> Json:
        """Return the statistics for another process."""
        return {"answers": self.answered.total(), "distinct": len(self.answered)}


def error(status: int, code: str, message: str, *headers: tuple[str, str]) -> Reply:
    """Return an error in OpenAI's form."""
    body = {"error": {"message": message, "type": code, "param": None, "code": code}}
    return Reply(status, json.dumps(body).encode(), headers)


def of_json(value: Json) -> Reply:
    """Return a reply with a JSON object."""
    return Reply(OK, json.dumps(value).encode())
