"""One round of a crowd: people answer in parallel while the server's workers are killed."""

import threading
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import psutil

from annotation.label_studio import page
from annotation.label_studio.errors import StudioError
from annotation.simulation.accounts import Visitor

LEVEL, LOOK = 3, 3.0
RELOAD_SECONDS = 0.1
"""Seconds that a person who sees an error waits before reloading."""


class Person(NamedTuple):
    """Someone who is logged in, and their own project."""

    project: int
    visitor: Visitor


class Round(NamedTuple):
    """The result of one round."""

    answers: list[int]
    """The tasks whose answers the server confirmed."""
    waits: list[float]
    """The seconds of each of these answers, from requesting the task."""
    errors: int
    """How often someone saw an error, and reloaded."""
    kills: int
    """How many of the server's workers were killed."""
    seconds: float
    people_seconds: float
    """The CPU seconds of all people, who are threads of this process."""

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.answers) / self.seconds


class Tally(NamedTuple):
    """The answers that people know of, compared with those on the server."""

    once: int
    """Confirmed, and there exactly once."""
    unconfirmed: int
    """There once, although the person who gave it saw an error."""
    lost: int
    """Confirmed, and not there."""
    doubled: int
    """There more than once."""


def work(
    people: Collection[Person], seconds: float, first: psutil.Process, every: float = 0.0
) -> Round:
    """Have all people answer in parallel for a while.

    At intervals the oldest worker of the server's `first` process is killed (0: never).
    """
    ended, errors = threading.Event(), list[float]()
    answers, waits, killed = list[int](), list[float](), list[int]()
    threads = [
        threading.Thread(target=_judge, args=(ended, answers, waits, errors, person))
        for person in people
    ]
    if every:
        threads.append(threading.Thread(target=_kill, args=(ended, killed, first, every)))
    begin, own = time.monotonic(), time.process_time()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    ended.set()
    for thread in threads:
        thread.join()
    whole, people_seconds = time.monotonic() - begin, time.process_time() - own
    return Round(answers, waits, len(errors), len(killed), whole, people_seconds)


def _judge(
    ended: threading.Event,
    answers: list[int],
    waits: list[float],
    errors: list[float],
    person: Person,
) -> None:
    result = page.result_of(LEVEL)
    while not ended.is_set():
        begin = time.monotonic()
        try:
            task = person.visitor.next_task(person.project)
            person.visitor.answer(task, result, LOOK)
        except StudioError:  # as a person, who reloads the page
            errors.append(begin)
            time.sleep(RELOAD_SECONDS)
            continue
        answers.append(task)
        waits.append(time.monotonic() - begin)


def _kill(ended: threading.Event, killed: list[int], first: psutil.Process, every: float) -> None:
    while not ended.wait(every):
        with suppress(psutil.NoSuchProcess, ValueError):  # none at the moment
            oldest = min(first.children(), key=lambda process: (process.create_time(), process.pid))
            oldest.kill()
            killed.append(oldest.pid)


def print_round(name: str, done: Round, server_seconds: float) -> None:
    """Print the result of a round; `server_seconds` are CPU seconds, PostgreSQL's included."""
    faults = f"{done.kills} workers killed, {done.errors} errors seen"
    if not done.answers:
        print(f"{name:10} no answer was confirmed   {faults}", flush=True)
        return
    median, late = (1000 * np.quantile(done.waits, share) for share in (0.5, 0.95))
    each = 1000 / len(done.answers)
    print(
        f"{name:10} {done.rate:6.1f} answers/s   a person waits {median:5.0f} ms"
        f" (95 %: {late:.0f})   CPU per answer: {each * server_seconds:4.0f} ms in the"
        f" server, {each * done.people_seconds:3.0f} in the people   {faults}",
        flush=True,
    )


def compare_rates(fast: Iterable[Round], slow: Iterable[Round], name: str) -> str:
    """Return answers per second relative to those of the `slow` server `name`."""
    rate, usual = (sum(one.rate for one in rounds) for rounds in (fast, slow))
    if not usual:
        return f"{name} confirmed no answer"
    return f"{rate / usual:.1f} times the answers per second of {name}"


def tally(confirmed: Collection[int], counts: Mapping[int, int]) -> Tally:
    """Compare the tasks whose answers were confirmed with each task's number of answers."""
    tasks = set(confirmed)
    return Tally(
        once=sum(counts.get(task, 0) == 1 for task in tasks),
        unconfirmed=sum(number == 1 and task not in tasks for task, number in counts.items()),
        lost=sum(not counts.get(task, 0) for task in tasks),
        doubled=sum(number > 1 for number in counts.values()),
    )
