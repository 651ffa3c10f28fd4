"""What all places share: the address of a publication, the comparison of files, and retries."""

from collections.abc import Mapping
from typing import NamedTuple, NoReturn

import tenacity

from pipeline.core import cli
from pipeline.publication.package import Package, PublishError

PASSING = {408, 412, 429}
"""Too slow, overtaken by another change, too many requests."""
SERVER_ERROR = 500
REFUSED = {401: "the token is not valid", 403: "the token does not allow it"}
SHOWN = 300


class PassingError(PublishError):
    """A failure that may be temporary: no connection, a server error, too many requests."""


class Address(NamedTuple):
    """Where a version was published: its place and address, and its revision and DOI if any."""

    place: str
    url: str
    revision: str | None = None
    doi: str | None = None


def status_error(what: str, status: int, text: str) -> PublishError:
    """Return the error for a response's status: a temporary one, or one that names the reason."""
    if status in PASSING or status >= SERVER_ERROR:
        return PassingError(f"{what}: status {status}")
    reason = REFUSED.get(status, " ".join(text.split())[:SHOWN])
    return PublishError(f"{what}: status {status}: {reason}")


def refuse_difference(
    package: Package, found: Mapping[str, str], place: str, *, published: bool = False
) -> None:
    """Refuse files at a place, by path and SHA-256, that are not exactly the package's.

    Raises:
        PublishError: they are not; or the version is `published` there with other files.
    """
    wanted = {file.path: file.sha256 for file in package.files}
    if not (names := sorted({path for path, _ in wanted.items() ^ found.items()})):
        return
    what = f"{names[0]}{f' and {len(names) - 1} more' if names[1:] else ''}"
    if published:
        raise PublishError(
            f"{place}: version {package.manifest['version']} is published there, and {what}"
            " differs: raise release.version in params.yaml, then dvc repro release"
        )
    raise PublishError(
        f"{place}: {what} reads back with another SHA-256, so nothing was published; run the"
        " command again"
    )


def _log(state: tenacity.RetryCallState) -> None:
    if state.outcome:
        cli.log(f"{state.outcome.exception()}; trying again in {state.upcoming_sleep:.0f} s")


def _give_up(state: tenacity.RetryCallState) -> NoReturn:
    failure = state.outcome.exception() if state.outcome else None
    raise PublishError(f"{failure}; run the command again to continue from here") from failure


repeat = tenacity.retry(
    retry=tenacity.retry_if_exception_type(PassingError),
    stop=tenacity.stop_after_attempt(5),
    wait=tenacity.wait_exponential(multiplier=2),
    before_sleep=_log,
    retry_error_callback=_give_up,
)
"""A decorator: call again, after 2, 4, 8 and 16 seconds, while the failure may be temporary."""
