"""Numbers of a command line, checked as they are read (`type=` of argparse)."""

import math
from argparse import ArgumentTypeError


def natural(text: str) -> int:
    """Read a whole number of 0 or more.

    Raises:
        ArgumentTypeError: it is less.
    """
    return _whole(text, 0)


def count(text: str) -> int:
    """Read a whole number of 1 or more.

    Raises:
        ArgumentTypeError: it is less.
    """
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    number = int(text)
    if number < least:
        raise ArgumentTypeError(f"{text}: must be {least} or more")
    return number


def positive(text: str) -> float:
    """Read a finite number above 0.

    Raises:
        ArgumentTypeError: it is none.
    """
    number = float(text)
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text}: must be above 0")
    return number


def share(text: str) -> float:
    """Read a number from 0 to 1.

    Raises:
        ArgumentTypeError: it is none.
    """
    number = float(text)
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"{text}: must be between 0 and 1")
    return number


def positive_share(text: str) -> float:
    """Read a number above 0 and up to 1.

    Raises:
        ArgumentTypeError: it is none.
    """
    share(text)
    return positive(text)
