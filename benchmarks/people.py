"""Who is stopped, and when: simulated people of known kinds face the exam and hidden checks.

    python -m benchmarks.people [--people 200] [--campaigns 50] [--queries 60] [--workers 2]

The first tables are about groups of seven, of whom one is of the given kind
(tests/support/simulated_group.py describes how well honest people agree): who failed the exam or
was stopped by its answers, and who was stopped within a number of judgments after it. People who
drift or tire are honest in the exam, and change over 100 judgments: their judgments are counted
from the end of that. Then the same without an exam, and by pairs of known truth alone.

The last table is about whole campaigns, planned and decided by the real rules, in which one of six
is bad: the squared error of levels with and without exam and checks, at equal numbers of judgments.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
from support.simulated_group import AFTER, GOLD, honest_beside, stopped_after, stopped_by_gold

from annotation.quality.decision import interval
from annotation.simulation.kinds import KINDS, Kind
from benchmarks.script import parse_arguments, print_rows, run
from benchmarks.simulated_campaigns import BAD_KINDS, Outcome, compare

ALPHA = 0.05
T = TypeVar("T")


def with_interval(hits: int, number: int) -> str:
    """Return a share in percent with its 95 % interval."""
    low, high = interval(hits, number, ALPHA)
    return f"{hits / number:6.1%} ({low:.1%} to {high:.1%})"


def describe(names: Iterable[str], stopped: Sequence[Sequence[bool]]) -> dict[str, str]:
    """Return the share of people who are stopped, by column."""
    columns = zip(names, zip(*stopped, strict=True), strict=True)
    return {name: with_interval(int(sum(column)), len(column)) for name, column in columns}


def print_people(run: Callable[..., list[list[bool]]]) -> None:
    """Print who is stopped."""
    columns = ["exam", *(f"{number} judgments" for number in AFTER)]
    for exam, name in ((100, "an exam of 100"), (0, "Without an exam")):
        rows = ((kind, describe(columns, run(stopped_after, kind, exam=exam))) for kind in KINDS)
        print_rows(name, rows)
    beside: tuple[Kind, ...] = ("lazy", "contrary", "random")
    rows = ((bad, describe(["150 judgments"], run(honest_beside, bad))) for bad in beside)
    print_rows("no exam, honest beside", rows)
    pairs = [f"{number} pairs" for number in GOLD]
    kinds = (kind for kind in KINDS if kind != "copying")
    rows = ((kind, describe(pairs, run(stopped_by_gold, kind))) for kind in kinds)
    print_rows("by known truth alone", rows)


def compare_errors(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the squared errors of levels, and their difference with its 95 % interval."""
    without, checked, end = (
        np.array([outcome[column] for outcome in outcomes]).mean(axis=0) for column in (1, 2, 3)
    )
    off = np.array([outcome.checked.error - outcome.without.error for outcome in outcomes])
    half = 1.96 * off.std(ddof=1) / len(off) ** 0.5 if len(off) > 1 else np.nan
    return {
        "judgments": f"{without[0]:.0f} / {checked[0]:.0f}",
        "levels without / with": f"{without[1]:.0f} / {checked[1]:.0f}",
        "error without / with": f"{without[2]:.3f} / {checked[2]:.3f}",
        "difference": f"{off.mean():+.3f} ({off.mean() - half:+.3f} to {off.mean() + half:+.3f})",
        "with, at its end": f"{end[2]:.3f} ({end[0]:.0f} judgments)",
    }


def main() -> None:
    """Print the tables."""
    options = parse_arguments(__doc__, people=200, campaigns=50, queries=60, workers=2)
    with ProcessPoolExecutor(options.workers) as pool:

        def run(work: Callable[..., T], kind: Kind, **rest: int) -> list[T]:
            return list(pool.map(partial(work, kind, **rest), range(options.people)))

        if options.people:
            print_people(run)
        outcomes = list(pool.map(partial(compare, options.queries), range(options.campaigns)))
        by_kind = {kind: [one for one in outcomes if one.kind == kind] for kind in BAD_KINDS}
        rows = {f"one of six is {kind}": some for kind, some in by_kind.items()} | {"all": outcomes}
        title = f"{len(outcomes)} campaigns"
        print_rows(title, ((name, compare_errors(some)) for name, some in rows.items() if some))


if __name__ == "__main__":
    run(main)
