"""The client: the `openai` package, with its errors as named outcomes.

It uses Chat Completions, which OpenAI and every compatible server support. The address and the key
come from the environment; the key appears in no message, log or file.
"""

import asyncio
import os
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import openai

from momentrank.errors import UsageError
from pipeline.llm import answers, outcomes
from pipeline.llm.answers import Answer
from pipeline.llm.outcomes import CallFailed
from pipeline.llm.request import Body

DEFAULT_URL = "https://api.openai.com/v1"
_ADDRESS = re.compile(
    r"https?://([\w.~%!$&'()*+,;=:-]+@)?([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?([/?#][!-~]*)?", re.ASCII
)
_PICTURE = re.compile(r"data:[\w/+.-]*;base64,[\w+/=]*")
_SHOWN = 300  # characters of a server's message
_SHORTEST_KEY = 8  # a shorter one is not a secret but a placeholder: "none", "x"


@dataclass(frozen=True)
class Endpoint:
    """The server's address, and the key to use."""

    url: str
    key: str | None = field(repr=False)

    @classmethod
    def from_environment(cls) -> "Endpoint":
        """Read OPENAI_BASE_URL and OPENAI_API_KEY; the key may be missing until it is needed.

        Raises:
            UsageError: one of them is invalid.
        """
        url = os.environ.get("OPENAI_BASE_URL", "").strip().rstrip("/") or DEFAULT_URL
        key = os.environ.get("OPENAI_API_KEY", "").strip() or None
        if not url.startswith(("http://", "https://")):
            raise UsageError("OPENAI_BASE_URL must start with http:// or https://")
        if not _is_address(url):
            raise UsageError("OPENAI_BASE_URL is not a valid address: write http://host:8000/v1")
        if key and not (key.isascii() and key.isprintable()):
            raise UsageError("OPENAI_API_KEY contains a character that is not allowed in a key")
        return cls(url, key)

    def require_key(self) -> str:
        """Return the key.

        Raises:
            UsageError: it is missing.
        """
        if self.key is None:
            raise UsageError(
                "OPENAI_API_KEY is not set: export OPENAI_API_KEY=... "
                "(any text if the server needs none), or set another backend"
            )
        return self.key


def _is_address(url: str) -> bool:
    try:
        # urlsplit checks the port only when it is accessed.
        return _ADDRESS.fullmatch(url) is not None and urlsplit(url).port != 0
    except ValueError:
        return False


class Client:
    """One connection pool to the endpoint; a request is sent once, for `timeout` seconds."""

    def __init__(self, endpoint: Endpoint, timeout: float) -> None:
        """Open nothing yet; the key is required when the first request is sent."""
        self._endpoint, self._timeout = endpoint, timeout
        self.sdk = openai.AsyncOpenAI(
            api_key=endpoint.key or "none", base_url=endpoint.url, max_retries=0, timeout=timeout
        )

    async def ask(self, body: Body, watched: str | None = None) -> Answer:
        """Send a request once; `watched` as `Recipe` has it.

        Raises:
            CallFailed: no answer arrived, with the reason.
            UsageError: the key is missing.
        """
        key = self._endpoint.require_key()
        try:
            async with asyncio.timeout(self._timeout):
                # Not `chat.completions.create`: what it does to an already valid body takes longer
                # than everything else here.
                response = await self.sdk.post("/chat/completions", cast_to=object, body=body)
        except TimeoutError:
            failure = CallFailed(outcomes.TIMEOUT, f"no answer in {self._timeout:g} s")
        except openai.APIStatusError as exc:
            outcome = outcomes.from_status(exc.status_code, exc.code, exc.type)
            wait = outcomes.retry_after(exc.response.headers, time.time())
            failure = CallFailed(outcome, _message(exc, key), wait)
        except openai.APITimeoutError as exc:
            failure = CallFailed(outcomes.TIMEOUT, _message(exc, key))
        except openai.APIConnectionError as exc:
            failure = CallFailed(outcomes.CONNECTION, _message(exc, key))
        except openai.APIError as exc:
            failure = CallFailed(outcomes.BROKEN_RESPONSE, _message(exc, key))
        except (ValueError, RecursionError) as exc:
            failure = CallFailed(
                outcomes.BROKEN_RESPONSE,
                _shorten(f"the response is not JSON: {getattr(exc, 'doc', exc)}", key),
            )
        else:
            return _parse(response, key, watched)
        raise failure  # not chained: the SDK's error contains the request, and so the key


def _parse(response: object, key: str, watched: str | None) -> Answer:
    """Return the answer; a failure tells what the server said, without the key."""
    try:
        return answers.parse(response, watched)
    except CallFailed as exc:
        failure = CallFailed(exc.outcome, _shorten(exc.message, key), exc.wait)
    raise failure  # not chained, as in `ask`


def _message(error: openai.APIError, key: str) -> str:
    message = error.message
    if isinstance(error, openai.APIConnectionError):  # its message is just "Connection error."
        url = error.request.url
        message = f"{url.scheme}://{url.netloc.decode()}: {_reason(error)}"
    return _shorten(message, key)


def _shorten(message: str, key: str) -> str:
    message = message.replace(key, "***") if len(key) >= _SHORTEST_KEY else message
    message = _PICTURE.sub("data:...", message)
    return " ".join(message.split())[:_SHOWN]


def _reason(error: BaseException) -> str:
    """Return the system's own error: the libraries around it report only that it failed."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    number = getattr(error, "errno", None) or 0
    return os.strerror(number).lower() if number > 0 else str(error)
