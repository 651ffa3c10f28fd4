"""Find the consensus of the votes on each pair (paper, section 3.3).

    python -m annotation.consensus
    python -m annotation.consensus --raw raw_annotation.csv --out levels.csv

Without options it is the stage:

reads   datasets/campaign/{judgments,voided,pairs,adjudications,queries}.csv, campaign.yaml
writes  datasets/work/consensus.parquet, counted_votes.parquet

With --raw it reads the judgments of any collection (pair_id,worker,relevance) and prints pairs,
kept, discarded and the count of each level; --out writes a row per pair. The rule is in
annotation/votes/rule.py: two levels within 1, or the middle two of four, and their mean rounded up.
Decisions by the lead (`python -m annotation.adjudicate`) take precedence.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from annotation.reliability.drift import measure_drifts
from annotation.reliability.scores import campaign_scores
from annotation.reliability.statistics import summarize
from annotation.votes import raw, raw_consensus
from annotation.votes.adjudication import adjudicate, fresh_decisions
from annotation.votes.campaign_votes import consensus, counted_votes
from annotation.votes.figures import print_figures
from annotation.votes.rule import LEVELS
from annotation.votes.votes import NO_LEVEL, classify, last_shown, select_rows, select_votes
from momentrank.errors import UsageError
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY, select_newest
from pipeline.campaign.voided import drop_voided
from pipeline.core import cli, tables
from pipeline.core.params import load
from pipeline.core.strata import mark_strata


def summarize_campaign(
    judgments: pd.DataFrame,
    ledger: pd.DataFrame,
    voided: pd.DataFrame,
    adjudications: pd.DataFrame,
    table: pd.DataFrame,
) -> dict[str, Any]:
    """Return the state of the pairs, and which judgments count, in numbers.

    `stale` judgments and decisions are for another text or clip than was last shown; the lead has
    withdrawn `voided` judgments. `late` ones came after their pair was decided, or were replaced
    by a newer one from the same person; `checks` are hidden checks.
    """
    shown = last_shown(ledger)
    standing = classify(judgments, shown, voided)
    usable = judgments[standing == "vote"]
    decisions = fresh_decisions(adjudications, shown)
    counted = select_votes(usable, table[PAIR_KEY])
    outcome, scores = table["outcome"], table["scores"].map(len)
    short = (outcome == "discarded") & (scores != ALL_VOTES)
    return {
        "pairs": len(table),
        "with_level": int(table["level"].notna().sum()),
        "nothing_waits": bool(len(table)) and not (outcome == "waiting").any(),
        "outcomes": {name: int((outcome == name).sum()) for name in tables.OUTCOMES},
        "discarded_with_too_few_votes": int(short.sum()),
        "levels": {str(level): int((table["level"] == level).sum()) for level in range(LEVELS)},
        "judgments": {
            "all": len(judgments),
            "counted": len(counted.pair),
            "without_level": int((counted.level == NO_LEVEL).sum()),
            "late": len(usable) - len(counted.pair),
            "stale": int((standing == "stale").sum()),
            "voided": int((standing == "voided").sum()),
            "checks": int((standing == "check").sum()),
        },
        "adjudications": {
            "counted": len(decisions),
            "without_level": int(decisions["level"].isna().sum()),
            "stale": len(adjudications) - len(decisions),
        },
    }


def main() -> None:
    """Find the consensus of the campaign's judgments."""
    params, campaign = load().consensus, load_campaign()
    closed = campaign is not None and campaign.closed
    judgments, ledger = tables.JUDGMENTS.read(), tables.PAIRS.read()
    adjudications = tables.ADJUDICATIONS.read()
    before = len(judgments)
    if campaign is not None:
        judgments, ledger = campaign.select_kept(judgments), campaign.select_kept(ledger)
    voided = tables.VOIDED.read()
    voted = consensus(judgments, ledger, voided, closed=closed, rounding=params.rounding)
    table = adjudicate(voted, fresh_decisions(adjudications, last_shown(ledger)))
    tables.CONSENSUS.write(table)
    tables.COUNTED_VOTES.write(counted_votes(judgments, ledger, voided))
    scores = campaign_scores(judgments, select_newest(ledger), voided, table)
    metrics = {
        "closed": closed,
        **summarize_campaign(judgments, ledger, voided, adjudications, table),
        "agreement": summarize(scores),
    }
    if strata := mark_strata(table, tables.FROZEN_QUERIES.read()):
        own = {
            name: summarize(select_rows(scores, pairs[scores.pair]))
            for name, pairs in strata.items()
        }
        metrics["agreement"]["by_stratum"] = own
    if campaign is not None and campaign.reopenings:
        valid = drop_voided(judgments, voided)
        metrics["agreement"]["link"] = measure_drifts(campaign.reopenings, valid, table, scores)
    metrics["judgments"]["of_pilot"] = before - len(judgments)
    cli.write_metrics("consensus", metrics)
    waiting = (
        f"{metrics['outcomes']['waiting']:,} wait" if len(table) else "nothing has been shown yet"
    )
    cli.log(f"consensus: {metrics['with_level']:,} of {len(table):,} pairs have a level; {waiting}")


def command(options: argparse.Namespace) -> None:
    """Run the stage, or compute the levels of a raw file.

    Raises:
        UsageError: the options can't be combined.
    """
    asked = {name: value for name, value in vars(options).items() if value not in {None, False}}
    as_json = asked.pop("json", False)
    if "source" not in asked:
        if asked or as_json:
            raise UsageError("these options need --raw FILE; without --raw this runs the stage")
        return main()
    if "rounding" in asked and asked.get("method", "paper") != "paper":
        raise UsageError(f"--rounding is only for --method paper; {asked['method']} does not round")
    result = raw_consensus.run(raw_consensus.Options(**asked))
    print_figures(result, as_json=bool(as_json))
    return None


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("Without --raw it reads params.yaml in the current folder (`dvc repro`).")
    add = parser.add_argument
    add("--raw", dest="source", type=Path, metavar="FILE", help="raw judgments of any collection")
    add("--out", type=Path, metavar="FILE", help="pair_id, level, mean, scores, outcome as CSV")
    add(
        "--rounding",
        choices=get_args(raw_consensus.Rounded),
        help="a mean between two levels goes: up (default, as in the paper), nearest (to the even"
        " level), exact (the mean is the level); the column `mean` is always exact",
    )
    add(
        "--repeated",
        choices=get_args(raw.Repeated),
        help="one person's two answers on a pair: both count (default, as in the paper), or"
        " distinct: only the newer by `submitted_at`, else the last in the file",
    )
    add(
        "--method",
        choices=get_args(raw_consensus.Method),
        help="paper (default), or one from crowd-kit, for comparison (pip install crowd-kit)",
    )
    add("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    cli.run_command(partial(command, _parser().parse_args()))
