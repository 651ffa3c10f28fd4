"""Publish a package: upload what is missing or differs, check all of it, and finish.

After an interrupted run the next one continues: it lists the files that are there.
"""

import hashlib
import time
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from pipeline.core import cli
from pipeline.core.progress import progress
from pipeline.publication.package import LocalFile, Package, PublishError
from pipeline.publication.target import TRIES, Address, PassingError, Target

FIRST_WAIT, LONGEST_WAIT = 2.0, 120.0
"""Seconds."""
T = TypeVar("T")
Sleep = Callable[[int | float], None]


class Difference(NamedTuple):
    """What a place lacks, and what it has that is not part of this version."""

    missing: list[LocalFile]
    obsolete: list[str]


def publish(package: Package, target: Target, sleep: Sleep = time.sleep) -> Address:
    """Upload, check every SHA-256, and publish; return the address.

    Raises:
        PublishError: the version is published with other files, an uploaded file reads back
            differently, or the server refuses or fails too often.
    """
    with closing(target):
        retry(lambda: _upload(package, target), sleep)
        for file in progress("check", package.files, unit="files"):
            _check(file, target, sleep)
        return retry(target.finish, sleep)


def compare(package: Package, target: Target) -> Difference:
    """Return what to upload and what to remove."""
    uploaded = target.list_files()
    missing = [file for file in package.files if uploaded.get(file.path) not in file.fingerprints]
    return Difference(missing, sorted(uploaded.keys() - {file.path for file in package.files}))


def retry(step: Callable[[], T], sleep: Sleep = time.sleep) -> T:
    """Do a step; repeat it, with growing pauses, while its failure may be temporary."""
    retrying = Retrying(
        retry=retry_if_exception(_is_worth_waiting),
        stop=stop_after_attempt(TRIES),
        wait=_wait,
        before_sleep=_log,
        sleep=sleep,
        reraise=True,
    )
    try:
        return retrying(step)
    except PassingError as exc:
        raise PublishError(
            f"{exc}; nothing is lost: run the command again to continue from here"
        ) from exc


def _is_worth_waiting(failure: BaseException) -> bool:
    return isinstance(failure, PassingError) and (failure.wait or 0) <= LONGEST_WAIT


def _wait(state: RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome else None
    asked = failure.wait if isinstance(failure, PassingError) else None
    return FIRST_WAIT * 2.0 ** (state.attempt_number - 1) if asked is None else asked


def _log(state: RetryCallState) -> None:
    if state.outcome:
        cli.log(f"{state.outcome.exception()}; trying again in {state.upcoming_sleep:.0f} s")


def _upload(package: Package, target: Target) -> None:
    published = target.open()
    missing, obsolete = compare(package, target)
    if published:
        _refuse_difference(package, target, [*(file.path for file in missing), *obsolete])
    size = sum(file.size for file in missing)
    cli.log(
        f"{target.place}: {len(missing)} of {len(package.files)} files to upload"
        f" ({size / 1e6:,.1f} MB), {len(obsolete)} to remove{': ' if obsolete else ''}"
        f"{', '.join(obsolete)}"
    )
    if missing or obsolete:
        target.put(missing, obsolete)


def _refuse_difference(package: Package, target: Target, names: list[str]) -> None:
    if names:
        raise PublishError(
            f"{target.place}: version {package.manifest['version']} is published there, and"
            f" {names[0]}{f' and {len(names) - 1} more' if names[1:] else ''} differs: raise"
            " release.version in params.yaml, then dvc repro release"
        )


def _check(local: LocalFile, target: Target, sleep: Sleep) -> None:
    sha256 = retry(lambda: _hash(target, local.path), sleep)
    if sha256 != local.sha256:
        raise PublishError(
            f"{target.place}: {local.path} reads back with another SHA-256 ({sha256}, not"
            f" {local.sha256}), so it was not published; run the command again"
        )


def _hash(target: Target, path: str) -> str:
    digest = hashlib.sha256()
    for chunk in target.read(path):
        digest.update(chunk)
    return digest.hexdigest()
