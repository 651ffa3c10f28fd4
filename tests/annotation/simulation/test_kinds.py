"""Simulated people do as their kind says, always alike, and are known again."""

from statistics import mean

import pandas as pd
import pytest
from support.campaign_cases import write_candidates

from annotation.roster import roster
from annotation.roster.roster import Account
from annotation.simulation import careless
from annotation.simulation.answers import SimulatedAnswer, create_people
from annotation.simulation.detect import Simulated
from annotation.simulation.kinds import (
    CHANGED,
    KINDS,
    Person,
    answer,
    answer_again,
    create_simulated,
)
from pipeline.core import tables

TRUTHS = [0, 1, 2, 3, 4] * 60


def off(person, at=0):
    """Return the mean squared distance to the truth."""
    levels = (answer(person, truth, "q", str(m), at).level for m, truth in enumerate(TRUTHS))
    pairs = zip(levels, TRUTHS, strict=True)
    return mean((level - truth) ** 2 for level, truth in pairs if level is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_words_give_the_same_answer(kind):
    person = Person(3, kind, source=Person(2))
    assert answer(person, 1, "q", "m", 5) == answer(person, 1, "q", "m", 5)


def test_the_bad_are_far_from_the_truth():
    assert off(Person(1)) < 0.6
    assert off(Person(1, "lazy")) == 2
    assert off(Person(1, "random")) > 3
    assert off(Person(1, "contrary")) > 6


@pytest.mark.parametrize("kind", ["drifting", "tiring"])
def test_who_changes_is_honest_first(kind):
    person = Person(1, kind)
    assert off(person, 0) == off(Person(1))
    assert off(person, CHANGED // 2) < off(person, CHANGED)
    assert off(person, CHANGED) > 1.3


def test_who_copies_gives_the_others_answers():
    source = Person(2)
    person = Person(1, "copying", source=source)
    pairs = [(truth, "q", str(number)) for number, truth in enumerate(TRUTHS)]
    same = [answer(person, *pair).level == answer(source, *pair).level for pair in pairs]
    assert mean(same) > 0.9


def test_a_careless_account_is_simulated_as_such_and_known_again():
    accounts = {1: Account(email="a@b.c"), 4: Account(email="d@e.f", kind="lazy")}
    people = create_simulated(accounts)
    simulated = Simulated(None, lambda *_: 0, people, None)
    lazy_answer = answer(people[4], 0, "q", "m")
    assert lazy_answer.level == answer_again(people[4], 0, "q", "m").level == 2
    assert simulated.is_simulated(4, "q", "m", lazy_answer)
    assert not simulated.is_simulated(1, "q", "m", lazy_answer)
    assert simulated.is_simulated(1, "q", "m", answer_again(people[1], 0, "q", "m"))
    assert not simulated.is_simulated(4, "q", "m", SimulatedAnswer(2, 12345.0))


@pytest.mark.parametrize(("number", "kinds"), [(6, {4: "lazy"}), (5, {})])
def test_one_of_enough_people_is_careless(folder, number, kinds):
    roster.write(*create_people(number))
    careless.make_one_careless()
    actual = {who: account.kind for who, account in roster.read_accounts().items() if account.kind}
    assert actual == kinds


def test_the_gold_of_a_rehearsal_is_the_truth(folder):
    rows = [("q", f"m{number:03}", number, 0.5, 1) for number in range(1, 161)]
    write_candidates(pd.DataFrame(rows, columns=tables.CANDIDATES.columns))
    tables.GOLD.write(tables.GOLD.empty())
    careless.write_gold(lambda _, moment: int(moment[1:]) % 5)
    gold = tables.GOLD.read()
    assert len(gold) == careless.GOLD
    assert (gold["level"] == gold["moment_id"].str[1:].astype(int) % 5).all()
    careless.write_gold(lambda *_: 0)
    assert tables.GOLD.read().equals(gold), "a lead's gold is never overwritten"
