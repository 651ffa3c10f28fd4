"""A campaign at the paper's size: a plan's time and memory; push and pull on a real Label Studio.

    python -m benchmarks.campaign [--queries 3281] [--people 23] [--tasks 20000]

It plans the first votes of every query's first batch: as many as `queue` allows, then all. Memory
is the process's, tables included.

Then it compares a push of tasks with the bare import call, and a pull of as many judgments with
bare paging (`--tasks 0` skips this).
"""

import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time

import httpx
import numpy as np
import pandas as pd

from annotation import pull, server
from annotation.answers import pulling
from annotation.answers.judgments import trust_all
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.planning import plan
from annotation.label_studio import guideline, page, projects, settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import Signer
from annotation.label_studio.settings import Endpoint
from annotation.local_server.layout import PROGRAM, ServerError
from annotation.roster.annotator import Annotator
from annotation.roster.roster import Account, Roster
from annotation.simulation.accounts import Visitor
from annotation.tasks.pushing import push
from annotation.tasks.tasks import TaskData, keys_by_annotator
from benchmarks.script import assert_size, parse_arguments, peak_mb, run, time_call
from pipeline.campaign.campaign import FORMAT, Campaign, CampaignError, GuidelineVersion
from pipeline.campaign.guideline import Labels
from pipeline.campaign.pairs import SHOWN_KEY, query_sha
from pipeline.core import tables
from pipeline.core.params import Params, load

RANKS, NO_LIMIT = 20, 10**9
PEOPLE, ROUNDS, PAGE = 4, 3, 1000
"""Of the part on a server."""
QUERY = "A woman puts a letter on the table."
BARE_BATCH = 5000


def open_campaign(queries: int, people: int) -> PlanInputs:
    """Return a new campaign with four annotators who judge what others disagree on."""
    ids = [f"{number:06}" for number in range(queries)]
    size = queries * RANKS
    pairs = pd.DataFrame(
        {
            "query_id": np.repeat(ids, RANKS),
            "moment_id": np.random.default_rng(0).permutation(size).astype(str),
            "rank": np.tile(np.arange(1, RANKS + 1), queries),
            "similarity": 0.5,
            "batch": 1,
        }
    )
    return PlanInputs(
        queries=pd.DataFrame({"query_id": ids, "query": [f"Somebody does {i}." for i in ids]}),
        candidates=tables.CANDIDATES.check(pairs),
        clips=pairs["moment_id"].tolist(),
        shown=pairs.assign(query_sha="text", clip_sha="clip")[SHOWN_KEY],
        judgments=tables.JUDGMENTS.empty(),
        open_tasks=tables.ASSIGNMENTS.empty(),
        annotators=[
            Annotator(number, "escalation" if number > people - 4 else "annotator", active=True)
            for number in range(1, people + 1)
        ],
        extend={},
    )


def _endpoint() -> Endpoint:
    endpoint = settings.endpoint()
    if endpoint is None:
        raise ServerError("the server has no address")
    return endpoint


@contextmanager
def studio(checkout: Path) -> Iterator[tuple[LabelStudio, Params]]:
    """Start a server in a temporary folder; yield it and this checkout's params."""
    params = load(checkout / "params.yaml")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name in (PROGRAM.parts[0], "params.yaml"):
            Path(name).symlink_to(checkout / name)
        try:
            server.start(0)
            endpoint = _endpoint()
            yield LabelStudio(endpoint), params
        finally:
            server.stop()


def connection(lead: LabelStudio, params: Params) -> Connection:
    """Return a new campaign with a few people."""
    guide = guideline.current(params.annotation)
    opened = "2024-05-01T08:00:00Z"
    campaign = Campaign(
        format=FORMAT,
        commit=None,
        id=str(uuid.uuid4()),
        name="Benchmark",
        guideline=guide.version,
        guidelines=[
            GuidelineVersion(
                version=guide.version,
                sha=guide.sha,
                since=opened,
                reason=None,
                labels=dict(guide.labels),
            )
        ],
        rehearsal=True,
        opened_at=opened,
        closed_at=None,
    )
    for table in (tables.PAIRS, *pulling.OUTPUTS, *pull.OF_EXAM):
        table.write(table.empty())
    numbers = range(1, PEOPLE + 1)
    people = [Annotator(number, "annotator", active=True) for number in numbers]
    emails = {number: f"annotator{number}@example.org" for number in numbers}
    accounts = {
        number: Account(email=email, name=None, password=uuid.uuid4().hex)
        for number, email in emails.items()
    }
    return Connection(campaign, lead, Signer(campaign.id, "0" * 64), Roster(people, accounts))


