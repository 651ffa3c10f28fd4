"""Open, close and reopen a campaign, or bring it to a newer format.

    python -m annotation.campaign open --name "Kitchen videos, spring"
    python -m annotation.campaign open --name Rehearsal --rehearsal --people 6
    python -m annotation.campaign open --revise "level 1 was taken for 'another episode'"
    python -m annotation.campaign close [--give-up] [--unaudited] [--offline]
    python -m annotation.campaign reopen --reason "two systems that came later"
    python -m annotation.campaign migrate

`open` freezes the validation and test queries in datasets/campaign/queries.csv, writes
datasets/campaign/campaign.yaml, commits both with pool.csv, params.yaml and dvc.lock, and names the
settings that a release will need. From then on, every `dvc repro` pulls new judgments, plans which
ones are still needed and updates Label Studio to match. `--rehearsal` is for trying it out: answers
may be simulated, and the release says so. The guideline belongs to the campaign: `--revise` records
a new version, which the next `dvc repro` shows to everyone; each judgment keeps the version it was
made under.

`close` ends the campaign: no one gets further tasks, the stages rewrite, pull, pool and push are
frozen, and people's work is committed. It refuses while pairs are waiting; `--give-up` discards
them. It also refuses without a whole audit, after it has said what one takes and tells;
`--unaudited` does without.

`reopen` begins the next version of a released collection, here or in a clone without its corpus. It
keeps the small files of the release in datasets/campaign/released/, and lets pull, pool and push
run again. What was judged stays as it is; new pairs and queries, an expert's decisions and voided
judgments make the next version.

`migrate` makes a campaign that older code opened one of this code: merge the new code, add the keys
that errors name to params.yaml, then migrate. Nothing that was judged changes.
"""

import argparse
import uuid
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from annotation.answers.pulling import pull
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.planning import lacks_corpus, plan, read_answers, read_inputs
from annotation.assignment.progress import closed_state
from annotation.label_studio import guideline, keys
from annotation.label_studio.connection import connect, hold_lock
from annotation.pooling.growth import begin, find_growing
from annotation.pooling.scope import describe_audit, read_scope
from annotation.roster import roster
from annotation.simulation.answers import create_people
from annotation.tasks import adjudication_tasks, exam_tasks
from annotation.tasks.pushing import describe_pairs, push
from pipeline.campaign import design, next_step, phases
from pipeline.campaign.campaign import (
    FILE,
    FORMAT,
    OLDEST,
    Campaign,
    CampaignError,
    Pilot,
    describe_absence,
    load_campaign,
    write_campaign,
)
from pipeline.campaign.freezing import DECIDED, freeze, is_frozen, unfreeze
from pipeline.campaign.next_step import Situation, list_open, next_steps
from pipeline.campaign.reopening import BASES
from pipeline.core import cli, git, tables
from pipeline.core.params import PARAMS, Params, load
from pipeline.distribution import settings
from pipeline.distribution.facts import ONLY_YOU_KNOW, find_missing
from pipeline.distribution.previous import keep_release

LOCK = Path("dvc.lock")


def open_campaign(name: str, *, rehearsal: bool, people: int = 0, pilot: int = 0) -> Campaign:
    """Freeze the queries, make the secret that signs tasks, and write the campaign file.

    With a `pilot`, that many queries are asked first.

    Raises:
        CampaignError: this checkout already has a campaign, there are too few people, or there
            are no more queries than the pilot takes.
        GuidelineError: the guideline is not valid.
    """
    phases.check_state(phases.OPEN)
    queries = tables.QUERIES.read()
    frozen = queries[queries["split"].isin(tables.JUDGED_SPLITS)]
    people_and_accounts = create_people(people) if people else None
    guide, now, further = _guideline_file(), _now(), load().candidates.further
    number = str(uuid.uuid4())
    campaign = Campaign(
        format=FORMAT,
        commit=git.read_head(),
        id=number,
        name=name,
        guideline=guide.version,
        rehearsal=rehearsal,
        opened_at=now,
        closed_at=None,
        guidelines=[guide.since(now)],
        pilot=Pilot(queries=phases.draw_pilot(frozen, number, pilot)) if pilot else None,
        further=further,
    )
    if people_and_accounts is not None:
        roster.write(*people_and_accounts)
    keys.ensure_secret()
    tables.FROZEN_QUERIES.write(frozen)
    if tables.CANDIDATES.path.is_file():  # as the settings are now, whenever `dvc repro` ran
        tables.POOL.write(begin(tables.CANDIDATES.read(), further))
    write_campaign(campaign)  # last: if anything fails earlier, `open` can be run again
    return campaign


