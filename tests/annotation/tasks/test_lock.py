"""The lock of a campaign on its server, against a model of one: who may push, and when."""

import threading
import time
from contextlib import suppress

import pytest

from annotation.label_studio.errors import StudioError
from annotation.label_studio.records import Project
from annotation.tasks import lock
from pipeline.campaign.campaign import CampaignError

CAMPAIGN = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b"


class Studio:
    """A server whose projects have numbers in the order in which they were made."""

    url = "http://127.0.0.1:1"

    def __init__(self):
        self.projects_by_id, self.last_id, self._lock = {}, 0, threading.Lock()

    def projects(self):
        return list(self.projects_by_id.values())

    def create(self, settings):
        with self._lock:
            self.last_id += 1
            title, text = settings["title"], settings["description"]
            self.projects_by_id[self.last_id] = Project(self.last_id, title, text, "", "", "", 0, 0)
            return self.projects_by_id[self.last_id]

    def change(self, project, settings):
        with self._lock:
            if project.id not in self.projects_by_id:
                raise StudioError(f"{self.url}: what was asked for is not there (404)")
            current = self.projects_by_id[project.id]
            self.projects_by_id[project.id] = current._replace(description=settings["description"])

    def delete_empty(self, project):
        if project.id in self.projects_by_id and self.projects_by_id[project.id].tasks:
            return False
        self.projects_by_id.pop(project.id, None)
        return True

    def ticket(self, who, step=0, campaign=CAMPAIGN):
        text = f"MomentRank push into {campaign} by {who}, step {step}."
        return self.create({"title": lock.TITLE, "description": text})


@pytest.fixture
def studio(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Studio()


class Clock:
    """Time that passes only as somebody sleeps; something may happen meanwhile."""

    def __init__(self, monkeypatch):
        self.now, self.happens = 1000.0, lambda: None
        for name in ("monotonic", "time"):
            monkeypatch.setattr(lock.time, name, lambda: self.now)
        monkeypatch.setattr(lock.time, "sleep", self.sleep)

    def sleep(self, seconds):
        self.now += seconds
        self.happens()


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_alone_nobody_waits_and_nothing_stays_though_the_push_fails(studio, clock):
    with suppress(ZeroDivisionError), lock.hold(studio, CAMPAIGN):
        assert len(studio.projects_by_id) == 1
        raise ZeroDivisionError
    assert studio.projects_by_id == {}
    assert clock.now - 1000 == lock.SETTLE_SECONDS


def test_who_was_first_is_waited_for_and_named(studio, clock, capsys):
    ticket = studio.ticket("ann@desk 1234")

    def happens():
        if ticket.id in studio.projects_by_id:
            studio.change(ticket, {"description": f"{ticket.description} {clock.now}"})
        if clock.now > 1200:
            studio.delete_empty(ticket)

    clock.happens = happens
    with lock.hold(studio, CAMPAIGN):
        assert clock.now > 1200, "it was at work for longer than a lease, and showed it"
        assert len(studio.projects_by_id) == 1
    output = capsys.readouterr()
    assert (output.out + output.err).count("ann@desk 1234 pushes into this campaign") == 1


def test_a_ticket_that_stays_the_same_for_a_lease_is_of_a_push_that_was_killed(studio, clock):
    studio.ticket("ann@desk 1234")
    with lock.hold(studio, CAMPAIGN):
        waited = clock.now - 1000
        assert lock.LEASE_SECONDS < waited < lock.LEASE_SECONDS + 5 * lock.POLL_SECONDS
        assert len(studio.projects_by_id) == 1


def test_what_died_in_this_checkout_is_not_waited_for(studio, clock):
    studio.ticket(lock.checkout_id())
    with lock.hold(studio, CAMPAIGN):
        assert len(studio.projects_by_id) == 1
        assert clock.now - 1000 == lock.SETTLE_SECONDS


def test_a_ticket_that_comes_to_light_late_is_heeded(studio, clock):
    studio.ticket("ann@desk 1234")
    every, listings = studio.projects, iter(["early"])

    def projects():
        early = next(listings, None)
        return [project for project in every() if not early or "ann@" not in project.description]

    studio.projects = projects
    with lock.hold(studio, CAMPAIGN):
        assert clock.now - 1000 > lock.LEASE_SECONDS


def test_other_campaigns_and_other_projects_are_none_of_ours(studio, clock):
    studio.ticket("ann@desk 1234", campaign=CAMPAIGN.replace("6", "7"))
    mark = f"MomentRank campaign {CAMPAIGN}, annotator 1."
    studio.create({"title": "Kitchen", "description": mark})
    with lock.hold(studio, CAMPAIGN):
        assert clock.now - 1000 == lock.SETTLE_SECONDS
    assert len(studio.projects_by_id) == 2


def test_a_project_with_tasks_is_never_deleted_whatever_it_is_marked_as(studio, clock):
    ticket = studio.ticket("ann@desk 1234")
    studio.projects_by_id[ticket.id] = ticket._replace(tasks=1)
    with lock.hold(studio, CAMPAIGN):
        pass
    [project] = studio.projects_by_id.values()
    assert (project.id, project.tasks, project.description) == (ticket.id, 1, "")


def test_after_a_quarter_of_an_hour_it_says_who_and_gives_up(studio, clock):
    ticket = studio.ticket("ann@desk 1234")
    clock.happens = lambda: studio.change(
        ticket, {"description": f"{ticket.description}{clock.now}"}
    )
    with pytest.raises(CampaignError, match=rf"ann@desk 1234.*project {ticket.id} "):
        lock.hold(studio, CAMPAIGN).__enter__()
    assert list(studio.projects_by_id) == [ticket.id]


def test_who_was_taken_for_dead_writes_no_more(studio, clock):
    with lock.hold(studio, CAMPAIGN) as turn:
        turn.renew()
        before = dict(studio.projects_by_id)
        clock.now += lock.RENEW_SECONDS
        turn.renew()
        assert studio.projects_by_id != before, "others see that it goes on"
        studio.projects_by_id.clear()
        clock.now += lock.RENEW_SECONDS
        with pytest.raises(StudioError, match="another checkout"):
            turn.renew()


def test_a_copy_of_a_checkout_is_another(studio, tmp_path, monkeypatch):
    here = lock.checkout_id()
    assert here == lock.checkout_id()
    copy = tmp_path / "copy"
    (copy / lock.CHECKOUT.parent).mkdir(parents=True)
    (copy / lock.CHECKOUT).write_bytes(lock.CHECKOUT.read_bytes())
    monkeypatch.chdir(copy)
    assert lock.checkout_id() != here


def test_of_many_at_once_one_pushes_at_a_time(studio, monkeypatch):
    monkeypatch.setattr(lock, "SETTLE_SECONDS", 0.001)
    monkeypatch.setattr(lock, "POLL_SECONDS", 0.002)
    names = iter(f"ann@desk {number}" for number in range(99))
    monkeypatch.setattr(lock, "checkout_id", lambda: next(names))
    inside, most = [], []

    def push():
        for _ in range(3):
            with lock.hold(studio, CAMPAIGN):
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.002)
                inside.pop()

    threads = [threading.Thread(target=push) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 18
    assert studio.projects_by_id == {}
