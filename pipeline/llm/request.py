"""A request to a model: what is sent, and the key under which its answer is stored."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Protocol

from pipeline.llm.answers import Answer, Found, Reading
from pipeline.llm.prompt import Prompt
from pipeline.llm.spending import FEWEST_BYTES, count_prompt_tokens

Body = dict[str, Any]

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode

_SEEDS_PER_ATTEMPT = 1000


class Pictures(Protocol):
    """The pictures that a body names; the body that is sent contains them instead."""

    @property
    def subject(self) -> str:
        """What they show: requests about the same subject may all fail."""

    @property
    def tokens(self) -> int:
        """About how many tokens the server counts for all of them."""

    async def put_in(self, body: Body) -> Body:
        """Return the body as it is sent.

        Raises:
            CallFailed: they can't be read.
        """


@dataclass(frozen=True)
class Request:
    """What is asked, by id, and the request's body, which refers to pictures by name.

    `turn` is the seed if the body has none: it makes a repetition a different request.
    """

    recipe: str
    asked: dict[str, str]
    url: str
    body: Body
    max_output_tokens: int
    turn: int | None = None
    pictures: Pictures | None = None

    @cached_property
    def key(self) -> str:
        """SHA-256 of the whole request: the address and all that is sent, without secrets.

        The address is included: an answer from a stand-in server on this machine is not one from
        the model of the same name elsewhere.
        """
        content = [self.url, self.body] + ([] if self.turn is None else [self.turn])
        return hashlib.sha256(_encode(content).encode()).hexdigest()

    async def load(self) -> Body:
        """Return the body as it is sent.

        Raises:
            CallFailed: its pictures can't be read.
        """
        return self.body if self.pictures is None else await self.pictures.put_in(self.body)

    @property
    def likely_in(self) -> int:
        """About how many input tokens will be paid for."""
        return count_prompt_tokens(self.body) + self._picture_tokens

    @property
    def most(self) -> int:
        """The most tokens that the server may count for the request and its answer."""
        most_in = count_prompt_tokens(self.body, FEWEST_BYTES) + self._picture_tokens
        return most_in + self.max_output_tokens

    @property
    def _picture_tokens(self) -> int:
        return self.pictures.tokens if self.pictures else 0


@dataclass(frozen=True)
class Recipe(ABC, Generic[Found]):
    """Everything in a request except its subject: one attempt with one model.

    The first attempt is as certain as the model can be, later ones vary (paper, section 3.1:
    temperature 0, then 0.2). `output_limit` is the server's name for the limit on an answer's
    tokens; `extra` adds or replaces parameters, and null removes one.
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
        """16 hex digits, unique to this recipe."""
        return self.request([]).key[:16]

    @property
    def watched(self) -> str | None:
        """The answer's key whose alternatives are stored, if the server sends them."""
        return None

    @abstractmethod
    def request(self, texts: Sequence[str], ask: int = 0) -> Request:
        """Return the request for some texts; `ask` is how often it was asked before.

        Each time has its own seed, so it is a different request with its own answer.
        """

    @abstractmethod
    def read(self, answer: Answer, asked: Mapping[str, str]) -> Reading[Found]:
        """Return the part of an answer that can be trusted; `asked` has the texts by id."""

    def _request(
        self,
        asked: dict[str, str],
        messages: Sequence[Mapping[str, Any]],
        ask: int,
        pictures: Pictures | None = None,
    ) -> Request:
        seed = self.attempt * _SEEDS_PER_ATTEMPT + ask
        body = self._body(messages, seed)
        turn = None if "seed" in body else seed
        name = self.name if asked else ""
        return Request(name, asked, self.url, body, self.max_output_tokens, turn, pictures)

    def _body(self, messages: Sequence[Mapping[str, Any]], seed: int) -> Body:
        schema = {"name": self.prompt.name, "strict": True, "schema": self.prompt.answer}
        body = {
            "model": self.model,
            "messages": messages,
            "temperature": 0.2 if self.attempt else 0.0,
            "seed": seed,
            self.output_limit: self.max_output_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
            **self._additions(),
            **self.extra,
        }
        return {name: value for name, value in body.items() if value is not None}

    def _additions(self) -> Body:
        """Return the additional parameters of this kind of request."""
        return {}