def _guideline_file() -> phases.GuidelineFile:
    guide = guideline.current(load().annotation)
    return phases.GuidelineFile(guide.version, guide.sha, guide.path, guide.labels)


def close_campaign(
    campaign: Campaign, *, give_up: bool, unaudited: bool = False, offline: bool = False
) -> dict[str, Any]:
    """Withdraw open tasks, and record that the campaign is closed; return its final state.

    Answers given before their tasks were closed still count, and may make pairs wait again.

    Raises:
        CampaignError: pairs are waiting, without `give_up`; an audit is possible, and not drawn to
            its end, without `unaudited`; or no server is configured to fetch the latest answers
            from, without `offline`.
    """
    params, connection = load(), connect("close")
    settings.refuse_changes(campaign, params)
    without = {"give_up": give_up, "unaudited": unaudited}
    if connection is None and not offline:
        raise CampaignError(
            "work done since the last pull would be lost; configure the server, or if it is gone:"
            " close --offline"
        )
    if connection is not None:
        with hold_lock("close"):
            pull(connection)
            _state(_plan_inputs(params), params, **without)
            push(connection, describe_pairs(tables.ASSIGNMENTS.empty(), params), params)
            exam_tasks.close_all(connection, params)
            adjudication_tasks.withdraw_open_tasks(connection, params)
            pull(connection)
    inputs = _plan_inputs(params)
    pairs = _state(inputs, params, **without)["pairs"]
    closing = {
        "closed_at": _now(),
        "given_up": pairs["waiting"] + pairs["without_clip"],
        "settings": settings.select_fixed_settings(params),
    }
    write_campaign(campaign.model_copy(update=closing))
    return closed_state(inputs, campaign.select_kept(tables.PAIRS.read()))


def _plan_inputs(params: Params) -> PlanInputs:
    return read_inputs(roster.read_people(), params, read_answers())


def _state(
    campaign: PlanInputs, params: Params, *, give_up: bool, unaudited: bool
) -> dict[str, Any]:
    """Return the state of a campaign, if it may be closed in it.

    Raises:
        CampaignError: something is waiting, without `give_up`; or an audit is possible, and not
            drawn to its end, without `unaudited`.
    """
    state = plan(campaign).state
    waiting = ", ".join(list_open(state))
    if waiting and not give_up:
        raise CampaignError(
            f"{waiting}: continue with `dvc repro`, or discard them: close --give-up"
        )
    opened = load_campaign()
    growing = set() if give_up or lacks_corpus(opened) else find_growing(opened, params)
    if growing:
        raise CampaignError(
            f"{len(growing):,} queries get a further batch: continue with `dvc repro`, or do"
            " without: close --give-up"
        )
    if not unaudited:
        _require_audit(state["queries"]["all"], params)
    return state


