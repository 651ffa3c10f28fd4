"""Bring Label Studio in line with the plan: add missing tasks, close those no longer wanted.

reads   datasets/work/assignments.parquet, and what is shown of each pair
writes  datasets/campaign/pairs.csv (the ledger of what was shown), datasets/work/push_receipt.json,
        and one project for each annotator in Label Studio

It checks what is there, and adds only what is missing: it can be interrupted at any moment and run
again, with the same result. Nothing is ever deleted. A task that is no longer wanted is closed;
an answer to it is still pulled.
"""

import argparse
from functools import partial

from annotation.label_studio.connection import connect, hold_lock
from annotation.tasks.pushing import describe_pairs, push
from pipeline.campaign.phases import check_state
from pipeline.core import cli, files, tables
from pipeline.core.params import load

RECEIPT = tables.WORK / "push_receipt.json"


def main(options: argparse.Namespace) -> None:
    """Push, if a campaign is open and a server is configured."""
    if options.beside_others:
        check_state("annotation.push --beside-others")
    params = load()
    connection = connect("push")
    if connection is None:
        tables.PAIRS.write(tables.PAIRS.read())
        return files.write_json(RECEIPT, {"server": None})
    pairs = describe_pairs(tables.ASSIGNMENTS.read(), params)
    with hold_lock("push"):
        counts = push(connection, pairs, params, beside_others=options.beside_others)
    cli.log(
        f"push: {counts['added']} tasks added, {counts['closed']} closed,"
        f" {counts['reopened']} reopened, in {counts['projects']} projects"
    )
    return files.write_json(RECEIPT, {"server": connection.studio.url, **counts})


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads params.yaml and .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="share the server with another campaign: needed once, for the first push",
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
