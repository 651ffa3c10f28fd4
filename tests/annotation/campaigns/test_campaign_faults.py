"""Faults on the real server: killed, cut off, wiped, restored, and eight people at once.

Afterwards not one task is there twice, and not one judgment lost, altered or on another pair.
"""

import base64
import contextlib
import gc
import json
import re
import shutil
import signal
import threading
import time
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from random import Random

import httpx
import pandas as pd
import pytest
from opened import LABELS
from support.campaign_folder import (
    CAMPAIGN,
    CLIPS_URL,
    PASSWORD,
    CampaignFolder,
    Size,
    email_of,
    ranks,
)
from support.studio import Studio, read_projects, read_tasks, studio
from support.wire import LATE_SECONDS, Fault, Wire

from annotation import consensus, server, simulate
from annotation.label_studio import connection, page
from annotation.label_studio.errors import StudioError
from annotation.local_server import layout
from annotation.local_server.process import is_alive
from annotation.simulation.answers import answer_pair
from annotation.tasks import lock
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.core import tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]

PEOPLE = 8
AT_ONCE_SECONDS = 6.0
MOST_TURNS, MOST_ANSWERS = 30, 5
PATIENCE_SECONDS = 600
FEW_WRITES = 4
PUSHED = re.compile(r"(\d+) tasks added, (\d+) closed, (\d+) reopened")
PAIR = ["query_id", "moment_id", "annotator"]


NEW, AWAY = layout.HOME / "new", layout.HOME / "away"


class World:
    """The server, and the people on it."""

    def __init__(self, lead):
        self.lead = lead
        self._server = server.find_running()
        shutil.copytree(layout.DATA, NEW)
        self.people = {n: lead.sign_up(email_of(n), PASSWORD) for n in range(1, PEOPLE + 1)}
        self.stranger = lead.sign_up("stranger@example.org", PASSWORD)

    def close(self):
        for who in (*self.people.values(), self.stranger):
            who.close()

    def kill(self):
        """Kill the server, from whatever folder and thread."""
        self._server.process.kill()
        while is_alive(self._server.process):
            time.sleep(0.02)

    def revive(self):
        """Start the server again, where it was."""
        assert not is_alive(self._server.process), "it was killed"
        self._server = server.start(self._server.port)

    def exchange(self, aside, theirs):
        """Put another data folder in the place of the server's, and keep that."""
        self.kill()
        layout.DATA.rename(aside)
        theirs.rename(layout.DATA)
        self.revive()


class Camp:
    """A campaign on the real server, and what is there of it."""

    def __init__(self, world, folder):
        self.world, self.folder, self.lead = world, folder, world.lead
        self.answers = {}
        """What people know they submitted, by (query, moment, annotator)."""

    def run(self, module, *options):
        return self.folder.run(module, *options)

    def measure(self, module):
        """Return how many seconds a command takes."""
        began = time.monotonic()
        self.well(module)
        return time.monotonic() - began

    def start(self, module, *options):
        return self.folder.start(module, *options)

    def strike(self, wire, fault, module="push", methods=frozenset({"POST"}), victim=None):
        """Run a command through a wire that fails once; return how it ended."""
        self.folder.configure(wire.url, self.lead.token, str(self.lead.media))
        wire.arm(fault, methods)
        child = self.start(module)
        wire.aim(victim or child)
        done = child.wait()
        assert wire.struck, (fault, done.said)
        self.folder.configure(self.lead.url, self.lead.token, str(self.lead.media))
        return done

    def well(self, *modules):
        for module in modules:
            done = self.run(module)
            assert done.code == 0, done.said
        return done

    def simulate(self, level):
        """Let simulated people answer all that is open, in this process: it knows the levels."""
        with contextlib.chdir(self.folder.path):
            simulate.simulate(connection.connect("test"), level, 1.0, seed=1)
        drop_connections()

    def assign(self, wanted):
        """Say what the plan wants: (query, moment, annotator)."""
        rows = [(*key, "first") for key in sorted(wanted)]
        self.folder.put(tables.ASSIGNMENTS, pd.DataFrame(rows, columns=tables.ASSIGNMENTS.columns))

    def tasks(self):
        """Return every task of the campaign as `{(query, moment, annotator): [task]}`."""
        tasks_by_key, annotators = {}, self._annotators()
        for task in read_tasks():
            if task["project"] in annotators:
                key = self.folder.signer.read(task["data"]["pair"])
                assert key.annotator == annotators[task["project"]]
                tasks_by_key.setdefault(key[:3], []).append(task)
        return tasks_by_key

    def count_offered(self):
        """Return how many tasks wait of each (query, moment, annotator), as the people see them."""
        annotators = self._annotators()
        waiting = [t for t in read_tasks() if open_(t) and t["project"] in annotators]
        keys = [self.folder.signer.read(task["data"]["pair"]) for task in waiting]
        return Counter(key[:3] for key in keys if key)

    def projects(self):
        """Return the campaign's projects, by annotator."""
        return {number: project for project, number in self._annotators().items()}

    def _annotators(self):
        marked = [p for p in read_projects() if f"{CAMPAIGN}, annotator" in p["description"]]
        return {p["id"]: int(p["title"].rpartition(" ")[2]) for p in marked}

    def answer(self, task, key, level, who=None):
        who = who or self.world.people[key[2]]
        annotation = who.annotate(task["id"], make_result(level))
        self.answers[key] = level
        return annotation

    def answer_some(self, number, random, tasks=None):
        tasks = self.tasks() if tasks is None else tasks
        waiting = [(key, task) for key, [task] in tasks.items() if open_(task)]
        for key, task in random.sample(sorted(waiting, key=lambda item: item[0]), number):
            self.answer(task, key, random.randrange(5))

    def read_judgments(self):
        rows = self.folder.get(tables.JUDGMENTS)
        return dict(zip(rows[PAIR].itertuples(index=False, name=None), rows["level"], strict=True))

    def read_refusals(self):
        rows = self.folder.get(tables.REJECTED_JUDGMENTS)
        keys = rows[PAIR].itertuples(index=False, name=None)
        return dict(zip(keys, rows["reason"], strict=True))


