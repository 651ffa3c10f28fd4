"""One push at a time into a campaign, from any checkout.

Label Studio has no locks, but numbers its projects in order. So each push creates an empty project,
its ticket; the push whose ticket has the lowest number may write, and removes it at the end. The
ticket's description changes as the push proceeds. A ticket that stays the same for LEASE_SECONDS
belongs to a push that was killed, and is removed; this does not depend on synchronised clocks.
"""

import contextlib
import getpass
import hashlib
import re
import secrets
import socket
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from annotation.label_studio.client import LabelStudio
from annotation.label_studio.errors import StudioError
from annotation.label_studio.records import Project
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, files

CHECKOUT = Path(".cache/campaign/checkout")
TITLE = "MomentRank is at work (goes away by itself)"
TICKET = re.compile(r"MomentRank push into ([0-9a-f-]{36}) by ([^,]+), step (\d+)\.")
LEASE_SECONDS = 60.0
RENEW_SECONDS = 10.0
POLL_SECONDS = 2.0
SETTLE_SECONDS = 0.5
"""A database may show a ticket later than one with a higher number."""
PATIENCE_SECONDS = 900.0


class PushLock:
    """This push's ticket on the server, once it has one."""

    def __init__(self, studio: LabelStudio, campaign: str) -> None:
        self._studio, self._campaign, self._holder = studio, campaign, checkout_id()
        self._ticket: Project | None = None
        self._step, self._renewed = 0, 0.0
        self._watched: dict[int, tuple[str, float]] = {}

    def acquire(self) -> None:
        """Wait until no other push is ahead of this one.

        Raises:
            StudioError: the server can't be reached or fails.
            CampaignError: another push has been running for a quarter of an hour.
        """
        self._ticket = self._studio.create({"title": TITLE, "description": self._text()})
        self._renewed = time.time()
        began, announced = time.monotonic(), False
        while ahead := self._ahead() or self._settled():
            first, holder = next(iter(ahead.items()))
            busy = (
                f"{holder} pushes into this campaign (its lock is project {first.id} on the server)"
            )
            if time.monotonic() - began > PATIENCE_SECONDS:
                raise CampaignError(f"{busy}, for {PATIENCE_SECONDS:.0f} s now; try later")
            if not announced:
                end = f"{datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS):%H:%M:%S} UTC"
                cli.log(f"push: {busy}; waiting for it to finish (if it was killed, until {end})")
                announced = True
            self._forget_dead(ahead)
            self.renew()
            time.sleep(POLL_SECONDS)

    def renew(self) -> None:
        """Show on the server that this push is alive, if it is time to; call before each write.

        Raises:
            StudioError: the ticket is gone: another push took this one for dead.
        """
        if self._ticket is None or 0 <= time.time() - self._renewed < RENEW_SECONDS:
            return
        self._step += 1
        try:
            self._studio.change(self._ticket, {"description": self._text()})
        except StudioError as exc:
            raise StudioError(f"{exc} (is another checkout pushing now?)") from exc
        self._renewed = time.time()

    def release(self) -> None:
        """Remove the ticket; if this fails, the next push removes it."""
        if self._ticket is not None:
            with contextlib.suppress(StudioError):
                self._remove(self._ticket)

    def _text(self) -> str:
        return f"MomentRank push into {self._campaign} by {self._holder}, step {self._step}."

    def _settled(self) -> dict[Project, str]:
        time.sleep(SETTLE_SECONDS)
        return self._ahead()

    def _ahead(self) -> dict[Project, str]:
        """Return the tickets ahead of ours, in order; remove dead ones from this checkout."""
        holders, our_ticket = self._holders(), self._ticket
        if our_ticket is None or our_ticket.id not in {ticket.id for ticket in holders}:
            raise StudioError(f"{self._studio.url}: this push's ticket is gone; push again")
        for ticket, holder in holders.items():
            if holder == self._holder and ticket.id != our_ticket.id:
                self._remove(ticket)
        others = ((ticket, name) for ticket, name in holders.items() if name != self._holder)
        return {ticket: holder for ticket, holder in others if ticket.id < our_ticket.id}

    def _holders(self) -> dict[Project, str]:
        """Return the tickets of all pushes into the campaign in order, with their holders."""
        projects = sorted(self._studio.projects(), key=lambda project: project.id)
        matches = ((project, TICKET.match(project.description)) for project in projects)
        return {
            project: match[2] for project, match in matches if match and match[1] == self._campaign
        }

    def _forget_dead(self, ahead: Iterable[Project]) -> None:
        now = time.monotonic()
        for ticket in ahead:
            text, since = self._watched.get(ticket.id, ("", now))
            if ticket.description != text:
                self._watched[ticket.id] = (ticket.description, now)
            elif now - since > LEASE_SECONDS:
                self._remove(ticket)

    def _remove(self, ticket: Project) -> None:
        if not self._studio.delete_empty(ticket):
            self._studio.change(ticket, {"description": ""})  # no ticket any more, but kept


@contextlib.contextmanager
def hold(studio: LabelStudio, campaign: str) -> Iterator[PushLock]:
    """Hold the campaign's lock on its server.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: another push has held it for a quarter of an hour.
    """
    lock = PushLock(studio, campaign)
    try:
        lock.acquire()
        yield lock
    finally:
        lock.release()


def checkout_id() -> str:
    """Return this checkout's identity; a copy of it elsewhere has another."""
    if not CHECKOUT.is_file():
        with files.unfinished(CHECKOUT) as stream:
            stream.write(secrets.token_hex(16))
    identity = f"{CHECKOUT.read_text(encoding='utf-8')} {Path.cwd()}"
    return f"{_user()}@{socket.gethostname()} {hashlib.sha256(identity.encode()).hexdigest()[:8]}"


def _user() -> str:
    try:
        return re.sub(r"[,\s]", "-", getpass.getuser())
    except (KeyError, OSError):  # in a container, a number may have no name
        return "somebody"
