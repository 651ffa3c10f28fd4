"""Command lines: help, one-line errors, messages and progress."""

import argparse
import io
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from tqdm import tqdm

from momentrank.errors import MomentRankError, explain_argument
from momentrank.ids import reveal

EVERY = 30.0
"""Seconds between progress lines in a log."""


def parser() -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of the running module."""
    main = sys.modules["__main__"]
    return _Parser(
        prog=f"python -m {main.__spec__.name}" if main.__spec__ else None,
        description=main.__doc__,
        epilog="Reads baselines/params.yaml. `dvc repro baselines/dvc.yaml` runs all stages.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with the message, and what was meant."""
        super().error(explain_argument(message, self.format_help()))


def run_command(work: Callable[[], None]) -> None:
    """Do a command's work; an error prints one line and sets the exit code; Ctrl-C is 130."""
    try:
        work()
    except MomentRankError as exc:
        sys.stderr.write(f"error: {reveal(str(exc))}\n")
        sys.exit(exc.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: finished work is kept; the next run continues from there\n")
        sys.exit(130)


def log(text: str) -> None:
    """Write one line to standard error, above any progress bar."""
    tqdm.write(reveal(text), file=sys.stderr)


def progress(
    what: str, iterable: Iterable[Any] | None = None, *, total: int | None = None, unit: str
) -> "tqdm[Any]":
    """Return a progress bar on standard error; in a log, a line at most every `EVERY` seconds."""
    options: dict[str, Any] = {}
    if not sys.stderr.isatty():
        options = {"file": _Lines(), "ascii": True, "ncols": 0}
        options |= dict.fromkeys(["mininterval", "maxinterval", "delay"], EVERY)
    return tqdm(iterable, what, total, unit=f" {unit}", **options)


class _Lines(io.StringIO):
    """Standard error, where each state of the bar is a line."""

    def write(self, text: str) -> int:
        if line := text.strip():
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        return len(text)