def drop_connections():
    """Let go of the connections that a command, done in this process, would end with its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def seats(queries, of_query, annotators):
    """Return every (query, moment, annotator) of these."""
    pairs = product(queries, of_query, annotators)
    return {(f"q{query:03}", f"q{query:03}-m{rank:02}", who) for query, rank, who in pairs}


def open_(task):
    return not task["is_labeled"] and not task["annotations"]


def make_result(level):
    value = {"choices": [LABELS.get(str(level), str(level))]}
    return [{"from_name": "level", "to_name": "clip", "type": "choices", "value": value}]


@pytest.fixture(scope="module")
def world(tmp_path_factory, label_studio):
    with (
        studio(tmp_path_factory.mktemp("studio"), label_studio) as lead,
        contextlib.closing(World(lead)) as world,
    ):
        yield world


@pytest.fixture
def camp(world, tmp_path, repository):
    """Return what makes a campaign; its projects are gone afterwards."""

    def camp(size, checkout="one", **options):
        path = tmp_path / checkout
        path.mkdir()
        folder = CampaignFolder.make(path, repository, size, **options)
        folder.configure(world.lead.url, world.lead.token, str(world.lead.media))
        return Camp(world, folder)

    yield camp
    for project in read_projects():
        world.lead.api("DELETE", f"/api/projects/{project['id']}/")
    drop_connections()


def assert_as_wanted(camp, wanted, ledger):
    """Nothing is there twice, what is wanted waits, nothing else does, and the ledger grew.

    Returns the tasks.
    """
    tasks = camp.tasks()
    assert not {key: len(same_key) for key, same_key in tasks.items() if len(same_key) > 1}, "twice"
    assert wanted <= tasks.keys()
    waiting = {key for key, [task] in tasks.items() if open_(task)}
    assert waiting == {key for key in wanted if key not in camp.answers}
    assert camp.folder.ledger().startswith(ledger), "append-only"
    pairs = camp.folder.get(tables.PAIRS)
    assert pairs["pair_id"].tolist() == list(range(len(pairs))), "one number after the other"
    assert not pairs.duplicated(["query_id", "moment_id"]).any()
    assert {key[:2] for key in tasks} <= set(
        pairs[["query_id", "moment_id"]].itertuples(index=False, name=None)
    )
    return tasks


WRITES = [(1, "during"), (2, "drop"), (3, "after"), (5, "before"), (8, "after"), (9, "drop")]
SHARES = (0.6, 0.9, 1.1)
"""Of the time that a command takes which has nothing to do: a command is killed then."""
MOMENTS = [*(("time", one) for one in SHARES), *(("write", Fault(*one)) for one in WRITES)]


def late(kind, moment):
    """Tell whether a moment comes only in a push that has much to write."""
    return kind == "write" and moment.write > FEW_WRITES


def test_a_push_killed_at_any_moment_and_run_again_is_as_if_nothing_was(camp, world):
    size = Size(queries=14, ranks=4, people=4)
    camp, random = camp(size, url="label-studio"), Random(5)
    everybody = sorted(seats(range(size.queries), ranks(size), (1, 2)))
    random.shuffle(everybody)
    moments = sorted(MOMENTS, key=lambda case: random.random() + late(*case))
    camp.assign(set())
    usual = camp.measure("push")
    with contextlib.closing(Wire(world.lead.url)) as wire:
        struck, wanted = [], set()
        for turn, (kind, moment) in enumerate(moments):
            gone = set(random.sample(sorted(wanted), len(wanted) // 8))
            back = set(random.sample(everybody[: turn * 12], turn and 4))
            wanted = (wanted - gone) | back | set(everybody[turn * 12 : turn * 12 + 12])
            camp.assign(wanted)
            ledger = camp.folder.ledger()
            if kind == "time":
                child = camp.start("push")
                time.sleep(usual * moment)
                child.kill()
                done = child.wait()
                struck.append(done.code == -signal.SIGKILL)
            else:
                done = camp.strike(wire, moment, methods={"POST", "PATCH"})
                if moment.kind == "drop":
                    assert done.code == 1
                    assert "error: " in done.said
                    assert len(done.said.strip().splitlines()[-1]) < 200
                else:
                    assert done.code == -signal.SIGKILL, done.said
            between = camp.folder.ledger()
            assert between.startswith(ledger)
            camp.well("push")
            camp.answer_some(2, random, assert_as_wanted(camp, wanted, between))
        assert sum(struck) >= len(struck) - 2, "most were killed before they were done"
        again = camp.well("push").said
        assert "push: 0 tasks added, 0 closed, 0 reopened" in again
    camp.well("pull")
    assert camp.read_judgments() == camp.answers


@pytest.mark.parametrize("write", [2, 4], ids=["a project", "tasks"])
def test_what_a_killed_push_sent_and_the_server_does_later_is_waited_for(camp, world, write):
    camp = camp(Size(queries=2, ranks=4, people=4))
    wanted = seats(range(2), (1, 2), (1, 2))
    camp.assign(wanted)
    with contextlib.closing(Wire(world.lead.url)) as wire:
        assert camp.strike(wire, Fault(write, "late")).code == -signal.SIGKILL
        assert "interrupted while writing" in camp.well("push").said
        time.sleep(LATE_SECONDS)
    assert_as_wanted(camp, wanted, "")
    assert " 0 tasks added, 0 closed, 0 reopened" in camp.well("push").said


@pytest.mark.parametrize(
    ("module", "fault", "methods"),
    [
        ("push", Fault(3, "during"), {"POST"}),
        ("push", Fault(10, "during"), {"POST"}),
        ("push", Fault(7, "after"), {"PATCH"}),
        ("pull", Fault(6, "during"), {"GET"}),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_server_killed_under_a_command(camp, world, module, fault, methods):
    camp = camp(Size(queries=6, ranks=4, people=4))
    first = seats(range(3), range(1, 5), (1, 2))
    wanted = seats(range(6), (1, 2), (1, 3, 4))
    if methods != {"POST"}:
        camp.assign(first)
        camp.well("push")
        camp.answer_some(5, Random(1))
        camp.well("pull")
        camp.answer_some(5, Random(2))
    camp.assign(wanted)
    before, ledger = dict(camp.answers), camp.folder.ledger()
    with contextlib.closing(Wire(world.lead.url)) as wire:
        done = camp.strike(wire, fault, module, methods, victim=world)
    assert done.code == 1, done.said
    assert done.said.strip().splitlines()[-1].startswith("error: http://")
    assert world.lead.token not in done.said
    world.revive()
    camp.well("push")
    assert_as_wanted(camp, wanted, ledger)
    camp.well("pull")
    assert camp.read_judgments() == camp.answers
    assert before.items() <= camp.answers.items()


def wait_for_replacement(path):
    """Wait until a file was replaced."""
    before = path.stat().st_ino if path.exists() else None
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (path.stat().st_ino if path.exists() else None) == before:
        assert time.monotonic() < deadline
        time.sleep(0.0005)


def test_a_pull_killed_at_any_moment_leaves_whole_tables(camp):
    camp, random = camp(Size(queries=6, ranks=4, people=4)), Random(3)
    moments = [*SHARES[:2], tables.JUDGMENT_HISTORY, tables.JUDGMENTS, tables.OPEN_TASKS]
    camp.assign(seats(range(6), (1, 2), (1, 2)))
    camp.well("push")
    usual, struck = camp.measure("pull"), []
    for moment in moments:
        camp.answer_some(4, random)
        before = camp.read_judgments()
        child = camp.start("pull")
        if isinstance(moment, float):
            time.sleep(usual * moment)
        else:
            wait_for_replacement(camp.folder.path / moment.path)
        child.kill()
        struck.append(child.wait().code == -signal.SIGKILL)
        assert camp.read_judgments() in (before, camp.answers), "whole, of before or of now"
        for table in (tables.JUDGMENT_HISTORY, tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS):
            camp.folder.get(table)
        camp.well("pull")
        assert camp.read_judgments() == camp.answers
    assert sum(struck) >= len(struck) - 2, "most were killed before they were done"
    incremental = camp.folder.content()
    camp.well("pull")
    assert camp.run("pull", "--full").code == 0
    assert camp.folder.content() == incremental


def read_assigned(camp):
    rows = camp.folder.get(tables.ASSIGNMENTS)
    return set(rows[PAIR].itertuples(index=False, name=None))


def test_a_server_wiped_and_restored(camp, world):
    camp = camp(Size(queries=4, ranks=4, people=4))
    camp.well("pull", "plan", "push")
    camp.answer_some(9, Random(4))
    camp.well("pull", "plan", "push")
    before, judged = camp.folder.content(), camp.read_judgments()
    assert judged == camp.answers
    world.exchange(AWAY, NEW)
    for _ in range(2):
        done = camp.run("pull")
        assert done.code == 1
        assert "9 judgments disappeared from the server" in done.said
        assert "--accept-loss" in done.said
        assert camp.folder.content() == before
    world.exchange(NEW, AWAY)
    camp.well("pull")
    assert camp.folder.content() == before
    assert " 0 tasks added, 0 closed, 0 reopened" in camp.well("plan", "push").said

    tasks = camp.tasks()
    gone = Counter(key[2] for key in camp.answers)
    number = max(gone, key=gone.get)
    world.lead.api("DELETE", f"/api/projects/{camp.projects()[number]}/")
    unanswered = [key for key, [task] in tasks.items() if key[2] == number and open_(task)]
    assert f"push: {len(unanswered)} tasks added, 0 closed" in camp.well("push").said
    done = camp.run("pull")
    assert done.code == 1
    assert f"{gone[number]} judgments disappeared" in done.said
    assert f"({gone[number]} by annotator {number})" in done.said
    assert camp.folder.content() == before
    assert camp.run("pull", "--accept-loss").code == 0
    assert camp.read_judgments() == judged, "a person did judge"
    camp.well("pull", "plan", "push")
    assert camp.read_judgments() == judged
    assert all(len(same_key) == 1 for same_key in camp.tasks().values())


def test_what_is_no_judgment_is_refused_and_the_pair_goes_on(camp, world):
    camp = camp(Size(queries=4, ranks=4, people=5))
    camp.well("pull", "plan", "push")
    own = sorted((key, same_key[0]) for key, same_key in camp.tasks().items() if key[2] == 1)
    names = ("strange", "changed", "skipped", "edited", "seven", "draft", "unseen")
    cases = dict(zip(names, own, strict=False))
    ann, stranger = world.people[1], world.stranger
    foreign_task = next(same_key[0] for key, same_key in camp.tasks().items() if key[2] == 2)

    stranger.annotate(cases["strange"][1]["id"], make_result(1))
    camp.answer(cases["changed"][1], cases["changed"][0], 3)
    camp.well("pull")
    assert camp.read_judgments() == {cases["changed"][0]: 3}
    [annotation] = ann.api("GET", f"/api/tasks/{cases['changed'][1]['id']}/annotations/")
    stranger.api("PATCH", f"/api/annotations/{annotation['id']}/", {"result": make_result(0)})
    skip = {"result": make_result(2), "was_cancelled": True}
    ann.api("POST", f"/api/tasks/{cases['skipped'][1]['id']}/annotations/", skip)
    ann.annotate(cases["seven"][1]["id"], make_result(7))
    edited = cases["edited"][1]
    data = edited["data"] | {"pair": foreign_task["data"]["pair"]}
    ann.api("PATCH", f"/api/tasks/{edited['id']}/", {"data": data})
    ann.annotate(edited["id"], make_result(4))
    draft = {"result": make_result(2), "lead_time": 3.0}
    world.lead.api("POST", f"/api/tasks/{cases['draft'][1]['id']}/drafts", draft)
    ann.api("POST", f"/api/tasks/{cases['unseen'][1]['id']}/drafts", draft)

    camp.well("pull")
    rejected = camp.folder.get(tables.REJECTED_JUDGMENTS)
    actual = {
        (row.moment_id if isinstance(row.moment_id, str) else None): row.reason
        for row in rejected.itertuples()
    }
    reasons = {
        "strange": "not-the-annotator",
        "changed": "changed-by-another",
        "skipped": "skipped",
        "seven": "bad-level",
        "draft": "draft",
    }
    expected = {cases[name][0][1]: reason for name, reason in reasons.items()}
    assert actual == expected | {None: "bad-key"}
    assert set(rejected["annotator"]) == {1}
    assert camp.read_judgments() == {cases["changed"][0]: 3}, "what its annotator said counts"
    history = camp.folder.get(tables.JUDGMENT_HISTORY)
    assert history["state"].tolist() == ["tampered"], "what was seen is kept"

    camp.well("plan", "push")
    assigned = read_assigned(camp)
    for name in ("strange", "changed", "skipped", "seven"):
        query, moment, _ = cases[name][0]
        assert (query, moment, 1) not in assigned, "who answered is not asked again"
        lacking = 1 if name == "changed" else 2
        assert len([key for key in assigned if key[:2] == (query, moment)]) == lacking
    for name in ("draft", "unseen"):
        assert cases[name][0] in assigned, "a draft is no answer yet"
    assert len([key for key in assigned if key[:2] == cases["edited"][0][:2]]) == 2
    camp.well("pull", "plan")
    assert read_assigned(camp) == assigned
    assert " 0 tasks added, 0 closed, 0 reopened" in camp.well("push").said


KINDS = ("add a twin", "import an answer", "answer for another", "change an answer",
         "take an answer", "change what is shown", "swap keys", "add a swapped twin")  # fmt: skip


def test_attackers_make_nothing_count_that_nobody_judged_and_take_nothing_away(camp, world):
    """People judge what their stream shows them; in between others do what the API lets them."""
    camp, random = camp(Size(queries=6, ranks=4, people=4)), Random(11)
    camp.well("pull", "plan", "push")
    levels, pulled = {}, {}
    for turn in range(2):
        for number, project in camp.projects().items():
            judge_some(camp, world.people[number], number, project, levels, random)
        camp.well("pull")
        assert camp.read_judgments() == levels, "all that was pulled before it was attacked"
        pulled = dict(levels)
        attacker = Attacker(camp, (world.stranger, world.people[turn + 1]), random)
        for kind in KINDS:
            attacker.attack(kind, 2)
        if turn == 1:
            attacker.delete(2)
        attacker.exchange_tasks(2)
        done = camp.well("pull", "plan", "push")
        assert camp.read_judgments() == pulled, done.said
        assert not {key: n for key, n in camp.count_offered().items() if n > 1}, "once each"
    for number, project in camp.projects().items():
        judge_some(camp, world.people[number], number, project, levels, random)
    attacker = Attacker(camp, (world.stranger, world.people[4]), random)
    for kind in KINDS:  # and now before anything was pulled of it
        attacker.attack(kind, 1)
    camp.well("pull")
    judged, rejected = camp.read_judgments(), camp.folder.get(tables.REJECTED_JUDGMENTS)
    wrong = {key for key in judged if judged[key] != levels.get(key)}
    lost = {key for key in pulled if key not in judged}
    unpulled = {key for key in levels if key not in judged}
    assert (wrong, lost) == (set(), set())
    assert len(unpulled) <= 6, "of each answer there was only what somebody else had made of it"
    refused = set(rejected["reason"])
    assert {"imported", "changed-by-another", "not-what-was-shown", "bad-key"} <= refused
    assert camp.run("pull", "--full").code == 0
    assert camp.read_judgments() == judged


def judge_some(camp, me, number, project, levels, random, most=4):
    """Let somebody judge what their stream shows; note what they saw and said of it."""
    expected_content = content(camp)
    for _ in range(most):
        answer = me.http.get(f"/api/projects/{project}/next")
        if answer.status_code != httpx.codes.OK:
            return
        task = answer.json()
        level = random.randrange(5)
        me.annotate(task["id"], make_result(level))
        key = camp.folder.signer.read(task["data"]["pair"])
        if key and key.annotator == number and expected_content(key) == read_content(task):
            levels[key[:3]] = level


def content(camp):
    """Return a function: what the task of a pair shows, by the tables of the campaign."""
    queries = camp.folder.get(tables.QUERIES).set_index("query_id")["query"]
    clips = camp.folder.get(tables.CLIPS).set_index("moment_id")["clip"]

    def describe(key):
        return queries[key.query_id], page.clip_html(f"{CLIPS_URL}/{clips[key.moment_id]}")

    return describe


def read_content(task):
    return task["data"]["query"], task["data"]["clip_html"]


class Attacker:
    """Somebody with an account, who does in the projects of others what the API lets them."""

    def __init__(self, camp, accounts, random):
        self._camp, self._accounts, self._random = camp, accounts, random
        self._projects = camp.projects()
        ids = {who.url: who for who in accounts}
        assert len(ids) == 1
        people = camp.lead.api("GET", "/api/users/")
        self._ids = {person["email"]: person["id"] for person in people}
        self._own = {who.api("GET", "/api/current-user/whoami")["id"] for who in accounts}

    def attack(self, kind, times):
        for _ in range(times):
            me = self._random.choice(self._accounts)
            getattr(self, kind.replace(" ", "_"))(me)

    def _victim(self):
        """Return somebody else's annotator, with their tasks that are answered and not."""
        others = [n for n in self._projects if self._ids[email_of(n)] not in self._own]
        number = self._random.choice(sorted(others))
        who = self._ids[email_of(number)]
        tasks = read_tasks(self._projects[number])
        answered = [task for task in tasks if task["annotations"]]
        waiting = [task for task in tasks if not task["annotations"]]
        if not answered or not waiting:
            return self._victim()
        return number, who, answered, waiting

    def _pick(self, tasks):
        return self._random.choice(tasks)

    def _import(self, me, number, data, answers=()):
        task = {"data": data, "annotations": list(answers)}
        me.api("POST", f"/api/projects/{self._projects[number]}/import", [task])

    def add_a_twin(self, me):
        number, _, answered, waiting = self._victim()
        self._import(me, number, self._pick(answered + waiting)["data"])

    def import_an_answer(self, me):
        number, who, answered, waiting = self._victim()
        answer = {"completed_by": who, "result": make_result(0), "lead_time": 5.0}
        self._import(me, number, self._pick(answered)["data"], [answer])
        self._import(me, number, self._pick(waiting)["data"], [answer])

    def answer_for_another(self, me):
        number, who, answered, _ = self._victim()
        self._import(me, number, self._pick(answered)["data"])
        tasks = read_tasks(self._projects[number])
        twin = max(tasks, key=lambda task: task["id"])
        body = {"completed_by": who, "result": make_result(1)}
        me.api("POST", f"/api/tasks/{twin['id']}/annotations/", body)

    def _patch(self, me, task, change):
        for annotation in task["annotations"]:
            me.api("PATCH", f"/api/annotations/{annotation['id']}/", change)

    def change_an_answer(self, me):
        _, _, answered, _ = self._victim()
        change = {"result": make_result(0)}
        change |= self._pick([{}, {"was_cancelled": True}])
        self._patch(me, self._pick(answered), change)

    def take_an_answer(self, me):
        _, _, answered, _ = self._victim()
        self._patch(me, self._pick(answered), {"completed_by": self._pick(sorted(self._own))})

    def change_what_is_shown(self, me):
        _, _, answered, waiting = self._victim()
        change = self._pick(
            [{"query": "somebody else entirely"}, {"clip_html": "<p>It is a 4.</p>"}]
        )
        for task in (self._pick(answered), self._pick(waiting)):
            self._set(me, task, change)

    def swap_keys(self, me):
        _, _, answered, waiting = self._victim()
        answered_task, waiting_task = self._pick(answered), self._pick(waiting)
        pairs = answered_task["data"]["pair"], waiting_task["data"]["pair"]
        self._set(me, answered_task, {"pair": pairs[1]})
        self._set(me, waiting_task, {"pair": pairs[0]})
        self._set(me, self._pick(waiting), {"pair": pairs[0][:-8] + "AAAAAAA="})

    def _set(self, me, task, change):
        me.api("PATCH", f"/api/tasks/{task['id']}/", {"data": task["data"] | change})

    def exchange_tasks(self, times):
        """Make tasks the tasks of other pairs, whole, and let Label Studio join what is equal."""
        for _ in range(times):
            number, _, answered, waiting = self._victim()
            self._set(self._accounts[0], self._pick(answered), self._pick(waiting)["data"])
        action = f"/api/dm/actions?id=remove_duplicates&project={self._projects[number]}"
        self._accounts[0].api("POST", action, {"selectedItems": {"all": True, "excluded": []}})

    def add_a_swapped_twin(self, me):
        number, _, _, waiting = self._victim()
        change = {"query": "somebody else entirely"}
        self._import(me, number, self._pick(waiting)["data"] | change)

    def delete(self, times):
        for _ in range(times):
            _, _, answered, _ = self._victim()
            [first, *_] = self._pick(answered)["annotations"]
            self._accounts[0].api("DELETE", f"/api/annotations/{first['id']}/")


