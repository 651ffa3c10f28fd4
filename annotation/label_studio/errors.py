"""Errors of the SDK and the network, translated into one line without secrets."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from annotation.label_studio.settings import TOKEN, URL
from momentrank.errors import MomentRankError

if TYPE_CHECKING:
    from label_studio_sdk.core.api_error import ApiError


class StudioError(MomentRankError):
    """Label Studio can't be reached, refuses us, or fails."""


class ShorterListError(StudioError):
    """A list got shorter while it was read, so an item may have been skipped."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url}: a list got shorter while it was read; try again")


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Turn the failures of the SDK and of the network into a StudioError."""
    import httpx  # noqa: PLC0415  (--help needs none)
    from label_studio_sdk.core.api_error import ApiError  # noqa: PLC0415  (--help needs none)

    try:
        yield
    except ApiError as exc:
        raise StudioError(_refusal(url, exc)) from None
    except (httpx.TimeoutException, TimeoutError) as exc:
        raise StudioError(f"{url}: no answer in time; try again") from exc
    except httpx.ConnectError as exc:
        raise StudioError(
            f"{url}: no server answers there; start it (`python -m annotation.server start`"
            f" if it is your own) or correct {URL}"
        ) from exc
    except (httpx.HTTPError, httpx.InvalidURL, json.JSONDecodeError) as exc:
        raise StudioError(f"{url}: the connection was lost; try again") from exc
    except (AttributeError, TypeError) as exc:  # the SDK does not check what it receives
        raise StudioError(_not_label_studio(url)) from exc


def _refusal(url: str, exc: "ApiError") -> str:
    import httpx  # noqa: PLC0415  (--help needs none)

    if exc.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"{url}: does not accept the token; correct {TOKEN} (in the environment or in .env)"
    if exc.status_code == HTTPStatus.NOT_FOUND:
        return f"{url}: not found (404); is this a Label Studio server?"
    if exc.status_code is not None and httpx.codes.is_success(exc.status_code):
        return _not_label_studio(url)
    detail = exc.body.get("detail", "") if isinstance(exc.body, Mapping) else ""
    invalid = exc.body.get("validation_errors", "") if isinstance(exc.body, Mapping) else ""
    return f"{url}: answered {exc.status_code} {detail} {invalid}".rstrip() + "; try again"


def _not_label_studio(url: str) -> str:
    return f"{url}: the response is not from Label Studio; correct {URL}, or try again"
