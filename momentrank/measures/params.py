"""The parameters of measures, and the values that they accept."""

import math
import re

import numpy as np

NOTHING = object()
ROUND = 12
"""Digits: a float that has fewer, except for a rounding error, is shortened."""


class Param:
    """A parameter; `allowed` describes the values that it `accepts`."""

    allowed = ""

    def __init__(self, default: object = NOTHING, desc: str = "", *, varies: bool = False) -> None:
        """Require the parameter if it has no default.

        One that `varies` has other defaults in other conventions, and so is shown if set.
        """
        self.required, self.default, self.desc = default is NOTHING, default, desc
        self.varies = varies

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid."""
        raise NotImplementedError

    def show(self, value: object) -> str:
        """Return a value as in a measure's name."""
        return repr(value)


class Number(Param):
    """A number from `low` to `high`, inclusive."""

    def __init__(self, low: float, high: float, default: object = NOTHING, desc: str = "") -> None:
        super().__init__(default, desc)
        self._low, self._high = low, high
        self.allowed = f"a number from {low:g} to {high:g}"

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid; booleans are not numbers here."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self._low <= value <= self._high


RANGE = re.compile(r"(\d*\.?\d+):(\d*\.?\d+)(?::(\d*\.?\d+))?")
STEP, MIN_STEP = 0.05, 0.001
"""Between the thresholds of a range without a step."""


class Threshold(Number):
    """A number from 0 to 1, or a range of them, `0.5:0.95` or `0.5:0.9:0.1`, to average over."""

    def __init__(self, default: object = NOTHING, desc: str = "") -> None:
        super().__init__(0, 1, default, desc)
        self.allowed += " or a range in whole steps: 0.5:0.95 (by 0.05), 0.5:0.9:0.1"

    def accepts(self, value: object) -> bool:
        return bool(thresholds(value)) if isinstance(value, str) else super().accepts(value)

    def show(self, value: object) -> str:
        return str(value)


def thresholds(text: str) -> list[float]:
    """Return the thresholds of a range, both ends included; none if it is not a valid range."""
    match = RANGE.fullmatch(text)
    low, high, step = (float(n or STEP) for n in match.groups()) if match else (1.0, 0.0, 1.0)
    count = round((high - low) / step, ROUND) if step >= MIN_STEP else -1.0
    if not 0 <= low < high <= 1 or not float(count).is_integer():
        return []
    return [round(low + n * step, ROUND) for n in range(int(count) + 1)]


MOST = 10_000


class Whole(Param):
    """A whole number from 1 to `MOST`."""

    allowed = f"1, 2, 3, ... {MOST}"

    def accepts(self, value: object) -> bool:
        return type(value) is int and 1 <= value <= MOST


class Choice(Param):
    """One of several words or booleans; the first is the default."""

    def __init__(self, *choices: str | bool, desc: str = "", varies: bool = False) -> None:
        super().__init__(choices[0], desc, varies=varies)
        self.choices = choices
        self.allowed = " or ".join(map(repr, choices))

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid; 1 is not True."""
        return any(type(value) is type(choice) and value == choice for choice in self.choices)


def plain(value: object) -> object:
    """Return numpy's values as Python's, 0.6000000000000001 as 0.6, and `.50:.95` as 0.5:0.95."""
    if isinstance(value, str) and (match := RANGE.fullmatch(value)):
        low, high, step = (float(number or STEP) for number in match.groups())
        return ":".join(f"{number:.{ROUND}g}" for number in (low, high, step)[: 2 + (step != STEP)])
    if isinstance(value, np.floating):
        value = float(str(value))  # as numpy prints it: float32's 0.55 is 0.55
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isfinite(value):
        rounded = f"{value:.{ROUND}g}"
        return float(rounded) if len(rounded) < ROUND else value
    return value


CUTOFF = Whole(desc="the number of results that count")
DEPTH = Whole(None, desc="the number of results that count; None: all")
IOU = Threshold(desc="the IoU threshold, or a range of them")
REL = Whole(1, desc="the lowest relevant level")
GAIN = Choice("log2", "exp-log2", desc="gain: the level, or 2^level - 1", varies=True)
STRICT = Choice(True, False, desc="IoU > threshold, not >=", varies=True)
NOT_STRICT = Choice(False, True, desc="IoU > threshold, not >=", varies=True)
JUDGED_ONLY = Choice(False, True, desc="remove unjudged results before scoring")
SILENCE = Choice(False, True, desc="count queries without a relevant moment: 1 if unanswered")
ONCE = Choice(False, True, desc="overlap: each segment counts once")
BIN = Number(1e-3, 1e9, 300, desc="bin: the length of a bin in seconds")
TOL = Number(1e-3, 1e9, 15, desc="tol: seconds after which a user gives up")
SEEN = Choice("all", "relevant", desc="tol: what counts as seen")
