"""Five machine judges and simulated people on the sample: is each judge's fault named?

    python -m benchmarks.judges [--campaigns 20] [--judges 5]

Every campaign has different people (biases, noise, disputes), and every one of its `judges` sets
has different answers: a good judge, a lenient one, one that looks only at caption similarity, one
that always answers 3, one that fails on a tenth of the pairs. `calibration`'s verdicts are counted.
"""

import sys
from collections import Counter
from importlib import import_module
from typing import Any

from annotation.machine.calibrate import calibrate
from annotation.machine.similarity_control import find_control_in_folds
from benchmarks.script import parse_arguments, run


def count_verdicts(campaigns: int, judges: int) -> Counter[tuple[str, str]]:
    """Return how often each judge got which verdicts."""
    simulation: Any = import_module("support.judges")
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
                passed = metrics["alternative_test"]["passed"]
                codes = " ".join(verdict["code"] for verdict in metrics["verdicts"])
                named[name, codes] += 1
                named[name, f"(passes the alternative annotator test: {passed})"] += 1
    return named


def main() -> None:
    """Print the counts."""
    options = parse_arguments(__doc__, campaigns=20, judges=5)
    named = count_verdicts(options.campaigns, options.judges)
    total = options.campaigns * options.judges
    for (name, codes), number in sorted(named.items()):
        sys.stdout.write(f"{name:12}{codes:50}{number:>6} of {total}\n")


if __name__ == "__main__":
    run(main)
