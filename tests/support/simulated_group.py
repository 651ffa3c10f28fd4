"""A group of simulated people: their exam, judgments and hidden checks, and who is stopped.

Truth and people are chosen so that two honest people agree as in TVR-Ranking (Liang et al., 2024):
true levels are a normal variable of mean 2 and deviation 0.8, rounded; an honest annotator's bias
has a deviation of 0.3, their noise is uniform between 0.6 and 1.0. A third of two honest people's
levels are then equal, 79 % are within 1, and quadratic kappa is .45 on average.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.quality.decision import Decision, Limits, decide
from annotation.quality.evidence import COLUMNS
from annotation.simulation.kinds import CHANGED, Kind, Person, answer
from annotation.votes.rule import LEVELS
from annotation.votes.votes import MAX_DIFFERENCE
from pipeline.core import rng

BIAS, LEAST_NOISE, MOST_NOISE = 0.3, 0.6, 1.0
SHARES = (0.03, 0.236, 0.468, 0.236, 0.03)
"""Of the true levels."""
BATCH = 20
DELAY = 50
"""Judgments by one person until two others have judged what was disputed."""
START = pd.Timestamp("2024-05-01T08:00:00Z")
TESTED = 1
MAX_FAILED = 0.15
"""The share of answers in the exam that may be more than 1 off."""
LIMITS = Limits()
AFTER = (50, 100, 150)
GOLD = (5, 10, 20, 40, 60, 100)
LATE: tuple[Kind, ...] = ("drifting", "tiring")


class Setting(NamedTuple):
    """Amounts: pairs in the exam, judgments after it, and hidden checks among these."""

    exam: int = 100
    judged: int = 150
    gold: float = 0.03
    repeats: float = 0.02
    colleagues: int = 6


class Pair(NamedTuple):
    """A pair, and its true level."""

    query_id: str
    moment_id: str
    truth: int


class Answered(NamedTuple):
    """An answer as a row of evidence, and after how many of the tested person's it is there."""

    query_id: str
    moment_id: str
    annotator: int
    level: int | None
    kind: str
    truth: int | None
    submitted_at: pd.Timestamp
    after: int


def create_person(number: int, kind: Kind, seed: int, source: Person | None = None) -> Person:
    """Return a person with their own bias and noise."""
    random = rng.generator("person", seed, number)
    bias, noise = random.normal(0, BIAS), random.uniform(LEAST_NOISE, MOST_NOISE)
    return Person(number, kind, seed, bias=bias, noise=noise, source=source)


def draw_level(random: np.random.Generator) -> int:
    """Return a true level."""
    return int(random.choice(LEVELS, p=SHARES))


def simulate(kind: Kind, seed: int, setting: Setting, beside: Kind = "honest") -> pd.DataFrame:
    """Return the answers of a group in which one is of a `kind`: `evidence.COLUMNS` and `after`.

    The tested person is number 1; of the colleagues, who are honest, number 3 is `beside`. The
    drifting and the tiring begin to change with their first judgment after the exam. `after` is
    the number of the tested person's judgments after which an answer is there: 0 for the exam.
    """
    colleagues = [
        create_person(number, beside if number == TESTED + 2 else "honest", seed)
        for number in range(TESTED + 1, TESTED + 1 + setting.colleagues)
    ]
    tested = create_person(TESTED, kind, seed, source=colleagues[0])
    random = rng.generator("group", seed)
    rows: list[Answered] = []
    for number in range(setting.exam):
        truth = draw_level(random)
        pair = Pair(f"e{number // 10}", str(number), truth)
        # People who copy come after those they copy.
        rows += [_row(who, pair, "exam", 0) for who in (*colleagues, tested)]
    for number in range(setting.judged):
        rows += _judge_pair(random, tested, colleagues, number, setting)
    columns = [*COLUMNS, "after"]
    return pd.DataFrame(rows, columns=columns).astype({"level": "Int64", "truth": "Int64"})


def _judge_pair(
    random: np.random.Generator,
    tested: Person,
    colleagues: list[Person],
    number: int,
    setting: Setting,
) -> list[Answered]:
    """Return who judged the tested person's next pair, or their hidden check."""
    truth, draw = draw_level(random), random.random()
    partners = [colleagues[(number // BATCH + place) % len(colleagues)] for place in range(3)]
    pair = Pair(f"q{number // BATCH}", str(number), truth)
    if draw < setting.gold:
        return [_row(tested, pair, "gold", number + 1)]
    if draw < setting.gold + setting.repeats:
        return []  # a repeat takes time, but is not evidence for the decision
    own = _row(tested, pair, "first", number + 1)
    second = _row(partners[0], pair, "first", number + 1)
    if own.level is None or second.level is None:
        return [second, own]
    if abs(own.level - second.level) <= MAX_DIFFERENCE:
        return [second, own]
    late = number + 1 + DELAY
    return [second, own, *(_row(who, pair, "escalated", late) for who in partners[1:])]


def _row(person: Person, pair: Pair, kind: str, after: int) -> Answered:
    changed = after if person.number == TESTED else 0
    level = answer(person, pair.truth, pair.query_id, pair.moment_id, changed).level
    second = after * 100 + (50 if person.number == TESTED else person.number)
    time, is_check = START + pd.Timedelta(seconds=second), kind in ("exam", "gold")
    truth = pair.truth if is_check else None
    who = person.number
    return Answered(pair.query_id, pair.moment_id, who, level, kind, truth, time, after)


def stopped_after(kind: Kind, seed: int, exam: int) -> list[bool]:
    """Return whether someone is stopped by the exam, and within given judgments after it."""
    begin = CHANGED if kind in LATE else 0
    rows = simulate(kind, seed, Setting(exam=exam, judged=begin + AFTER[-1]))
    stopped = [failed(rows) or _stopped(rows, 0)]
    for number in AFTER:
        stopped.append(stopped[-1] or _stopped(rows, begin + number))
    return stopped


def failed(rows: pd.DataFrame) -> bool:
    """Return whether the tested person failed the exam: too many answers more than 1 off."""
    own = rows[(rows["kind"] == "exam") & (rows["annotator"] == TESTED)].dropna(subset="level")
    return len(own) > 0 and (abs(own["level"] - own["truth"]) > MAX_DIFFERENCE).mean() > MAX_FAILED


def _stopped(rows: pd.DataFrame, after: int) -> bool:
    return _decide(rows[rows["after"] <= after]).state == "stop"


def _decide(rows: pd.DataFrame) -> Decision:
    if not (rows["annotator"] == TESTED).any():
        return Decision("undecided", None, 0, 1, 0, "")
    return decide(rows.drop(columns="after"), LIMITS, [TESTED])[TESTED]


def honest_beside(bad: Kind, seed: int) -> list[bool]:
    """Return whether an honest person is stopped because of a bad colleague's answers."""
    rows = simulate("honest", seed, Setting(exam=0), beside=bad)
    return [decide(rows.drop(columns="after"), LIMITS)[TESTED].state == "stop"]


def stopped_by_gold(kind: Kind, seed: int) -> list[bool]:
    """Return whether someone who has fully changed is stopped by given pairs of known truth."""
    rows = simulate(kind, seed, Setting(exam=0, judged=CHANGED + GOLD[-1], gold=1))
    rows = rows[(rows["annotator"] == TESTED) & (rows["after"] > CHANGED)]
    return [_stopped(rows, CHANGED + number) for number in GOLD]
