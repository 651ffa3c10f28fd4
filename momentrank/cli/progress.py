"""Progress of long work: a bar on a terminal, else an occasional line."""

import sys
import time
from collections.abc import Callable

EVERY, EVERY_LINE = 0.1, 30.0
"""Seconds between states of the bar, and between lines in a log."""
WIDTH = 30


class Progress:
    """One bar after another on standard error; quick work writes no line in a log."""

    def __init__(self) -> None:
        """Check whether standard error is a terminal."""
        self._live = sys.stderr.isatty()
        self._label, self._total, self._done = "", 0, 0
        self._began = self._written = 0.0

    def begin(self, label: str, total: int) -> Callable[[int], None]:
        """Begin the next bar; call the returned function with the number of new steps."""
        self._label, self._total, self._done = label, total, 0
        self._began = time.monotonic()
        self._written = self._began - (EVERY if self._live else 0.0)
        return self._advance

    def _advance(self, steps: int) -> None:
        self._done += steps
        now = time.monotonic()
        over = self._live and self._done >= self._total
        if over or now - self._written >= (EVERY if self._live else EVERY_LINE):
            self._written = now
            self._write(now - self._began, over=over)

    def _write(self, seconds: float, *, over: bool) -> None:
        share = self._done / self._total if self._total else 1.0
        text = f"{self._label}: {share:4.0%} |{'#' * int(WIDTH * share):{WIDTH}}| {seconds:.0f} s"
        sys.stderr.write(f"\r{text}{chr(10) if over else ''}" if self._live else f"{text}\n")
        sys.stderr.flush()
