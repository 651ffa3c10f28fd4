"""Tell the lead where the campaign stands.

    python -m annotation.status [--json] [--watch [SECONDS]]

Asks the server, and changes nothing: done and open per annotator, their pace, the hours to pay
and the hours left; agreement so far; what was escalated, discarded or can't be judged; the
queries whose second batch is judged, with the levels of their first in a row.

Exits with 0 when every pair is decided or the campaign is closed, with 75 while it waits: for
people, for a clip, or for a decision of yours.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from annotation import opened, pull, roster
from annotation.connection import alone, connect
from annotation.opened import CampaignError
from annotation.plan import Answers, campaign_of, plan, pulled
from annotation.planning.campaign import Campaign
from annotation.planning.standing import Standing, standing
from annotation.planning.state import ended
from annotation.votes import FIRST_VOTES, NEAR, NO_LEVEL
from pipeline import arguments, stage, tables
from pipeline.params import load

WAITING = 75
WATCH_SECONDS = 60
HOUR = 3600


def status(campaign: Campaign, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a campaign stands, in figures: its state, and what people's levels say."""
    known, pairs, queries = standing(campaign), state["pairs"], state["queries"]
    return {
        "wanted": sum(who["open"] for who in state["annotators"].values()),
        "waits": bool(pairs["waiting"] or pairs["without_clip"] or queries["for_the_lead"]),
        "pairs": pairs,
        "agreement": agreement(known),
        "extended": {query: levels(known, query) for query in queries["extended"]},
        "for_the_lead": queries["for_the_lead"],
        "annotators": people(campaign.judgments, state["annotators"]),
    }


def agreement(known: Standing) -> dict[str, float | int | None]:
    """Return how often a pair's first two levels are equal, or 1 apart at most."""
    scores = known.verdicts.lists()
    apart = pd.Series([max(one) - min(one) for one in scores if len(one) == FIRST_VOTES])
    escalated = int(known.escalated.sum())
    both = len(apart) + int((known.verdicts.scores > FIRST_VOTES).sum())
    near = int((apart <= NEAR).sum())
    return {
        "pairs_with_two": both,
        "exact": round(int((apart == 0).sum()) / both, 4) if both else None,
        "within_1": round(near / both, 4) if both else None,
        "escalated": escalated,
    }


def levels(known: Standing, query: str) -> list[int | None]:
    """Return the levels of a query's first batch in the order of ranks; None: it has none."""
    own = known.pairs.assign(level=known.verdicts.level)
    own = own[(own["query_id"] == query) & (own["batch"] == 1)].sort_values("rank")
    return [None if level == NO_LEVEL else level for level in own["level"].tolist()]


def people(judgments: pd.DataFrame, known: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each annotator's figures: hours done and left, and judgments in an hour."""
    spent = judgments.dropna(subset="seconds").groupby("annotator")["seconds"]
    total, means = spent.sum().to_dict(), spent.mean().to_dict()
    found = {}
    for number, who in known.items():
        seconds, mean = total.get(int(number), 0.0), means.get(int(number))
        found[number] = {
            **who,
            "hours": round(seconds / HOUR, 2),
            "per_hour": round(HOUR / mean) if mean else None,
            "hours_left": round(who["open"] * mean / HOUR, 2) if mean else None,
        }
    return found


def text(name: str, figures: dict[str, Any]) -> str:
    """Return the figures as a page of text."""
    pairs, agreed = figures["pairs"], figures["agreement"]
    lines = [f"{name}: {figures['wanted']} judgments wanted", ""]
    lines += [_row("annotator", "role", "done", "open", "hours", "per hour", "hours left")]
    for number, who in figures["annotators"].items():
        role = who["role"] or "left"
        role = role if who["active"] else f"({role})"
        told = (who["hours"], who["per_hour"], who["hours_left"])
        lines.append(_row(number, role, who["done"], who["open"], *told))
    lines += ["", f"pairs      {pairs['all']:>7}"]
    lines += [f"  {_words(key):22}{pairs[key]:>7}" for key in pairs if key != "all"]
    lines += ["", f"of {agreed['pairs_with_two']} pairs with two levels"]
    lines += [f"  {_words(key):22}{_share(agreed[key])}" for key in ("exact", "within_1")]
    if figures["extended"]:
        lines += ["", "second batch judged, and the levels of the first by rank"]
        lines += [f"  {query:22}{_levels(row)}" for query, row in figures["extended"].items()]
    if figures["for_the_lead"]:
        lines += ["", f"for you to decide in {tables.EXTEND.path} (no level at the last ranks)"]
        lines += [f"  {query}" for query in figures["for_the_lead"]]
    return "\n".join(lines) + "\n"


def _row(number: object, role: object, *figures: object) -> str:
    cells = "".join(f"{'-' if cell is None else cell:>12}" for cell in figures)
    return f"{number:>9}  {role:12}{cells}"


def _words(key: str) -> str:
    return key.replace("_", " ")


def _share(value: float | None) -> str:
    return f"{'-':>7}" if value is None else f"{100 * value:>6.1f} %"


def _levels(row: list[int | None]) -> str:
    return " ".join("-" if level is None else str(level) for level in row)


def now() -> tuple[str, dict[str, Any]]:
    """Return the campaign's name and figures, as the server has it; else as it was pulled last.

    Raises:
        CampaignError: no campaign was opened here.
    """
    campaign = opened.current()
    if campaign is None:
        raise CampaignError(f"{opened.FILE}: no campaign is open here")
    connection = None if campaign.closed else connect("status")
    answers = pulled()
    if connection is not None:
        with alone("status"):
            found = pull.fetch(connection)
        answers = Answers(pull.merged(found).judgments, *pull.other_tables(found))
    known = campaign_of(roster.people(), load(), answers)
    state = ended(known, tables.PAIRS.read()) if campaign.closed else plan(known).state
    return campaign.name, status(known, state)


def main(options: argparse.Namespace) -> None:
    """Print where the campaign stands, once or again and again."""
    while True:
        name, figures = now()
        shown = f"{json.dumps(figures, indent=2)}\n" if options.json else text(name, figures)
        sys.stdout.write(shown)
        sys.stdout.flush()
        if options.watch is None:
            sys.exit(WAITING if figures["waits"] else 0)
        time.sleep(options.watch)


def _arguments() -> argparse.Namespace:
    parser = stage.parser("Works in the current folder, with the campaign that is open there.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--watch",
        type=arguments.positive,
        nargs="?",
        const=WATCH_SECONDS,
        metavar="SECONDS",
        help=f"again and again ({WATCH_SECONDS}), until Ctrl-C",
    )
    return parser.parse_args()


if __name__ == "__main__":
    stage.report(partial(main, _arguments()))
