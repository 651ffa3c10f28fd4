"""Five machine judges and simulated people on the sample: is each judge's fault named?

    python -m benchmarks.judges [--campaigns 20] [--judges 5]

Every campaign has different people (biases, noise, disputes), and every one of its `judges` sets
has different answers: a good judge, a lenient one, one that looks only at caption similarity, one
that always answers 3, one that fails on a tenth of the pairs. `calibration`'s verdicts are counted,
and both alternative annotator tests.

Then the mean level of the pairs: true, as voted, and after second looks: of all pairs that the
judge doubts by a person swayed halfway to its level, or by one who is not, and as `calibration`
lists them: from good judges only, with controls, blind.

Last, a machine that judges as one of six simulated people do, on 400 pairs: how often it passes
either alternative annotator test, by how noisy all of them are.
"""

from collections import Counter, defaultdict
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from annotation.machine.alternative_test import run_both
from annotation.machine.calibrate import calibrate
from annotation.machine.leave_one_out import Panel
from annotation.machine.others import find_others
from annotation.machine.second_looks import DOUBTED, list_second_looks
from annotation.machine.similarity_control import find_control_in_folds
from annotation.votes.ordered import level_chances
from annotation.votes.rule import decide
from annotation.votes.votes import MAX_DIFFERENCE, NO_LEVEL, Ints
from benchmarks.script import parse_arguments, print_rows, run
from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY

simulation: Any = import_module("support.judges")
support: Any = import_module("support.score_rows")
NOISE = 0.5
"""Of the person who decides, in levels."""
PEOPLE, PAIRS, LEVELS, EPSILON = 6, 400, (0.4, 0.2, 0.15, 0.15, 0.1), 0.15
NOISES = (0.7, 1.0, 1.4)
DIFFERENCE = 2
MEANS = ("true", "voted", "swayed", "all doubted", "listed")


def count_verdicts(
    campaigns: int, judges: int
) -> tuple[Counter[tuple[str, str]], dict[str, list[list[float]]]]:
    """Return how often each judge got which verdicts, and the `MEANS` of each by judge."""
    named: Counter[tuple[str, str]] = Counter()
    means = defaultdict(list)
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
                means[name].append(_look_again(judged, truth, seed, listed=codes == "good"))
    return named, means


def _look_again(panel: Panel, truth: Ints, seed: int, *, listed: bool) -> list[float]:
    """Return the `MEANS` of the pairs with a level by votes."""
    random = np.random.default_rng(seed)
    voted = panel.consensus
    own = np.clip(np.rint(truth + random.normal(0, NOISE, len(truth))), 0, 4)
    looks = _list(voted, panel.machine)
    doubted, looked = (
        np.isin(np.arange(len(voted)), rows["query_id"])
        for rows in (looks[looks["why"] == DOUBTED], looks)
    )
    swayed = np.where(doubted, np.rint((own + panel.machine) / 2), voted)
    levels = (truth, voted, swayed, np.where(doubted, own, voted))
    after = np.where(looked & listed, own, voted)
    return [float(level[voted != NO_LEVEL].mean()) for level in (*levels, after)]


def _list(voted: Ints, machine: Ints) -> pd.DataFrame:
    rows = pd.DataFrame({"query_id": range(len(voted)), "moment_id": ""})
    about = dict.fromkeys(("query", "video_id", "start", "end", "clip"), "")
    pairs = rows.assign(voted_level=voted, scores="", decided="", **about)
    answers = rows.assign(level=machine, expected=machine * 1.0, levels=1, span=0, remark="")
    return list_second_looks(
        pairs[voted != NO_LEVEL], answers[machine != NO_LEVEL], rows.loc[:0, PAIR_KEY][:0],
        DIFFERENCE,
    )  # fmt: skip


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
    """Print the counts and the means."""
    options = parse_arguments(__doc__, campaigns=20, judges=5)
    named, means = count_verdicts(options.campaigns, options.judges)
    total = options.campaigns * options.judges
    counts = ((f"{name}: {codes}", {"": n}) for (name, codes), n in sorted(named.items()))
    print_rows(f"of {total}", counts)
    averages = {name: np.mean(rows, axis=0) for name, rows in means.items()}
    print_rows(
        "mean level", ((n, dict(zip(MEANS, row, strict=True))) for n, row in averages.items())
    )
    print_rows("a peer of noise", ((str(noise), count_passes(noise, total)) for noise in NOISES))


if __name__ == "__main__":
    run(main)
