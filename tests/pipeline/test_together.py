"""Work at once: all results, and the first error ends it."""

import threading
import time

import pytest

from pipeline.core.parallel import map_in_threads


def test_each_item_has_its_result():
    assert map_in_threads(lambda number: number * 2, [3, 1, 2], 2, "x") == {3: 6, 1: 2, 2: 4}
    assert map_in_threads(str, [], 2, "x") == {}


def test_workers_work_at_once():
    meeting = threading.Barrier(3, timeout=10)
    assert len(map_in_threads(lambda _: meeting.wait(), range(3), 3, "x")) == 3


def test_an_error_ends_it_without_the_rest():
    begun = []

    def work(number):
        begun.append(number)
        time.sleep(0.01)
        raise ValueError(f"number {number}")

    with pytest.raises(ValueError, match="number 0"):
        map_in_threads(work, range(1000), 1, "x")
    assert len(begun) < 1000
