"""Show what a pilot says: agreement, hours and pay of the whole campaign, where people differ.

    python -m annotation.pilot [--queries 500] [--params params.paper.yaml] [--hourly 12]

reads   what the last `dvc repro` wrote: judgments, consensus, campaign_state.json, metrics
writes  nothing

It prints the agreement of the first two votes, the median time of a judgment, and what a campaign
of `--queries` would take with this time and this pilot's shares of disputed pairs and of further
batches. Then it lists the levels that people confuse. The pairs on which they are furthest apart
are on the lead's page, with every answer and the clips. Run it before `campaign open --end-pilot`,
which sets a pilot's judgments apart.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from annotation.label_studio import guideline
from annotation.votes.votes import FIRST_VOTES
from annotation.workforce import costs
from pipeline.campaign.campaign import FILE, CampaignError, load_campaign
from pipeline.campaign.effort import HOUR, SECONDS, active_seconds
from pipeline.campaign.next_step import LEAD_PAGE
from pipeline.campaign.pool_steps import LEARNED, SECOND, name_steps
from pipeline.core import cli
from pipeline.core.params import PARAMS, Params, load
from pipeline.pages.lead import APART, list_disputed
from pipeline.pages.report_inputs import Sources, read_sources

HOWTO, FORM = "docs/guideline-howto.md", ".github/ISSUE_TEMPLATE/pilot.md"


class Shares(NamedTuple):
    """The shares of pairs beyond the first batches, and of pairs that four people judge."""

    extended: float
    escalated: float


def measure_shares(sources: Sources) -> Shares:
    """Return the shares of what has been given out so far.

    Pairs beyond the first batches are shares of all that there can be, up to `candidates.top`.
    """
    state, compared = sources.state, sources.consensus["scores"].map(len) >= FIRST_VOTES
    steps = name_steps(sources.collection.pairs, sources.batch)
    most = state["queries"]["all"] * (sources.deepest - sources.batch)
    return Shares(
        int(steps.isin((SECOND, LEARNED)).sum()) / max(most, 1),
        state["pairs"]["escalated"] / max(int(compared.sum()), 1),
    )


def describe_agreement(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the agreement of the first two votes, free of the choice of what gets four."""
    first = metrics["groups"]["first_two"]
    if first is None or first["within_1"] is None:
        yield "agreement: no pair has two levels yet"
        return
    yield (
        f"agreement of the first two votes on {first['pairs']:,} pairs: {first['exact']:.0%} the"
        f" same level, {first['within_1']:.0%} within 1"
    )
    alpha = first["alpha"]["ordinal"]
    if None not in alpha.values():
        yield (
            "  Krippendorff's ordinal alpha {alpha:.2f} ({low:.2f} to {high:.2f});"
            " docs/agreement.md says how to read it".format_map(alpha)
        )


def describe_confused(rows: Sequence[Mapping[str, int]], names: Mapping[int, str]) -> Iterator[str]:
    """Yield the levels that were given to the same pairs, though they are far apart.

    `rows` have `min, max, pairs` (`statistics.min_max`), `names` are the levels' names.
    """
    apart = [row for row in rows if row["pairs"] and row["max"] - row["min"] >= APART]
    for row in sorted(apart, key=lambda row: (-row["pairs"], row["min"], row["max"])):
        low, high = (f"{row[end]} ({names[row[end]]})" for end in ("min", "max"))
        yield f"  {row['pairs']:>5,}  {low} and {high}"


def text(sources: Sources, params: Params, names: Mapping[int, str], hourly: float | None) -> str:
    """Return what a pilot says, as a page; `params` are those of the whole campaign."""
    timed = active_seconds(sources.valid["seconds"].dropna(), sources.pause)
    seconds = round(float(timed.median()), 1) if len(timed) else SECONDS
    shares, metrics = measure_shares(sources), sources.metrics["agreement"]
    waiting = int((sources.consensus["outcome"] == "waiting").sum())
    reasons = Counter(sources.votes["reason"].dropna())
    what = [f"{number:,} {reason}" for reason, number in reasons.most_common()]
    made = (
        f"{len(sources.valid):,} judgments by {sources.valid['annotator'].nunique()} people on"
        f" {len(sources.consensus):,} pairs of {sources.consensus['query_id'].nunique():,} queries;"
        f" {waiting:,} pairs wait"
    )
    took = (
        f"time: {seconds:g} s a judgment (median; TVR-Ranking: {SECONDS:g}),"
        f" {timed.sum() / HOUR:.1f} hours in all"
    )
    alike = (
        f"the whole, if it goes on like this ({shares.extended:.0%} of further batches judged,"
        f" {shares.escalated:.0%} of pairs judged by four):"
    )
    sections = {
        "pairs by levels that lie far apart": describe_confused(metrics["min_max"], names),
        "votes without a level": iter([f"  {', '.join(what)}"] if what else []),
    }
    blocks = [[title, *(list(lines) or ["  none"])] for title, lines in sections.items()]
    head = [made, *describe_agreement(metrics), took]
    whole = [alike, costs.text(params, seconds, shares, hourly, "as here")]
    return "\n\n".join("\n".join(block) for block in [head, whole, *blocks]) + "\n"


def main(options: argparse.Namespace) -> None:
    """Print what the pilot in the current folder says.

    Raises:
        CampaignError: no campaign is open here, or nobody has judged in it.
    """
    here, whole = load(), load(options.params)
    if load_campaign() is None:
        raise CampaignError(f"{FILE}: no campaign is open here; docs/pilot.md begins before that")
    sources = read_sources(here)
    if sources.valid.empty:
        raise CampaignError(f"{FILE}: nobody has judged yet; when people have, run dvc repro first")
    if options.queries:
        split = whole.split.model_copy(update={"val": 0, "test": options.queries})
        whole = whole.model_copy(update={"split": split})
    guide = guideline.current(here.annotation)
    names = {int(number): level.name for number, level in guide.levels.items()}
    sys.stdout.write(text(sources, whole, names, options.hourly))
    sys.stdout.write(
        f"\nnext: watch the {len(list_disputed(sources)):,} pairs furthest apart ({LEAD_PAGE}); for"
        " each, find the sentence that would have settled it, and write it into"
        f" {guide.path} ({HOWTO})\nwhat went wrong on the way: {FORM}\n"
    )


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that was opened there.")
    parser.add_argument(
        "--queries", type=cli.parse_positive, help="of the whole campaign (default: split's)"
    )
    parser.add_argument("--params", type=Path, default=PARAMS, help="its settings (params.yaml)")
    parser.add_argument(
        "--hourly", type=cli.parse_positive_float, help="hourly pay, in your currency"
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
