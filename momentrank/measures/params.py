"""The parameters of measures."""

from ir_measures.measures.base import ParamInfo

NOTHING = object()


class Param(ParamInfo):
    """A parameter; `allowed` describes the values that it `accepts`."""

    allowed = ""

    def __init__(self, default: object = NOTHING, desc: str = "") -> None:
        """Require the parameter if it has no default."""
        super().__init__(  # type: ignore[no-untyped-call]  # (ir_measures has no types)
            required=default is NOTHING, default=default, desc=desc
        )

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid."""
        raise NotImplementedError


class Number(Param):
    """A number from `low` to `high`, inclusive."""

    def __init__(self, low: float, high: float, default: object = NOTHING, desc: str = "") -> None:
        """Allow `low` to `high`."""
        super().__init__(default, desc)
        self._low, self._high = low, high
        self.allowed = f"a number from {low:g} to {high:g}"

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid; booleans are not numbers here."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self._low <= value <= self._high


MOST = 10_000


class Whole(Param):
    """A whole number from 1 to `MOST`."""

    allowed = f"1, 2, 3, ... {MOST}"

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid."""
        return type(value) is int and 1 <= value <= MOST


class Choice(Param):
    """One of several words or booleans; the first is the default."""

    def __init__(self, *choices: str | bool, desc: str = "") -> None:
        """Allow `choices`."""
        super().__init__(choices[0], desc)
        self._choices = choices
        self.allowed = " or ".join(map(repr, choices))

    def accepts(self, value: object) -> bool:
        """Tell whether a value is valid; 1 is not True."""
        return any(type(value) is type(choice) and value == choice for choice in self._choices)


CUTOFF = Whole(desc="the number of results that count")
DEPTH = Whole(None, desc="the number of results that count (default: all)")
IOU = Number(0, 1, desc="the IoU threshold")
REL = Whole(1, desc="the lowest relevant level")
DCG = Choice("log2", "exp-log2", desc="gain: the level, or 2^level - 1")
STRICT = Choice(True, False, desc="IoU > threshold, not >=")
NOT_STRICT = Choice(False, True, desc="IoU > threshold, not >=")
JUDGED_ONLY = Choice(False, True, desc="remove unjudged results before scoring")
ONCE = Choice(False, True, desc="overlap: each segment counts once")
BIN = Number(1e-3, 1e9, 300, desc="bin: the length of a bin in seconds")
TOL = Number(1e-3, 1e9, 15, desc="tol: seconds after which a user gives up")
SEEN = Choice("all", "relevant", desc="tol: what counts as seen")
