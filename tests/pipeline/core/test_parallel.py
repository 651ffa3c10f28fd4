"""Parallel work: all results, the first error ends it, and its progress."""

import os
import threading
import time

import psutil
import pytest

from pipeline.core import parallel, progress
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

    with pytest.raises(ValueError, match="number"):
        map_in_threads(work, range(1000), 1, "x")
    assert len(begun) < 1000


def test_a_log_gets_whole_lines_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    with progress.progress("rewrite", total=40, unit="texts") as bar:
        for _ in range(40):
            time.sleep(0.01)
            bar.update(1)
    err = capsys.readouterr().err
    lines = err.splitlines()
    assert "\r" not in err
    assert 2 <= len(lines) <= 12
    assert all(line.startswith("rewrite: ") for line in lines)
    assert "40/40" in lines[-1]


def test_two_at_once_are_lines_in_a_log_as_well(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    with (
        progress.progress("parts", total=4, unit="") as parts,
        progress.progress("judge", total=40, unit="answers") as answers,
    ):
        for number in range(40):
            time.sleep(0.01)
            answers.update(1)
            parts.update(number % 10 == 0)
    lines = capsys.readouterr().err.splitlines()
    assert {line.partition(":")[0] for line in lines} == {"parts", "judge"}


def test_short_work_leaves_nothing_in_a_log(capsys):
    assert list(progress.progress("embed", range(5), unit="texts")) == [0, 1, 2, 3, 4]
    assert list(progress.progress("embed", [], total=0, unit="texts")) == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("busy", "expected"), [(0, 4), (50, 2), (100, 1), (90, 1)])
def test_threads_follow_the_cores_that_are_free(monkeypatch, busy, expected):
    monkeypatch.setattr(psutil, "cpu_percent", lambda _: busy)
    monkeypatch.setattr(parallel, "cores", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert parallel.free_cores() == expected
