"""The benchmark of a crowd: what was confirmed and what is there are compared."""

import time

from annotation.label_studio.errors import StudioError
from benchmarks.crowd_round import Person, Round, compare_rates, print_round, tally, work


def test_answers_are_there_once_lost_doubled_or_of_somebody_who_saw_an_error():
    confirmed, counts = [1, 2, 3, 4], {1: 1, 2: 2, 3: 1, 5: 1, 6: 0, 7: 2}
    assert tally(confirmed, counts) == (2, 1, 1, 2)
    assert tally([1, 1], {1: 1}) == (1, 0, 0, 0)


class Visitor:
    """Somebody whose every third answer ends in an error."""

    def __init__(self):
        self.tasks, self.answered = 0, []

    def next_task(self, project):
        time.sleep(0.001)
        self.tasks += 1
        return 1000 * project + self.tasks

    def answer(self, task, result, seconds):
        assert result
        assert seconds
        if task % 3 == 0:
            raise StudioError("the worker died")
        self.answered.append(task)


class Process:
    """A server's first process, whose workers live until they are killed, and are replaced."""

    def __init__(self):
        self.born, self.killed = 2, []
        self.workers = [Worker(self, 0), Worker(self, 1)]

    def children(self):
        return list(self.workers)


class Worker:
    """A worker, which knows when it was born."""

    def __init__(self, first, pid):
        self.first, self.pid = first, pid

    def create_time(self):
        return float(self.pid)

    def kill(self):
        self.first.killed.append(self.pid)
        self.first.workers.remove(self)
        self.first.workers.append(Worker(self.first, self.first.born))
        self.first.born += 1


def test_a_round_counts_what_was_confirmed_and_kills_workers_one_after_the_other():
    first, visitors = Process(), [Visitor(), Visitor()]
    people = [Person(number, visitor) for number, visitor in enumerate(visitors)]
    done = work(people, 0.5, first, every=0.1)
    assert sorted(done.answers) == sorted(task for visitor in visitors for task in visitor.answered)
    assert len(done.waits) == len(done.answers) == round(done.rate * done.seconds)
    assert done.errors == sum(visitor.tasks - len(visitor.answered) for visitor in visitors) > 0
    assert first.killed == list(range(done.kills))
    assert done.kills >= 2
    assert work(people, 0.1, first).kills == 0


def test_a_round_is_printed_also_if_no_answer_was_confirmed(capsys):
    none = Round([], [], errors=3, kills=2, seconds=4.0, people_seconds=0.1)
    some = Round([1, 2], [0.1, 0.3], errors=0, kills=0, seconds=4.0, people_seconds=0.2)
    print_round("SQLite", none, 1.0)
    print_round("SQLite", some, 1.0)
    first, second = capsys.readouterr().out.splitlines()
    assert first == "SQLite     no answer was confirmed   2 workers killed, 3 errors seen"
    assert second.startswith("SQLite        0.5 answers/s   a person waits   200 ms (95 %: 290)")
    assert "500 ms in the server, 100 in the people   0 workers" in second
    expected = "2.0 times the answers per second of SQLite"
    assert compare_rates([some, some], [some, none], "SQLite") == expected
    assert compare_rates([some], [none], "SQLite") == "SQLite confirmed no answer"