def _require_audit(queries: int, params: Params) -> None:
    """Refuse if an audit of so many queries, or the rest of one, can still be drawn.

    Raises:
        CampaignError: it can; what a new one takes and tells is logged.
    """
    audit = design.find_left()
    if (options := next_step.propose_audit(audit, queries)) is None:
        return
    if not audit and tables.NEIGHBOURS.path.is_file():
        for line in describe_audit(read_scope(params, tables.AUDIT.read()), params):
            cli.log(line)
    raise CampaignError(
        f"{'a part of the audit is not drawn' if audit else 'there is no audit'}, so nobody knows"
        " what the pool missed: the report's check `Missed` stays Open. Only an open campaign can"
        f" have it drawn: {next_step.PLAN_AUDIT} {options}; to do without: close --unaudited"
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(options: argparse.Namespace) -> None:
    """Run the chosen command."""
    commands = {"open": run_open, "close": run_close, "reopen": run_reopen, "migrate": run_migrate}
    commands[options.do](options)


def run_open(options: argparse.Namespace) -> None:
    """Open a campaign, commit it, and log the next step; or record a new guideline.

    Raises:
        CampaignError: there is already a campaign, or none whose guideline can be revised.
    """
    if options.revise:
        run_revise(options.revise)
        return
    if options.end_pilot:
        run_end_pilot(take_over=options.take_over)
        return
    campaign = open_campaign(
        options.name,
        rehearsal=options.rehearsal,
        people=options.people,
        pilot=options.pilot,
    )
    frozen = (tables.FROZEN_QUERIES, tables.WRITTEN_QUERIES, tables.ASKED_QUERIES, tables.POOL)
    decided = (*(table.path for table in frozen), roster.PUBLIC, PARAMS, LOCK)
    git.commit([FILE, *decided], f"Open the campaign {campaign.name}")
    cli.log(
        f"the campaign {campaign.name!r} is open: {len(tables.FROZEN_QUERIES.read())} queries are"
        f" frozen in {tables.FROZEN_QUERIES.path}; list the annotators in {roster.PUBLIC}, then:"
        " dvc repro"
    )
    missing = [] if campaign.rehearsal else find_missing(load())
    if missing:
        cli.log(
            f"before the release, set in {PARAMS}: {', '.join(missing)} ({ONLY_YOU_KNOW}); best"
            " while you know it: now"
        )


def run_revise(reason: str) -> None:
    """Record this checkout's guideline as the campaign's newest, and commit both.

    Raises:
        CampaignError: no campaign is open here, or its guideline can't be revised like this.
    """
    campaign, guide = phases.require_campaign(f"{phases.OPEN} --revise"), _guideline_file()
    write_campaign(phases.revise_guideline(campaign, guide, reason, _now()))
    git.commit([FILE, guide.path], f"Guideline {guide.version}: {reason}")
    cli.log(
        f"guideline {guide.version} applies from now on (before: {campaign.guideline}); to show it"
        " to everyone: dvc repro push"
    )


def run_end_pilot(*, take_over: bool) -> None:
    """End the pilot, and commit it.

    Raises:
        CampaignError: no campaign is open here, or no pilot is running.
    """
    campaign = phases.require_campaign(f"{phases.OPEN} --end-pilot")
    write_campaign(phases.end_pilot(campaign, take_over=take_over, now=_now()))
    git.commit([FILE], f"End the pilot of {campaign.name}")
    cli.log(
        "the pilot has ended; its judgments"
        f" {'count' if take_over else 'are kept separately, and its queries are no longer asked'};"
        " next: dvc repro"
    )


def run_close(options: argparse.Namespace) -> None:
    """Close the campaign, or finish an interrupted closing; commit people's work.

    Raises:
        CampaignError: none is open here, or it can't be closed in its present state.
    """
    campaign = load_campaign()
    if campaign is None or not campaign.closed or (is_frozen() and not git.differs(FILE)):
        campaign = phases.require_campaign("annotation.campaign close")
    message = "closed"
    if not campaign.closed:
        how = {name: getattr(options, name) for name in ("give_up", "unaudited", "offline")}
        state = close_campaign(campaign, **how)
        message += (
            ": {two} pairs agreed by two, {four} by four, {discarded} discarded,"
            " {unjudgeable} unjudgeable, {adjudicated} adjudicated".format_map(state["pairs"])
        )
    freeze()
    kept = (FILE, roster.PUBLIC, design.PATH, tables.CHANNEL.path.parent)
    paths = [*kept, *(table.path for table in DECIDED)]
    git.commit([*paths, cli.DAG, LOCK], f"Close {campaign.name}")
    [step] = next_steps(Situation(load_campaign(), state={}))
    cli.log(f"{message}; next: {step.command}")


def run_reopen(options: argparse.Namespace) -> None:
    """Open a released campaign again, or finish an interrupted reopening; commit it.

    Raises:
        CampaignError: it is not released as it is.
        FormatError: a file of the release is missing, or not the one that was released.
    """
    campaign = load_campaign()
    if campaign is None or campaign.closed or not campaign.reopenings or not git.differs(FILE):
        closed = phases.require_campaign(phases.REOPEN)
        version = keep_release()
        unfreeze()
        campaign = phases.reopen(closed, options.reason, version, _now())
        write_campaign(campaign)  # last: if anything fails earlier, `reopen` can be run again
    last = campaign.reopenings[-1]
    git.commit([FILE, cli.DAG, BASES], f"Reopen {campaign.name}: {last.reason}")
    cli.log(
        f"{campaign.name} is open again; {BASES / last.version} keeps version {last.version}. Add"
        " runs (python -m annotation.pool top-up), queries (python -m annotation.queries) or people"
        f" ({roster.PUBLIC}), then: dvc repro. Raise release.version in {PARAMS} before the end"
    )


def run_migrate(_: argparse.Namespace) -> None:
    """Bring an older campaign to this code's format, and commit it.

    Raises:
        CampaignError: none is open here, or its format is newer, or too old.
    """
    campaign = load_campaign(oldest=OLDEST)
    if campaign is None:
        raise CampaignError(describe_absence(None))
    if campaign.format == FORMAT:
        cli.log(f"{FILE}: has this code's format already")
        return
    if not tables.POOL.path.is_file():
        tables.POOL.write(begin(tables.CANDIDATES.read(), campaign.further))
    write_campaign(campaign.model_copy(update={"format": FORMAT}))
    git.commit([FILE, tables.POOL.path], f"{campaign.name} has format {FORMAT}")
    cli.log(f"{FILE}: format {FORMAT} (it was {campaign.format}); next: dvc repro")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder.")
    commands = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    begin = commands.add_parser("open", help="freeze the queries and start asking people")
    begin.add_argument("--name", help="title that annotators see above their tasks")
    begin.add_argument(
        "--revise",
        metavar="REASON",
        help="for an open campaign: record the changed guideline as a new version, with the reason",
    )
    begin.add_argument(
        "--pilot",
        type=cli.parse_positive,
        default=0,
        metavar="N",
        help="have N queries judged first, separately from the rest (docs/guideline-howto.md)",
    )
    begin.add_argument("--end-pilot", action="store_true", help="continue with all other queries")
    begin.add_argument("--take-over", action="store_true", help="with --end-pilot: count its votes")
    begin.add_argument("--rehearsal", action="store_true", help="answers may be simulated")
    begin.add_argument(
        "--people",
        type=int,
        default=0,
        metavar="N",
        help="for a rehearsal: list yourself and N - 1 simulated people (6 is a good number)",
    )
    finish = commands.add_parser("close", help="end the campaign, and freeze people's work")
    finish.add_argument("--give-up", action="store_true", help="discard the pairs that are waiting")
    finish.add_argument("--unaudited", action="store_true", help="do without a whole audit")
    finish.add_argument("--offline", action="store_true", help="the server is gone: skip it")
    again = commands.add_parser("reopen", help="begin the next version of a released collection")
    again.add_argument("--reason", required=True, metavar="TEXT", help="why; the release tells it")
    commands.add_parser("migrate", help="make an older campaign one of this code")
    options = parser.parse_args()
    if options.do == "open":
        if [bool(options.name), bool(options.revise), options.end_pilot].count(True) != 1:
            parser.error(
                "open needs --name NAME; or, in an open campaign, --revise REASON or --end-pilot"
            )
        if options.take_over and not options.end_pilot:
            parser.error("--take-over needs --end-pilot")
    if options.do == "open" and options.people and not options.rehearsal:
        parser.error("--people lists simulated people: it needs --rehearsal")
    return options


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
