"""Times as tables write them: seconds, clock times, decimal commas; all become seconds."""

import re
from datetime import time, timedelta

_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d{1,2}(?:[.,]\d+)?)")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_BASE = 60


def seconds(value: object, *, decimal_comma: bool = False) -> object:
    """Return a time in seconds; other values are returned as they are, to be rejected.

    `1:23` is minutes and seconds, `00:01:23.5` begins with hours. `12,5` is 12.5 s. `1,234` may
    be 1.234 s or 1,234 s: it is read only where the file's own format writes a
    `decimal_comma`.
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, time):
        value = value.isoformat()
    if not isinstance(value, str):
        return value
    text = value.strip()
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, rest = int(clock[1] or 0), int(clock[2]), float(clock[3].replace(",", "."))
        is_clock = rest < _BASE and (clock[1] is None or minutes < _BASE)
        return (hours * _BASE + minutes) * _BASE + rest if is_clock else value
    if _COMMA.fullmatch(text) and (decimal_comma or not _THOUSANDS.fullmatch(text)):
        return float(text.replace(",", "."))
    return value
