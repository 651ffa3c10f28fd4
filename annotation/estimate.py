"""Estimate what a campaign takes before it begins: pairs, judgments, hours.

    python -m annotation.estimate [--params params.paper.yaml] [--seconds 19] [--hourly 12]
                                  [--pilot test.qrels a.run b.run c.run]

It prints three rows: least (nobody disagrees, no further batch is judged), usual, and most (every
pair needs four judgments, every further batch is judged). Usual follows TVR-Ranking, where 3,281
queries gave 96,483 pairs and 227,808 judgments: 47 % of the second batches were judged, and two
people disagreed on 18 % of the pairs. With `candidates.further: learned` a pilot's share is a
better guess (`--extended`). A judgment took 19 seconds there; once there are enough
judgments here (agreement.min_judgments), their median is used instead, with each counting for at
most `plan.pause`. Hidden checks and the exam come on top, as the last line says.

A pilot shows how many queries are enough: for nDCG at IoU .5 and AxIoU at the cutoffs 10 and 20,
`--pilot QRELS RUN RUN ...` adds the number of queries at which two halves of them rank these runs
alike, and at which a difference of .05 can be trusted (more: `momentrank meta --only stability`).

If the corpus exists (`dvc repro ingest`) or its size is given, the hours, memory and disk space of
the stages follow. For the cost of rewriting by an LLM: `python -m pipeline.rewrite --estimate`.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from annotation.workforce.costs import EXTENDED, text
from momentrank.functions import score_runs
from momentrank.meta import stability
from pipeline.campaign.effort import ESCALATED, SECONDS, measure_seconds
from pipeline.core import cli, tables
from pipeline.core.params import PARAMS, Params, load
from pipeline.core.strata import count_planned
from pipeline.machine import demand

PILOT_MEASURES = ("nDCG(iou=0.5)@10", "nDCG(iou=0.5)@20", "AxIoU@10", "AxIoU@20")
PILOT_TRIALS = 1_000
UNLEARNED = (
    "candidates.further: learned, but usual is the paper's share, of second batches by similarity"
)


def pilot_text(params: Params, qrels: Path, runs: Sequence[Path]) -> str:
    """Return how many queries a pilot's runs need for a stable order, and for a difference.

    Raises:
        MomentRankError: a file is malformed, or fewer than two runs are given.
    """
    values = score_runs(qrels, {str(run): run for run in runs}, PILOT_MEASURES, "paper")
    sizes = stability.default_sizes(len(values.queries))
    curves = list(stability.measure_stability(values, sizes, trials=PILOT_TRIALS))
    planned = count_planned(params)
    pilot = f"{len(runs)} runs on {len(values.queries):,} queries of {qrels}"
    lines = [
        f"queries needed, from {pilot} (here: {planned:,})",
        f"{'':20}{f'tau {stability.TAU:g}':>12}{f'difference {stability.DIFFERENCE:g}':>18}",
    ]
    needed = stability.find_needed(curves)
    for tau, difference in zip(needed[::2], needed[1::2], strict=True):
        cells = [
            f"> {size.largest:,}" if size.queries is None else f"{size.queries:,}"
            for size in (tau, difference)
        ]
        lines.append(f"{tau.measure:20}{cells[0]:>12}{cells[1]:>18}")
    return "\n".join(lines)


def main(options: argparse.Namespace) -> None:
    """Print what the campaign described by a params.yaml takes."""
    params, usual = load(options.params), (options.extended, ESCALATED)
    seconds = options.seconds or measure_seconds(params) or SECONDS
    sys.stdout.write(f"{text(params, seconds, usual, options.hourly)}\n")
    if params.candidates.further == "learned" and options.extended == EXTENDED:
        sys.stdout.write(f"{UNLEARNED}\n")
    if options.pilot:
        qrels, *runs = options.pilot
        with warnings.catch_warnings(record=True) as caught:
            pilot = pilot_text(params, qrels, runs)
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            cli.log(message)
        sys.stdout.write(f"\n{pilot}\n")
    if moments := options.moments or tables.MOMENTS.count_rows():
        sys.stdout.write(f"\n{demand.describe(moments, params)}\n")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads the settings and, if there are any, the judgments so far.")
    add, positive, share = parser.add_argument, cli.parse_positive_float, cli.parse_share
    add("--params", type=Path, default=PARAMS, help="the settings (params.yaml)")
    add("--seconds", type=positive, help="per judgment (default: the median so far, else 19)")
    add("--extended", type=share, default=EXTENDED, help="usual share of further batches (0.47)")
    add("--moments", type=cli.parse_positive, help="size of the corpus, before it is read")
    add("--hourly", type=positive, help="hourly pay, in your currency")
    add("--pilot", type=Path, nargs="+", metavar="FILE", help="qrels and runs of a pilot")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
