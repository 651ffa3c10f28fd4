"""Keep a campaign going: turn after turn, until nothing is left or a person is needed."""

import argparse
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from filelock import FileLock, Timeout

from annotation.keeper.repro import LOG, Outcome, Repro, Turn
from annotation.label_studio import settings
from annotation.label_studio.connection import NO_SERVER
from pipeline.campaign.campaign import Campaign, CampaignError, require_open_campaign
from pipeline.campaign.next_step import Situation, format_steps, next_steps
from pipeline.core import cli, files, git, tables
from pipeline.core.params import load

LOCK = Path(".cache/campaign/keep.lock")
EVERY = timedelta(minutes=10)
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(hours=1)
"""How long to wait after the first failure of server or network, and at most."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Runner(Protocol):
    """What runs a turn of the loop."""

    def turn(self) -> Turn:
        """Run one turn to its end."""

    def write(self, text: str) -> None:
        """Write a line into the log."""

    def interrupt(self) -> None:
        """Stop the current turn."""


class Keeper:
    """A loop of turns, one `every` interval; `stop` ends it after the current turn."""

    def __init__(self, runner: Runner, every: timedelta, *, commit: bool) -> None:
        self._runner, self._every, self._commit = runner, every, commit
        self._stopped = threading.Event()

    def run(self) -> None:
        """Run turns until nothing is left, or until stopped.

        Raises:
            CampaignError: a turn failed in a way that waiting does not fix.
            MomentRankError: the campaign's files or params.yaml are not valid.
        """
        failures = 0
        while not self._stopped.is_set():
            campaign = require_running()
            turn = self._runner.turn()
            if self._commit:
                commit_campaign(campaign)
            if turn.outcome is Outcome.FAILED:
                raise CampaignError(
                    f"`dvc repro push` failed, and waiting does not help:\n{turn.text}\nFix it,"
                    f" then start `campaign keep` again (full output: {LOG})"
                )
            failures = failures + 1 if turn.outcome is Outcome.LATER else 0
            if turn.outcome is Outcome.DONE and not self._go_on(campaign, turn):
                return
            if not self._stopped.is_set():
                self._wait(turn, failures)
        self._say("stopped; people can continue judging. Start it again with the same command")

    def stop(self, *_: object) -> None:
        """End after the current turn; on a second call, end that as well."""
        if self._stopped.is_set():
            self._runner.interrupt()
        else:
            self._say("stopping after the current turn; repeat to stop that as well")
        self._stopped.set()

    def _go_on(self, campaign: Campaign, turn: Turn) -> bool:
        """Log what a turn did, and return whether there will be another."""
        state = files.read_json(tables.STATE)
        self._say(turn.text)
        if is_wanted(state):
            return True
        steps = format_steps(next_steps(Situation(campaign, state)))
        self._say("\n".join(["nobody has anything left to judge: the loop ends", *steps]))
        return False

    def _wait(self, turn: Turn, failures: int) -> None:
        if failures:
            pause = min(FIRST_WAIT * 2 ** min(failures - 1, 20), max(LONGEST_WAIT, self._every))
            number = f" ({failures} times in a row)" if failures > 1 else ""
            self._say(f"{turn.text}\nthis failed{number}; next try at {_clock(pause)}")
        else:
            pause = self._every
            self._say(f"next run at {_clock(pause)}")
        self._stopped.wait(pause.total_seconds())

    def _say(self, text: str) -> None:
        for line in text.splitlines():
            cli.log(f"{_clock()}  {line}")
            self._runner.write(line)


def is_wanted(state: Mapping[str, Any]) -> bool:
    """Return whether people have something to judge, or will have without intervention."""
    return bool(state["later"] or any(who["open"] for who in state["annotators"].values()))


def require_running() -> Campaign:
    """Return the campaign, if the loop can continue.

    Raises:
        CampaignError: none is open here, or no server is configured.
        MomentRankError: params.yaml or the campaign's file is not valid.
    """
    campaign = require_open_campaign()
    load()
    if settings.endpoint() is None:
        raise CampaignError(NO_SERVER)
    return campaign


def commit_campaign(campaign: Campaign) -> None:
    """Commit people's work and decisions, if they have changed."""
    folder = tables.CAMPAIGN
    if git.run("status", "--porcelain", "--", str(folder)).stdout.strip():
        number = len(tables.JUDGMENTS.read())
        git.commit([folder, Path("dvc.lock")], f"{campaign.name}: {number:,} judgments")


@contextmanager
def alone(path: Path = LOCK) -> Iterator[None]:
    """Hold the lock of the loop in this checkout.

    Raises:
        CampaignError: it is already running here.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise CampaignError(
            f"{path}: `campaign keep` is already running in this folder (its log: {LOG})"
        ) from None
    try:
        yield
    finally:
        lock.release()


def keep(options: argparse.Namespace) -> None:
    """Run the loop; SIGTERM and Ctrl-C end it between two turns."""
    with alone():
        runner = Repro()
        keeper = Keeper(runner, options.every, commit=options.commit)

        def stop(_signal: int, _frame: FrameType | None) -> None:
            keeper.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        try:
            keeper.run()
        finally:
            runner.close()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument(
        "--every",
        type=duration,
        default=EVERY,
        help="interval between runs, such as 90s, 10m or 2h (10m)",
    )
    parser.add_argument(
        "--no-commit",
        dest="commit",
        action="store_false",
        help="don't commit datasets/campaign; by default it is committed whenever it has changed",
    )


def duration(text: str) -> timedelta:
    """Parse an argument such as `90s`, `10m`, `2h` or `1d`; a bare number is minutes."""
    match = re.fullmatch(r"([1-9]\d{0,5})([smhd]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text}: must be like 90s, 10m or 2h")
    return timedelta(seconds=int(match[1]) * UNITS[match[2] or "m"])


def _clock(later: timedelta = timedelta()) -> str:
    return f"{datetime.now(UTC) + later:%Y-%m-%d %H:%M:%S} UTC"
