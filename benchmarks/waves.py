"""A campaign in waves: how many pairs are decided when half of the votes are there.

    python -m benchmarks.waves [--queries 3281] [--people 23] [--share 0.51] [--day 100]

It simulates a campaign at the paper's size, whose people work at unequal speeds: between two plans
the slowest does a quarter, the fastest seven quarters of `--day` judgments, in the order in which
their tasks were assigned. Two people who judge a pair disagree by more than 1 as often as in the
paper (18 %). It stops when `--share` of the first votes are there, and prints how many pairs have
two, how many disputed ones are decided, and the seconds of a plan: once in waves, and once without
them, with everything assigned at the start and a different order for everyone.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd

from annotation.assignment.inputs import PlanInputs
from annotation.plan import plan
from annotation.tasks.tasks import keys_by_annotator, shuffle
from annotation.votes.votes import is_in
from benchmarks.campaign import RANKS, judge, open_campaign
from benchmarks.script import parse_arguments, time_call
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables

SEAT = [*PAIR_KEY, "annotator"]
APART = 0.36
"""The share of pairs that divide people; two people disagree on half of these."""


class Simulation:
    """A running campaign: judgments, and each person's open tasks in order."""

    def __init__(self, inputs: PlanInputs, day: int, *, waves: bool) -> None:
        self.inputs, self.day, self.waves = inputs, day, waves
        self.streams: dict[int, list[tuple[str, str, str]]] = defaultdict(list)
        numbers = [who.number for who in inputs.annotators]
        self.speed = dict(zip(numbers, np.linspace(0.25, 1.75, len(numbers)), strict=True))
        self.seconds: list[float] = []

    def step(self) -> None:
        """Plan, assign what is new, and have everyone judge for a while."""
        seconds, planned = time_call(lambda: plan(self.inputs))
        self.seconds.append(seconds)
        self._give_out(planned.assignments)
        done = []
        for number, stream in sorted(self.streams.items()):
            count = round(self.speed[number] * self.day)
            done += [(*pair, number, kind) for *pair, kind in stream[:count]]
            del stream[:count]
        tasks = pd.DataFrame(done, columns=tables.ASSIGNMENTS.columns)
        waiting = [(*p, n, kind) for n, stream in self.streams.items() for *p, kind in stream]
        self.inputs = replace(
            self.inputs,
            judgments=pd.concat([self.inputs.judgments, self._judge(tasks)], ignore_index=True),
            open_tasks=pd.DataFrame(waiting, columns=tables.ASSIGNMENTS.columns),
        )

    def _give_out(self, wanted: pd.DataFrame) -> None:
        new = wanted[~is_in(wanted, self.inputs.open_tasks, SEAT)]
        pairs = new.assign(query_sha="text", clip_sha="clip")
        for number, keys in keys_by_annotator(pairs, "1").items():
            ordered = shuffle(keys, self.inputs.id)
            if not self.waves:
                ordered.sort(key=lambda key: rng.draw(key.annotator, key.query_id))
            self.streams[number] += [(key.query_id, key.moment_id, key.kind) for key in ordered]

    def _judge(self, tasks: pd.DataFrame) -> pd.DataFrame:
        """Return judgments: 1 and 4 where a pair divides people by their number, else 2."""
        draws = tasks["moment_id"].astype("int64").map(lambda moment: moment * 7919 % 100 / 100)
        apart = (draws < APART) & (tasks["annotator"] % 2 == 0)
        judgments = judge(tasks)
        number = len(self.inputs.judgments) + np.arange(len(judgments))
        when = pd.Timestamp("2024-05-01T08:00:00Z") + pd.to_timedelta(number, unit="s")
        return judgments.assign(level=apart.map({True: 4, False: 1}), submitted_at=when)

    @property
    def share(self) -> float:
        """The share of first votes that are there."""
        first = (self.inputs.judgments["kind"] == "first").sum()
        return float(first / (2 * len(self.inputs.candidates)))

    def result(self) -> str:
        """Return the figures as a line."""
        judgments = self.inputs.judgments
        votes = judgments[judgments["kind"] == "first"].groupby(PAIR_KEY)["level"]
        two = votes.size() > 1
        apart = (votes.max() - votes.min() > 1)[two]
        fourth = judgments[judgments["kind"] == "escalated"].groupby(PAIR_KEY).size() > 1
        decided = 100 * two.sum() / len(self.inputs.candidates)
        return (
            f"{100 * self.share:5.1f} % of first votes, {decided:5.1f} % of pairs have two;"
            f" {int(fourth.sum()):,} of {int(apart.sum()):,} disputes judged;"
            f" a plan takes {np.mean(self.seconds):.2f} s, {max(self.seconds):.2f} s at most"
        )


def run(inputs: PlanInputs, share: float, day: int, *, waves: bool) -> str:
    """Simulate until a share of the first votes are there, and return the figures."""
    simulation = Simulation(inputs, day, waves=waves)
    while simulation.share < share:
        simulation.step()
    return simulation.result()


def main() -> None:
    """Print both ways."""
    options = parse_arguments(__doc__, queries=3281, people=23, share=0.51, day=100)
    campaign = replace(open_campaign(options.queries, options.people), id="benchmark")
    everything = campaign.rule._replace(queue=options.queries * RANKS)
    for name, rule in (("waves", campaign.rule), ("all at once", everything)):
        inputs, waves = replace(campaign, rule=rule), name == "waves"
        print(f"{name:12}{run(inputs, options.share, options.day, waves=waves)}")


if __name__ == "__main__":
    main()
