"""The files of the Batch API: a line per request, and a line per result in any order."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.llm import answers, outcomes
from pipeline.llm.answers import Answer
from pipeline.llm.outcomes import CallFailed
from pipeline.llm.request import Request

MAX_REQUESTS, MAX_BYTES = 50_000, 190_000_000  # the API's own are 50,000 and 200 MB
_OK = 200


class Result(NamedTuple):
    """How one request of a batch ended, by its key."""

    key: str
    ended: Answer | CallFailed


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Error(_Lenient):
    # Anything: what a server puts here must not make its line unreadable.
    code: Any = None
    type: Any = None
    message: Any = None


class _Response(_Lenient):
    status_code: int
    body: Any = None


class _Line(_Lenient):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


class _ErrorBody(_Lenient):
    error: _Error


def line_of(request: Request) -> str:
    """Return the line of the request file, with its end."""
    line = {
        "custom_id": request.key,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": request.body,
    }
    return json.dumps(line) + "\n"


def first_group(requests: Sequence[Request], max_tokens: int) -> list[Request]:
    """Return as many of the first requests as one batch may hold, and at least one."""
    group: list[Request] = []
    tokens = size = 0
    for request in requests[:MAX_REQUESTS]:
        tokens += request.most_in
        size += len(line_of(request).encode())
        if group and (tokens > max_tokens or size > MAX_BYTES):
            break
        group.append(request)
    return group


def read(content: bytes) -> Iterator[Result]:
    """Yield the results in an output file or an error file; what is no result is passed over."""
    for text in content.splitlines():
        try:
            line = _Line.model_validate_json(text)
        except ValidationError:
            continue  # its request stays open, and is submitted again
        yield Result(line.custom_id, _ended(line))


def _ended(line: _Line) -> Answer | CallFailed:
    if line.response and line.response.status_code == _OK:
        try:
            return answers.of_body(line.response.body)
        except CallFailed as failure:
            return failure
    error = line.error or _error_in(line.response) or _Error()
    status = line.response.status_code if line.response else 500
    said = " ".join(str(error.message or error.code or f"status {status}").split())
    return CallFailed(outcomes.of_status(status, error.code, error.type), said)


def _error_in(response: _Response | None) -> _Error | None:
    try:
        return _ErrorBody.model_validate(response.body).error if response else None
    except ValidationError:
        return None
