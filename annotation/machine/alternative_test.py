"""Can the machine replace an annotator? The alternative annotator test answers yes or no.

Calderon, Reichart and Dror, *The Alternative Annotator Test for LLM-as-a-Judge* (ACL 2025). Each
annotator is left out in turn. On each of their pairs the machine wins if its level is at least as
close to the others' votes as the annotator's (root mean squared difference), and vice versa, so
both can win. The machine is the better alternative to an annotator if its share of wins is above
theirs minus epsilon, by a one-sided t-test over pairs; the p-values of all annotators are adjusted
with Benjamini and Yekutieli's method. The machine passes if it is the better alternative for at
least half of them. Epsilon is the extra cost of people over the machine: the paper uses .2 for
experts, .15 for trained people, .1 for crowds.

The paper compares with all others. Here a first vote is compared only with the other first one
(`annotation.machine.others`). That is easier to pass: where the first two are far apart, a machine
between them is nearer to each than the other is. `run_both` gives both results.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.leave_one_out import Panel
from annotation.machine.others import Others, find_others
from annotation.reliability.scores import number
from annotation.votes.votes import NO_LEVEL, Bools, Floats, Ints

FALSE_DISCOVERY = 0.05
PASSES = 0.5
LEAST_PAIRS, LEAST_ANNOTATORS = 30, 3
"""The paper's recommended minimum: for the t-test, and for the others to form a group."""
CLOSE = 1e-9


class Wins(NamedTuple):
    """For each vote that can be compared: the annotator, and who is closer to the others."""

    annotator: Ints
    machine: Bools
    person: Bools


def count_wins(panel: Panel, others: Others) -> Wins:
    """Return who wins on each vote; both do if they are equally close."""
    scores = panel.scores
    size = np.bincount(others.row, minlength=len(scores.pair))
    beside = scores.level[others.other]
    machine = panel.machine[scores.pair]

    def distance(level: Floats) -> Floats:
        squares = (level[others.row] - beside) ** 2
        total = np.bincount(others.row, squares, len(scores.pair))
        mean: Floats = total / np.maximum(size, 1)
        return mean

    of_machine, of_person = (
        distance(machine.astype(np.float64)),
        distance(scores.level.astype(np.float64)),
    )
    both = (size > 0) & (machine != NO_LEVEL)
    return Wins(
        scores.annotator[both],
        (of_machine <= of_person + CLOSE)[both],
        (of_person <= of_machine + CLOSE)[both],
    )


def run_both(panel: Panel, others: Others, epsilon: float, seed: int) -> dict[str, Any]:
    """Return `run_test` with a first vote held against the other first one (`others`).

    `published` is the result against all others, without `annotators`.
    """
    published = run_test(panel, find_others(panel.scores, seed, published=True), epsilon)
    del published["annotators"]
    return run_test(panel, others, epsilon) | {"published": published}


def run_test(panel: Panel, others: Others, epsilon: float) -> dict[str, Any]:
    """Return the test's result for JSON; `annotators` has a row for each who counts.

    If fewer than three annotators have 30 pairs, `passed` is None, and `why` says why.
    `winning_rate` is omega, the share of annotators for whom the machine is the better alternative;
    `advantage` is rho, its mean share of wins.
    """
    from scipy import stats  # noqa: PLC0415  (--help needs none)

    wins = count_wins(panel, others)
    rows = [
        (annotator, int(theirs.sum()), *_test(wins.machine[theirs], wins.person[theirs], epsilon))
        for annotator in np.unique(wins.annotator).tolist()
        for theirs in [wins.annotator == annotator]
        if theirs.sum() >= LEAST_PAIRS
    ]
    table = pd.DataFrame(rows, columns=["annotator", "pairs", "machine", "person", "p"])
    table["annotator"] = panel.scores.annotators[table["annotator"].to_numpy("int64")]
    adjusted = stats.false_discovery_control(table["p"], method="by") if rows else np.empty(0)
    table["better"] = adjusted <= FALSE_DISCOVERY
    few = len(table) < LEAST_ANNOTATORS
    omega = float(table["better"].mean()) if len(table) else np.nan
    return {
        "epsilon": epsilon,
        "passed": None if few else omega >= PASSES,
        "why": f"{len(table)} annotators have {LEAST_PAIRS} pairs or more that can be compared;"
        f" {LEAST_ANNOTATORS} are needed" if few else None,
        "counted": len(table),
        "left_out": len(np.unique(wins.annotator)) - len(table),
        "winning_rate": None if few else number(omega),
        "advantage": None if few else number(table["machine"].mean()),
        "annotators": table.round(6),
    }  # fmt: skip


def _test(machine: Bools, person: Bools, epsilon: float) -> tuple[float, float, float]:
    """Return both shares of wins, and the p-value for the machine being no better."""
    from scipy import stats  # noqa: PLC0415  (--help needs none)

    lost = person.astype(np.float64) - machine
    if np.ptp(lost) == 0:  # no variance: the t-test is not defined, its limit is
        p = 0.0 if lost[0] < epsilon else 1.0
    else:
        p = float(stats.ttest_1samp(lost, epsilon, alternative="less").pvalue)
    return float(machine.mean()), float(person.mean()), p
