"""Rehearse a whole campaign: from the first `dvc repro` to the release, in one command.

    python -m annotation.rehearsal [--people 6] [--name Rehearsal]
    python -m annotation.rehearsal --clear

With six people or more, one is careless (`kind` in annotators.private.yaml), and is detected. The
rehearsal does what a lead does, with the same commands: it makes clips, opens a campaign, writes
gold, gives the exam where `exam.required` (anyone who fails twice leaves, while four others
remain), pushes the plan to Label Studio and lets simulated annotators judge until nothing is left,
closes the campaign, and makes release, runs and report. It uses the sample corpus, whose true
levels are known, and this folder's Label Studio (`make label-studio`). If interrupted, run it again
to resume; once all is done, it only prints the results.

`--clear` stops the folder's server, so that the folder can be deleted. It refuses if people have
judged, even in the practice project: every answer that was not simulated is theirs.
"""

import argparse
import subprocess
from collections.abc import Collection
from functools import partial
from pathlib import Path

import pandas as pd

from annotation.label_studio import keys, settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.connection import NO_SERVER
from annotation.label_studio.settings import Endpoint
from annotation.local_server.layout import DATA
from annotation.quality.standing import MAY_JUDGE, Standing, read_standings
from annotation.roster import roster
from annotation.roster.annotator import PEOPLE_NEEDED, roles_of_voters
from annotation.simulation import careless, commands, detect
from annotation.simulation.kinds import create_simulated
from annotation.simulation.practice import practice
from annotation.simulation.truth import truth
from annotation.tasks.pushing import describe_pairs
from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import FILE, CampaignError, load_campaign, load_open_campaign
from pipeline.campaign.freezing import is_frozen
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import cli, files, git, tables
from pipeline.core.dvc_files import recover
from pipeline.core.params import load, read_model

PEOPLE = 6
MOST_ROUNDS = 20
REPORT = Path("datasets/report/index.html")
MEASURE = "nDCG(iou=0.7)@20"


class RehearsalError(MomentRankError):
    """A step failed; see its message above."""


def rehearse(name: str, people: int) -> None:
    """Do the steps that are left.

    Raises:
        RehearsalError: a step failed.
        CampaignError: this folder's campaign is not a rehearsal.
        RecoverError: DVC is running here, for example for another rehearsal.
    """
    campaign = load_campaign()
    if campaign is not None and not campaign.rehearsal:
        raise CampaignError(f"{FILE}: {campaign.name!r} is a real campaign, not a rehearsal")
    recover()
    if campaign is None:
        _step("the corpus", "dvc", "repro", "ingest")
    with subprocess.Popen(commands.command("annotation.server", "start")) as starting:  # noqa: S603  (ours)
        if campaign is None:
            _step("queries, candidates, clips; Label Studio in parallel", "dvc", "repro", "clips")
        if starting.wait():
            raise RehearsalError("Label Studio did not start; see the message above")
    if campaign is None:
        _step(
            "open a rehearsal", "annotation.campaign", "open", "--rehearsal",
            "--people", str(people), "--name", name,
        )  # fmt: skip
        careless.make_one_careless()
    if load_open_campaign() is not None:
        careless.write_gold(truth())
        if load().exam.required:
            _examine()
        _judge_all()
    if load_open_campaign() is not None or not is_frozen():
        _step("close the campaign", "annotation.campaign", "close", "--give-up", "--unaudited")
    _step("release, reference runs, report", "dvc", "repro")
    git.commit([Path("dvc.lock")], "Release the rehearsal")


def _examine() -> None:
    """Have everyone take the exam, and those who fail take it again."""
    if all(standing in MAY_JUDGE for standing in _standings().values()):
        return
    _step("the exam: all judge the same pairs", "annotation.exam", "push")
    _step("the exam: simulated people answer", "annotation.simulate")
    _step("the exam: marks, and feedback to those who fail", "annotation.exam", "feedback")
    if "failed" in _standings().values():
        _step("the exam: simulated people answer again", "annotation.simulate")
        _step("the exam: everyone's results", "annotation.exam", "mark")
    _dismiss_failed(
        [number for number, standing in _standings().items() if standing == "failed-twice"]
    )


def _standings() -> dict[int, Standing]:
    return read_standings(roster.read_people(), required=True)


def _dismiss_failed(failed: Collection[int]) -> None:
    """Decide like a lead about people who failed twice: they leave while enough others remain."""
    people = read_model(roster.People, roster.PUBLIC).annotators
    for number in sorted(failed):
        enough = len(roles_of_voters(roster.read_people())) > PEOPLE_NEEDED
        decision = {"active": False} if enough else {"admitted": True}
        people[number] = people[number].model_copy(update=decision)
        roster.write(people, roster.read_accounts())
        cli.log(f"annotator {number} failed twice: {'leaves' if enough else 'is admitted'}")


def _judge_all() -> None:
    for number in range(1, MOST_ROUNDS + 1):
        _step(f"round {number}: pull, choose, plan, push", "dvc", "repro", "push")
        undecided = files.read_json(tables.STATE)["queries"]["for_the_lead"]
        if undecided:  # the lead must decide where the rule can't: these queries are not extended
            decided = pd.DataFrame({"query_id": undecided, "extend": "no"})
            tables.EXTEND.write(pd.concat([tables.EXTEND.read(), decided]))
        elif tables.ASSIGNMENTS.read().empty:
            return
        _step(f"round {number}: simulated people judge", "annotation.simulate")
    raise RehearsalError(f"judgments are still missing after {MOST_ROUNDS} rounds; see the status")