def test_two_checkouts_push_into_one_campaign_one_after_the_other(camp):
    size = Size(queries=6, ranks=4, people=4, push=10)
    first, second = camp(size), camp(size, checkout="two")
    wanted, output = set(), ""
    for turn in range(3):
        wanted |= seats(range(2 * turn, 2 * turn + 2), ranks(size), (1, 2))
        for checkout in (first, second):
            checkout.assign(wanted)
        children = [checkout.start("push") for checkout in (first, second)]
        outcomes = [child.wait() for child in children]
        assert [outcome.code for outcome in outcomes] == [0, 0], [
            outcome.said for outcome in outcomes
        ]
        assert first.count_offered() == Counter(wanted), "nothing twice, nothing left out"
        assert sum(parse_figures(outcome.said)[0] for outcome in outcomes) == 8 * 2
        output += outcomes[0].said + outcomes[1].said
    assert "pushes into this campaign" in output, "they met"
    assert not tickets(first)


def test_projects_that_are_created_at_once_do_not_lock_each_other_out(camp, world):
    def create(number):
        with contextlib.closing(Studio(world.lead.url, world.lead.token, world.lead.media)) as own:
            return [
                own.api("POST", "/api/projects/", {"title": f"{number} {n}"})["id"]
                for n in range(3)
            ]

    before = len(layout.LOG.read_text())
    with ThreadPoolExecutor(8) as pool:
        ids = [project_id for created in pool.map(create, range(8)) for project_id in created]
    assert len(set(ids)) == 8 * 3
    assert "database is locked" not in layout.LOG.read_text()[before:]


