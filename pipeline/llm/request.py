"""One request for captions: what is sent, and the key under which its answer is kept."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pipeline.llm.prompt import Prompt, short_ids
from pipeline.llm.spending import FEWEST_BYTES, count_prompt_tokens, count_tokens

Body = dict[str, Any]

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode

_SEEDS_PER_ATTEMPT = 1000


@dataclass(frozen=True)
class Request:
    """Several descriptions by id, and the body that asks for their captions.

    `turn` is the seed where the body holds none, which makes it another request all the same.
    """

    recipe: str
    asked: dict[str, str]
    url: str
    body: Body
    max_output_tokens: int
    turn: int | None = None

    @cached_property
    def key(self) -> str:
        """SHA-256 of the whole request: the address and all that is sent, but no secret.

        The address counts: what a stand-in server on this machine said is no answer of the
        model of the same name elsewhere.
        """
        content = [self.url, self.body] + ([] if self.turn is None else [self.turn])
        return hashlib.sha256(_encode(content).encode()).hexdigest()

    @property
    def likely_in(self) -> int:
        """The tokens that will be paid for what is sent, about."""
        return count_prompt_tokens(self.body)

    @property
    def likely_out(self) -> int:
        """The tokens that will be paid for the answer, about: as long as what it rewrites."""
        captions = [{"id": short, "caption": text} for short, text in self.asked.items()]
        return count_tokens(_encode({"captions": captions}))

    @property
    def most_in(self) -> int:
        """The most tokens that the server may count for what is sent."""
        return count_prompt_tokens(self.body, FEWEST_BYTES)

    @property
    def most(self) -> int:
        """The most tokens that the server may count for the request and its answer."""
        return self.most_in + self.max_output_tokens


@dataclass(frozen=True)
class Recipe:
    """All that makes a request but its descriptions: one attempt at rewriting with one model.

    The first attempt is as certain as the model can be, the later ones vary (the paper,
    section 3.1: temperature 0, then 0.2). `output_limit` is the server's name for the most
    tokens of an answer; `extra` is sent beside the rest or in its place, null takes away.
    """

    url: str
    model: str
    prompt: Prompt
    max_output_tokens: int
    attempt: int
    output_limit: str = "max_tokens"
    extra: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """16 hex digits that no other recipe has."""
        return self.request([]).key[:16]

    def request(self, descriptions: Sequence[str], ask: int = 0) -> Request:
        """Return the request for some descriptions; `ask` counts how often it was asked before.

        Each time has its own seed, so it is another request with an answer of its own.
        """
        asked = dict(zip(short_ids(descriptions), descriptions, strict=True))
        seed = self.attempt * _SEEDS_PER_ATTEMPT + ask
        body = self._body(self.prompt.messages(asked), seed)
        turn = None if "seed" in body else seed
        name = self.name if descriptions else ""
        return Request(name, asked, self.url, body, self.max_output_tokens, turn)

    def _body(self, messages: list[dict[str, str]], seed: int) -> Body:
        schema = {"name": self.prompt.name, "strict": True, "schema": self.prompt.answer}
        body = {
            "model": self.model,
            "messages": messages,
            "temperature": 0.2 if self.attempt else 0.0,
            "seed": seed,
            self.output_limit: self.max_output_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
            **self.extra,
        }
        return {name: value for name, value in body.items() if value is not None}
