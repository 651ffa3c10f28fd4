"""Have the lead or an expert decide pairs that votes could not settle.

    python -m annotation.adjudicate
    python -m annotation.adjudicate --pair QUERY MOMENT --note "is it the same door?"
    python -m annotation.adjudicate --second-looks
    python -m annotation.adjudicate --pairs reported.csv

As in the paper, nothing is adjudicated unless you type this. Discarded pairs, pairs that can't be
judged, and those listed in datasets/campaign/second_look.csv (`--pair` adds one, `--second-looks`
those of the lead's page, `--pairs` those that readers of a release report) go to the people with
the role expert, or to the lead, in their own project: they see the query, the clip and all votes,
but not who gave them. A second look is blind: where votes have given a level, neither votes nor
remarks are shown. Run it again to fetch the decisions (`dvc repro`
does so as well) and to see what is left. Decisions are in datasets/campaign/adjudications.csv. A
decision counts as long as the query and the clip stay as they were shown; the votes are kept next
to it.

It works once people have nothing left to judge, and until the campaign is closed.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from annotation.answers.adjudications import FetchedDecisions, fetch_decisions
from annotation.answers.pulling import pull
from annotation.assignment.planning import lacks_corpus, plan, read_answers, read_inputs
from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection, hold_lock, require_connection
from annotation.machine import second_looks
from annotation.roster import roster
from annotation.tasks import adjudication_tasks, reported
from annotation.tasks.pushing import describe_pairs
from annotation.votes.adjudication import fresh_decisions
from annotation.votes.campaign_votes import consensus, counted_votes
from annotation.votes.votes import is_in
from pipeline.campaign.campaign import Campaign, CampaignError
from pipeline.campaign.next_step import list_open
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, select_newest
from pipeline.core import cli, csv_files, tables
from pipeline.core.params import Params, load
from pipeline.core.tables import SECOND_LOOK


class Disputed(NamedTuple):
    """The pairs to decide (`PAIR_KEY, why`), the votes on each, and which are still left."""

    pairs: pd.DataFrame
    votes: Mapping[tuple[str, str], str]
    left: pd.DataFrame


def main(options: argparse.Namespace) -> None:
    """Hand out the pairs to decide, fetch the decisions, and log what is left.

    Raises:
        CampaignError: no campaign is open, people still have to judge, or nobody can decide.
        StudioError: the server can't be reached or fails.
    """
    params, connection = load(), require_connection("annotation.adjudicate")
    with hold_lock("adjudicate"):
        pull(connection)
        _refuse_while_open(params)
        if options.pair:
            list_pairs([options.pair], options.note)
        if options.pairs:
            list_reported(options.pairs, connection.campaign, params)
        if options.second_looks:
            list_pairs(read_second_looks(), second_looks.NOTE)
        disputed = find_disputed(connection, params)
        people = adjudication_tasks.find_deciders(connection.roster) if len(disputed.pairs) else []
        wanted = adjudication_tasks.give_to(disputed.left, people, connection.campaign.id)
        if lacks_corpus(connection.campaign):
            shown = wanted[:0]  # what another checkout has handed out stays open
        else:
            shown = describe_pairs(wanted, params)
            adjudication_tasks.push(connection, params, shown, disputed.votes)
        decided = fetch_decisions(connection, tables.DEPARTURES.read())
        cli.log(summarize(connection, disputed, shown, decided))


def _refuse_while_open(params: Params) -> None:
    state = plan(read_inputs(roster.read_people(), params, read_answers())).state
    waiting = ", ".join(list_open(state))
    if waiting:
        raise CampaignError(
            f"{waiting}: continue with `dvc repro`; adjudicate once people are done"
        )


def list_pairs(pairs: Sequence[Sequence[str]], note: str | None) -> None:
    """Add pairs to those that get a second look.

    Raises:
        CampaignError: one was never shown to anyone.
    """
    shown = {*tables.PAIRS.read()[PAIR_KEY].itertuples(index=False, name=None)}
    for pair in pairs:
        if tuple(pair) not in shown:
            raise CampaignError(
                f"--pair {' '.join(pair)}: this query and moment were never shown together;"
                f" {tables.PAIRS.path} lists the pairs that were"
            )
    rows = [(*pair, note, "lead") for pair in pairs]
    both = pd.concat([SECOND_LOOK.read(), pd.DataFrame(rows, columns=SECOND_LOOK.columns)])
    SECOND_LOOK.write(both.drop_duplicates(list(SECOND_LOOK.key), keep="last"))


def list_reported(path: Path, campaign: Campaign, params: Params) -> None:
    """Add the pairs that a file of readers' reports names to those that get a second look.

    Raises:
        CampaignError: a row does not name exactly one pair with a level by votes, or reports one
            anew that an expert has decided.
    """
    ledger, listed = campaign.select_kept(tables.PAIRS.read()), SECOND_LOOK.read()
    reports = reported.read_reports(path, ledger)
    new = reports[~is_in(reports, reported.list_remarks(listed), [*PAIR_KEY, "note"])]
    reported.refuse_unsettled(path, new, read_votes(ledger, params), read_decided(ledger))
    SECOND_LOOK.write(reported.merge_reports(listed, reports))


def read_second_looks() -> list[Sequence[str]]:
    """Return the pairs that `calibration` wants looked at again and that nobody has listed yet.

    Raises:
        CampaignError: it wants none.
    """
    looks = csv_files.read_csv(second_looks.FILE, [*PAIR_KEY, "decided"])
    looks = looks[looks["decided"].isna()]
    if looks.empty:
        raise CampaignError(
            f"--second-looks: {second_looks.FILE} lists no pair; `dvc repro calibration` says why"
        )
    new = looks.loc[~is_in(looks, SECOND_LOOK.read(), PAIR_KEY), PAIR_KEY]
    return [*new.itertuples(index=False, name=None)]


def find_withdrawn() -> pd.DataFrame:
    """Return the pairs of earlier lists of `calibration` that are no longer on it.

    Such as all of them, if a fault of the machine was found since. Others may list them, too.
    """
    listed = SECOND_LOOK.read()
    by_machine = listed["note"] == second_looks.NOTE
    chosen = listed[by_machine & ~is_in(listed, listed[~by_machine], PAIR_KEY)]
    if not second_looks.FILE.is_file():
        return chosen[:0]
    looks = csv_files.read_csv(second_looks.FILE, PAIR_KEY)
    return chosen[~is_in(chosen, looks, PAIR_KEY)]


def find_disputed(connection: Connection, params: Params) -> Disputed:
    """Return what is to be decided, according to the last pull.

    A machine's second looks are, as long as `calibration` lists them.
    """
    ledger = connection.campaign.select_kept(tables.PAIRS.read())
    pairs = adjudication_tasks.find_unsettled(read_votes(ledger, params), SECOND_LOOK.read())
    withdrawn = (pairs["why"] == "listed") & is_in(pairs, find_withdrawn(), PAIR_KEY)
    pairs = pairs[~withdrawn].reset_index(drop=True)
    guide = guideline.of_campaign(connection.campaign, params.annotation)
    counted = counted_votes(tables.JUDGMENTS.read(), ledger, tables.VOIDED.read())
    votes = adjudication_tasks.describe_votes(counted, ledger, guide)
    for pair in pairs.loc[pairs["why"] == "listed", PAIR_KEY].to_numpy().tolist():
        votes.pop(tuple(pair), None)  # a second look is blind
    left = pairs.loc[~is_in(pairs, read_decided(ledger), PAIR_KEY), PAIR_KEY]
    return Disputed(pairs, votes, left.reset_index(drop=True))


def read_votes(ledger: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return the consensus of the votes alone."""
    judged = tables.JUDGMENTS.read(), ledger, tables.VOIDED.read()
    return consensus(*judged, rounding=params.consensus.rounding)