def tickets(camp):
    return [project for project in read_projects() if lock.TICKET.match(project["description"])]


class Judge(threading.Thread):
    """Somebody who takes the next pair of their stream, as the page does, and answers it."""

    def __init__(self, camp, number, project):
        super().__init__(daemon=True)
        self._camp, self._number, self._project = camp, number, project
        me = camp.world.people[number]
        self._me = Studio(me.url, me.token, me.media)
        self._id = self._me.api("GET", "/api/current-user/whoami")["id"]
        self._random = Random(number)
        self.done = threading.Event()
        self.answers, self.unsure, self.problems = {}, [], []
        self.changed = 0

    def run(self):
        with contextlib.closing(self._me):
            while not self.done.wait(2 + self._random.random()):
                try:
                    if len(self.answers) < MOST_ANSWERS:
                        self._answer_next()
                except Exception as exc:  # noqa: BLE001  (the test tells of it)
                    self.problems.append(exc)
            for task, key, level in self.unsure:
                self._make_sure(task, key, level)

    def _answer_next(self):
        answer = self._me.http.get(f"/api/projects/{self._project}/next")
        if answer.status_code != httpx.codes.OK:
            return
        task = answer.json()
        key = self._camp.folder.signer.read(task["data"]["pair"])
        level = self._random.randrange(5)
        assert key.annotator == self._number
        if self._random.random() < 0.2:
            self.done.wait(1)  # it may be taken back meanwhile
        self._send("POST", f"/api/tasks/{task['id']}/annotations/", task["id"], key[:3], level)
        if self._random.random() < 0.1:
            own_answers = self._answers(task["id"])
            if len(own_answers) == 1:
                self.changed += 1
                path = f"/api/annotations/{own_answers[0]['id']}/"
                self._send("PATCH", path, task["id"], key[:3], (level + 1) % 5)

    def _send(self, method, path, task, key, level):
        try:
            sent = self._me.http.request(method, path, json={"result": make_result(level)})
        except httpx.HTTPError:
            self.unsure.append((task, key, level))
        else:
            if sent.is_success:
                self.answers[key] = level
            else:
                self.unsure.append((task, key, level))

    def _answers(self, task):
        annotations = self._me.api("GET", f"/api/tasks/{task}/annotations/")
        return [annotation for annotation in annotations if annotation["completed_by"] == self._id]

    def _make_sure(self, task, key, level):
        """What was answered by an error may have been done: look."""
        if any(answer["result"] and read_level(answer) == level for answer in self._answers(task)):
            self.answers[key] = level


