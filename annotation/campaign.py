"""Open a campaign, and close it.

    python -m annotation.campaign open --name "Kitchen videos, spring"
    python -m annotation.campaign open --name Rehearsal --rehearsal --people 6
    python -m annotation.campaign close [--give-up] [--offline]

`open` freezes the validation and test queries in datasets/campaign/queries.csv, writes
datasets/campaign/campaign.yaml and commits both; from then on every `dvc repro` pulls what was
judged, plans what is wanted and brings Label Studio to it. `--rehearsal` is for trying it out:
answers may be simulated, and what is released says so.

`close` ends it: nobody is asked any more, the stages rewrite, pull and push are frozen, and what
people made is committed. It refuses while pairs wait; `--give-up` discards them.
"""

import argparse
import re
import uuid
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from annotation.assignment.inputs import PlanInputs
from annotation.assignment.progress import closed_state
from annotation.label_studio import guideline, keys, roster
from annotation.label_studio.connection import connect, hold_lock
from annotation.plan import plan, read_answers, read_inputs
from annotation.pooling import design
from annotation.pull import pull
from annotation.push import describe_pairs, push
from annotation.simulation.answers import create_people
from pipeline.campaign.campaign import FILE, Campaign, CampaignError, load_campaign, write_campaign
from pipeline.campaign.next_step import Situation, list_open, next_steps
from pipeline.core import cli, files, git, tables
from pipeline.core.params import Params, load
from pipeline.distribution import settings

FROZEN = ("rewrite", "pull", "push")
DECIDED = (
    tables.PAIRS,
    tables.JUDGMENTS,
    tables.JUDGMENT_HISTORY,
    tables.FROZEN_QUERIES,
    tables.EXTEND,
    tables.AUDIT,
    tables.TOPUP,
)
"""What people made and decided, beside who they are and which campaign it was."""


def open_campaign(name: str, *, rehearsal: bool, people: int = 0) -> Campaign:
    """Freeze the queries, make the secret that signs tasks, and write the campaign's file.

    Raises:
        CampaignError: there is a campaign in this checkout already, or its people are too few.
        GuidelineError: the guideline is wrong.
    """
    existing = load_campaign()
    if existing is not None:
        raise CampaignError(
            f"{FILE}: this checkout is for the campaign {existing.name!r}"
            f" ({'closed' if existing.closed else 'open'}); another one gets a checkout of its own:"
            " make campaign DIR=path"
        )
    queries = tables.QUERIES.read()
    people_and_accounts = create_people(people) if people else None
    campaign = Campaign(
        id=str(uuid.uuid4()),
        name=name,
        guideline=guideline.current().version,
        rehearsal=rehearsal,
        opened_at=_now(),
        closed_at=None,
    )
    if people_and_accounts is not None:
        roster.write(*people_and_accounts)
    keys.ensure_secret()
    tables.FROZEN_QUERIES.write(queries[queries["split"].isin(tables.JUDGED_SPLITS)])
    write_campaign(campaign)  # last: whatever fails before it, `open` can be run again
    return campaign


def close_campaign(campaign: Campaign, *, give_up: bool, offline: bool = False) -> dict[str, Any]:
    """Take back what is open, and write that the campaign is closed; return where it ended.

    What people did until their tasks were closed still counts, and may make pairs wait again.

    Raises:
        CampaignError: pairs wait, and nobody said to give them up; or there is no server to ask
            for what people did since, and nobody said that there is none.
    """
    params, connection = load(), connect("close")
    if connection is None and not offline:
        raise CampaignError(
            "what people did since the last pull would be lost; configure the server, or if it"
            " is gone: close --offline"
        )
    if connection is not None:
        with hold_lock("close"):
            pull(connection)
            _state(_plan_inputs(params), give_up=give_up)
            push(connection, describe_pairs(tables.ASSIGNMENTS.empty(), params), params)
            pull(connection)
    inputs = _plan_inputs(params)
    pairs = _state(inputs, give_up=give_up)["pairs"]
    closing = {
        "closed_at": _now(),
        "given_up": pairs["waiting"] + pairs["without_clip"],
        "settings": settings.select_fixed_settings(params),
    }
    write_campaign(campaign.model_copy(update=closing))
    return closed_state(inputs, tables.PAIRS.read())


