"""HTTP for publishing: one client, whose errors show whether a failure may be temporary."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pipeline.llm.outcomes import retry_after
from pipeline.publication.package import PublishError
from pipeline.publication.target import PassingError

if TYPE_CHECKING:
    import httpx

PASSING = {408, 412, 429}
"""Too slow, overtaken by another change, too many requests."""
SERVER_ERROR = 500
REFUSED = {401: "the token is not valid", 403: "the token does not allow it"}
SHOWN = 300


def open_client(headers: Mapping[str, str]) -> "httpx.Client":
    """Return a client that sends these headers and does not wait forever."""
    import httpx  # noqa: PLC0415  (--help needs none)

    return httpx.Client(headers=headers, timeout=httpx.Timeout(60.0, read=300.0))


@contextmanager
def explain(what: str) -> Iterator[None]:
    """Turn failures of the connection or the server into errors that name what was tried."""
    import httpx  # noqa: PLC0415  (--help needs none)

    try:
        yield
    except httpx.HTTPStatusError as exc:
        raise status_error(
            what, exc.response.status_code, exc.response.headers, _text(exc)
        ) from exc
    except httpx.UnsupportedProtocol as exc:
        raise PublishError(f"{what}: {exc}".rstrip(".")) from exc
    except httpx.RequestError as exc:
        raise PassingError(f"{what}: {str(exc).lower() or type(exc).__name__}") from exc


def status_error(what: str, status: int, headers: Mapping[str, str], text: str) -> PublishError:
    """Return the error for a status: a temporary one, or one that names the reason."""
    if status in PASSING or status >= SERVER_ERROR:
        return PassingError(f"{what}: status {status}", retry_after(headers, time.time()))
    reason = REFUSED.get(status, " ".join(text.split())[:SHOWN])
    return PublishError(f"{what}: status {status}: {reason}")


def stream(client: "httpx.Client", url: str, what: str) -> Iterator[bytes]:
    """Yield the content at an address."""
    with explain(what), client.stream("GET", url, follow_redirects=True) as response:
        if response.is_error:
            response.read()
        response.raise_for_status()
        yield from response.iter_bytes()


def ask(client: "httpx.Client", method: str, url: str, what: str, **options: Any) -> Any:  # noqa: ANN401  (JSON)
    """Send a request and return its response as JSON; None if that is empty."""
    with explain(what):
        response = client.request(method, url, **options)
        response.raise_for_status()
    try:
        return response.json() if response.content else None
    except ValueError as exc:
        raise PublishError(f"{what}: the answer is not JSON; is the address right?") from exc


def _text(exc: "httpx.HTTPStatusError") -> str:
    return exc.response.text if exc.response.is_closed else ""
