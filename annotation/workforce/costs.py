"""What judging takes, from the settings alone: pairs, judgments, hours, pay."""

from collections.abc import Iterator

from annotation.votes.votes import FIRST_VOTES
from pipeline.campaign.effort import HOUR
from pipeline.campaign.pairs import ALL_VOTES
from pipeline.core.params import Params
from pipeline.core.strata import count_planned

EXTENDED = 0.47
"""TVR-Ranking's share of further batches judged: second ones, by similarity."""
LEAST, MOST = (0.0, 0.0), (1.0, 1.0)


def estimate(params: Params, extended: float, escalated: float) -> tuple[int, int]:
    """Return the number of pairs for the queries of `split`, and of their judgments.

    `extended` is the share of the pairs beyond the first batches, up to `candidates.top`, that are
    judged, `escalated` the share of pairs that four people judge.
    """
    queries = count_planned(params)
    first = min(params.candidates.batch, params.candidates.top)
    pairs = queries * first + round(extended * queries * (params.candidates.top - first))
    more = round(escalated * pairs) * (ALL_VOTES - FIRST_VOTES)
    return pairs, FIRST_VOTES * pairs + more


def text(
    params: Params,
    seconds: float,
    usual: tuple[float, float],
    hourly: float | None,
    name: str = "usual",
) -> str:
    """Return the three rows as a page of text; `name` is that of the second."""
    queries = count_planned(params)
    head = f"{'':7}{'pairs':>10}{'judgments':>12}{'hours':>9}"
    lines = [
        f"{queries:,} queries, {params.candidates.top} candidates each, {seconds:g} s a judgment",
        head if hourly is None else f"{head}{'pay':>12}",
    ]
    for row, shares in (("least", LEAST), (name, usual), ("most", MOST)):
        pairs, judgments = estimate(params, *shares)
        hours = judgments * seconds / HOUR
        pay = "" if hourly is None else f"{hours * hourly:>12,.0f}"
        lines.append(f"{row:7}{pairs:>10,}{judgments:>12,}{hours:>9,.0f}{pay}")
    return "\n".join([*lines, *_describe_extra(params)])


def _describe_extra(params: Params) -> Iterator[str]:
    """Yield what comes on top of the votes, if anything."""
    plan, exam = params.plan, params.exam
    checks = plan.gold + plan.repeats
    parts = [f"{100 * checks / (1 - checks):.1f} % more for hidden checks"] if checks else []
    parts += [f"{exam.queries * exam.top} for each person's exam"] if exam.required else []
    links = 100 * FIRST_VOTES * plan.link
    parts += [f"{links:g} for 100 pairs as links once it is reopened"] if links else []
    if parts:
        yield f"in addition, judgments that are not votes: {', '.join(parts)}"
