"""A campaign on PostgreSQL: workers killed one after the other, and an older dump restored."""

import contextlib
import gc
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections import Counter
from functools import partial
from random import Random

import httpx
import psutil
import pytest
from opened import LABELS
from support.campaign_folder import PASSWORD, CampaignFolder, Size, email_of
from support.postgres_cluster import cluster
from support.studio import Studio

from annotation import server
from annotation.label_studio import page, settings
from annotation.local_server import database, layout
from annotation.local_server.process import find_running, is_alive
from pipeline.core.parallel import cores

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SIZE = Size(queries=3, ranks=4, people=4)


class Judge(threading.Thread):
    """Somebody who answers what is next, and where saving fails looks whether it was saved."""

    def __init__(self, who, project, signer, limit):
        super().__init__(daemon=True)
        self._who, self._project, self._signer = who, project, signer
        self._random, self._limit = Random(project), limit
        self.answers, self.failed, self.problem = {}, 0, None

    def run(self):
        try:
            while len(self.answers) < self._limit and self._answer_next():
                pass
        except Exception as exc:  # noqa: BLE001  (the test tells of it)
            self.problem = exc

    def _ask(self, method, path, body=None):
        """Return an answer; None where the worker died over it."""
        with contextlib.suppress(httpx.TransportError):
            answer = self._who.http.request(method, path, json=body)
            if not answer.is_server_error:
                return answer
        self.failed += 1
        time.sleep(0.05)
        return None

    def _insist(self, *request):
        while (answer := self._ask(*request)) is None:
            pass
        return answer

    def _answer_next(self):
        response = self._insist("GET", f"/api/projects/{self._project}/next")
        if response.status_code == httpx.codes.NOT_FOUND:
            return False
        task = response.raise_for_status().json()
        level, path = self._random.randrange(5), f"/api/tasks/{task['id']}/annotations/"
        body = {"result": page.result_of(LABELS, level), "lead_time": 3.0}
        while not (sent := self._ask("POST", path, body)):
            if self._insist("GET", path).raise_for_status().json():
                break
        if sent is not None:
            sent.raise_for_status()
        key = self._signer.read(task["data"]["pair"])
        assert key[:3] not in self.answers, "asked once"
        self.answers[key[:3]] = level
        return True


class Campaign:
    """The campaign of this folder, whose commands run in this process."""

    def __init__(self, folder, command):
        self.folder, self._command = folder, command

    def run(self, module, *options):
        code, out, err = self._command(f"annotation.{module}", *options)
        gc.collect()  # its connections, which end with its process usually, at no worse moment
        return code, out + err

    def run_all(self, *modules):
        for module in modules:
            code, output = self.run(module)
            assert code == 0, output
        return output


def projects(lead):
    return {int(each["title"].rpartition(" ")[2]): each["id"] for each in lead.projects()}


def list_tasks(lead):
    return [task for project in projects(lead).values() for task in lead.tasks(project)]


def judge(people, lead, signer, limit, meanwhile):
    """Let all people judge at once; return what they know they said, and how often it failed."""
    judges = [Judge(people[n], project, signer, limit) for n, project in projects(lead).items()]
    for thread in judges:
        thread.start()
    meanwhile(judges)
    for thread in judges:
        thread.join(600)
        assert not thread.is_alive()
        assert thread.problem is None, thread.problem
    answers = {key: level for thread in judges for key, level in thread.answers.items()}
    return answers, sum(thread.failed for thread in judges)


def kill_workers(judges):
    """Kill each of the server's workers, and those that take their place, while people judge."""
    first = find_running().process
    before = {worker.pid for worker in first.children()}
    killed = set()
    while len(killed) < 5 and any(thread.is_alive() for thread in judges):
        for worker in first.children():
            if worker.pid not in killed and worker.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.15)  # they are in the middle of it
                worker.kill()
                killed.add(worker.pid)
                break
    assert before < killed, "those of the start, and others"


def assert_once(lead, judgments):
    """Every answer is there, and none twice."""
    tasks = list_tasks(lead)
    answers = Counter(len(task["annotations"]) for task in tasks)
    assert answers == Counter({1: len(judgments), 0: len(tasks) - len(judgments)}) + Counter(), (
        "none twice"
    )
    assert {task["is_labeled"] for task in tasks if task["annotations"]} <= {True}


