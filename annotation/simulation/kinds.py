"""Annotators of known kind, honest or not: what each answers, and how long it takes: pure."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np

from annotation.roster.roster import Account
from annotation.simulation.answers import (
    NOISE,
    SEED,
    SPREAD,
    SimulatedAnswer,
    judge,
    usual_bias,
)
from annotation.votes.rule import LEVELS
from pipeline.core import rng

Kind = Literal["honest", "lazy", "contrary", "random", "drifting", "tiring", "copying"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ALWAYS = 2
"""The answer of the lazy."""
FAST = 3.0
"""The median seconds of people who do not watch."""
MISREAD, COPIED = 0.5, 0.95
"""The noise of the contrary, and the share of answers that the copying take over."""
FAR = 1.75
"""The bias, in levels, that the drifting reach."""
UPWARDS = 0.5
"""The share of the drifting who drift upwards; the others drift down."""
CHANGED = 100
"""Judgments after which the drifting and the tiring have changed completely."""
TOP = LEVELS - 1


class Person(NamedTuple):
    """A simulated person: their number, kind, seed, and whose answers they copy.

    Without `bias` and `noise` (in levels), those of a rehearsal's annotators apply.
    """

    number: int
    kind: Kind = "honest"
    seed: int = SEED
    bias: float | None = None
    noise: float | None = None
    source: "Person | None" = None


def create_simulated(accounts: Mapping[int, Account], seed: int = SEED) -> dict[int, Person]:
    """Return a rehearsal's simulated people by number, each of the kind in their account."""
    return {
        number: Person(number, account.kind or "honest", seed)
        for number, account in accounts.items()
    }


def answer(
    person: Person, truth: int, query_id: str, moment_id: str, at: int = 0
) -> SimulatedAnswer:
    """Return a person's answer to a pair; `at` is how many judgments ago their change began.

    The same arguments give the same answer. The drifting and the tiring are honest at first, and
    have changed completely after `CHANGED` judgments.
    """
    if person.kind == "honest":
        return _honest(person, truth, query_id, moment_id)
    random = rng.generator(person.seed, person.number, person.kind, query_id, moment_id, at)
    changed = min(1.0, max(0.0, at / CHANGED))
    drift = changed * _direction(person) if person.kind == "drifting" else 0.0
    honest = _honest(person, truth + drift, query_id, moment_id)
    level, at_a_glance = honest.level, True
    match person.kind:
        case "lazy":
            level = ALWAYS
        case "random":
            level = int(random.integers(LEVELS))
        case "tiring" if random.random() < changed:
            level = int(random.integers(LEVELS))
        case "copying" if person.source and random.random() < COPIED:
            level = answer(person.source, truth, query_id, moment_id, at).level
        case "contrary":
            level, at_a_glance = _level(TOP - truth + random.normal(0, MISREAD)), False
        case _:
            at_a_glance = False
    fast = float(np.round(FAST * random.lognormal(0, SPREAD), 1))
    return SimulatedAnswer(level, fast if at_a_glance else honest.seconds)


def answer_again(person: Person, truth: int, query_id: str, moment_id: str) -> SimulatedAnswer:
    """Return the answer to a pair shown again with feedback, which the honest understand."""
    first = answer(person, truth, query_id, moment_id)
    return first._replace(level=truth) if person.kind == "honest" else first


def _honest(person: Person, truth: float, query_id: str, moment_id: str) -> SimulatedAnswer:
    bias = usual_bias(person.seed, person.number) if person.bias is None else person.bias
    random = rng.generator(person.seed, person.number, query_id, moment_id)
    return judge(truth + bias, NOISE if person.noise is None else person.noise, random)


def _direction(person: Person) -> float:
    drawn = rng.generator(person.seed, person.number, person.kind).random()
    return FAR if drawn < UPWARDS else -FAR


def _level(value: float) -> int:
    return int(np.clip(round(value), 0, TOP))
