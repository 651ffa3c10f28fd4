"""Progress: one bar after another on a terminal, and now and then a line in a log."""

import io
import time

import pytest

from momentrank.cli.progress import Progress


class Stream(io.StringIO):
    def __init__(self, live):
        super().__init__()
        self.isatty = lambda: live


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still until it is told."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_terminal_shows_one_line_that_ends_when_all_is_done(clock, monkeypatch):
    monkeypatch.setattr("sys.stderr", stream := Stream(live=True))
    done = Progress().begin("stability", 4)
    for seconds in (0.5, 0.01, 0.5, 0.01):
        clock[0] += seconds
        done(1)
    updates = stream.getvalue().split("\r")[1:]
    assert [line.split("|")[0] for line in updates] == [
        f"stability: {n} " for n in (" 25%", " 75%", "100%")
    ]
    assert updates[-1].endswith("| 1 s\n")
    assert updates[0].count("#") == 7


def test_a_log_gets_a_line_every_half_minute_and_none_of_short_work(clock, monkeypatch):
    monkeypatch.setattr("sys.stderr", stream := Stream(live=False))
    bar = Progress()
    bar.begin("ties", 1)(1)
    done = bar.begin("label-noise", 10)
    for _ in range(10):
        clock[0] += 7
        done(1)
    lines = stream.getvalue().splitlines()
    assert [line.split("|")[0] for line in lines] == ["label-noise:  50% ", "label-noise: 100% "]
    assert "\r" not in stream.getvalue()
