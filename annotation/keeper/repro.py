"""One turn of the loop as a process: `dvc repro push`, its log, and its outcome."""

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from enum import Enum
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import NamedTuple

from annotation.local_server.log_writer import BYTES, GENERATIONS, mask
from pipeline.campaign.campaign import TRY_LATER

COMMAND = (sys.executable, "-m", "dvc", "repro", "push")
LOG = Path(".cache/campaign/keep.log")
TOLD = re.compile(r"(pull|plan|push): |error: |WARNING: ")
"""How lines begin that are shown, not only logged: those of our stages."""
LATER = re.compile(
    rf"exited with {TRY_LATER}\b|Unable to acquire lock|is busy, it is being blocked"
)
"""How DVC reports a stage that could not reach its server, or another DVC running."""
SHOWN_LINES = 5
NOW = LOG.with_name("keep.now.log")
"""The output of the current turn so far."""


class Outcome(Enum):
    """The outcome of a turn: it succeeded, may succeed later, or needs a person."""

    DONE = "done"
    LATER = "later"
    FAILED = "failed"


class Turn(NamedTuple):
    """The outcome of a turn, and the lines that explain it."""

    outcome: Outcome
    text: str


class Repro:
    """Runs turns; a signal that stops the loop does not reach them."""

    def __init__(self, path: Path = LOG) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._log = RotatingFileHandler(
            path, maxBytes=BYTES, backupCount=GENERATIONS, encoding="utf-8", errors="replace"
        )
        self._log.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self._process: subprocess.Popen[bytes] | None = None

    def turn(self) -> Turn:
        """Run one turn to its end, and log its output.

        It writes to its own file, so that it runs to its end even if the loop is killed.
        """
        with NOW.open("w", encoding="utf-8") as stream:
            self._process = subprocess.Popen(  # noqa: S603  (ours)
                COMMAND,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal is for us alone
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
            code = self._process.wait()
        self._process = None
        said = NOW.read_text(encoding="utf-8", errors="replace").splitlines()
        lines = [mask(line, []) for line in said if line.strip()]
        for line in lines:
            self.write(line)
        return read_turn(code, lines)

    def write(self, text: str) -> None:
        """Write a line into the log."""
        self._log.handle(logging.makeLogRecord({"msg": text}))

    def interrupt(self) -> None:
        """Stop the current turn, if there is one, as Ctrl-C would."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGINT)

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def read_turn(code: int, lines: Sequence[str]) -> Turn:
    """Return the outcome of a turn from its exit code and output."""
    messages = [line for line in lines if TOLD.match(line)]
    if not code:
        return Turn(Outcome.DONE, "\n".join(messages))
    outcome = Outcome.LATER if any(map(LATER.search, lines)) else Outcome.FAILED
    reason = [line for line in messages if line.startswith("error: ")] or lines
    shown = "\n".join(reason[-SHOWN_LINES:])
    return Turn(outcome, shown or f"it exited with {code} without output")