def make_pairs(tasks: int) -> pd.DataFrame:
    """Return assignments to all people, with the content of each pair."""
    number = np.arange(tasks) // 2
    return pd.DataFrame(
        {
            "query_id": [f"{pair // 20:06}" for pair in number],
            "moment_id": [f"m{pair:07}" for pair in number],
            "annotator": 1 + np.arange(tasks) % 2 + 2 * ((number // 20) % (PEOPLE // 2)),
            "kind": "first",
            "rank": 1 + number % 20,
            "similarity": 0.5,
            "query": QUERY,
            "clip": [f"{pair:032x}.mp4" for pair in number],
            "query_sha": query_sha(QUERY),
            "clip_sha": [f"{pair:032x}" for pair in number],
            "video_id": "show_s01e01",
            "start": 1.0,
            "end": 6.0,
            "duration": 61.5,
            "caption": QUERY,
        }
    )


def bare_import(lead: LabelStudio, params: Params, tasks: int) -> float:
    """Return the seconds of a bare import of tasks of the same number and size."""
    config = page.label_config(guideline.current(params.annotation))
    project = lead.create({"title": "bare", "label_config": config})
    data = [page.task_data(QUERY, "x" * 60, "k" * 330)] * tasks
    batches = (data[begin : begin + BARE_BATCH] for begin in range(0, tasks, BARE_BATCH))
    return time_call(lambda: [lead.add(project, batch) for batch in batches])[0]


def whole_push(lead: LabelStudio, params: Params, tasks: int) -> float:
    """Return the seconds of a first push: projects, pairs, and tasks with signed keys."""
    campaign, pairs = connection(lead, params), make_pairs(tasks)
    return time_call(lambda: push(campaign, pairs, params, beside_others=True))[0]


def judge_all(lead: LabelStudio, params: Params, tasks: int) -> Connection:
    """Return a campaign in which all tasks are answered."""
    campaign, pairs = connection(lead, params), make_pairs(tasks)
    push(campaign, pairs.groupby("annotator").head(1), params, beside_others=True)
    by_annotator = projects.find_projects(campaign)
    task_data = TaskData(pairs, params.clips.url, BARE_BATCH)
    for number, keys in keys_by_annotator(pairs, campaign.campaign.guideline).items():
        account = campaign.roster.accounts[number]
        Visitor(lead.url, lead.invite_path(), account).close()
        user = lead.users()[account.email]
        data = [task_data.data(key, campaign.signer) for key in keys[1:]]
        for begin in range(0, len(data), BARE_BATCH):
            batch = data[begin : begin + BARE_BATCH]
            _import_answers(by_annotator[number].id, batch, user, _labels(campaign))
    return campaign


@contextmanager
def _api() -> Iterator[httpx.Client]:
    """Yield a plain HTTP client of the server."""
    endpoint = _endpoint()
    headers = {"Authorization": f"Token {endpoint.token}"}
    with httpx.Client(base_url=endpoint.url, headers=headers, timeout=600) as http:
        yield http


def _labels(campaign: Connection) -> Labels:
    return campaign.campaign.guidelines[-1].labels


def _import_answers(
    project: int, data: Sequence[Mapping[str, str]], user: int, labels: Labels
) -> None:
    """Import tasks together with their answers, which is much faster than answering them."""
    answers = [
        {"result": page.result_of(labels, level), "completed_by": user, "lead_time": 4.0}
        for level in range(5)
    ]
    tasks = [{"data": task, "annotations": [answers[at % 5]]} for at, task in enumerate(data)]
    with _api() as http:
        http.post(f"/api/projects/{project}/import", json=tasks).raise_for_status()


def bare_paging(campaign: Connection) -> float:
    """Return the seconds of a bare read of all pages of tasks with all fields."""
    by_annotator = projects.find_projects(campaign)

    def read_all() -> None:
        with _api() as http:
            for project in by_annotator.values():
                page_number, total = 0, 1
                while page_number * PAGE < total:
                    page_number += 1
                    query = {"project": project.id, "page_size": PAGE, "page": page_number}
                    answer = http.get("/api/tasks/", params={**query, "fields": "all"})
                    total = answer.raise_for_status().json()["total"]

    return time_call(read_all)[0]


def whole_pull(campaign: Connection, tasks: int, *, full: bool) -> float:
    """Return the seconds of a whole pull, which must accept all answers."""
    # They were imported, for speed, so their times are not real.
    seconds, _ = time_call(lambda: pulling.pull(campaign, full=full, trust=trust_all))
    judgments, answers = len(tables.JUDGMENTS.read()), tasks - PEOPLE  # one each waits
    if judgments != answers:
        raise CampaignError(f"{judgments} of {answers} answers became judgments")
    return seconds


def against_a_server(checkout: Path, tasks: int) -> None:
    """Print both ratios."""
    with studio(checkout) as (lead, params):
        for number in range(1, ROUNDS + 1):
            bare, whole = bare_import(lead, params, tasks), whole_push(lead, params, tasks)
            print(
                f"push {tasks:,}: bare import {bare:5.1f} s, push {whole:5.1f} s:"
                f" {bare / whole:.2f} of its speed  (round {number})"
            )
        campaign = judge_all(lead, params, tasks)
        for number in range(1, ROUNDS):
            bare, whole = bare_paging(campaign), whole_pull(campaign, tasks, full=True)
            print(
                f"pull {tasks:,}: bare paging {bare:5.1f} s, pull {whole:5.1f} s:"
                f" {whole / bare:.2f} times as long  (round {number})"
            )
        print(f"pull again, nothing changed: {whole_pull(campaign, tasks, full=False):5.1f} s")


def main() -> None:
    """Print seconds and memory."""
    options = parse_arguments(__doc__, queries=3281, people=23, tasks=20_000)
    campaign, before = open_campaign(options.queries, options.people), peak_mb()
    for queue in (campaign.rule.max_open, NO_LIMIT):
        rule = campaign.rule._replace(max_open=queue)
        inputs = replace(campaign, rule=rule)
        seconds, planned = time_call(partial(plan, inputs), 1, process_time)
        made = len(planned.assignments)
        print(
            f"plan, queue {queue:,}: {made:,} assignments in {seconds:.2f} s of CPU,"
            f" {peak_mb():.0f} MB at most ({before:.0f} before)"
        )
    assert_size("assignments", made, 2 * RANKS * options.queries)
    if options.tasks:
        against_a_server(Path.cwd(), options.tasks)


if __name__ == "__main__":
    run(main)
