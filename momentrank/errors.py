"""The root of all errors that a user can cause.

A message names the file, the line and the field, and says what to do next. Commands print it
and exit with `exit_code`; nothing else in the code ends a run.
"""

import re
import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).parent)


class MomentRankError(Exception):
    """An error that the user can fix. Its text is the whole message."""

    exit_code = 1


class UsageError(MomentRankError):
    """An error in the command line or parameters, not in the data."""

    exit_code = 2


def explain_argument(message: str, help_text: str) -> str:
    """Return argparse's message with the choice or option that was meant, and without our names."""
    from difflib import get_close_matches

    decimal = r"invalid \w*(?:float|share) value: (.*)"
    message = re.sub(decimal, r"\1 is not a number (such as 0.5)", message)
    message = re.sub(r"invalid \w+ value: (.*)", r"\1 is not a whole number", message)
    choice = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
    option = re.search(r"unrecognized arguments: --?([^\s=]+)", message)
    near = []
    if choice:
        near = get_close_matches(choice[1], re.findall(r"[^\s,']+", choice[2]), n=1)
    elif option:
        names = re.findall(r"--([\w-]+)", help_text)
        near = [f"--{name}" for name in get_close_matches(option[1], names, n=1)]
    return f"{message}; did you mean {near[0]}?" if near else message


def warn(message: str) -> None:
    """Warn the code that called the package; the place is that of the call."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
