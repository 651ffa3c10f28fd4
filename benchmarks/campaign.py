"""A campaign at the paper's size: time and memory of a plan.

    python -m benchmarks.campaign [--queries 3281] [--people 23] [--tasks 20000]

It plans the first votes of every query's first batch, then with all of them open, then with half of
them judged at random. Memory is the process's, tables included.

Then it compares, on a real server, a push of tasks with the bare import call, and a pull of as many
judgments with bare paging (`--tasks 0` skips this).
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.assignment.inputs import Annotator, PlanInputs
from annotation.plan import Plan, plan
from benchmarks.script import parse_arguments, peak_mb, time_call
from benchmarks.studio import against_a_server
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import tables

RANKS = 20


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


def judge(tasks: pd.DataFrame) -> pd.DataFrame:
    """Return random judgments of `tasks`."""
    random = np.random.default_rng(1)
    rows = tasks.assign(
        level=random.integers(0, 5, len(tasks)),
        reason=None,
        submitted_at=pd.Timestamp("2024-05-01T08:00:00Z"),
        seconds=4.0,
        origin=np.arange(len(tasks)).astype(str),
        guideline="1",
        query_sha="text",
        clip_sha="clip",
    )
    return tables.JUDGMENTS.check(rows[tables.JUDGMENTS.columns])


def time_plan(name: str, campaign: PlanInputs) -> Plan:
    """Plan, and print time and memory."""
    seconds, result = time_call(lambda: plan(campaign))
    loads = [who["open"] for who in result.state["annotators"].values() if who["open"]]
    print(
        f"{name:16} {len(result.assignments):8,} assignments {seconds:6.2f} s"
        f"   open per person {min(loads)} to {max(loads)}   peak {peak_mb():.0f} MB"
    )
    return result


def main() -> None:
    """Print seconds and memory."""
    options = parse_arguments(__doc__, queries=3281, people=23, tasks=20_000)
    campaign = open_campaign(options.queries, options.people)
    print(f"before the plan: {peak_mb():.0f} MB")
    tasks = time_plan("first plan", campaign).assignments
    time_plan("all of it open", replace(campaign, open_tasks=tasks))
    half = np.random.default_rng(2).choice([True, False], len(tasks))
    judgments = judge(tasks[half])
    time_plan("half judged", replace(campaign, open_tasks=tasks[~half], judgments=judgments))
    if options.tasks:
        against_a_server(Path.cwd(), options.tasks)


if __name__ == "__main__":
    main()
