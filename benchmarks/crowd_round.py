"""One round of a crowd: people who answer at once, a server whose workers die, what is left."""

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
"""What a person who sees an error waits before the next look."""


class Person(NamedTuple):
    """Somebody who is logged in, and the project of their own."""

    project: int
    visitor: Visitor


class Round(NamedTuple):
    """What came of one round."""

    answers: list[int]
    """The tasks whose answer the server confirmed."""
    waits: list[float]
    """The seconds of each of these answers, from the question for the task on."""
    errors: int
    """How often somebody saw an error, and looked again."""
    kills: int
    """How many of the server's workers were killed."""
    seconds: float
    people_seconds: float
    """The processor's seconds of all people, who are threads of this process."""

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.answers) / self.seconds


class Tally(NamedTuple):
    """How the answers that people know of compare with those that the server has."""

    once: int
    """Confirmed, and there exactly once."""
    unconfirmed: int
    """There once, although whoever gave it saw an error."""
    lost: int
    """Confirmed, and not there."""
    doubled: int
    """There more than once."""


def work(
    people: Collection[Person], seconds: float, first: psutil.Process, every: float = 0.0
) -> Round:
    """Let all people answer at once for so long.

    Every so many seconds the oldest worker of the server's `first` process is killed (0: never).
    """
    ended, errors = threading.Event(), list[float]()
    answers, waits, killed = list[int](), list[float](), list[int]()
    threads = [
        threading.Thread(target=_judge, args=(ended, answers, waits, errors, one)) for one in people
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
            oldest = min(first.children(), key=lambda one: (one.create_time(), one.pid))
            oldest.kill()
            killed.append(oldest.pid)


def print_round(name: str, done: Round, server_seconds: float) -> None:
    """Print what came of a round; `server_seconds` are the processor's, PostgreSQL's included."""
    faults = f"{done.kills} workers killed, {done.errors} errors seen"
    if not done.answers:
        print(f"{name:10} no answer was confirmed   {faults}", flush=True)
        return
    median, late = (1000 * np.quantile(done.waits, share) for share in (0.5, 0.95))
    each = 1000 / len(done.answers)
    print(
        f"{name:10} {done.rate:6.1f} answers/s   a person waits {median:5.0f} ms"
        f" (95 %: {late:.0f})   for each {each * server_seconds:4.0f} ms of processor by the"
        f" server, {each * done.people_seconds:3.0f} by the people   {faults}",
        flush=True,
    )


def compare_rates(fast: Iterable[Round], slow: Iterable[Round], name: str) -> str:
    """Return how many answers a second there were beside those of the `slow` server `name`."""
    rate, usual = (sum(one.rate for one in rounds) for rounds in (fast, slow))
    if not usual:
        return f"{name} confirmed no answer"
    return f"{rate / usual:.1f} times the answers a second of {name}"


def tally(confirmed: Collection[int], found: Mapping[int, int]) -> Tally:
    """Compare the tasks whose answer was confirmed with each task's number of answers."""
    known = set(confirmed)
    return Tally(
        once=sum(found.get(task, 0) == 1 for task in known),
        unconfirmed=sum(number == 1 and task not in known for task, number in found.items()),
        lost=sum(not found.get(task, 0) for task in known),
        doubled=sum(number > 1 for number in found.values()),
    )
