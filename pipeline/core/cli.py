"""Command lines: help, numbers as arguments, errors in one line, messages and metrics."""

import argparse
import errno
import logging
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from momentrank.errors import MomentRankError, UsageError, explain_argument
from pipeline.core import files
from pipeline.core.text import reveal

DAG = files.DAG
METRICS = Path("datasets/work/metrics")
DISK_REFUSES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES}
"""Full, over the quota, read-only, not allowed: nothing that our code could avoid."""


def run_stage(main: Callable[[], None]) -> None:
    """Run a stage as a command: `--help` shows its module's docstring, errors are one line."""
    parser(
        "Reads params.yaml in the current folder. `dvc repro` runs it with the others."
    ).parse_args()
    run_command(main)


def parser(epilog: str) -> argparse.ArgumentParser:
    """Return a parser whose help is the docstring of the module that runs."""
    return Parser(
        prog=_prog(),
        description=sys.modules["__main__"].__doc__,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the choice or option that was meant."""

    def error(self, message: str) -> NoReturn:
        """Exit with the message."""
        super().error(explain_argument(message, self.format_help()))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401  (argparse's)
        """Refuse unknown options here, where those that may be meant are known."""
        options, rest = super().parse_known_args(args, namespace)
        if any(word.startswith("-") for word in rest):
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return options, rest


def wants_estimate(what: str = "print the cost; send nothing") -> bool:
    """Parse a stage's arguments; tell whether only its cost is asked for. `what` is the help."""
    arguments = parser("Reads params.yaml in the current folder. `dvc repro` runs it.")
    arguments.add_argument("--estimate", action="store_true", help=what)
    return bool(arguments.parse_args().estimate)


def run_command(work: Callable[[], None]) -> None:
    """Do the work of a command; errors are one line.

    Exits with the error's own code (1 data, 2 usage), 130 on Ctrl-C.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        work()
    except MomentRankError as exc:
        sys.stderr.write(f"error: {reveal(str(exc))}\n")
        sys.exit(exc.exit_code)
    except MemoryError:
        _exit_with("not enough memory")
    except OSError as exc:
        if exc.errno not in DISK_REFUSES:
            raise
        _exit_with(f"{exc.filename or 'the disk'}: {os.strerror(exc.errno).lower()}")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: finished work is kept; the next run continues from there\n")
        sys.exit(130)


def _exit_with(message: str) -> NoReturn:
    sys.stderr.write(f"error: {message}\n")
    sys.exit(1)


def _prog() -> str:
    spec = sys.modules["__main__"].__spec__
    return f"python -m {spec.name}" if spec else Path(sys.argv[0]).name


def write_metrics(stage: str, values: Mapping[str, object]) -> None:
    """Write the stage's figures where `dvc metrics show` finds them."""
    files.write_json(METRICS / f"{stage}.json", values)


def keep_private(path: Path) -> None:
    """Make a file of secrets unreadable for others, and log it."""
    try:
        if files.make_private(path):
            log(f"{path}: others could read it; from now on only you can (mode 600)")
    except files.FileError as exc:
        log(f"WARNING: {exc}")


def log(text: str) -> None:
    """Write one line to standard error, above the progress bar where there is one."""
    tqdm.write(
        f"{reveal(text)}\n", file=sys.stderr, end=""
    )  # in one piece: other processes write too


def confirm(question: str, ask: Callable[[str], str] = input) -> bool:
    """Ask a question; tell whether the answer is `y`.

    Raises:
        UsageError: nobody is there to answer.
    """
    try:
        return ask(f"{question} [y/N] ").strip() == "y"
    except EOFError as exc:
        raise UsageError("nobody answers; --yes goes on without asking") from exc


def parse_non_negative(text: str) -> int:
    """Parse an argument that is a whole number of 0 or more."""
    return _at_least(0, int(text))


def parse_positive(text: str) -> int:
    """Parse an argument that is a whole number of 1 or more."""
    return _at_least(1, int(text))


def _at_least(least: int, number: int) -> int:
    if number < least:
        raise argparse.ArgumentTypeError(f"{number}: must be {least} or more")
    return number


def parse_positive_float(text: str) -> float:
    """Parse an argument that is a finite number above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: must be above 0")
    return number


def parse_share(text: str) -> float:
    """Parse an argument that is a number from 0 to 1."""
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text}: must be between 0 and 1")
    return number


def parse_positive_share(text: str) -> float:
    """Parse an argument that is a number above 0 and up to 1."""
    parse_share(text)
    return parse_positive_float(text)