def read_decided(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions on pairs as they were last shown."""
    return fresh_decisions(tables.ADJUDICATIONS.read(), select_newest(ledger)[SHOWN_KEY])


def summarize(
    connection: Connection, disputed: Disputed, shown: pd.DataFrame, fetched: FetchedDecisions
) -> str:
    """Return how many pairs are decided, and who decides the others, with the address.

    For pairs listed for a second look, the address of their own task is added.
    """
    why = Counter(disputed.pairs["why"])
    kinds = ", ".join(f"{number} {name}" for name, number in sorted(why.items()))
    total, left = len(disputed.pairs), len(disputed.left)
    if not total:
        return "adjudicate: no pair is discarded, unjudgeable or listed; there is nothing to decide"
    lines = [f"adjudicate: {total} pairs ({kinds}), {total - left} decided, {left} left"]
    for annotator, number in sorted(fetched.left.items()):
        if number:
            url = connection.studio.page_url(fetched.pages[annotator])
            lines.append(f"  annotator {annotator} decides on {number}: {url}")
    listed = disputed.pairs.loc[disputed.pairs["why"] == "listed", PAIR_KEY]
    listed_pairs = {*listed.itertuples(index=False, name=None)}
    for query, moment, annotator, task in sorted(fetched.open_tasks):
        if (query, moment) in listed_pairs:
            url = connection.studio.task_url(fetched.pages[annotator], task)
            lines.append(f"  {query} {moment}, annotator {annotator}: {url}")
    if len(shown) < left:
        lines.append(f"  {left - len(shown)} have no clip here, so nobody is asked")
    if fetched.refused:
        refused = ", ".join(f"{number} {name}" for name, number in sorted(fetched.refused.items()))
        lines.append(f"  refused: {refused}")
    if left:
        return "\n".join([*lines, "  when they have decided: python -m annotation.adjudicate"])
    return "\n".join([*lines, "  all are decided: python -m annotation.campaign close"])


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that is open there.")
    add, pair = parser.add_argument, ("QUERY", "MOMENT")
    add("--pair", nargs=2, metavar=pair, help="list a pair for a second look")
    add("--note", help="with --pair: why")
    add("--second-looks", action="store_true", help="list the pairs of the lead's page")
    add("--pairs", type=Path, metavar="FILE", help="list the pairs that readers report")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
