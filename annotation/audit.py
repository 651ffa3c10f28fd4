"""Audit the candidates: are moments beyond the judged ranks relevant? Paper, Appendix B.3.

    python -m annotation.audit plan --queries N [--seed S] [--machine]
    python -m annotation.audit report [--json] [--out DIR]
    python -m annotation.audit top-up RUN... --depth K
    python -m annotation.audit published RAW JUDGED... [--json]

plan    draws N queries, and for each the 60 most similar moments and 60 random others, for people
        to judge in addition to the candidates (datasets/campaign/audit.csv and audit.json); with
        --machine, more of those that the machine gives a high level (audit_strata.csv)
report  prints relevance by similarity and rank, and estimates, with a 95 % interval, how many
        relevant moments there are beyond the ranks of batches 1 and 2
top-up  adds those of the first K results of systems' runs that nobody has judged (topup.csv), and
        records the runs' first results, for leave one out (pooled_runs.csv)
published  checks any published collection: raw_annotation.csv against val.json and test.json

`dvc repro` then hands out the pairs.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from annotation.assignment.inputs import Rule
from annotation.pooling import design, draw, machine_strata, pooled_runs, published, topup
from annotation.pooling.design import AuditError
from annotation.pooling.judged_audit import read_report
from annotation.pooling.report import as_json, as_text
from annotation.votes import raw
from momentrank import formats
from momentrank.errors import UsageError
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.phases import check_state
from pipeline.core import captions, cli, csv_files, tables
from pipeline.core.params import Params, load
from pipeline.retrieval.embeddings import Embeddings

RESERVED = ("candidates", "captions", "audit", "top", "random", "first batch", "second batch")
SEED = 2024


def main(options: argparse.Namespace) -> None:
    """Run the chosen command."""
    {"plan": plan, "report": print_report, "top-up": top_up, "published": examine_published}[
        options.do
    ](options)


def plan(options: argparse.Namespace) -> None:
    """Draw the audit, and log its cost.

    Raises:
        AuditError: an audit already exists, without `--replace`.
        CampaignError: nobody would be asked: a pilot is running, or the campaign is closed.
    """
    check_state("annotation.audit plan")
    path, replace = tables.AUDIT.path, options.replace
    if not replace and (design.PATH.exists() or (path.exists() and len(tables.AUDIT.read()))):
        raise AuditError(
            f"{path}: an audit already exists; continue it, or draw another with"
            " --replace (its judgments are kept)"
        )
    pool, sizes = _pool(load()), draw.Sizes(options.seed, options.queries)
    drawn = draw.draw(*pool, sizes, _read_machine(pool.queries) if options.machine else None)
    cost = draw.cost(drawn.table, tables.CANDIDATES.read())
    tables.AUDIT.write(drawn.table)
    design.write(drawn.design)
    files = [tables.AUDIT.path, design.PATH]
    if options.machine or tables.AUDIT_STRATA.path.exists():
        tables.AUDIT_STRATA.write(drawn.strata)
        files.append(tables.AUDIT_STRATA.path)
    cli.log(
        f"{drawn.design.drawn} of {drawn.design.queries} queries, {cost['pairs']:,} pairs;"
        f" {cost['in_batch_1']:,} of them are judged anyway (batch 1), and"
        f" {cost['in_batch_2']:,} if their query is extended (batch 2).\n"
        f"This costs {cost['votes_at_least']:,} to {cost['votes_at_most']:,} further judgments,"
        " and two more for each pair on which two people disagree.\n"
        f"Commit {' and '.join(map(str, files))}; `dvc repro` hands out the pairs."
    )


def _read_machine(queries: pd.DataFrame) -> draw.Machine:
    judgments = tables.MACHINE_JUDGMENTS.read()
    strata = machine_strata.assign_levels(judgments, queries, tables.CLIPS.read())
    return draw.Machine(", ".join(sorted(judgments["model"].unique())), strata)


def _pool(params: Params) -> topup.Pool:
    queries, campaign = tables.QUERIES.read(), load_campaign()
    queries = queries if campaign is None else campaign.select_kept(queries)
    modalities = params.ingest.pool_modalities
    moments = captions.join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities)
    judged = queries.loc[queries["split"] != "train", ["query_id", "query"]]
    return topup.Pool(judged.reset_index(drop=True), moments, Embeddings.open())


def print_report(options: argparse.Namespace) -> None:
    """Print the report, and write its tables if requested."""
    result, drawn = read_report(load().candidates)
    if options.out:
        for name in ("by_similarity", "by_rank", "beyond"):
            csv_files.write_csv(options.out / f"audit_{name}.csv", getattr(result, name))
    text = json.dumps(as_json(result, drawn), indent=2) if options.json else as_text(result, drawn)
    sys.stdout.write(f"{text}\n")


def top_up(options: argparse.Namespace) -> None:
    """Append what the runs found, and log for each run what became of its results.

    Raises:
        CampaignError: nobody would be asked: a pilot is running, or the campaign is closed.
    """
    check_state("annotation.audit top-up")
    depth = max(options.depth, pooled_runs.RECORDED)
    asked = {"corpus": options.corpus, "depth": depth, "warn": cli.log}
    runs = {
        name: formats.read_run(path, **asked) for name, path in runs_by_name(options.runs).items()
    }
    path = tables.TOPUP.path
    earlier = tables.TOPUP.read() if path.exists() else tables.TOPUP.empty()
    audit = tables.AUDIT.read() if tables.AUDIT.path.exists() else tables.AUDIT.empty()
    judged = tables.CONSENSUS.read()
    judged_pairs = topup.judged_or_wanted(tables.CANDIDATES.read(), audit, earlier, judged)
    result = topup.top_up(
        runs, _pool(load()), judged_pairs, depth=options.depth, min_iou=options.iou
    )
    if len(result.table):
        tables.TOPUP.write(pd.concat([earlier, result.table], ignore_index=True))
    pooled_runs.add(result.runs)
    cli.log(str(result.counts.to_string(index=False)))
    cli.log(f"{len(result.table):,} pairs are new in {path}: {2 * len(result.table):,} judgments")


def examine_published(options: argparse.Namespace) -> None:
    """Print what the files of a published collection show; no project is needed."""
    judged = published.read_judged(options.judged)
    metrics = published.examine(raw.read(options.raw), judged, Rule())
    shown = f"{json.dumps(metrics, indent=2)}\n" if options.json else published.text(metrics)
    sys.stdout.write(shown)


def runs_by_name(paths: Sequence[Path]) -> dict[str, Path]:
    """Return runs by name: the file name, up to its first dot.

    Raises:
        UsageError: two runs have the same name, or a name is reserved.
    """
    runs: dict[str, Path] = {}
    for path in paths:
        name = path.name.partition(".")[0]
        if not name or name in RESERVED:
            raise UsageError(f"{path}: {name!r} is not a valid name for a run: rename the file")
        if name in runs:
            raise UsageError(f"{path}: {runs[name]} is also called {name!r}: rename one of them")
        runs[name] = path
    return runs


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line, or the given words."""
    parser = cli.parser("Reads params.yaml and datasets/ in the current folder.")
    verbs = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    planner = verbs.add_parser("plan", help="draw an audit")
    planner.add_argument(
        "--queries", type=cli.parse_positive, required=True, help="how many to draw"
    )
    planner.add_argument("--seed", type=cli.parse_non_negative, default=SEED,
                     help=f"seed of the draw ({SEED})")  # fmt: skip
    planner.add_argument("--machine", action="store_true",
                     help="draw more where the machine gives a high level")  # fmt: skip
    planner.add_argument("--replace", action="store_true", help="discard the existing audit")
    two = verbs.add_parser("report", help="print the results")
    two.add_argument("--json", action="store_true", help="print JSON")
    two.add_argument("--out", type=Path, metavar="DIR", help="write audit_*.csv there")
    three = verbs.add_parser("top-up", help="add results of systems' runs")
    three.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    three.add_argument("--depth", type=cli.parse_positive, required=True, help="results per query")
    three.add_argument("--iou", type=cli.parse_positive_share, default=topup.MIN_IOU,
                       help="minimum IoU of a result and the moment it stands for")  # fmt: skip
    three.add_argument("--corpus", type=Path, metavar="FILE",
                       help="video_corpus.json, for runs that name videos by index")  # fmt: skip
    four = verbs.add_parser("published", help="check a published collection")
    four.add_argument("raw", type=Path, metavar="RAW", help="raw_annotation.csv: all votes")
    four.add_argument("judged", nargs="+", type=Path, metavar="JUDGED",
                      help="judged moments: val.json, test.json")  # fmt: skip
    four.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(words)


if __name__ == "__main__":
    cli.run_command(partial(main, parse_arguments()))
