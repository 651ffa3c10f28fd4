"""A small campaign for tests: it plans, people answer in any order, leave and join."""

from dataclasses import dataclass, field, replace
from random import Random

import pandas as pd
from support.campaign_cases import SEAT, ledger_of, make_judgments

from annotation.assignment.inputs import PlanInputs, Rule
from annotation.assignment.planning import Plan, plan
from annotation.roster.annotator import Annotator
from pipeline.core import tables

BATCH = 6
LEVELS = (0, 1, 2, 3, 4)


def candidates_of(queries: int, ranks: int, batch: int = BATCH) -> pd.DataFrame:
    rows = [
        (f"q{query}", f"m{query}-{rank:02}", rank, 0.5, (rank - 1) // batch + 1)
        for query in range(queries)
        for rank in range(1, ranks + 1)
    ]
    return tables.CANDIDATES.check(pd.DataFrame(rows, columns=tables.CANDIDATES.columns))


def people(annotators: int, escalation: int = 0) -> list[Annotator]:
    """Return active annotators, then active people for escalated pairs, by number from 1."""
    roles = ["annotator"] * annotators + ["escalation"] * escalation
    return [Annotator(number, role, active=True) for number, role in enumerate(roles, start=1)]


def campaign_of(candidates: pd.DataFrame, annotators, **rest) -> PlanInputs:
    ids = sorted(set(candidates["query_id"]))
    usual = {
        "queries": pd.DataFrame({"query_id": ids, "query": ids}, dtype="str"),
        "clips": set(candidates["moment_id"]),
        "shown": ledger_of(zip(candidates["query_id"], candidates["moment_id"], strict=True)),
        "judgments": tables.JUDGMENTS.empty(),
        "open_tasks": tables.ASSIGNMENTS.empty(),
        "extend": {},
        "rule": Rule(BATCH),
    }
    return PlanInputs(candidates=candidates, annotators=annotators, **(usual | rest))


def answers(tasks: pd.DataFrame, level_of, **rest) -> list[dict]:
    """Return a judgment of every task, with `level_of(task)`, as `told` reads them."""
    return [task | {"level": level_of(task)} | rest for task in tasks.to_dict("records")]


def open_planned(campaign: PlanInputs) -> PlanInputs:
    """Return the campaign with all that the plan wants open."""
    return replace(campaign, open_tasks=plan(campaign).assignments)


def answer_tasks(campaign: PlanInputs, tasks: pd.DataFrame, level_of, **rest) -> PlanInputs:
    """Return the campaign with answers to `tasks` and none of them open."""
    rows = campaign.judgments.to_dict("records") + answers(tasks, level_of, **rest)
    before, done = (pd.MultiIndex.from_frame(rows[SEAT]) for rows in (campaign.open_tasks, tasks))
    open_tasks = campaign.open_tasks[~before.isin(done)]
    return replace(campaign, judgments=make_judgments(rows), open_tasks=open_tasks)


def answer_all(campaign: PlanInputs, level_of) -> PlanInputs:
    """Return the campaign as it is once everything that is wanted now was answered."""
    now = open_planned(campaign)
    return answer_tasks(now, now.open_tasks, level_of)


@dataclass
class Simulated:
    """A campaign under way: what was judged, what is open, and who is there."""

    candidates: pd.DataFrame
    annotators: list[Annotator]
    random: Random
    levels: tuple = (*LEVELS, None)
    rows: list[dict] = field(default_factory=list)
    tasks: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    rest: dict = field(default_factory=dict)

    @property
    def campaign(self) -> PlanInputs:
        now = {"judgments": make_judgments(self.rows), "open_tasks": self.tasks}
        return campaign_of(self.candidates, self.annotators, **(now | self.rest))

    def plan(self) -> tuple[PlanInputs, Plan]:
        """Plan, and give everything out; return what the plan was made from, and the plan."""
        campaign = self.campaign
        result = plan(campaign)
        self.tasks = result.assignments
        return campaign, result

    def answer(self, tasks: pd.DataFrame) -> None:
        self.rows += answers(tasks, lambda _: self.random.choice(self.levels))
        remaining = pd.concat([self.tasks, tasks]).drop_duplicates(keep=False)
        self.tasks = remaining[remaining.index.isin(self.tasks.index)]

    def judge_all(self) -> Plan:
        """Answer all that is wanted until nothing is; return the last plan."""
        for _ in range(40):
            _, result = self.plan()
            if result.assignments.empty:
                return result
            self.answer(self.tasks)
        raise AssertionError("the campaign does not end")

    def answer_some(self) -> None:
        share = self.random.choice([0, 0.3, 0.8, 1])
        marks = [self.random.random() < share for _ in range(len(self.tasks))]
        chosen = self.tasks[marks]
        self.answer(chosen.sample(frac=1, random_state=self.random.randrange(999)))

    def late(self, before: pd.DataFrame) -> None:
        """Answer some tasks that were open before and were taken back since."""
        both = pd.concat([self.tasks, before, self.tasks]).drop_duplicates(keep=False)
        seats = {(row["query_id"], row["moment_id"], row["annotator"]) for row in self.rows}
        keys = zip(both["query_id"], both["moment_id"], both["annotator"], strict=True)
        gone = both[[key not in seats for key in keys]]
        self.rows += answers(gone, lambda _: self.random.choice(self.levels))

    def come_and_go(self) -> None:
        """Let somebody leave, come back or join; six people stay."""
        active = [who for who in self.annotators if who.active]
        who = self.random.choice(self.annotators)
        if not who.active or len(active) > 6:
            self.annotators[who.number - 1] = who._replace(active=not who.active)
        elif self.random.random() < 0.5:
            role = self.random.choice(["annotator", "escalation"])
            self.annotators.append(Annotator(len(self.annotators) + 1, role, active=True))
