"""Report what a run needs and what is missing, before the first long stage.

    python -m pipeline.doctor [--params params.paper.yaml] [--moments 100000]

reads   params.yaml, the corpus, and this machine: ffmpeg, memory, disk, models, keys, the engine, a
        GPU, Label Studio
writes  nothing

Hours, memory and disk space are computed from measured rates (docs/scaling.md), for as many cores
as the engine uses. Exits with 1 if anything is missing.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from pipeline.core import cli
from pipeline.core.params import PARAMS, load
from pipeline.machine import demand
from pipeline.machine.findings import Finding, count_moments, find_all

MARKS = {"ok": "ok", "missing": "MISSING", "note": "note"}


def describe(finding: Finding) -> str:
    """Return a finding as one line, with its next step below."""
    step = f"\n{'':10}next: {finding.step}" if finding.step and finding.state != "ok" else ""
    return f"{MARKS[finding.state]:10}{finding.name}: {finding.text}{step}"


def main(options: argparse.Namespace) -> None:
    """Print all findings, then what the stages need."""
    params = load(options.params)
    moments = options.moments or count_moments(params.ingest)
    findings = []
    for finding in find_all(params, moments):
        findings.append(finding)
        sys.stdout.write(f"{describe(finding)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"\n{demand.describe(moments, params)}\n")
    if any(finding.state == "missing" for finding in findings):
        sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("`python -m annotation.estimate` estimates the hours of judging.")
    parser.add_argument("--params", type=Path, default=PARAMS, help="the settings (params.yaml)")
    parser.add_argument(
        "--moments", type=cli.parse_positive, help="compute for MOMENTS, not for the corpus"
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
