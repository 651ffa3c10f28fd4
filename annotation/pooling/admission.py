"""Admit a system's run as a channel of the pool: keep it, have a sample judged, then decide."""

import argparse
from pathlib import Path

import pandas as pd

from annotation.pooling import channels, pooled_runs
from annotation.pooling.channels import LEAST_QUERIES, QUERIES, SIZE
from annotation.pooling.copied import refuse_copied, refuse_outs
from annotation.pooling.inside import read_inside
from annotation.pooling.kept_channels import ChannelError, locate
from annotation.pooling.prospect import describe_cost
from annotation.pooling.ranked import rank_pool
from annotation.pooling.topup import MIN_IOU, Pool, match_results, name_run, read_pool
from annotation.votes.votes import is_in
from momentrank import formats
from pipeline.campaign.effort import SECONDS, measure_seconds
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.phases import require_campaign
from pipeline.campaign.pool_steps import CAPTIONS
from pipeline.core import cli, files, tables
from pipeline.core.params import load

COMMAND = "annotation.pool admit"


def admit(options: argparse.Namespace) -> None:
    """Have a sample of a run judged; repeated once it is, admit the run or refuse it.

    Raises:
        ChannelError: too few of its results are moments of the pool, or its name is another's.
        CopiedError: it is made of a machine's levels.
        CampaignError: nobody would be asked.
    """
    campaign = require_campaign(COMMAND)
    name = name_run(Path(options.name or options.run))
    refuse_outs(options.run)
    known = tables.CHANNELS.read_or_empty()
    if name not in set(known["channel"]):
        _propose(name, options, campaign.id)
    else:
        _refuse_another(known, name, options.run)
        _decide(known, name)


def _propose(name: str, options: argparse.Namespace, campaign: str) -> None:
    """Keep the run, draw its sample, and ask people; before, say what that takes.

    What people are asked comes last: a command that was killed can be repeated.
    """
    params = load()
    pool, depth = read_pool(params), params.candidates.depth
    run = formats.read_run(options.run, corpus=options.corpus, depth=depth, warn=cli.log)
    run = run[run["query_id"].isin(pool.queries["query_id"])].reset_index(drop=True)
    channel = channels.match_channel(run, pool.queries, pool.moments, pool.embedded)
    matched = len(channel) / max(len(run), 1)
    cli.log(f"{name}: {len(run):,} results; {1 - matched:.0%} match no moment, or one twice")
    refuse_copied(options.run, channel)
    inside = read_inside()
    drawn = channels.draw_queries(channel, inside, campaign, options.queries)
    if len(drawn) < LEAST_QUERIES:
        raise ChannelError(
            f"{options.run}: it brings {SIZE} new moments to {len(drawn)} queries; a sample needs"
            f" {LEAST_QUERIES}"
        )
    asked = pool.queries[pool.queries["query_id"].isin(drawn)]
    rankings = rank_pool(asked, pool.moments, pool.embedded)
    sample = channels.draw_sample(channel, rankings, inside).assign(channel=name)
    new = int((~is_in(sample, tables.PAIRS.read(), PAIR_KEY) & ~sample.duplicated(PAIR_KEY)).sum())
    cost = describe_cost(new, measure_seconds(params) or SECONDS, options.hourly)
    cli.log(f"a sample of {len(drawn):,} queries, {cost}")
    if options.dry_run:
        return
    locate(name).parent.mkdir(parents=True, exist_ok=True)
    tables.CHANNEL.write(channel, locate(name))
    samples = tables.CHANNEL_SAMPLE.read_or_empty()
    kept = samples[samples["channel"] != name]
    both = pd.concat([kept, sample[tables.CHANNEL_SAMPLE.columns]], ignore_index=True)
    tables.CHANNEL_SAMPLE.write(both)
    _record(name, run, pool)
    sha256 = files.file_sha256(locate(name))
    row = dict.fromkeys(tables.CHANNELS.columns) | {"channel": name, "sha256": sha256}
    row |= {"run_sha256": files.file_sha256(options.run)}
    row |= {"results": len(run), "matched": round(matched, 6), "decision": "asked"}
    known = [*tables.CHANNELS.read_or_empty().to_dict("records"), row]
    tables.CHANNELS.write(pd.DataFrame(known, columns=tables.CHANNELS.columns))
    _ask(sample)
    cli.log(f"commit {tables.CAMPAIGN}; `dvc repro` hands out the pairs; then repeat the command")


