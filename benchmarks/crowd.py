"""Many people at once: Label Studio on SQLite against PostgreSQL with several workers.

    python -m benchmarks.crowd [--people 23] [--seconds 60] [--rounds 2] [--workers 2]
        [--kill 45] [--tasks 5000] [--plain]

The environment names an empty PostgreSQL database (LABEL_STUDIO_DATABASE, PGPASSWORD). Both servers
run on this machine, and so do the people: each takes the next pair of their own project and answers
it, over and over, without looking at a clip. The rounds alternate. On PostgreSQL the workers are
killed in turn, one every `--kill` seconds (0: none). It prints answers per second, how long a
person waits for one, the CPU seconds that the server (with PostgreSQL) and the people take for one,
and afterwards whether each answer is there exactly once. Then it measures pushes and pulls of
`--tasks` tasks (0 skips this). With `--plain`, SQLite's server is plain Label Studio, with a
rollback journal; the one of `make label-studio` uses write-ahead logging and fewer statements.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, chdir, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import httpx
import psutil

from annotation import server
from annotation.label_studio import guideline, page, settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.roster import Account
from annotation.label_studio.settings import Endpoint
from annotation.local_server import choice, database, embedded, postgres, sqlite
from annotation.local_server.layout import PROGRAM
from annotation.simulation.accounts import Visitor
from benchmarks.crowd_round import Person, Round, compare_rates, print_round, tally, work
from benchmarks.script import parse_arguments
from benchmarks.studio import QUERY, judge_all, whole_pull, whole_push
from pipeline.core.params import load

PAIRS = 2000
"""Tasks in each person's project: more than they answer."""

SAFE = ("fsync", "synchronous_commit", "full_page_writes")
"""PostgreSQL's settings for durable answers; without them it would be faster."""

PASSWORD = "a-good-password"  # noqa: S105  (of a server that ends with the benchmark)


class Server(NamedTuple):
    """A server that runs in a folder, and the people who are on it."""

    name: str
    folder: Path
    endpoint: Endpoint
    people: list[Person]
    process: psutil.Process
    """Its first."""
    workers: int | None
    """None on SQLite."""

    @property
    def lead(self) -> LabelStudio:
        """A client of the server's owner."""
        return LabelStudio(self.endpoint)


