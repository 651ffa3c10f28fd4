"""Measure how well annotators agree (paper, section 3.4 and Appendix B.5; Figure 5).

    python -m annotation.agreement
    python -m annotation.agreement --raw raw_annotation.csv [--json] [--lead FOLDER]

Without options it is the stage:

reads   datasets/campaign/{judgments,voided,pairs,queries}.csv, datasets/work/consensus.parquet
        and, for hidden checks, datasets/campaign/{gold,exam,adjudications}.csv
writes  datasets/work/plots/min_max.csv, final_levels.csv, and for the lead only
        datasets/work/lead/annotators.csv, annotator_pairs.csv, checks.csv

With --raw it reads the judgments of any collection (pair_id,worker,relevance; optionally
submitted_at and seconds) and prints the same figures. Figures of single people are only under
lead/, in files that neither git nor DVC's cache stores.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pandas as pd

from annotation.quality.checks import measure_checks
from annotation.quality.gold import read_gold
from annotation.reliability import kappa, statistics
from annotation.reliability.annotators import measure_annotators
from annotation.reliability.scores import (
    Scores,
    between_people,
    campaign_scores,
    couples,
    sort_scores,
)
from annotation.votes import raw
from annotation.votes.figures import print_figures
from annotation.votes.rule import decide
from annotation.votes.votes import NO_LEVEL, Bools, select_rows
from momentrank.errors import UsageError
from pipeline.campaign.effort import active_seconds
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.campaign.voided import drop_voided
from pipeline.core import cli, csv_files, tables
from pipeline.core.params import Params, load, load_defaults
from pipeline.core.people_sections import Agreement
from pipeline.core.strata import mark_strata

PLOTS, LEAD = tables.WORK / "plots", tables.WORK / "lead"


class AgreementTables(NamedTuple):
    """Agreement in figures, and the tables for plots and for the lead by file name."""

    metrics: dict[str, Any]
    plots: dict[str, pd.DataFrame]
    lead: dict[str, pd.DataFrame]


def measure(
    scores: Scores, level: pd.Series, similarity: pd.Series | None, params: Agreement
) -> AgreementTables:
    """Return the agreement of scores on pairs, given the final `level` and `similarity` of each.

    Both have a row for each pair; `level` is null for a pair without a final level. No figure
    depends on the order of rows. The annotators' numbers matter only where several scores of a
    pair came at exactly the same time: they decide which were its first two.
    """
    annotators = measure_annotators(scores, params)
    by_two = kappa.by_annotators(between_people(couples(scores)))
    named = {name: scores.annotators[by_two[name]] for name in ("annotator", "other")}
    levels, span = statistics.final_levels(level), statistics.min_max(scores)
    return AgreementTables(
        {
            **statistics.agreement(scores, params),
            "flagged": int((annotators["flags"] != "").sum()),
            "similarity_1": None
            if similarity is None
            else statistics.alike_below_top(similarity, level),
            "min_max": span.drop(columns="range").to_dict("records"),
            "final_levels": levels.drop(columns="share").to_dict("records"),
        },
        plots={"min_max.csv": span, "final_levels.csv": levels},
        lead={"annotators.csv": annotators, "annotator_pairs.csv": by_two.assign(**named).round(6)},
    )


def measure_campaign(
    judgments: pd.DataFrame,
    ledger: pd.DataFrame,
    voided: pd.DataFrame,
    consensus: pd.DataFrame,
    params: Agreement,
) -> AgreementTables:
    """Return the agreement of the votes that count, over the pairs of the consensus.

    `seconds` of the judgments are active ones. `by_guideline` covers all pairs that were shown,
    including those of a pilot.
    """
    shown = select_newest(ledger)
    scores = campaign_scores(judgments, shown, voided, consensus)
    similarity = consensus[PAIR_KEY].merge(shown[[*PAIR_KEY, "similarity"]], how="left")[
        "similarity"
    ]
    result = measure(scores, consensus["level"], similarity, params)
    result.metrics["by_guideline"] = {
        version: statistics.summarize(campaign_scores(rows, shown, voided, shown))
        for version, rows in judgments.groupby("guideline")
    }
    return result


def mark_first_batch(consensus: pd.DataFrame, shown: pd.DataFrame, batch: int) -> Bools:
    """Mark the pairs of the consensus that are among the first `batch` ranks of their query."""
    ranks = consensus[PAIR_KEY].merge(shown[[*PAIR_KEY, "rank"]], how="left")["rank"]
    first: Bools = (ranks <= batch).to_numpy()
    return first


def measure_raw(judgments: raw.Raw, params: Params) -> AgreementTables:
    """Return the agreement of raw judgments; final levels follow the paper's rule."""
    consensus = decide(judgments.pair, judgments.level, len(judgments.pairs), closed=True)
    level = pd.Series(consensus.level, dtype="Int64").mask(consensus.level == NO_LEVEL)
    judged = judgments.level != NO_LEVEL
    scores = Scores(
        judgments.pair,
        judgments.annotator,
        judgments.level,
        len(judgments.pairs),
        judgments.annotators,
        judgments.time,
        None
        if judgments.seconds is None
        else active_seconds(pd.Series(judgments.seconds), params.plan.pause).to_numpy(),
    )
    return measure(sort_scores(select_rows(scores, judged)), level, None, params.agreement)


