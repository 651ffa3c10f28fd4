"""Audit the judged pool: how many relevant moments did it miss? Paper, Appendix B.3.

    python -m annotation.audit plan --queries N [--seed S] [--machine] [--hourly PAY] [--dry-run]
    python -m annotation.audit report [--json] [--out DIR]
    python -m annotation.audit published RAW JUDGED... [--json]

plan    draws N queries, and for each whose batches have ended 60 moments outside the pool among the
        candidates.depth most similar ones, and 60 deeper ones (datasets/campaign/audit.csv,
        audit_strata.csv and audit.json); with --machine, more of those that the machine gives a
        high level. First it prints what this takes and how much it tells; --dry-run does no more.
        Repeated, it draws for the queries that have ended since
report  prints relevance by similarity and rank, and estimates, with a 95 % interval, how many
        relevant moments are outside the pool
published  checks any published collection: raw_annotation.csv against val.json and test.json

`dvc repro` then hands out the pairs.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from annotation.assignment.inputs import Rule
from annotation.pooling import draw, machine_strata, published, topup
from annotation.pooling.judged_audit import read_report
from annotation.pooling.report import as_json
from annotation.pooling.scope import Scope, describe_audit, read_scope
from annotation.votes import raw
from annotation.votes.figures import print_figures
from annotation.votes.votes import is_in
from pipeline.campaign import design
from pipeline.campaign.design import AuditError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.phases import check_state
from pipeline.core import cli, csv_files, tables
from pipeline.core.params import load

SEED = 2024


def main(options: argparse.Namespace) -> None:
    """Run the chosen command."""
    {"plan": plan, "report": print_report, "published": examine_published}[options.do](options)


def plan(options: argparse.Namespace) -> None:
    """Draw the audit of the queries whose batches have ended; first log its cost and its width.

    Raises:
        AuditError: another audit already exists, without `--replace`.
        CampaignError: nobody would be asked: no campaign is open, or a pilot is running.
    """
    check_state("annotation.audit plan")
    params = load()
    old = None if options.replace else _read_drawn(options, params.candidates.depth)
    audit = tables.AUDIT.read()
    audit = audit.assign(origin=design.REPLACED) if old is None else audit
    drawn = design.list_drawn(old) if old else set()
    scope = read_scope(params, audit)
    sizes = draw.Sizes(options.seed, options.queries)
    chosen = draw.choose(scope.queries, sizes)
    for line in describe_audit(scope, params, options.queries, options.hourly):
        cli.log(line)
    new = sorted(scope.ended & set(chosen) - drawn)
    if new and not options.dry_run:
        result = _draw(new, scope, sizes, options)
        known = {**sizes._asdict(), "queries": len(scope.queries), "drawn": len(chosen)}
        depth = params.candidates.depth
        made = design.Design(**known, pool=result.pool, depth=depth, machine=result.machine)
        whole = [*(old.whole if old else []), *result.whole]
        _write(result, (old or made).model_copy(update={"whole": whole}), again=old is not None)
    left = len(chosen) - len(drawn | set(new))
    later = f"; {left:,} are still being judged: repeat the command later, without --replace"
    when = "with this" if options.dry_run else "now"
    cli.log(f"{len(new):,} queries are drawn {when}{later if left else ''}")


def _read_drawn(options: argparse.Namespace, depth: int) -> design.Design | None:
    """Return the design of the audit that is to be continued; None if there is none yet."""
    if not design.PATH.exists() and tables.AUDIT.read().empty:
        return None
    old = design.read()
    asked = min(options.queries, old.queries), options.seed, options.machine
    if (old.drawn, old.seed, bool(old.machine)) != asked:
        raise AuditError(
            f"{tables.AUDIT.path}: an audit already exists; continue it with {old.options}, or draw"
            " another with --replace (its judgments are kept)"
        )
    if old.depth != depth:
        raise AuditError(
            f"params.yaml: candidates.depth: {design.PATH} was drawn with {old.depth}; set it back,"
            " or draw another audit with --replace"
        )
    return old


def _draw(
    queries: Sequence[str], scope: Scope, sizes: draw.Sizes, options: argparse.Namespace
) -> draw.AuditDraw:
    """Draw moments for `queries`."""
    pool = topup.read_pool(load())
    own = pool.queries[pool.queries["query_id"].isin(queries)].sort_values("query_id")
    frame = draw.Frame(pool.moments, pool.embedded, scope.neighbours, scope.inside)
    return draw.draw(own, frame, sizes, _read_machine(own) if options.machine else None)


def _write(drawn: draw.AuditDraw, plan: design.Design, *, again: bool) -> None:
    """Write what was drawn, after what is there if `again`.

    Of an audit that is replaced, the pairs that people were shown stay: nothing else asked for
    them, so they must not begin a second batch or pass for candidates.
    """
    pairs, strata = tables.AUDIT.read(), tables.AUDIT_STRATA.empty()
    if again:
        strata = tables.AUDIT_STRATA.read()
    else:
        pairs = pairs[is_in(pairs, tables.PAIRS.read(), PAIR_KEY)].assign(origin=design.REPLACED)
    tables.AUDIT.write(pd.concat([pairs, drawn.table], ignore_index=True))
    tables.AUDIT_STRATA.write(pd.concat([strata, drawn.strata], ignore_index=True))
    design.write(plan)
    paths = (tables.AUDIT.path, tables.AUDIT_STRATA.path, design.PATH)
    cli.log(
        f"{len(drawn.table):,} pairs are new in {paths[0]}; commit"
        f" {' and '.join(map(str, paths))}; `dvc repro` hands out the pairs"
    )


def _read_machine(queries: pd.DataFrame) -> draw.Machine:
    judgments = tables.MACHINE_JUDGMENTS.read()
    strata = machine_strata.assign_levels(judgments, queries, tables.CLIPS.read())
    return draw.Machine(", ".join(sorted(judgments["model"].unique())), strata)


def print_report(options: argparse.Namespace) -> None:
    """Print the report, and write its tables if requested."""
    result, drawn = read_report()
    if options.out:
        for name in ("by_similarity", "by_rank", "missed", "rates"):
            csv_files.write_csv(options.out / f"audit_{name}.csv", getattr(result, name))
    print_figures(as_json(result, drawn), as_json=options.json)


def examine_published(options: argparse.Namespace) -> None:
    """Print what the files of a published collection show; no project is needed."""
    judged = published.read_judged(options.judged)
    metrics = published.examine(raw.read(options.raw), judged, Rule())
    print_figures(metrics, as_json=options.json)


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line, or the given words."""
    parser = cli.parser("Reads params.yaml and datasets/ in the current folder.")
    verbs = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    planner = verbs.add_parser("plan", help="draw an audit")
    planner.add_argument(
        "--queries",
        type=cli.parse_positive,
        required=True,
        help="how many to draw (all, if there are fewer)",
    )
    planner.add_argument("--seed", type=cli.parse_non_negative, default=SEED,
                     help=f"seed of the draw ({SEED})")  # fmt: skip
    planner.add_argument("--machine", action="store_true",
                     help="draw more where the machine gives a high level")  # fmt: skip
    planner.add_argument("--hourly", type=cli.parse_positive_float,
                     help="hourly pay, in your currency")  # fmt: skip
    planner.add_argument("--dry-run", action="store_true", help="print the cost, draw nothing")
    planner.add_argument("--replace", action="store_true", help="discard the existing audit")
    two = verbs.add_parser("report", help="print the results")
    two.add_argument("--json", action="store_true", help="print JSON")
    two.add_argument("--out", type=Path, metavar="DIR", help="write audit_*.csv there")
    three = verbs.add_parser("published", help="check a published collection")
    three.add_argument("raw", type=Path, metavar="RAW", help="raw_annotation.csv: all votes")
    three.add_argument("judged", nargs="+", type=Path, metavar="JUDGED",
                      help="judged moments: val.json, test.json")  # fmt: skip
    three.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args(words)


if __name__ == "__main__":
    cli.run_command(partial(main, parse_arguments()))