def _record(name: str, run: pd.DataFrame, pool: Pool) -> None:
    """Record the run's first results, for leave one out."""
    named = run.assign(origin=name)
    first = named[named["rank"] <= pooled_runs.RECORDED].reset_index(drop=True)
    place = match_results(first, pool.moments, MIN_IOU)
    first = first.assign(known_query=True, place=place)
    pooled_runs.add(pooled_runs.record(named, first, pool.moments))


def _ask(sample: pd.DataFrame) -> None:
    """Ask people about a sample's pairs, as about a top-up's; nothing is asked twice."""
    earlier = tables.TOPUP.read()
    origin = sample["channel"].where(sample["by"] == "channel", CAPTIONS)
    rows = sample.assign(origin=origin).sort_values("by").drop_duplicates(PAIR_KEY)
    new = rows[~is_in(rows, earlier, PAIR_KEY)].sort_values(["query_id", "rank"])
    if len(new):
        both = pd.concat([earlier, new[tables.TOPUP.columns]], ignore_index=True)
        tables.TOPUP.write(both)


def _refuse_another(known: pd.DataFrame, name: str, run: Path) -> None:
    asked = known.loc[known["channel"] == name, "run_sha256"].item()
    if not run.is_file() or files.file_sha256(run) != asked:
        raise ChannelError(
            f"{run}: is not the run that people were asked about as {name!r}: give that one, or a"
            " --name"
        )


def _decide(known: pd.DataFrame, name: str) -> None:
    """Say how far a channel's sample is judged; once it is, decide, and say by what yields."""
    row = known[known["channel"] == name]
    if row["decision"].item() == "asked":
        judged = _read_judged(name)
        if left := int((judged["outcome"].fillna("waiting") == "waiting").sum()):
            cli.log(f"{name}: {left:,} pairs of its sample wait for people: dvc repro")
            return
        verdict = channels.compare_yields(judged)
        decision = "admitted" if verdict.admitted else "refused"
        row = row.assign(decision=decision, **verdict._asdict()).round({"low": 6, "high": 6})
        rows = pd.concat([known[known["channel"] != name].astype(object), row.astype(object)])
        tables.CHANNELS.write(rows)
    decided = row.iloc[0]
    cli.log(
        f"{name}: {decided['decision']}. Of level 2 or higher are {decided['found']} of its"
        f" {decided['pairs']} moments, and {decided['captions']} of as many that captions would"
        f" bring next; the difference is {100 * decided['low']:+.0f} to"
        f" {100 * decided['high']:+.0f} per 100 (95 %)"
    )


def _read_judged(name: str) -> pd.DataFrame:
    """Return a channel's sample with `level` and `outcome`; first make sure that it is asked for.

    What can't be shown, for want of a clip, is unjudgeable.
    """
    samples = tables.CHANNEL_SAMPLE.read_or_empty()
    sample = samples[samples["channel"] == name]
    _ask(sample)
    levels = tables.CONSENSUS.read()[[*PAIR_KEY, "level", "outcome"]]
    judged = sample.merge(levels, on=PAIR_KEY, how="left")
    failed = judged["moment_id"].isin(tables.FAILED_CLIPS.read()["moment_id"])
    absent = failed & judged["outcome"].isna()
    return judged.assign(outcome=judged["outcome"].mask(absent, "unjudgeable"))


def add_options(command: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    command.add_argument("run", type=Path, metavar="RUN", help="any run that the scorer reads")
    command.add_argument("--name", help="of the channel (default: the file's)")
    command.add_argument("--queries", type=cli.parse_positive, default=QUERIES,
                         help=f"of the sample ({QUERIES})")  # fmt: skip
    command.add_argument("--hourly", type=cli.parse_positive_float,
                         help="hourly pay, in your currency")  # fmt: skip
    command.add_argument("--dry-run", action="store_true", help="print the cost, ask nobody")
    command.add_argument("--corpus", type=Path, metavar="FILE",
                         help="video_corpus.json, for runs that name videos by index")  # fmt: skip