def main() -> None:
    """Measure how well the campaign's annotators agree."""
    params = load()
    consensus, judgments = tables.CONSENSUS.read(), tables.JUDGMENTS.read()
    ledger, voided = tables.PAIRS.read(), tables.VOIDED.read()
    timed = judgments.assign(seconds=active_seconds(judgments["seconds"], params.plan.pause))
    result = measure_campaign(timed, ledger, voided, consensus, params.agreement)
    checks = measure_checks(drop_voided(judgments, voided), read_gold())
    shown = select_newest(ledger)
    scores = campaign_scores(timed, shown, voided, consensus)
    first = mark_first_batch(consensus, shown, params.candidates.batch)
    by_batch = statistics.by_batch(scores, first, params.agreement)
    strata = mark_strata(consensus, tables.FROZEN_QUERIES.read())
    by_stratum = statistics.by_group(scores, strata, params.agreement)
    by_part = {"by_batch": by_batch} | ({"by_stratum": by_stratum} if strata else {})
    _write(PLOTS, result.plots)
    _write(LEAD, result.lead | {"checks.csv": checks})
    cli.write_metrics("agreement", {**result.metrics, **by_part})
    pairs, waiting = len(consensus), int((consensus["outcome"] == "waiting").sum())
    judged, flagged = result.metrics["pairs"], result.metrics["flagged"]
    cli.log(f"agreement: {judged:,} of {pairs:,} pairs have scores, {waiting:,} wait")
    if flagged:
        cli.log(f"agreement: {flagged} annotators flagged: {LEAD / 'annotators.csv'}")


def _write(folder: Path, frames: dict[str, pd.DataFrame]) -> None:
    for name, table in frames.items():
        csv_files.write_csv(folder / name, table)


def command(options: argparse.Namespace) -> None:
    """Run the stage, or print how well the annotators of a raw file agree.

    Raises:
        FileError: the file can't be read, or the lead's folder can't be written.
        UsageError: the options can't be combined.
    """
    if options.raw is None:
        if options.json or options.repeated or options.lead:
            raise UsageError("these options need --raw FILE; without --raw this runs the stage")
        return main()
    result = measure_raw(raw.read(options.raw, options.repeated or "both"), load_defaults())
    if options.lead:
        _write(options.lead, result.lead)
    print_figures(result.metrics, as_json=options.json)
    return None


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("Without --raw it reads params.yaml in the current folder (`dvc repro`).")
    add = parser.add_argument
    add("--raw", type=Path, metavar="FILE", help="raw judgments of any collection")
    add("--json", action="store_true", help="print JSON; undefined values are null")
    add(
        "--repeated",
        choices=get_args(raw.Repeated),
        help="one person's two answers on a pair: both count (default), or distinct: only one",
    )
    add("--lead", type=Path, metavar="FOLDER", help="write each person's figures there")
    return parser


if __name__ == "__main__":
    cli.run_command(partial(command, _parser().parse_args()))