def _step(what: str, module: str, *arguments: str) -> None:
    cli.log(f"\n==> {what}")
    code = commands.run(module, *arguments)
    if code:
        raise RehearsalError(
            f"`{' '.join(['python', '-m', module, *arguments])}` ended with {code}; see the message"
            " above, fix the cause, then repeat the command: it resumes here"
        )


def outcome() -> str:
    """Return the results, as a page of text."""
    names = ("consensus", "reference_runs")
    metrics = {name: files.read_json(cli.METRICS / f"{name}.json") for name in names}
    outcomes = metrics["consensus"]["outcomes"]
    words = {"two": "agreed by two", "four": "by four"}
    by_outcome = ", ".join(f"{n:,} {words.get(key, key)}" for key, n in outcomes.items() if n)
    agreement = metrics["consensus"]["agreement"]  # the dataset card's
    queries = tables.FROZEN_QUERIES.read()
    val, test = ((queries["split"] == split).sum() for split in tables.JUDGED_SPLITS)
    rows = {
        "queries": f"{len(queries)} ({val} validation, {test} test)",
        "pairs": f"{sum(outcomes.values()):,}: {by_outcome}",
        "judgments": f"{len(tables.JUDGMENTS.read()):,} (simulated)",
        "agreement": f"{100 * agreement['within_1']:.1f} % within 1, ordinal alpha"
        f" {agreement['alpha']:.3f} (first two votes)",
    }
    runs = metrics["reference_runs"]["test"]["runs"]
    rows |= {f"{MEASURE} {name}": f"{scores[MEASURE]:.3f}" for name, scores in runs.items()}
    width = max(map(len, rows))
    return "\n".join(f"  {name:{width}}  {value}" for name, value in rows.items())


def _endpoint() -> Endpoint:
    endpoint = settings.endpoint()
    if endpoint is None:
        raise CampaignError(NO_SERVER)
    return endpoint


def practice_address() -> str:
    """Return where a person can judge pairs by hand.

    Raises:
        MomentRankError: no server is configured, or it fails.
    """
    params = load()
    first = tables.CANDIDATES.read().query("rank <= @params.candidates.batch")
    shown = describe_pairs(first[PAIR_KEY], params)
    return practice(LabelStudio(_endpoint()), shown, params)


def clear() -> None:
    """Stop this folder's server, if deleting the folder would lose nothing that people made.

    If the server is not running, it is started first: only it has the answers given by hand.

    Raises:
        CampaignError: people have judged here.
        MomentRankError: it can't be determined.
    """
    try:
        judged = _judged_by_people()
    except MomentRankError as exc:
        message = f"can't determine whether people have judged here: {exc}"
        raise RehearsalError(f"{message}\n{_delete_yourself()}") from exc
    if judged:
        raise CampaignError(f"people have judged here: {judged} judgments. {_delete_yourself()}")
    _run_server("stop")


def _run_server(verb: str) -> None:
    if commands.run("annotation.server", verb):
        raise RehearsalError(f"Label Studio did not {verb}; see the message above")


def _judged_by_people() -> int:
    campaign, simulated = load_campaign(), None
    if campaign is not None and campaign.rehearsal:
        people = create_simulated(roster.read_accounts())
        signer, shown = keys.signer(campaign.id), campaign.guidelines_shown
        simulated = detect.Simulated(signer, truth(), people, shown)
    on_server = 0
    if DATA.exists():
        _run_server("start")
        on_server = detect.count_on_server(LabelStudio(_endpoint()), simulated)
    return max(on_server, detect.count_pulled(tables.JUDGMENTS.read(), simulated))


def _delete_yourself() -> str:
    return (
        f"Nothing was deleted. To delete it: cd {Path.cwd()}, python -m annotation.server stop,"
        " then delete the folder yourself"
    )


def main(options: argparse.Namespace) -> None:
    """Rehearse, and print the results; or clear."""
    if options.clear:
        return clear()
    rehearse(options.name, options.people)
    cli.log(f"\n==> {options.name}: results\n\n{outcome()}\n")
    for line in careless.describe_stopped(load()):
        cli.log(f"  {line}")
    cli.log(f"  the release     {tables.RELEASE.absolute()}/")
    cli.log(f"  the report      {REPORT.absolute()}")
    cli.log(f"  judge yourself  {practice_address()}")
    return cli.log(
        f"                  ({settings.value(settings.USERNAME)}; the password is in"
        f" {settings.ENV.absolute()} as {settings.PASSWORD})"
    )


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder: best in a clone made for it (make demo).")
    parser.add_argument(
        "--people", type=int, default=PEOPLE, help=f"number of annotators ({PEOPLE})"
    )
    parser.add_argument("--name", default="Rehearsal", help="name of the campaign")
    parser.add_argument(
        "--clear", action="store_true", help="stop the server, so that the folder can be deleted"
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
