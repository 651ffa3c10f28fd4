"""Estimate what a campaign takes before it begins: pairs, judgments, hours.

    python -m annotation.estimate [--params params.paper.yaml] [--seconds 19] [--hourly 12]

It prints three rows: least (nobody disagrees, no further batch is judged), usual, and most (every
pair needs four judgments, every further batch is judged). Usual follows TVR-Ranking, where 3,281
queries gave 96,483 pairs and 227,808 judgments: 47 % of the second batches were judged, and two
people disagreed on 18 % of the pairs. With `candidates.further: learned` a pilot's share is a
better guess (`--extended`). A judgment took 19 seconds there; once there are enough
judgments here (agreement.min_judgments), their median is used instead, with each counting for at
most `plan.pause`. Hidden checks and the exam come on top, as the last line says.

If the corpus exists (`dvc repro ingest`) or its size is given, the hours, memory and disk space of
the stages follow. For the cost of rewriting by an LLM: `python -m pipeline.rewrite --estimate`.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from annotation.workforce.costs import EXTENDED, text
from pipeline.campaign.effort import ESCALATED, SECONDS, measure_seconds
from pipeline.core import cli, tables
from pipeline.core.params import PARAMS, load
from pipeline.machine import demand

UNLEARNED = (
    "candidates.further: learned, but usual is the paper's share, of second batches by similarity"
)


def main(options: argparse.Namespace) -> None:
    """Print what the campaign described by a params.yaml takes."""
    params, usual = load(options.params), (options.extended, ESCALATED)
    seconds = options.seconds or measure_seconds(params) or SECONDS
    sys.stdout.write(f"{text(params, seconds, usual, options.hourly)}\n")
    if params.candidates.further == "learned" and options.extended == EXTENDED:
        sys.stdout.write(f"{UNLEARNED}\n")
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
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
