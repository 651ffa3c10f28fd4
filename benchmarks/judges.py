"""Five machine judges and simulated people on the sample: is each judge's fault named?

    python -m benchmarks.judges [--campaigns 20] [--judges 5]

Every campaign has different people (biases, noise, disputes), and every one of its `judges` sets
has different answers: a good judge, a lenient one, one that looks only at caption similarity, one
that always answers 3, one that fails on a tenth of the pairs. `calibration`'s verdicts are counted,
and both alternative annotator tests.

Last, a machine that judges as one of six simulated people do, on 400 pairs: how often it passes
either alternative annotator test, by how noisy all of them are.
"""

from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np

from annotation.machine.alternative_test import run_both
from annotation.machine.calibrate import calibrate
from annotation.machine.leave_one_out import Panel
from annotation.machine.others import find_others
from annotation.machine.similarity_control import find_control_in_folds
from annotation.votes.ordered import level_chances
from annotation.votes.rule import decide
from annotation.votes.votes import MAX_DIFFERENCE
from benchmarks.script import parse_arguments, print_rows, run
from pipeline.campaign.pairs import ALL_VOTES

simulation: Any = import_module("support.judges")
support: Any = import_module("support.score_rows")
PEOPLE, PAIRS, LEVELS, EPSILON = 6, 400, (0.4, 0.2, 0.15, 0.15, 0.1), 0.15
NOISES = (0.7, 1.0, 1.4)


def count_verdicts(campaigns: int, judges: int) -> Counter[tuple[str, str]]:
    """Return how often each judge got which verdicts."""
    named: Counter[tuple[str, str]] = Counter()
    for campaign in range(1, campaigns + 1):
        panel, truth = simulation.people(campaign)
        control = find_control_in_folds(panel.query, panel.similarity, panel.consensus)
        for seed in range(judges):
            machines = simulation.judges(panel, truth, 1000 * campaign + seed)
            for name, level in machines.items():
                judged = panel._replace(machine=level, control=control)
                metrics = calibrate(
                    judged, simulation.count_answers(level), simulation.PARAMS
                ).metrics
                test = metrics["alternative_test"]
                codes = " ".join(verdict["code"] for verdict in metrics["verdicts"])
                named[name, codes] += 1
                named[name, f"(alternative annotator test, first votes: {test['passed']})"] += 1
                named[name, f"(as published: {test['published']['passed']})"] += 1
    return named


def count_passes(noise: float, campaigns: int) -> dict[str, float]:
    """Return the share of disputed pairs, and of campaigns in which a peer passes either test."""
    random, rows = np.random.default_rng(1), []
    for _ in range(campaigns):
        panel = _draw_peers(random, noise)
        result = run_both(panel, find_others(panel.scores, 1), EPSILON, 1)
        disputed = (panel.scores.per_pair == ALL_VOTES).mean()
        rows.append([disputed, bool(result["passed"]), bool(result["published"]["passed"])])
    heads = ("disputed", "first votes", "as published")
    return dict(zip(heads, np.mean(rows, axis=0), strict=True))


def _draw_peers(random: np.random.Generator, noise: float) -> Panel:
    """Return people and a machine that all judge alike, by the rule of two or four votes."""
    chances = level_chances(0.0, noise)[random.choice(len(LEVELS), PAIRS, p=LEVELS)].cumsum(axis=1)
    said = (random.random((PEOPLE + 1, PAIRS, 1)) > chances).sum(axis=-1).clip(max=len(LEVELS) - 1)
    order = random.permuted(np.tile(range(PEOPLE), (PAIRS, 1)), axis=1)
    votes = []
    for pair, [first, second, *rest] in enumerate(order.tolist()):
        disputed = abs(said[first, pair] - said[second, pair]) > MAX_DIFFERENCE
        asked = [first, second, *(rest[:2] if disputed else [])]
        votes += [(pair, who, said[who, pair]) for who in asked]
    scores = support.scores_of(votes, PAIRS, timed=True)
    consensus = decide(scores.pair, scores.level, PAIRS).level
    return Panel(scores, np.zeros(PAIRS, np.int64), 1, said[PEOPLE], consensus)


def main() -> None:
    """Print the counts."""
    options = parse_arguments(__doc__, campaigns=20, judges=5)
    named = count_verdicts(options.campaigns, options.judges)
    total = options.campaigns * options.judges
    counts = ((f"{name}: {codes}", {"": n}) for (name, codes), n in sorted(named.items()))
    print_rows(f"of {total}", counts)
    print_rows("a peer of noise", ((str(noise), count_passes(noise, total)) for noise in NOISES))


if __name__ == "__main__":
    run(main)
