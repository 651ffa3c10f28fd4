"""The root of all errors that a user can cause.

A message names the file, the line and the field, and says what to do next. Commands print it
and exit with `exit_code`; nothing else in the code ends a run.
"""

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


def warn(message: str) -> None:
    """Warn the code that called the package; the place is that of the call."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
