"""Five machine judges and simulated people on the sample: is each judge's fault named?

    python -m benchmarks.judges [--campaigns 20] [--judges 5]

Every campaign has different people (biases, noise, disputes), and every one of its `judges` sets
has different answers: a good judge, a lenient one, one that looks only at caption similarity, one
that always answers 3, one that fails on a tenth of the pairs. `calibration`'s verdicts are counted,
and both alternative annotator tests.

Then the mean level of the pairs: true, as voted, and after second looks: of all pairs that the
judge doubts by a person swayed halfway to its level, or by one who is not, and as `calibration`
lists them: from good judges only, with controls, blind.
"""

import sys
from collections import Counter, defaultdict
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from annotation.machine.calibrate import calibrate
from annotation.machine.leave_one_out import Panel
from annotation.machine.second_looks import DOUBTED, list_second_looks
from annotation.machine.similarity_control import find_control_in_folds
from annotation.votes.votes import NO_LEVEL, Ints
from benchmarks.script import parse_arguments
from pipeline.campaign.pairs import PAIR_KEY

NOISE = 0.5
"""Of the person who decides, in levels."""
DIFFERENCE = 2
MEANS = ("true", "voted", "swayed", "all doubted", "listed")


def count_verdicts(
    campaigns: int, judges: int
) -> tuple[Counter[tuple[str, str]], dict[str, list[list[float]]]]:
    """Return how often each judge got which verdicts, and the `MEANS` of each by judge."""
    simulation: Any = import_module("support.judges")
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
    pairs = rows.assign(voted_level=voted, scores=[[]] * len(voted), decided="", **about)
    answers = rows.assign(level=machine, expected=machine * 1.0, levels=1, span=0, remark="")
    return list_second_looks(
        pairs[voted != NO_LEVEL], answers[machine != NO_LEVEL], rows.loc[:0, PAIR_KEY][:0],
        DIFFERENCE,
    )  # fmt: skip


def main() -> None:
    """Print the counts and the means."""
    options = parse_arguments(__doc__, campaigns=20, judges=5)
    named, means = count_verdicts(options.campaigns, options.judges)
    total = options.campaigns * options.judges
    for (name, codes), number in sorted(named.items()):
        sys.stdout.write(f"{name:12}{codes:55}{number:>6} of {total}\n")
    sys.stdout.write(f"\n{'mean level':12}" + "".join(f"{head:>14}" for head in MEANS) + "\n")
    for name, rows in means.items():
        cells = np.mean(rows, axis=0)
        sys.stdout.write(f"{name:12}" + "".join(f"{cell:>14.3f}" for cell in cells) + "\n")


if __name__ == "__main__":
    main()