@pytest.fixture
def campaign_folder(folder, repository):
    """Return a campaign's folder in which Label Studio is installed; its server is stopped."""
    if not (repository / layout.PROGRAM).is_file():
        pytest.skip("Label Studio is not installed: make label-studio")
    (folder / layout.PROGRAM.parts[0]).symlink_to(repository / layout.PROGRAM.parts[0])
    yield CampaignFolder.make(folder, repository, SIZE)
    server.stop()


# Commands run in this process, and leave connections to it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_workers_are_killed_and_an_older_dump_is_restored(campaign_folder, command, repository):
    campaign = Campaign(campaign_folder, command)
    with cluster() as place, contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        database.remember(place)
        dump, restore = read_commands(repository, place)
        running = server.start(0, workers=2)
        lead = Studio(running.url, settings.read()[settings.TOKEN], layout.MEDIA)
        stack.callback(lead.close)
        campaign.run_all("pull", "plan", "push")
        judgments = judge_with_a_dump_and_kills(campaign, lead, stack, dump)
        assert_once(lead, judgments)
        content = campaign_folder.content()

        assert server.stop()
        restore()
        again = server.start(running.port)
        assert (again.port, again.workers) == (running.port, max(2, cores()))
        code, output = campaign.run("pull")
        assert code == 1
        assert f"{len(judgments) - count_answers(lead)} judgments disappeared" in output
        assert campaign_folder.content() == content, "yesterday's judgments are kept"
        assert campaign.run("pull", "--accept-loss")[0] == 0
        assert campaign.folder.read_judgments() == judgments, "people did judge"
        campaign.run_all("plan", "push")
        assert_nothing_asked_again(lead, campaign_folder.signer, judgments)
        kill_the_first(again)
        log = layout.LOG.read_text()
        for secret in (place.password, settings.read()[settings.PASSWORD]):
            assert secret not in log


def read_commands(repository, place):
    """Return functions that run the commands of docs/server.md that dump and restore."""
    page = (repository / "docs/server.md").read_text()
    lines = [
        re.search(rf"^{name} .*ADDRESS[^#\n]*", page, re.MULTILINE)[0]
        for name in ("pg_dump", "pg_restore")
    ]
    environment = os.environ | {"PGPASSWORD": place.password}

    def run(line):
        words = [word.replace("ADDRESS", place.address) for word in shlex.split(line)]
        done = subprocess.run(words, env=environment, capture_output=True, check=False, text=True)
        assert (done.returncode, done.stderr) == (0, "")

    return [partial(run, line) for line in lines]


def judge_with_a_dump_and_kills(campaign, lead, stack, dump):
    """Let people judge all of it: a part while a dump is made, the rest while workers die."""
    people = {n: lead.sign_up(email_of(n), PASSWORD) for n in range(1, SIZE.people + 1)}
    for person in people.values():
        stack.callback(person.close)
    signer = campaign.folder.signer
    early, _ = judge(people, lead, signer, 2, lambda _: dump())
    campaign.run_all("pull")
    assert campaign.folder.read_judgments() == early
    late, failed = judge(people, lead, signer, 99, kill_workers)
    assert failed, "somebody noticed"
    judgments = early | late
    assert len(judgments) == 2 * SIZE.queries * SIZE.ranks
    campaign.run_all("pull")
    assert campaign.folder.read_judgments() == judgments
    return judgments


def kill_the_first(running):
    """Kill the process that holds the port, as a kernel without memory would."""
    workers = running.process.children()
    os.kill(running.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "workers end with the first process"
        time.sleep(0.05)


def count_answers(lead):
    """Return how many answers the server has."""
    return sum(len(task["annotations"]) for task in list_tasks(lead))


def assert_nothing_asked_again(lead, signer, judgments):
    """What was judged does not wait, although the restored server has lost the answer."""
    for task in list_tasks(lead):
        if not task["is_labeled"] and not task["annotations"]:
            assert signer.read(task["data"]["pair"])[:3] not in judgments
