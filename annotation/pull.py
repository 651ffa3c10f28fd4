"""Fetch what people have judged in Label Studio.

reads   datasets/campaign/campaign.yaml, annotators.yaml, annotators.private.yaml, gold.csv,
        Label Studio
writes  datasets/campaign/judgments.csv (each person's newest answer to a pair) and
        judgment_history.csv (every version ever seen); datasets/work/open_tasks.parquet and
        rejected_judgments.csv (answers that are not judgments, with the reason), today.json
        (the date, on which the plan's pace and forecast depend); datasets/campaign/departures.csv
        (when a pull first saw an annotator inactive: their answers from then on are refused);
        if there is an exam, its answers, right levels and results (exam_answers.csv, exam.csv
        and qualifications.csv next to judgments.csv, as `python -m annotation.exam mark` does);
        datasets/campaign/adjudications.csv (decisions by the lead or an expert)

Without a server the tables stay as they are. If many judgments have disappeared from the server, it
stops and reports how many; `--accept-loss` continues without them on the server (they still count).
Imported answers carry whatever name their importer chose: they are refused, unless
`--trust-imported` accepts the ones that are there now. A project that is not as push made it is
reported, and what was answered in it since the last pull is set aside (deviations.csv next to
judgments.csv), until push has restored it; `--take-set-aside` counts those answers.
"""

import argparse
from datetime import UTC, datetime
from functools import partial

from annotation.answers.judgments import trust_all
from annotation.answers.pulling import OUTPUTS, pull
from annotation.label_studio.connection import connect, hold_lock
from pipeline.campaign.campaign import load_open_campaign
from pipeline.campaign.phases import check_state
from pipeline.core import cli, files, tables

OF_EXAM = (tables.EXAM, tables.EXAM_ANSWERS, tables.QUALIFICATIONS)


def main(options: argparse.Namespace) -> None:
    """Pull, if a campaign is open and a server is configured."""
    for option in ("accept-loss", "trust-imported", "take-set-aside"):
        if getattr(options, option.replace("-", "_")):
            check_state(f"annotation.pull --{option}")
    for table in (*OUTPUTS, *OF_EXAM):
        if not table.path.is_file():
            table.write(table.empty())
    files.write_json(
        tables.TODAY, {"date": f"{datetime.now(UTC):%Y-%m-%d}" if load_open_campaign() else None}
    )
    connection = connect("pull")
    if connection is None:
        cli.write_metrics("pull", {"judgments": len(tables.JUDGMENTS.read())})
        return
    with hold_lock("pull"):
        trust = trust_all if options.trust_imported else None
        pull(
            connection,
            accept_loss=options.accept_loss,
            full=options.full,
            trust=trust,
            take_set_aside=options.take_set_aside,
        )


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--accept-loss",
        action="store_true",
        help="continue even if judgments are missing on the server",
    )
    parser.add_argument(
        "--trust-imported",
        action="store_true",
        help="count the answers imported so far, under the names that they carry",
    )
    parser.add_argument(
        "--take-set-aside",
        action="store_true",
        help="count the answers given so far in projects that were not as push made them",
    )
    parser.add_argument(
        "--full", action="store_true", help="read everything again, not just what changed"
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
