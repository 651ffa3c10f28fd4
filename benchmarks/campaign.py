"""A campaign at the paper's size: a plan's time and memory; push and pull on a real Label Studio.

    python -m benchmarks.campaign [--queries 3281] [--people 23] [--tasks 20000]

It plans the first votes of every query's first batch: as many as `queue` allows, then all. Memory
is the process's, tables included.

Then it compares a push of tasks with the bare import call, and a pull of as many judgments with
bare paging (`--tasks 0` skips this).
"""

import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pandas as pd
from support.campaign_folder import PASSWORD, CampaignFolder, Size, email_of
from support.simulated import campaign_of, candidates_of, people
from support.studio import Studio, studio

from annotation import pull
from annotation.answers import pulling
from annotation.answers.judgments import trust_all
from annotation.assignment.inputs import Rule
from annotation.assignment.planning import plan
from annotation.label_studio import guideline, page, projects
from annotation.label_studio.connection import Connection, require_connection
from annotation.tasks.pushing import describe_pairs, push
from annotation.tasks.tasks import TaskData, keys_by_annotator
from benchmarks.script import REPOSITORY, assert_size, parse_arguments, peak_mb, run, time_call
from pipeline.core import tables
from pipeline.core.params import load

RANKS, NO_LIMIT, ESCALATION = 20, 10**9, 4
PEOPLE, ROUNDS, PAGE, BATCH = 4, 3, 1000, 5000
"""Of the part on a server."""


def measure_plan(queries: int, annotators: int) -> None:
    """Print what plans cost; four people judge what others disagree on."""
    candidates = candidates_of(queries, RANKS, RANKS)
    campaign = partial(campaign_of, candidates, people(annotators - ESCALATION, ESCALATION))
    before = peak_mb()
    for rule in (Rule(), Rule(max_open=NO_LIMIT)):
        inputs = campaign(rule=rule)
        seconds, planned = time_call(partial(plan, inputs), 1, process_time)
        made = len(planned.assignments)
        print(
            f"plan, queue {rule.max_open:,}: {made:,} assignments in {seconds:.2f} s of CPU,"
            f" {peak_mb():.0f} MB at most ({before:.0f} before)"
        )
    assert_size("assignments", made, 2 * RANKS * queries)