def _plan_inputs(params: Params) -> PlanInputs:
    return read_inputs(roster.read_people(), params, read_answers())


def _state(campaign: PlanInputs, *, give_up: bool) -> dict[str, Any]:
    """Return where a campaign stands, if it may end so.

    Raises:
        CampaignError: something waits, and nobody said to give it up.
    """
    state = plan(campaign).state
    waiting = ", ".join(list_open(state))
    if waiting and not give_up:
        raise CampaignError(f"{waiting}: go on with `dvc repro`, or discard them: close --give-up")
    return state


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def freeze(dag: Path = cli.DAG) -> None:
    """Freeze the stages that a closed campaign must not run again.

    `dvc freeze` would do so too, but rewrites the whole file in its own layout.
    """
    text = dag.read_text(encoding="utf-8")
    for name in FROZEN:
        text = re.sub(
            rf"(^  {name}:\n)(?!    frozen:)", r"\1    frozen: true\n", text, flags=re.MULTILINE
        )
    with files.unfinished(dag) as stream:
        stream.write(text)


def is_frozen(dag: Path = cli.DAG) -> bool:
    """Return whether the stages are frozen: if not, a closing that was stopped can be finished."""
    stages = files.read_yaml(dag)["stages"]
    return all(stages[name].get("frozen", False) for name in FROZEN)


def main(options: argparse.Namespace) -> None:
    """Run the chosen command."""
    {"open": run_open, "close": run_close}[options.do](options)


def run_open(options: argparse.Namespace) -> None:
    """Open a campaign, commit it, and say what comes next."""
    campaign = open_campaign(options.name, rehearsal=options.rehearsal, people=options.people)
    git.commit(
        [FILE, tables.FROZEN_QUERIES.path, roster.PUBLIC], f"Open the campaign {campaign.name}"
    )
    cli.log(
        f"the campaign {campaign.name!r} is open: {len(tables.FROZEN_QUERIES.read())} queries are"
        f" frozen in {tables.FROZEN_QUERIES.path}; list who judges in {roster.PUBLIC}, then:"
        " dvc repro"
    )


def run_close(options: argparse.Namespace) -> None:
    """Close the campaign, or finish a closing that was stopped; commit what people made.

    Raises:
        CampaignError: none is open here, or it can't be closed as it stands.
    """
    campaign = load_campaign()
    if campaign is None:
        raise CampaignError(f"{FILE}: no campaign is open here")
    if campaign.closed and is_frozen():
        raise CampaignError(f"{FILE}: {campaign.name!r} is closed")
    message = "closed"
    if not campaign.closed:
        state = close_campaign(campaign, give_up=options.give_up, offline=options.offline)
        message += (
            ": {two} pairs agreed by two, {four} by four, {discarded} discarded,"
            " {unjudgeable} unjudgeable".format_map(state["pairs"])
        )
    freeze()
    paths = [FILE, roster.PUBLIC, design.PATH, *(table.path for table in DECIDED)]
    git.commit([*paths, cli.DAG, Path("dvc.lock")], f"Close {campaign.name}")
    [step] = next_steps(Situation(load_campaign(), state={}))
    cli.log(f"{message}; next: {step.command}")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder.")
    commands = parser.add_subparsers(dest="do", required=True)
    begin = commands.add_parser("open", help="freeze the queries and begin to ask people")
    begin.add_argument("--name", required=True, help="what annotators see above their tasks")
    begin.add_argument("--rehearsal", action="store_true", help="answers may be simulated")
    begin.add_argument(
        "--people",
        type=int,
        default=0,
        metavar="N",
        help="of a rehearsal: list you and N - 1 simulated people (6 is a good number)",
    )
    finish = commands.add_parser("close", help="end it, and freeze what people made")
    finish.add_argument("--give-up", action="store_true", help="discard the pairs that wait")
    finish.add_argument("--offline", action="store_true", help="the server is gone: don't ask it")
    options = parser.parse_args()
    if options.do == "open" and options.people and not options.rehearsal:
        parser.error("--people lists simulated people: only with --rehearsal")
    return options


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
