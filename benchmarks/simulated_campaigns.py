"""Whole campaigns of simulated people, one of whom is bad, with and without checks (pure).

The pairs are planned by `plan` and decided by the consensus rule. With checks everyone sits an
exam; people who fail it, or are stopped later, get no new tasks, and the lead voids what they
judged since their answers went bad. Exam, gold and repeats are judgments too: campaigns are
compared after equally many.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from support.campaign_cases import make_judgments
from support.simulated import campaign_of, people
from support.simulated_group import MAX_FAILED, SHARES, START, Setting, create_person, draw_level

from annotation.assignment.inputs import PlanInputs, Rule
from annotation.assignment.pair_states import find_pair_states
from annotation.assignment.planning import plan
from annotation.quality.decision import Limits, decide
from annotation.quality.evidence import COLUMNS
from annotation.simulation.kinds import KINDS, Kind, Person, answer
from annotation.votes.rule import LEVELS
from annotation.votes.votes import MAX_DIFFERENCE, NO_LEVEL
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables

PEOPLE, BAD, COPIED = 6, 3, 2
BATCH, TASKS_PER_DAY = 20, 40
"""Candidates of a query, and judgments of each person between two plans."""
MOST_ROUNDS = 100
BAD_KINDS: tuple[Kind, ...] = KINDS[1:]


class Measured(NamedTuple):
    """After a number of judgments: the decided levels, and their mean squared error."""

    judgments: int
    levels: int
    error: float


class Outcome(NamedTuple):
    """Campaigns with the same pairs and people after (almost) equally many judgments.

    `end` is the campaign with checks when no more judgments are wanted.
    """

    kind: Kind
    without: Measured
    checked: Measured
    end: Measured


def compare(queries: int, seed: int) -> Outcome:
    """Return the results of a campaign with and without exam and checks; the seed sets the kind."""
    kind = BAD_KINDS[seed % len(BAD_KINDS)]
    histories = [_Campaign(queries, kind, seed, checked).run() for checked in (False, True)]
    budget = min(history[-1].judgments for history in histories)
    without, with_checks = (
        [point for point in history if point.judgments <= budget][-1] for history in histories
    )
    return Outcome(kind, without, with_checks, histories[1][-1])


@dataclass
class _Campaign:
    """A running campaign; `used` counts all judgments, including those of exam and checks."""

    queries: int
    kind: Kind
    seed: int
    checked: bool
    rows: list[dict[str, object]] = field(default_factory=list)
    known: list[dict[str, object]] = field(default_factory=list)
    """Answers of exam and gold, with their truth."""
    barred: dict[int, str] = field(default_factory=dict)
    voided: list[tuple[int, pd.Timestamp, str]] = field(default_factory=list)
    done: Counter[int] = field(default_factory=Counter)
    used: int = 0

    def __post_init__(self) -> None:
        copied = create_person(COPIED, "honest", self.seed)
        self.people: dict[int, Person] = {
            number: create_person(number, kind, self.seed, copied)
            for number in range(1, PEOPLE + 1)
            for kind in [self.kind if number == BAD else "honest"]
        }
        rows = [
            (f"q{query:03}", f"m{query:03}-{rank:02}", rank + 1, 0.5, 1)
            for query in range(self.queries)
            for rank in range(BATCH)
        ]
        columns = tables.CANDIDATES.columns
        self.candidates = tables.CANDIDATES.check(pd.DataFrame(rows, columns=columns))
        random = rng.generator("campaign", self.seed)
        levels = random.choice(LEVELS, size=len(self.candidates), p=SHARES)
        self.truth = self.candidates[PAIR_KEY].assign(truth=levels).set_index(PAIR_KEY)["truth"]

    def run(self) -> list[Measured]:
        """Judge until nothing is wanted; return the state after each part."""
        history = []
        if self.checked:
            self._examine()
        for _ in range(MOST_ROUNDS):
            if self.checked:
                self._stop()
            inputs = self._inputs()
            history.append(self._measure(inputs))
            wanted = plan(inputs).assignments
            if wanted.empty:
                return history
            for number, tasks in wanted.groupby("annotator"):
                # Everyone works through the queries in the same order, as far as they have them.
                tasks_now = tasks.sort_values(PAIR_KEY).head(TASKS_PER_DAY)[[*PAIR_KEY, "kind"]]
                for query, moment, kind in tasks_now.astype(str).to_numpy().tolist():
                    self._judge(int(str(number)), query, moment, kind)
        raise AssertionError("the campaign does not end")

    def _judge(self, number: int, query: str, moment: str, kind: str) -> None:
        self.rows.append(self._answer(number, query, moment, int(self.truth[query, moment]), kind))
        if self.checked:
            draw = rng.generator("check", self.seed, number, query, moment).random()
            setting = Setting()
            if draw < setting.gold:
                level = draw_level(rng.generator(self.seed, self.used))
                row = self._answer(number, "gold", f"{self.used}", level, "gold")
                self.known.append(row | {"truth": level})
            elif draw < setting.gold + setting.repeats:
                self.used += 1

    def _answer(
        self, number: int, query: str, moment: str, truth: int, kind: str
    ) -> dict[str, object]:
        self.used += 1
        at = self.done[number]
        self.done[number] += 1
        judgment = answer(self.people[number], truth, query, moment, at)
        return {
            "query_id": query,
            "moment_id": moment,
            "annotator": number,
            "level": judgment.level,
            "kind": kind,
            "submitted_at": START + pd.Timedelta(seconds=100 * at + (50 if number == BAD else 0)),
            "seconds": judgment.seconds,
            "origin": str(self.used),
        }

    def _examine(self) -> None:
        random = rng.generator("exam", self.seed)
        for pair in range(Setting().exam):
            truth = draw_level(random)
            for number in self.people:
                row = self._answer(number, f"e{pair // 10}", str(pair), truth, "exam")
                self.known.append(row | {"truth": truth})
        self.done.clear()  # those who change have not begun to
        marks = pd.DataFrame(self.known).dropna(subset="level")
        far = abs(marks["level"] - marks["truth"]) > MAX_DIFFERENCE
        share = far.groupby(marks["annotator"]).mean()
        self.barred |= dict.fromkeys(share.index[share > MAX_FAILED].tolist(), "failed")

    def _stop(self) -> None:
        rows = pd.DataFrame([*self.known, *self.rows])
        rows = rows.reindex(columns=COLUMNS).astype({"level": "Int64", "truth": "Int64"})
        # The exam comes before everything, and its own times are its order.
        early = rows["kind"] == "exam"
        rows["submitted_at"] = rows["submitted_at"] - early.astype(int) * pd.Timedelta(days=1)
        active = rows[~rows["annotator"].isin(list(self.barred))]
        for annotator, decision in decide(active, Limits()).items():
            if decision.state == "stop":
                self.barred[annotator] = decision.reason
                self.voided.append((annotator, decision.since or START, decision.reason))

    def _inputs(self) -> PlanInputs:
        rows = pd.DataFrame(self.voided, columns=["annotator", "since", "note"])
        voided = tables.VOIDED.check(rows.reindex(columns=tables.VOIDED.columns))
        told = {"judgments": make_judgments(self.rows), "barred": self.barred}
        told |= {"voided": voided if self.voided else tables.VOIDED.empty(), "rule": Rule()}
        return campaign_of(self.candidates, people(PEOPLE), **told)

    def _measure(self, inputs: PlanInputs) -> Measured:
        states = find_pair_states(inputs)
        level = states.consensus.level
        truth = self.truth.reindex(pd.MultiIndex.from_frame(states.pairs[PAIR_KEY])).to_numpy()
        off = (level - truth)[level != NO_LEVEL]
        return Measured(self.used, len(off), float(np.mean(off**2)) if len(off) else 0.0)
