"""Choose the moments that people judge next, a batch at a time.

    python -m annotation.pool           the stage, which `dvc repro` runs
    python -m annotation.pool check     choose again what was learned, and print what differs
    python -m annotation.pool top-up RUN... --depth K [--hourly PAY] [--yes]
    python -m annotation.pool late      what became of the runs of top-ups
    python -m annotation.pool admit RUN [--queries N] [--hourly PAY] [--dry-run]
                                        have a sample of a system's run judged; repeated then, admit
                                        it as a channel of the pool, or refuse it

reads   datasets/work/{candidates,neighbours,captions,moments}.parquet, embeddings/, and
        failed_clips.csv if there is one; datasets/campaign/campaign.yaml,
        {queries,judgments,adjudications,voided,extend,audit,pairs}.csv; top-up and late also
        the consensus and datasets/work/runs/
writes  datasets/campaign/pool.csv

The first batch are the most similar moments. With `candidates.further: similarity`, the second are
the next ones, which the plan asks for by its rule. With `learned`, each further batch holds what is
expected to be most relevant by the levels that people have given, of the `candidates.depth` most
similar moments. It is chosen once, when no pair of its query waits, and stays once people were
shown the query: commit pool.csv.
People see neither what is expected nor, in the order of a batch, how much.

top-up adds those of the first K results of systems' runs that are not in the pool (topup.csv), and
records the runs' first results, for leave one out (pooled_runs.csv). They teach nothing. First it
says what that takes, and what could become of the order of all known runs, and asks. late says what
became of it (late_runs.csv).
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from annotation.pooling import late_runs, pooled_runs, topup
from annotation.pooling.admission import add_options, admit
from annotation.pooling.growth import begin, read_pool, update
from annotation.pooling.inside import read_inside
from annotation.pooling.pool_check import check, find_strangers
from annotation.pooling.pool_state import Answered, PoolError
from annotation.pooling.prospect import describe_cost
from annotation.pooling.standings import measure
from annotation.votes.votes import is_in
from momentrank import formats
from pipeline.campaign.campaign import FILE, load_campaign
from pipeline.campaign.effort import SECONDS, measure_seconds
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.phases import check_state
from pipeline.core import cli, tables
from pipeline.core.params import load


def top_up(options: argparse.Namespace) -> None:
    """Log what judging the runs takes and could change; append what they found once that is agreed.

    What people are asked comes last: a command that was killed can be repeated.

    Raises:
        CampaignError: nobody would be asked: a pilot is running, or the campaign is closed.
        UsageError: nobody is there to agree.
    """
    check_state("annotation.pool top-up")
    depth = max(options.depth, pooled_runs.RECORDED)
    asked = {"corpus": options.corpus, "depth": depth, "warn": cli.log}
    runs = {
        name: formats.read_run(path, **asked)
        for name, path in topup.runs_by_name(options.runs).items()
    }
    path, earlier, params = tables.TOPUP.path, tables.TOPUP.read(), load()
    pool = topup.read_pool(params)
    result = topup.top_up(runs, pool, read_inside(), depth=options.depth, min_iou=options.iou)
    cli.log(str(result.counts.to_string(index=False)))
    unseen = result.table[~is_in(result.table, tables.CONSENSUS.read(), PAIR_KEY)]
    pay = measure_seconds(params) or SECONDS, options.hourly
    waiting = late_runs.find_asked(pool.moments, result.table)
    for line in late_runs.describe_runs(result.runs, waiting, options.depth, *pay):
        cli.log(line)
    cli.log(f"all: {describe_cost(len(unseen), *pay)}")
    levels, split = late_runs.read_levels(pool.queries)
    block = late_runs.Block(len(levels), len(waiting), split, options.depth, [*runs])
    standings = measure(levels, waiting, late_runs.read_known(split, runs), options.depth)
    if standings is not None:
        cli.log(late_runs.describe_standings(standings, block))
    if len(unseen) and not options.yes and not cli.confirm("Have these pairs judged?"):
        cli.log("nothing is changed")
        return
    if standings is not None:
        late_runs.record(standings, block)
    pooled_runs.add(result.runs)
    if len(result.table):
        tables.TOPUP.write(pd.concat([earlier, result.table], ignore_index=True))
    cli.log(f"{len(result.table):,} pairs are new in {path}: {2 * len(unseen):,} judgments")


def tell_late() -> None:
    """Log what became of the runs of top-ups."""
    said = [*late_runs.describe_outcomes(topup.read_pool(load()))]
    cli.log("\n".join(said or [f"{tables.LATE_RUNS.path}: no top-up yet by any level"]))


def run_check() -> None:
    """Print what differs between the pool and what would be chosen.

    Raises:
        PoolError: something does.
    """
    params, campaign = load(), load_campaign()
    if campaign is None:
        raise PoolError(f"{FILE}: no campaign is open here, so no batch has been learned")
    answers = Answered.read(campaign)
    pool = read_pool(answers.ledger)
    found = [*find_strangers(pool, answers.ledger), *check(pool, answers, params)]
    batches = len(pool[pool["basis"].notna()].drop_duplicates(["query_id", "batch"]))
    texts = [finding.text for finding in found]
    cli.log("\n".join([f"pool: {len(pool):,} pairs, {batches:,} batches learned", *texts]))
    if wrong := sum(finding.wrong for finding in found):
        raise PoolError(f"{tables.POOL.path}: {wrong:,} differences")


def main(options: argparse.Namespace) -> None:
    """Run the stage, or the chosen command."""
    commands = {"check": run_check, "late": tell_late}
    commands |= {"admit": partial(admit, options), "top-up": partial(top_up, options)}
    commands.get(options.do, run)()


def run() -> None:
    """Begin the pool, or continue that of an open campaign.

    Raises:
        PoolError: it can't be continued as it is.
    """
    params, campaign = load(), load_campaign()
    if campaign is None:
        old, new = tables.POOL.empty(), begin(tables.CANDIDATES.read(), params.candidates.further)
    elif campaign.closed:
        return
    else:
        old = read_pool(tables.PAIRS.read())
        new = update(old, campaign, params)
    tables.POOL.write(new)
    cli.log(f"pool: {len(new):,} pairs; {len(new) - len(old):,} are new")


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line, or the given words."""
    parser = cli.parser("Reads params.yaml in the current folder.")
    commands = parser.add_subparsers(dest="do", metavar="VERB")
    commands.add_parser("check", help="choose what was learned again, and print what differs")
    add_options(
        commands.add_parser("admit", help="admit a system's run as a channel, or refuse it")
    )
    commands.add_parser("late", help="what became of the runs of top-ups")
    late = commands.add_parser("top-up", help="add results of systems' runs")
    late.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    late.add_argument("--depth", type=cli.parse_positive, required=True, help="results per query")
    late.add_argument("--iou", type=cli.parse_positive_share, default=topup.MIN_IOU,
                      help="minimum IoU of a result and the moment it stands for")  # fmt: skip
    late.add_argument("--hourly", type=cli.parse_positive_float,
                      help="hourly pay, in your currency")  # fmt: skip
    late.add_argument("--yes", action="store_true", help="go on without asking")
    late.add_argument("--corpus", type=Path, metavar="FILE",
                      help="video_corpus.json, for runs that name videos by index")  # fmt: skip
    return parser.parse_args(words)


if __name__ == "__main__":
    cli.run_command(partial(main, parse_arguments()))
