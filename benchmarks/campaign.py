"""The campaign at the paper's size: seconds and memory of a plan.

    python -m benchmarks.campaign [--queries 3281] [--people 23] [--tasks 20000]

Plans the first votes of every query's first batch, plans again with all of it open, and once
more with half of it judged at random. A plan's memory is this process's, tables included.

Then, against a real server of its own: pushing tasks against the bare import call, and pulling
as many judgments against bare paging (`--tasks 0` leaves it out).
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.assignment.inputs import Annotator, PlanInputs
from annotation.plan import Plan, plan
from benchmarks.candidates import peak_mb
from benchmarks.studio import against_a_server
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import tables

RANKS = 20


def campaign_of(queries: int, people: int) -> PlanInputs:
    """Return a campaign that was just opened; four people judge what others disagree on."""
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


def judged(tasks: pd.DataFrame) -> pd.DataFrame:
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


def timed(name: str, campaign: PlanInputs) -> Plan:
    """Plan, and print what it took."""
    start = time.perf_counter()
    made = plan(campaign)
    seconds = time.perf_counter() - start
    loads = [who["open"] for who in made.state["annotators"].values() if who["open"]]
    print(
        f"{name:16} {len(made.assignments):8,} assignments {seconds:6.2f} s"
        f"   open per person {min(loads)} to {max(loads)}   peak {peak_mb():.0f} MB"
    )
    return made


def main() -> None:
    """Print seconds and memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=3281)
    parser.add_argument("--people", type=int, default=23)
    parser.add_argument("--tasks", type=int, default=20_000)
    options = parser.parse_args()
    campaign = campaign_of(options.queries, options.people)
    print(f"before the plan: {peak_mb():.0f} MB")
    tasks = timed("first plan", campaign).assignments
    timed("all of it open", replace(campaign, open_tasks=tasks))
    half = np.random.default_rng(2).random(len(tasks)) < 0.5  # noqa: PLR2004
    judgments = judged(tasks[half])
    timed("half judged", replace(campaign, open_tasks=tasks[~half], judgments=judgments))
    if options.tasks:
        against_a_server(Path.cwd(), options.tasks)


if __name__ == "__main__":
    main()
