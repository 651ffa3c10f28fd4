"""The open campaign and its server: where every command that asks people begins."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from annotation.label_studio import keys, settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.keys import Signer
from annotation.roster.roster import Roster, read_roster
from pipeline.campaign.campaign import (
    Campaign,
    CampaignError,
    describe_absence,
    load_campaign,
)
from pipeline.campaign.phases import require_campaign
from pipeline.core import cli
from pipeline.core.params import load

LOCK = Path(".cache/campaign/lock")
PATIENCE_SECONDS = 900
NO_SERVER = (
    f"no Label Studio is configured ({settings.URL} and {settings.TOKEN}, in the environment or in"
    f" {settings.ENV}); to start one: make label-studio"
)


class Connection(NamedTuple):
    """An open campaign, the server it runs on, and what identifies its tasks."""

    campaign: Campaign
    studio: LabelStudio
    signer: Signer
    roster: Roster


def connect(name: str) -> Connection | None:
    """Return the campaign and its server; if either is missing, log why and return None.

    Raises:
        MomentRankError: the campaign's files are not valid, or its secret is missing.
    """
    campaign = load_campaign()
    if campaign is None or campaign.closed:
        cli.log(f"{name}: {describe_absence(campaign)}")
        return None
    connection = _connect(campaign)
    if connection is None:
        cli.log(f"{name}: {NO_SERVER}; until then nothing changes")
    return connection


def require_connection(command: str) -> Connection:
    """Return the campaign and its server, for a command (`phases.ALLOWED`) that needs both.

    Raises:
        CampaignError: the campaign is in no state for it, or no server is configured.
        MomentRankError: the campaign's files are not valid, or its secret is missing.
    """
    connection = _connect(require_campaign(command))
    if connection is None:
        raise CampaignError(NO_SERVER)
    return connection


def _connect(campaign: Campaign) -> Connection | None:
    params, endpoint = load(), settings.endpoint()
    if endpoint is None:
        return None
    people = read_roster()
    studio = LabelStudio(endpoint, params.pull.page)
    studio.compare_version()
    return Connection(campaign, studio, keys.signer(campaign.id), people)


@contextmanager
def hold_lock(name: str) -> Iterator[None]:
    """Hold the lock of this checkout's campaign; wait while another process holds it.

    A pull or push whose parent was killed lives on, and must not overlap with the next one.

    Raises:
        CampaignError: another process has held it for a quarter of an hour.
    """
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        cli.log(f"{name}: another pull or push is running here; waiting for it to finish")
        try:
            lock.acquire(timeout=PATIENCE_SECONDS)
        except Timeout:
            raise CampaignError(
                f"{LOCK}: another pull or push has held it for {PATIENCE_SECONDS} s; find it"
                " (ps aux | grep annotation), stop it, and try again"
            ) from None
    try:
        yield
    finally:
        lock.release()
