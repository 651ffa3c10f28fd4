"""Parse the values of options; argparse reports errors with the option."""

import argparse
import math

MOST_DIGITS = 15


def parse_non_negative(text: str) -> int:
    """Parse a whole number of 0 or more, such as a random seed."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of 0 or more, not {text!r}")
    return int(text)


def parse_positive(text: str) -> int:
    """Parse a whole number above 0."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, not {text!r}")
    return int(text)


def parse_positives(text: str) -> list[int]:
    """Parse comma-separated whole numbers above 0."""
    return list(map(parse_positive, text.split(",")))


def parse_variance(text: str) -> float:
    """Parse a variance."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a variance in square seconds, not {text!r}")
    return number


def parse_variances(text: str) -> list[float]:
    """Parse comma-separated variances."""
    return list(map(parse_variance, text.split(",")))


def parse_digits(text: str) -> int:
    """Parse a number of decimal places."""
    if not text.isdecimal() or int(text) > MOST_DIGITS:
        raise argparse.ArgumentTypeError(f"must be 0 to {MOST_DIGITS}, not {text!r}")
    return int(text)
