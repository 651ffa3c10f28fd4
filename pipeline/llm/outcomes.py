"""The named ways in which a request can end: what to do next, and the hint for the user.

An outcome other than `ok` is never a caption or a level: the request is repeated, or the outcome's
name becomes the reason in its own row. Outcomes are counted in the metrics.
"""

import email.utils
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from momentrank.errors import MomentRankError


class Next(Enum):
    """What to do about an outcome."""

    WAIT = "send the same request again, later, then in halves"
    ASK_AGAIN = "ask again with another seed, then in halves"
    HALVE = "ask in halves: the same request would end the same"
    GIVE_UP = "nothing: it can't be asked at all, and nothing was sent"
    STOP = "stop the run: every other request would end the same"


class Outcome(NamedTuple):
    """A named way in which a request ended; in the hint, `{section}` is the section that asks."""

    name: str
    next: Next
    hint: str


RATE_LIMITED = Outcome(
    "rate-limited", Next.WAIT, "lower {section}.openai.requests_per_minute or tokens_per_minute"
)
SERVER_ERROR = Outcome("server-error", Next.WAIT, "the server is in trouble: run again later")
TIMEOUT = Outcome("timeout", Next.WAIT, "raise {section}.openai.timeout or lower per_request")
CONNECTION = Outcome("connection", Next.WAIT, "is OPENAI_BASE_URL right, and the network up?")
BROKEN_RESPONSE = Outcome(
    "broken-response", Next.WAIT, "does what answers at OPENAI_BASE_URL speak Chat Completions?"
)

BROKEN_JSON = Outcome(
    "broken-json", Next.ASK_AGAIN, "the model does not answer in the required form"
)
WRONG_IDS = Outcome("wrong-ids", Next.ASK_AGAIN, "lower {section}.openai.per_request")
BAD_CAPTION = Outcome("bad-caption", Next.ASK_AGAIN, "the caption was empty or not one line")

TRUNCATED = Outcome(  # not max_output_tokens: it is in every request, all would be bought again
    "truncated", Next.HALVE, "the answer was too long: lower {section}.openai.per_request"
)
BAD_LEVEL = Outcome("bad-level", Next.ASK_AGAIN, "the level was not one of 0 to 4")
REFUSED = Outcome("refused", Next.HALVE, "the model will not do this: decide by hand")
FILTERED = Outcome("filtered", Next.HALVE, "the provider's filter blocked it: decide by hand")
REJECTED = Outcome(  # many servers also refuse a parameter so, without a code for it
    "rejected",
    Next.HALVE,
    "the server does not accept such a request; if it names a parameter, see"
    " {section}.openai.output_limit and extra",
)

ONLY_THOUGHTS = Outcome(
    "only-thoughts",
    Next.HALVE,
    "the model thinks and says nothing: turn thinking off ({section}.openai.extra:"
    " {reasoning_effort: none}, or what the server's documentation names), or raise"
    " {section}.openai.max_output_tokens",
)
TOOL_CALLS = Outcome(
    "tool-calls", Next.HALVE, "the model calls a tool instead of answering: turn tools off"
)
GOOD_ENDS = (None, "stop")
"""The reasons to stop of an answer that is complete."""
FILTER, THOUGHTS, TOOLS = "content_filter", "reasoning_content", "tool_calls"
_ENDS = {
    FILTER: FILTERED,
    "length": TRUNCATED,
    THOUGHTS: ONLY_THOUGHTS,
    TOOLS: TOOL_CALLS,
}

UNREADABLE = Outcome("unreadable", Next.GIVE_UP, "its pictures can't be read")

INSUFFICIENT_QUOTA = Outcome(
    "insufficient-quota", Next.STOP, "the account is out of credit: top it up and run again"
)
UNAUTHORIZED = Outcome("unauthorized", Next.STOP, "is OPENAI_API_KEY right for OPENAI_BASE_URL?")
UNSUPPORTED = Outcome(
    "unsupported-parameter",
    Next.STOP,
    "set {section}.openai.output_limit: max_completion_tokens if the message names that, or remove"
    " the parameter: {section}.openai.extra: {its name: null}",
)
NOT_FOUND = Outcome("not-found", Next.STOP, "is {section}.openai.model right, and OPENAI_BASE_URL?")

_BY_CODE = (
    (
        {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"},
        INSUFFICIENT_QUOTA,
    ),
    ({"content_filter", "content_policy_violation"}, FILTERED),
    ({"unsupported_parameter", "unsupported_value", "unknown_parameter"}, UNSUPPORTED),
)
_BY_STATUS = dict.fromkeys((401, 403), UNAUTHORIZED) | dict.fromkeys((408, 409), SERVER_ERROR)
_BY_STATUS |= {402: INSUFFICIENT_QUOTA, 404: NOT_FOUND, 429: RATE_LIMITED}
_FIRST_SERVER_ERROR = 500


def from_status(status: int, *codes: object) -> Outcome:
    """Return what an HTTP status of 400 or more means, by the error's codes first.

    `codes` are its code and type; servers send one, both or neither.
    """
    named = {code for code in codes if isinstance(code, str)}
    for listed, outcome in _BY_CODE:
        if named & listed:
            return outcome
    return _BY_STATUS.get(status, SERVER_ERROR if status >= _FIRST_SERVER_ERROR else REJECTED)


def from_end(reason: str | None) -> Outcome | None:
    """Return what an answer's reason to stop means; None if the answer is complete."""
    if reason in GOOD_ENDS:
        return None
    name = re.sub(r"[^a-z0-9]+", "-", reason.lower())[:40].strip("-")
    hint = "the server stopped the answer for a reason of its own: see its documentation"
    return _ENDS.get(reason, Outcome(f"stopped-by-{name or 'nothing'}", Next.ASK_AGAIN, hint))


class CallFailed(Exception):  # noqa: N818  (not a user's error: it becomes an outcome)
    """A call got no answer; `wait` is the seconds that the server asked to wait."""

    def __init__(self, outcome: Outcome, message: str, wait: float | None = None) -> None:
        super().__init__(f"{outcome.name}: {message}")
        self.outcome = outcome
        self.message = message
        self.wait = wait


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a response asks to wait, if any; `now` is Unix time."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, OverflowError):
        return None
    return max(0.0, date.timestamp() - now)


class LLMError(MomentRankError):
    """The run can't continue; all answers so far are kept."""


@dataclass(frozen=True)
class Purpose:
    """What to ask a model for, and the section of params.yaml that configures it.

    `hints` replace the outcomes' hints, by outcome name.
    """

    section: str
    wanted: str
    hints: Mapping[str, str] = field(default_factory=dict)

    def hint(self, outcome: Outcome) -> str:
        """Return what to do about an outcome."""
        return self.hints.get(outcome.name, outcome.hint).replace("{section}", self.section)

    def stop(self, failure: CallFailed) -> LLMError:
        """Return the error for a failure after which the run must stop."""
        hint = self.hint(failure.outcome)
        return LLMError(
            f"{failure} ({hint}); answers so far are kept; the next run continues from there"
        )