class Server:
    """A campaign on a real server: every pair is asked of two of four people."""

    def __init__(self, folder: CampaignFolder, lead: Studio) -> None:
        self.folder, self.lead, self.params = folder, lead, load()
        seat = tables.CANDIDATES.read()
        seat["annotator"] = 1 + 2 * (pd.factorize(seat["query_id"])[0] % (PEOPLE // 2))
        both = pd.concat([seat, seat.assign(annotator=seat["annotator"] + 1)]).assign(kind="first")
        self.pairs = describe_pairs(both[tables.ASSIGNMENTS.columns], self.params)

    def open(self) -> Connection:
        """Open another campaign, in which nobody was asked anything."""
        self.folder.open(str(uuid.uuid4()))
        for table in (tables.PAIRS, *pulling.OUTPUTS, *pull.OF_EXAM):
            table.write(table.empty())
        return require_connection("annotation.people list")

    def push(self, pairs: pd.DataFrame) -> tuple[float, Connection]:
        """Return the seconds of a first push: projects, pairs, and tasks with signed keys."""
        campaign = self.open()
        work = partial(push, campaign, pairs, self.params, beside_others=True)
        return time_call(work)[0], campaign

    def list_tasks(self, campaign: Connection) -> dict[int, list[Mapping[str, str]]]:
        """Return the data of the tasks of each person."""
        data = TaskData(self.pairs, self.params.clips.url, BATCH)
        keys = keys_by_annotator(self.pairs, campaign.campaign.guideline)
        return {who: [data.data(key, campaign.signer) for key in own] for who, own in keys.items()}

    def bare_import(self) -> float:
        """Return the seconds of a bare import of the same tasks."""
        campaign = self.open()
        config = page.label_config(guideline.current(self.params.annotation))
        project = campaign.studio.create({"title": "bare", "label_config": config})
        data = [task for tasks in self.list_tasks(campaign).values() for task in tasks]
        batches = (data[begin : begin + BATCH] for begin in range(0, len(data), BATCH))
        return time_call(lambda: [campaign.studio.add(project, batch) for batch in batches])[0]

    def judge(self) -> Connection:
        """Return a campaign whose tasks are answered, all but one of each person's.

        Tasks are imported together with their answers: much faster than to answer them.
        """
        _, campaign = self.push(self.pairs.groupby("annotator").head(1))
        by_annotator, users = projects.find_projects(campaign), campaign.studio.users()
        for who, tasks in self.list_tasks(campaign).items():
            answers = [
                {"result": page.result_of(campaign.campaign.guidelines[-1].labels, level),
                 "completed_by": users[email_of(who)], "lead_time": 4.0}
                for level in range(5)
            ]  # fmt: skip
            judged = [
                {"data": data, "annotations": [answers[at % 5]]}
                for at, data in enumerate(tasks[1:])
            ]
            for begin in range(0, len(judged), PAGE):
                path = f"/api/projects/{by_annotator[who].id}/import"
                self.lead.api("POST", path, judged[begin : begin + PAGE])
        return campaign

    def bare_paging(self, numbers: Sequence[int]) -> None:
        """Read all pages of tasks of projects, with all fields."""
        for number in numbers:
            at, total = 0, 1
            while at * PAGE < total:
                at += 1
                query = f"project={number}&page_size={PAGE}&page={at}&fields=all"
                total = self.lead.api("GET", f"/api/tasks/?{query}")["total"]

    def pull(self, campaign: Connection, *, full: bool) -> float:
        """Return the seconds of a pull, which must accept all answers."""
        # They were imported, for speed, so their times are not real.
        work = partial(pulling.pull, campaign, full=full, trust=trust_all)
        seconds, _ = time_call(work)
        assert_size("judgments", len(tables.JUDGMENTS.read()), len(self.pairs) - PEOPLE)
        return seconds


def measure_server(folder: Path, tasks: int) -> None:
    """Print both ratios."""
    size = Size(tasks // (2 * RANKS), RANKS, PEOPLE, push=2000, page=PAGE)
    campaign_folder = CampaignFolder.make(folder, REPOSITORY, size)
    with studio(folder, REPOSITORY / ".venv-label-studio") as lead:
        campaign_folder.configure(lead.url, lead.token)
        for number in range(1, PEOPLE + 1):
            lead.sign_up(email_of(number), PASSWORD).close()
        server = Server(campaign_folder, lead)
        print(f"{len(server.pairs):,} tasks")
        for number in range(1, ROUNDS + 1):
            bare, (whole, _) = server.bare_import(), server.push(server.pairs)
            print(f"{number}: bare import {bare:5.1f} s, push {whole:5.1f} s:"
                  f" {bare / whole:.2f} of its speed")  # fmt: skip
        campaign = server.judge()
        numbers = [project.id for project in projects.find_projects(campaign).values()]
        for number in range(1, ROUNDS):
            bare, _ = time_call(partial(server.bare_paging, numbers))
            whole = server.pull(campaign, full=True)
            print(f"{number}: bare paging {bare:5.1f} s, pull {whole:5.1f} s:"
                  f" {whole / bare:.2f} times as long")  # fmt: skip
        print(f"pull again, nothing changed: {server.pull(campaign, full=False):5.1f} s")


def main() -> None:
    """Print seconds and memory."""
    options = parse_arguments(__doc__, queries=3281, people=23, tasks=20_000)
    measure_plan(options.queries, options.people)
    if options.tasks:
        with TemporaryDirectory() as folder:
            measure_server(Path(folder), options.tasks)


if __name__ == "__main__":
    run(main)
