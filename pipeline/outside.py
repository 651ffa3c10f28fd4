"""Say what of the world outside was met with this tool, and try what can be tried from here.

    python -m pipeline.outside                      (what was met, by docs/outside.md)
    python -m pipeline.outside openai gpu           (try these; asks before each)
    python -m pipeline.outside --yes s3 --bucket s3://bucket/prefix

reads   docs/outside.md, params.paper.yaml, tokens and addresses of the environment and .env
writes  nothing here; what a trial stores elsewhere it deletes

A trial that meets the thing prints the line to add to docs/outside.md. Whatever fails, or answers
on this machine in place of a service, was not met: it prints the reason and no line. Exits with 1
if one of the trials did not meet its thing.
"""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from momentrank.errors import UsageError
from pipeline.core import cli, git
from pipeline.core.params import load
from pipeline.core.text import reveal
from pipeline.trials import TRIALS, met_page
from pipeline.trials.base import Inputs, Trial

PAPER = Path("params.paper.yaml")
Ask = Callable[[str], str]


def list_met() -> str:
    """Return a line for each thing: on which day it was last met, with which version."""
    rows = {row.name: row for row in sorted(met_page.read_rows(TRIALS))}  # the newest counts
    lines = []
    for trial in TRIALS.values():
        row = rows.get(trial.name)
        state = f"met on {row.day}: {row.version}" if row else "not met"
        lines.append(f"{trial.name:14}{trial.what:28}{state}\n")
    return "".join(lines)


def run_trial(trial: Trial, inputs: Inputs) -> bool:
    """Run a trial, and print the line to add or why there is none; return whether it met."""
    try:
        met = trial.run(inputs)
    except Exception as exc:  # noqa: BLE001  (of any library: whatever fails was not met)
        reason = " ".join(str(exc).split()) or type(exc).__name__
        sys.stdout.write(f"{trial.name}: not met: {reveal(reason)}\n")
        return False
    row = met_page.make_row(datetime.now(UTC).date(), trial.name, met, _read_code())
    sys.stdout.write(f"{trial.name}: met; add this line to {met_page.PAGE}:\n")
    sys.stdout.write(f"{met_page.format_row(row)}\n")
    return True


def _read_code() -> str:
    """Return the commit that runs here, and whether it was changed."""
    head = git.read_head()
    changed = git.run("status", "--porcelain", "--untracked-files=no").stdout.strip()
    return f"{head[:8] if head else 'no commit'}{', changed' if changed else ''}"


def is_wanted(trial: Trial, ask: Ask = input) -> bool:
    """Ask whether to run a trial, once its cost is told.

    Raises:
        UsageError: nobody is there to answer.
    """
    return cli.confirm(f"{trial.name} ({trial.what}): {trial.cost}. Try it?", ask)


def main(options: argparse.Namespace) -> None:
    """Print what was met, or run the trials that are named."""
    if not options.names:
        sys.stdout.write(list_met())
        return
    if unknown := [name for name in options.names if name not in TRIALS]:
        raise UsageError(f"{unknown[0]}: must be one of {', '.join(TRIALS)}")
    inputs = Inputs(load(PAPER), options.bucket)
    trials = [TRIALS[name] for name in options.names]
    outcomes = [run_trial(one, inputs) for one in trials if options.yes or is_wanted(one)]
    if not all(outcomes):
        sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("What each trial does: docs/outside.md.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"what to try: {', '.join(TRIALS)}"
    )
    parser.add_argument("--yes", action="store_true", help="try without asking")
    parser.add_argument("--bucket", metavar="s3://BUCKET/PREFIX", help="for s3: a bucket of yours")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