@contextmanager
def start(
    name: str, address: str | None, checkout: Path, people: int, workers: int
) -> Iterator[Server]:
    """Start a server in a temporary folder, and have people sign up and log in."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        with chdir(folder):
            Path(PROGRAM.parts[0]).symlink_to(checkout / PROGRAM.parts[0])
            if address:
                choice.choose(address)
            stack.callback(_stop, Path(folder))
            begin = time.monotonic()
            running = server.start(0, workers if address else None)
            endpoint = Endpoint(running.url, settings.read()[settings.TOKEN])
            print(f"{name}: started in {time.monotonic() - begin:.0f} s", flush=True)
        lead = LabelStudio(endpoint)
        chosen = guideline.current(load(checkout / "params.yaml").annotation)
        invite, config = lead.invite_path(), page.label_config(chosen)
        data = [page.task_data(QUERY, "x" * 60, "k" * 330)] * PAIRS
        visitors = list[Person]()
        for number in range(people):
            project = lead.create({"title": f"person {number}", "label_config": config})
            lead.add(project, data)
            account = Account(email=f"p{number}@example.org", name=None, password=PASSWORD)
            visitor = stack.enter_context(closing(Visitor(endpoint.url, invite, account)))
            visitors.append(Person(project.id, visitor))
        yield Server(name, Path(folder), endpoint, visitors, running.process, running.workers)


def _stop(folder: Path) -> None:
    with chdir(folder):
        server.stop()


def _server_seconds(on: Server) -> float:
    """Return the CPU seconds of a server and of PostgreSQL, ended processes included."""
    roots = [on.process]
    if on.workers:
        roots += [process for process in psutil.process_iter() if _is_postmaster(process)]
    return sum(_tree_seconds(process) for process in roots)


def _is_postmaster(process: psutil.Process) -> bool:
    try:
        parent = process.parent()
        return process.name() == "postgres" and (parent is None or parent.name() != "postgres")
    except psutil.Error:
        return False


def _tree_seconds(root: psutil.Process) -> float:
    total = 0.0
    for process in (root, *root.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system
        if process == root:
            total += times.children_user + times.children_system
    return total


def play(on: Server, seconds: float, kill: float) -> Round:
    """Have all people answer in parallel for a while, and print the result."""
    before = _server_seconds(on)
    done = work(on.people, seconds, on.process, kill if on.workers else 0)
    print_round(on.name, done, _server_seconds(on) - before)
    return done


def check(on: Server, rounds: Iterable[Round]) -> None:
    """Print whether every answer is there exactly once."""
    headers = {"Authorization": f"Token {on.endpoint.token}"}
    counts = dict[int, int]()
    with httpx.Client(base_url=on.endpoint.url, headers=headers, timeout=600) as http:
        for project, _ in on.people:
            done = http.get(f"/api/projects/{project}/export?exportType=JSON").raise_for_status()
            counts |= {task["id"]: len(task["annotations"]) for task in done.json()}
    result = tally([task for one in rounds for task in one.answers], counts)
    print(
        f"{on.name}: {result.once} confirmed answers are there once, {result.lost} are lost,"
        f" {result.doubled} tasks have two; {result.unconfirmed} more are of people who saw an"
        " error",
        flush=True,
    )


def push_and_pull(both: list[Server], tasks: int, rounds: int, checkout: Path) -> None:
    """Print the seconds of pushes of tasks, and of pulls of as many judgments."""
    params, campaigns = load(checkout / "params.yaml"), []
    for _ in range(rounds):
        for one in both:
            print_call(one, "push", tasks, partial(whole_push, one.lead, params, tasks))
    for one in both:
        with chdir(one.folder):
            campaigns.append(judge_all(one.lead, params, tasks))
    for _ in range(rounds):
        for one, campaign in zip(both, campaigns, strict=True):
            print_call(one, "pull", tasks, partial(whole_pull, campaign, tasks, full=True))


def print_call(on: Server, name: str, tasks: int, call: Callable[[], float]) -> None:
    """Print what a push or a pull took, and the CPU seconds of the server and of this process."""
    before, own = _server_seconds(on), time.process_time()
    with chdir(on.folder):
        seconds = call()
    own, server_seconds = time.process_time() - own, _server_seconds(on) - before
    print(
        f"{on.name:10} {name} {tasks:,}: {seconds:5.1f} s; processor: {server_seconds:5.1f} s by"
        f" the server, {own:.1f} s by the {name}",
        flush=True,
    )


def main() -> None:
    """Print the figures of both, and their ratio."""
    options = parse_arguments(
        __doc__, people=23, seconds=60.0, rounds=2, workers=2, kill=45.0, tasks=5000, plain=False
    )
    if options.plain:
        mock.patch.object(sqlite, "write_ahead").start()
        mock.patch.object(embedded, "__file__", str(PROGRAM.absolute())).start()
    checkout, address = Path.cwd(), os.environ.pop(database.URL)  # it would apply to both
    for name in ("server_version", *SAFE):
        print(
            f"PostgreSQL: {name} {postgres.query(database.parse(address), f'show {name}').strip()}"
        )
    with ExitStack() as stack:
        both = [
            stack.enter_context(start(name, place, checkout, options.people, options.workers))
            for name, place in (("SQLite", None), ("PostgreSQL", address))
        ]
        rounds = [
            [play(one, options.seconds, options.kill) for one in both]
            for _ in range(options.rounds)
        ]
        slow, fast = zip(*rounds, strict=True)
        print(f"PostgreSQL: {compare_rates(fast, slow, 'SQLite')}")
        for one, done in zip(both, (slow, fast), strict=True):
            check(one, done)
        if options.tasks:
            push_and_pull(both, options.tasks, options.rounds, checkout)


if __name__ == "__main__":
    main()
