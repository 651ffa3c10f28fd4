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
from benchmarks.script import parse_arguments, run
from benchmarks.simulated_campaigns import BAD_KINDS, Outcome, compare

ALPHA = 0.05
T = TypeVar("T")


def with_interval(hits: int, number: int) -> str:
    """Return a share in percent with its 95 % interval."""
    low, high = interval(hits, number, ALPHA)
    return f"{hits / number:6.1%} ({low:.1%} to {high:.1%})"


def print_table(name: str, columns: Sequence[str], rows: Iterable[tuple[str, list[str]]]) -> None:
    """Print a table of texts."""
    print(f"\n{name}\n{'':24}" + "".join(f"{column:>26}" for column in columns))
    for kind, cells in rows:
        print(f"{kind:24}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


def shares(rows: Sequence[Sequence[bool]]) -> list[str]:
    """Return the share of true values in each column."""
    return [with_interval(int(sum(column)), len(column)) for column in zip(*rows, strict=True)]


def print_people(run: Callable[..., list[list[bool]]]) -> None:
    """Print who is stopped."""
    columns = ["exam", *(f"{number} judgments" for number in AFTER)]
    for exam in (100, 0):
        rows = ((kind, shares(run(stopped_after, kind, exam=exam))) for kind in KINDS)
        name = f"Stopped by an exam of {exam} pairs and checks" if exam else "Without an exam"
        print_table(name, columns, rows)
    beside = [(f"honest beside {bad}", bad) for bad in ("lazy", "contrary", "random")]
    cells = ((name, shares(run(honest_beside, bad))) for name, bad in beside)
    print_table("Without an exam, a bad colleague", ["150 judgments"], cells)
    gold = ((kind, shares(run(stopped_by_gold, kind))) for kind in KINDS if kind != "copying")
    print_table("By pairs of known truth alone", [f"{number} pairs" for number in GOLD], gold)


def print_campaigns(outcomes: Sequence[Outcome]) -> None:
    """Print the squared errors of levels, and their difference with its 95 % interval."""
    rows = [
        (f"one {kind}", [outcome for outcome in outcomes if outcome.kind == kind])
        for kind in BAD_KINDS
    ]
    columns = ["judgments", "levels without / with", "error without / with", "difference"]
    print_table(
        f"{len(outcomes)} campaigns, one of six is bad",
        [*columns, "with, at its end"],
        ((name, _compared(some)) for name, some in [*rows, ("all", outcomes)] if some),
    )


def _compared(outcomes: Sequence[Outcome]) -> list[str]:
    without, checked, end = (
        np.array([outcome[column] for outcome in outcomes]).mean(axis=0) for column in (1, 2, 3)
    )
    off = np.array([outcome.checked.error - outcome.without.error for outcome in outcomes])
    half = 1.96 * off.std(ddof=1) / len(off) ** 0.5 if len(off) > 1 else np.nan
    return [
        f"{without[0]:.0f} / {checked[0]:.0f}",
        f"{without[1]:.0f} / {checked[1]:.0f}",
        f"{without[2]:.3f} / {checked[2]:.3f}",
        f"{off.mean():+.3f} ({off.mean() - half:+.3f} to {off.mean() + half:+.3f})",
        f"{end[2]:.3f} ({end[0]:.0f} judgments)",
    ]


def main() -> None:
    """Print the tables."""
    options = parse_arguments(__doc__, people=200, campaigns=50, queries=60, workers=2)
    with ProcessPoolExecutor(options.workers) as pool:

        def run(work: Callable[..., T], kind: Kind, **rest: int) -> list[T]:
            return list(pool.map(partial(work, kind, **rest), range(options.people)))

        if options.people:
            print_people(run)
        if options.campaigns:
            print_campaigns(
                list(pool.map(partial(compare, options.queries), range(options.campaigns)))
            )


if __name__ == "__main__":
    run(main)
