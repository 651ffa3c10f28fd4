"""The ways in which asking can end, by name: what to do next, and what to tell the user.

An outcome other than `ok` is never a caption or a level: it is asked again, or becomes its own row
with this name as the reason, and is counted in the metrics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from momentrank.errors import MomentRankError


class Next(Enum):
    """What is done about an outcome."""

    WAIT = "send the same request again, later, then in halves"
    ASK_AGAIN = "ask again with another seed, then in halves"
    HALVE = "ask in halves: the same request would end the same"
    GIVE_UP = "nothing: it can't be asked at all, and nothing was sent"
    STOP = "stop the run: every other request would end the same"


class Outcome(NamedTuple):
    """A named way in which asking ended; in the hint, `{section}` is what asks."""

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
    "broken-response", Next.WAIT, "what answers at OPENAI_BASE_URL does not speak Chat Completions"
)

BROKEN_JSON = Outcome(
    "broken-json", Next.ASK_AGAIN, "the model does not answer in the form that was asked for"
)
WRONG_IDS = Outcome("wrong-ids", Next.ASK_AGAIN, "lower {section}.openai.per_request")
BAD_CAPTION = Outcome("bad-caption", Next.ASK_AGAIN, "the caption was empty or not one line")

TRUNCATED = Outcome(  # not max_output_tokens: it is in every request, all would be bought again
    "truncated", Next.HALVE, "the answer was too long: lower {section}.openai.per_request"
)
BAD_LEVEL = Outcome("bad-level", Next.ASK_AGAIN, "the level was none of 0 to 4")
REFUSED = Outcome("refused", Next.HALVE, "the model will not do this: decide by hand")
FILTERED = Outcome("filtered", Next.HALVE, "the provider's filter held it back: decide by hand")
REJECTED = Outcome(  # many servers refuse a parameter so, too, without a code of its own
    "rejected",
    Next.HALVE,
    "the server will not take such a request; where it names a parameter, see"
    " {section}.openai.output_limit and extra",
)

UNREADABLE = Outcome("unreadable", Next.GIVE_UP, "what would be sent can't be read")

INSUFFICIENT_QUOTA = Outcome(
    "insufficient-quota", Next.STOP, "the account has run out of money: top it up, run again"
)
UNAUTHORIZED = Outcome("unauthorized", Next.STOP, "is OPENAI_API_KEY right for OPENAI_BASE_URL?")
UNSUPPORTED = Outcome(
    "unsupported-parameter",
    Next.STOP,
    "set {section}.openai.output_limit: max_completion_tokens if that is what it asks for, or take"
    " the parameter out: {section}.openai.extra: {its name: null}",
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
    """Return what an HTTP status of 400 or more means, by the error's own words first.

    `codes` are its code and type, of which servers fill in one, both or neither.
    """
    named = {code for code in codes if isinstance(code, str)}
    for known, outcome in _BY_CODE:
        if named & known:
            return outcome
    return _BY_STATUS.get(status, SERVER_ERROR if status >= _FIRST_SERVER_ERROR else REJECTED)


class CallFailed(Exception):  # noqa: N818  (not a user's error: it becomes an outcome)
    """One call brought no answer; `wait` is the seconds that the server asked to wait."""

    def __init__(self, outcome: Outcome, said: str, wait: float | None = None) -> None:
        super().__init__(f"{outcome.name}: {said}")
        self.outcome = outcome
        self.said = said
        self.wait = wait


class LLMError(MomentRankError):
    """The run can't go on; every answer until then is kept."""


@dataclass(frozen=True)
class Purpose:
    """The section of params.yaml that says how to ask, and what for.

    `hints` are this purpose's own, by the names of outcomes.
    """

    section: str
    wanted: str
    hints: Mapping[str, str] = field(default_factory=dict)

    def hint(self, outcome: Outcome) -> str:
        """Return what to do about an outcome."""
        return self.hints.get(outcome.name, outcome.hint).replace("{section}", self.section)

    def stop(self, failure: CallFailed) -> LLMError:
        """Return the error for a failure after which it is useless to go on."""
        kept = "answers so far are kept; the next run continues from there"
        return LLMError(f"{failure} ({self.hint(failure.outcome)}); {kept}")