def read_level(answer):
    [text] = answer["result"][0]["value"]["choices"]
    return next(int(choice) for choice, label in LABELS.items() if label == text)


MOVES = ("added", "closed", "reopened")


def parse_figures(output):
    """Return how many tasks a push says it added, closed and gave out again."""
    match = PUSHED.search(output)
    return [int(number) for number in match.groups()] if match else [0, 0, 0]


def test_eight_people_at_once_while_tasks_are_taken_back_and_given_out(camp, world):
    camp = camp(Size(queries=8, ranks=4, people=PEOPLE, push=50, page=100))
    camp.well("pull", "plan", "push")
    judges = [Judge(camp, number, project) for number, project in camp.projects().items()]
    assert len(judges) == PEOPLE
    for judge in judges:
        judge.start()
    begin, done, moved = time.monotonic(), [], Counter()
    for turn in range(MOST_TURNS):  # the other half of the people is away each time
        away = {1 + (number + turn * PEOPLE // 2) % PEOPLE for number in range(PEOPLE // 2)}
        camp.folder.people({n: {"active": n not in away} for n in range(1, PEOPLE + 1)})
        done += [camp.run(module) for module in ("pull", "plan", "push")]
        moved.update(dict(zip(MOVES, parse_figures(done[-1].said), strict=True)))
        late = time.monotonic() - begin > AT_ONCE_SECONDS
        if late and all(moved.values()) and sum(len(judge.answers) for judge in judges) > PEOPLE:
            break
    assert all(moved.values()), moved
    for judge in judges:
        judge.done.set()
    for judge in judges:
        judge.join()
    answers = {key: level for judge in judges for key, level in judge.answers.items()}
    assert not [judge.problems for judge in judges if judge.problems]
    failed = [outcome.said for outcome in done if outcome.code]
    assert len(failed) <= len(done) / 10, failed
    assert not [message for message in failed if "Traceback" in message]
    assert len(answers) > PEOPLE
    camp.well("pull")
    refused = camp.read_refusals()
    assert set(refused.values()) <= {"left"}
    assert camp.read_judgments() == {
        key: level for key, level in answers.items() if key not in refused
    }
    content = camp.folder.content()
    assert camp.run("pull", "--full").code == 0
    assert camp.folder.content() == content, "what is read piece by piece is all there is"
    camp.well("plan", "push")
    assert all(len(same_key) == 1 for same_key in camp.tasks().values())


# The exam


EXAM = {"  required: false  ": "  required: true  ", "  queries: 10  ": "  queries: 3  "}
EXAM |= {"  top: 10  ": "  top: 4  "}
OFF = {2: 1, 4: 3}
"""How far people's levels are off; the fourth is careless."""


def examine(camp, verb):
    done = camp.run("exam", verb)
    assert done.code == 0, done.said
    return done.said


def own_level(key):
    return min(int(key[1][-1]) + OFF.get(key[2], 0), 4)


def read_exam_tasks(camp):
    """Return every task of exam and feedback, with its key."""
    keyed = [(camp.folder.signer.read(task["data"]["pair"]), task) for task in read_tasks()]
    return [(key, task) for key, task in keyed if key.kind in {"exam", "feedback"}]


def take_exam(camp, level=own_level):
    """Answer all that is open of it, as the people themselves; return the levels by person."""
    levels = {}
    for key, task in read_exam_tasks(camp):
        if open_(task):
            levels[key[:3]] = level(key)
            camp.world.people[key.annotator].annotate(task["id"], make_result(levels[key[:3]]))
    return levels


def read_truth(camp):
    return camp.folder.get(tables.EXAM).set_index(["query_id", "moment_id"])["level"]


def results(camp):
    rows = camp.folder.get(tables.QUALIFICATIONS)
    return {(row.annotator, row.attempt): row for row in rows.itertuples()}


def test_four_take_the_exam_and_the_one_who_fails_is_told_why_and_passes(camp, world):
    camp = camp(Size(queries=4, ranks=4, people=4))
    path = camp.folder.path / "params.yaml"
    path.write_text(re.sub("|".join(EXAM), lambda at: EXAM[at[0]], path.read_text()))
    camp.folder.put(tables.FROZEN_QUERIES, camp.folder.get(tables.QUERIES))
    assert "annotation.exam push" in camp.run("exam", "status").said
    assert "12 pairs of 3 queries for 4 people; 48 tasks added" in examine(camp, "push")
    assert " 0 tasks added, 0 closed" in examine(camp, "push")
    assert "levels are not known" in camp.run("exam", "feedback").said
    strange = next(task for key, task in read_exam_tasks(camp) if key.annotator == 1)
    annotation = world.stranger.annotate(strange["id"], make_result(0))
    camp.well("pull", "plan", "push")
    assert camp.folder.get(tables.EXAM_ANSWERS).empty
    world.lead.api("DELETE", f"/api/annotations/{annotation['id']}/")
    levels = take_exam(camp)
    camp.well("pull", "plan", "push")
    assert camp.read_judgments() == {}, "an answer of the exam is no judgment"
    passed = {key: row.passed for key, row in results(camp).items()}
    assert passed == {(1, 1): "yes", (2, 1): "yes", (3, 1): "yes", (4, 1): "no"}
    assert {key[2] for key in read_assigned(camp)} == {1, 2, 3}, "who failed is asked nothing"

    truth, exam = read_truth(camp), camp.folder.content(tables.EXAM)
    assert "feedback to 1 people: 3 tasks added" in examine(camp, "feedback")
    for key, task in read_exam_tasks(camp):
        if key.kind == "feedback":
            assert f" {truth[key[:2]]} " in task["data"]["truth"]
            assert f" {levels[key[:3]]} " in task["data"]["before"]
        if key.kind == "exam" and key.annotator == 4:  # too late: it was handed in
            change = {"result": make_result(int(truth[key[:2]]))}
            world.people[4].api(
                "PATCH", f"/api/annotations/{task['annotations'][0]['id']}/", change
            )
    again = take_exam(camp, lambda key: int(truth[key[:2]]))
    assert {key[2] for key in again} == {4}
    camp.folder.people({number: {} for number in range(1, 6)})  # somebody joins
    clips, pool = camp.folder.get(tables.CLIPS), camp.folder.get(tables.POOL)
    camp.folder.put(tables.CLIPS, clips.assign(clip="other.mp4", clip_sha="other"))
    camp.folder.put(tables.POOL, pool.tail(3))
    assert "for 1 people; 12 tasks added" in examine(camp, "push")
    assert "annotator 5, attempt 1: http" in examine(camp, "mark")
    assert (results(camp)[4, 1].failed, results(camp)[4, 2].failed) == (3, 0)
    assert results(camp)[4, 2].passed == "yes"
    newcomers = take_exam(camp)
    assert {key[:2] for key in newcomers} == {key[:2] for key in levels}, "the same exam"
    examine(camp, "mark")
    assert results(camp)[5, 1].passed == "yes"
    assert camp.folder.content(tables.EXAM) == exam
    assert len(camp.folder.get(tables.EXAM_ANSWERS)) == 5 * 12 + 3
    camp.folder.put(tables.CLIPS, clips)
    camp.folder.put(tables.POOL, pool)
    camp.folder.people({n: {"active": n != 3} for n in range(1, 6)})  # whose work goes to others
    camp.well("pull", "plan")
    assert {key[2] for key in read_assigned(camp)} == {1, 2, 4, 5}, "who has passed is asked"


def test_a_server_killed_as_people_answer(camp, world):
    camp = camp(Size(queries=4, ranks=4, people=4))
    wanted = seats(range(4), (1, 2, 3), (1, 2))
    camp.assign(wanted)
    camp.well("push")

    def level(_query_id, moment_id):
        return int(moment_id[-1])

    with contextlib.closing(Wire(world.lead.url)) as wire:
        camp.folder.configure(wire.url, world.lead.token)
        wire.arm(Fault(2 + 9, "during"), {"POST"})  # two log in
        wire.aim(world)
        with pytest.raises(StudioError):
            camp.simulate(level)
        assert wire.struck
    world.revive()
    camp.folder.configure(world.lead.url, world.lead.token)
    camp.well("pull")
    part = camp.read_judgments()
    assert 1 <= len(part) < len(wanted)
    camp.simulate(level)
    camp.well("pull")
    expected = {key: answer_pair(int(key[1][-1]), 1, key[2], *key[:2]).level for key in wanted}
    assert camp.read_judgments() == expected
    assert part.items() <= expected.items()
    camp.well("push")
    assert all(len(same_key) == 1 for same_key in camp.tasks().values())


def test_an_annotator_leaves_and_comes_back(camp):
    camp = camp(Size(queries=3, ranks=4, people=5))
    camp.well("pull", "plan", "push")
    own = {key: task["id"] for key, [task] in camp.tasks().items() if key[2] == 1}
    assert own
    camp.folder.people({1: {"active": False}, **{n: {} for n in range(2, 6)}})
    camp.well("pull", "plan", "push")
    tasks = camp.tasks()
    assert not [key for key in own if open_(tasks[key][0])]
    ledger = camp.folder.ledger()
    assert_as_wanted(camp, read_assigned(camp), ledger)
    late = min(own)
    camp.answer(tasks[late][0], late, 3)
    camp.well("pull", "plan", "push")
    assert camp.read_judgments() == {}
    assert camp.read_refusals() == {late: "left"}
    assert len(read_assigned(camp)) == 2 * 12, "an answer after the departure does not count"
    camp.folder.people({2: {"active": False}, **{n: {} for n in (1, 3, 4, 5)}})
    camp.well("pull", "plan", "push")
    tasks = camp.tasks()
    back = [key for key in own if open_(tasks[key][0])]
    assert back, "what was given to another and is to be given on comes back"
    assert all(tasks[key][0]["id"] == number for key, number in own.items()), "the same tasks"
    assert_as_wanted(camp, read_assigned(camp), ledger)
    assert camp.folder.ledger() == ledger
    assert " 0 tasks added, 0 closed, 0 reopened" in camp.well("pull", "plan", "push").said


def test_one_of_six_is_voided_in_the_middle_and_the_campaign_ends(camp):
    camp, random = camp(Size(queries=3, ranks=4, people=6)), Random(3)
    camp.well("pull", "plan", "push")
    camp.answer_some(len(read_assigned(camp)) // 2, random)
    camp.well("pull", "plan", "push")
    [(careless, number)] = Counter(who for *_, who in camp.answers).most_common(1)
    voided = camp.run("people", "void", str(careless), "--from", "2020-01-01")
    assert f"{number} of {number} judgments, on {number} pairs, are voided" in voided.said
    for _ in range(8):
        camp.well("pull", "plan", "push")
        if not read_assigned(camp):
            break
        assert careless not in {who for *_, who in read_assigned(camp)}, "asked for nothing more"
        camp.simulate(lambda query, moment: int(moment[-1]))
    with contextlib.chdir(camp.folder.path):
        tables.FROZEN_QUERIES.write(tables.FROZEN_QUERIES.empty())
        consensus.main()
    assert len(camp.read_judgments()) > number, "what was voided is kept"
    outcomes = camp.folder.get(tables.CONSENSUS)
    assert set(outcomes["outcome"]) <= {"two", "four", "discarded", "unjudgeable"}
    ledger, counted = camp.folder.get(tables.PAIRS), camp.folder.get(tables.COUNTED_VOTES)
    assert len(ledger) == len(outcomes) == 3 * 4
    valid = counted.dropna(subset="level").groupby("pair_id")["annotator"].agg(list)
    assert set(valid.index) == set(ledger["pair_id"]), "every pair that was shown was judged"
    assert all(len(who) == len(set(who)) and len(who) in {2, 4} for who in valid)
    assert careless not in set(counted["annotator"])
    listing = camp.run("people", "list").said
    assert [line.split()[2] for line in listing.splitlines()[1:]].count("voided") == 1


def test_no_field_of_a_task_says_what_kind_of_vote_it_is_or_of_which_moment(camp, world):
    camp = camp(Size(queries=2, ranks=4, people=5))
    rows = [("q000", "q000-m01", 1, "first"), ("q000", "q000-m01", 2, "escalated"),
            ("q000", "q000-m01", 3, "gold"), ("q000", "q000-m01", 4, "repeat")]  # fmt: skip
    camp.folder.put(tables.ASSIGNMENTS, pd.DataFrame(rows, columns=tables.ASSIGNMENTS.columns))
    camp.well("push")
    lengths = set()
    for number, project in camp.projects().items():
        [task] = world.people[number].tasks(project)
        text = json.dumps([task, world.people[number].api("GET", f"/api/projects/{project}/")])
        parts = re.findall(r"[A-Za-z0-9_+/-]{8,}={0,2}", text)
        text += "".join(decode(part) for part in parts)
        for word in ("q000", "m01", "escalated", "repeat", '"gold"', "first_vote"):
            assert word not in text
        lengths.add(len(task["data"]["pair"]))
    assert len(lengths) == 1


def decode(part):
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("latin-1")
    except ValueError:
        return ""


def answer_all(camp, level_of):
    """Let everybody answer all that is open, with `level_of(moment)`."""
    for key, [task] in sorted(camp.tasks().items(), key=lambda item: item[0]):
        if open_(task):
            camp.answer(task, key, level_of(key[1]))


def test_links_after_a_reopening_reach_new_people_and_no_level(camp):
    camp = camp(Size(queries=4, ranks=4, people=PEOPLE))
    old = {number: {} for number in range(1, 5)}
    camp.folder.people(old)
    camp.well("pull", "plan", "push")
    answer_all(camp, lambda moment: int(moment[-1]) % 4)
    camp.well("pull", "plan", "push", "consensus")
    assert read_assigned(camp) == set()
    before = camp.folder.get(tables.CONSENSUS)
    assert before["level"].notna().all()
    base = camp.folder.path / "datasets/campaign/released/1.0"
    base.mkdir(parents=True)
    numbers = select_newest(camp.folder.get(tables.PAIRS))
    before.merge(numbers, on=PAIR_KEY).to_csv(base / "consensus.csv", index=False)
    now = pd.Timestamp.now("UTC").isoformat()
    camp.folder.open(reopenings=[{"at": now, "reason": "R", "closed_at": now, "version": "1.0"}])
    new = {5: {}, 6: {}}
    camp.folder.people(old | new)
    ledger = camp.folder.ledger()
    camp.well("pull", "plan", "push")
    everything = set(before[PAIR[:2]].itertuples(index=False, name=None))
    assert read_assigned(camp) == {(*pair, who) for pair in everything for who in new}
    kinds = camp.folder.get(tables.ASSIGNMENTS)["kind"]
    assert set(kinds) == {"link"}
    shown = [task["data"] for key, [task] in camp.tasks().items() if key[2] in new]
    assert not any("link" in str(data["pair"]) for data in shown)
    answer_all(camp, lambda moment: int(moment[-1]) % 4 + 1)
    camp.well("pull", "plan", "push", "consensus")
    judgments = camp.folder.get(tables.JUDGMENTS)
    assert (judgments["kind"] == "link").sum() == 2 * len(everything)
    assert read_assigned(camp) == set()
    assert camp.folder.ledger() == ledger
    pd.testing.assert_frame_equal(camp.folder.get(tables.CONSENSUS), before)
    metrics = json.loads((camp.folder.path / "datasets/work/metrics/consensus.json").read_text())
    [link] = metrics["agreement"]["link"]
    assert (link["version"], link["pairs"], link["people"]) == ("1.0", len(everything), 2)
    assert link["drift"] == 1.0
    page = camp.run("status").said
    assert f"link: {2 * len(everything)} judgments of {len(everything)} decided pairs" in page
