"""Show the lead the state of the campaign, and what to do next.

    python -m annotation.status [--json]

It queries the server, and changes nothing. It prints the next step with its command; for each
annotator, tasks done and open, pace, hours to pay and hours left; who has not begun, and who has
not judged for a week; the pace of the last seven days, and the forecast end; refused answers; pairs
that were escalated, discarded or can't be judged; the yield of judging, and what the next batch of
the open queries would bring; and how far an audit is.

It exits with 0 when every pair is decided or the campaign is closed, and with 75 while it waits:
for people, for a clip, or for your decision.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pandas as pd

from annotation.answers import pulling
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pace import measure_progress
from annotation.assignment.pair_states import find_pair_states
from annotation.assignment.planning import (
    Answers,
    describe_people,
    plan,
    read_answers,
    read_inputs,
)
from annotation.assignment.progress import closed_state
from annotation.assignment.status_text import text
from annotation.assignment.yield_pairs import decided_pairs
from annotation.label_studio import settings
from annotation.label_studio.connection import connect, hold_lock
from annotation.pooling.judged_audit import count_judged
from annotation.roster import roster
from annotation.votes.votes import is_in
from pipeline.campaign import design
from pipeline.campaign.campaign import FILE, Campaign, CampaignError, load_campaign
from pipeline.campaign.freezing import is_frozen
from pipeline.campaign.next_step import Situation, Step, is_released, list_open, next_steps
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import add_learned
from pipeline.campaign.yields import by_step
from pipeline.core import cli, tables
from pipeline.core.params import load

WAITING = 75


def status(
    campaign: PlanInputs, state: Mapping[str, Any], steps: Sequence[Step], *extra: pd.DataFrame
) -> dict[str, Any]:
    """Return the next steps, the campaign's state and the yield, for JSON: unknown is null.

    `extra` are the audit, and the top-up with what was learned: what is judged besides candidates.
    """
    states = find_pair_states(campaign)
    steps_found = by_step(decided_pairs(states, campaign, *extra)).astype(object)
    return {
        "next": [step._asdict() for step in steps],
        "wanted": sum(person["open"] for person in state["annotators"].values()),
        "waits": bool(list_open(state)),
        **state,
        "yield": steps_found.where(steps_found.notna(), None).to_dict("records"),
        "audit": count_judged(states.pairs.loc[states.outcome == "waiting", PAIR_KEY]),
        "for_the_lead": state["queries"]["for_the_lead"],
    }


def read_status() -> tuple[str, dict[str, Any]]:
    """Return the campaign's name and figures, from the server; else from the last pull.

    Raises:
        CampaignError: no campaign was opened here, or there is nothing to judge yet.
    """
    campaign, has_queries = load_campaign(), tables.QUERIES.path.is_file()
    if campaign is None or not (campaign.closed or tables.POOL.path.is_file()):
        problem = "no campaign is open here" if campaign is None else "there are no candidates yet"
        [step] = next_steps(Situation(campaign, {}, candidates=has_queries and campaign is None))
        raise CampaignError(f"{FILE}: {problem}; next: {step.text}")
    metrics = _closed_status(campaign) if campaign.closed else _open_status(campaign)
    return campaign.name, metrics


def _closed_status(opened: Campaign) -> dict[str, Any]:
    answers, params = read_answers(), load()
    campaign = read_inputs(roster.read_people(), params, answers)
    state = closed_state(campaign, opened.select_kept(tables.PAIRS.read()))
    measured = measure_progress(campaign, state, answers.rejected, params.plan.pause)
    situation = Situation(opened, {}, frozen=is_frozen(), released=is_released(opened))
    return status(campaign, measured, next_steps(situation), *_read_extra())


def _open_status(opened: Campaign) -> dict[str, Any]:
    connection, answers, params = connect("status"), read_answers(), load()
    if connection is not None:
        with hold_lock("status"):
            fetched = pulling.fetch(connection, pulling.record_departures(connection))
        before = tables.JUDGMENT_HISTORY.read()
        merged = pulling.merge_history(before, fetched, opened.released)
        answers = Answers(merged.judgments, *pulling.other_tables(fetched))
    people = roster.read_roster()
    campaign = read_inputs(people.annotators, params, answers)
    campaign = replace(campaign, today=datetime.now(UTC).date())
    planned = plan(campaign)
    measured = measure_progress(campaign, planned.state, answers.rejected, params.plan.pause)
    measured |= describe_people(people, params.exam)
    situation = Situation(
        opened,
        measured,
        server=settings.endpoint() is not None,
        shown=not tables.PAIRS.read().empty,
        audit=design.find_left(),
        unsent=count_unsent(planned.assignments, campaign.open_tasks),
    )
    return status(campaign, measured, next_steps(situation), *_read_extra())


def _read_extra() -> tuple[pd.DataFrame, pd.DataFrame]:
    return tables.AUDIT.read(), add_learned(tables.TOPUP.read(), tables.POOL.read())


def count_unsent(wanted: pd.DataFrame, open_tasks: pd.DataFrame) -> int:
    """Return how many of a plan's assignments are not open in Label Studio."""
    return int((~is_in(wanted, open_tasks, tables.ASSIGNMENTS.columns)).sum())


def main(options: argparse.Namespace) -> None:
    """Print the state of the campaign."""
    name, metrics = read_status()
    sys.stdout.write(f"{json.dumps(metrics, indent=2)}\n" if options.json else text(name, metrics))
    sys.exit(WAITING if metrics["waits"] else 0)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that is open there.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
