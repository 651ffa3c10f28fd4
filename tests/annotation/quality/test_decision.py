"""Who is stopped, who is not, and that luck and looking often change nothing of it."""

import math
from collections import Counter
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from support.simulated_group import stopped_after

from annotation.quality import behaviour, odds
from annotation.quality.decision import Limits, decide, interval
from annotation.quality.evidence import COLUMNS
from annotation.quality.stopping import drop_forgiven
from annotation.simulation.kinds import KINDS

START = pd.Timestamp("2024-05-01T08:00:00Z")
LATER = START + pd.Timedelta(days=1)
TRUTHS = [0, 1, 2, 3, 4, 2, 1, 3, 2, 2]


def make_rows(levels, truths, annotator=1, kind="exam"):
    """Return answers to one pair after the other."""
    rows = [
        ("q", f"{number:03}", annotator, level, kind, truth, START + pd.Timedelta(seconds=number))
        for number, (level, truth) in enumerate(zip(levels, truths, strict=True))
    ]
    types = {"level": "Int64", "truth": "Int64"}
    return pd.DataFrame(rows, columns=COLUMNS).astype(types)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda _: 2, "2 whatever is shown"),
        (lambda truth: 4 - truth, "within 1 of it"),
        (lambda truth: min(4, truth + 2), "within 1 of it"),
    ],
    ids=["lazy", "contrary", "far too high"],
)
def test_the_careless_are_stopped_by_an_exam_and_told_why(answer, words):
    truths = TRUTHS * 10
    decision = decide(make_rows(map(answer, truths), truths), Limits())[1]
    assert decision.state == "stop"
    assert words in decision.reason


def test_the_perfect_are_kept():
    truths = TRUTHS * 10
    decision = decide(make_rows(truths, truths), Limits())[1]
    assert (decision.state, decision.share, decision.reason) == ("keep", 1.0, "")


def test_few_answers_decide_nothing():
    decision = decide(make_rows([0, 4], [4, 0]), Limits())[1]
    assert (decision.state, decision.share) == ("undecided", 0.0)
    assert decision.high > 0.7


@pytest.mark.parametrize("number", [1, 7, 60])
def test_the_interval_is_clopper_and_pearsons(number):
    for hits in range(number + 1):
        exact = stats.binomtest(hits, number).proportion_ci(0.99, "exact")
        assert interval(hits, number, 0.01) == pytest.approx((exact.low, exact.high), abs=1e-9)


@st.composite
def draw_answers(draw):
    """Return true levels, and answers more or less near them."""
    truths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=80))
    wrong = draw(st.sampled_from([0, 0.3, 0.7, 1]))
    random = draw(st.randoms(use_true_random=False))
    return truths, [random.randrange(5) if random.random() < wrong else truth for truth in truths]


@settings(max_examples=40, deadline=None)
@given(draw_answers(), st.integers(1, 30))
def test_more_misses_never_undo_a_stop(exam, more):
    truths, levels = exam
    before = decide(make_rows(levels, truths), Limits())[1]
    after = decide(make_rows(levels + [4] * more, truths + [0] * more), Limits())[1]
    if before.state == "stop":
        assert after.state == "stop"


def odds_by_definition(levels, truths):
    """Return the highest log odds of all beginnings and ends."""
    ways, honest, best = behaviour.others(), behaviour.honest(), -math.inf
    for begin in range(0, len(levels), odds.STEP):
        for end in range(begin + 1, len(levels) + 1):
            rows = list(zip(truths[:end], levels[:end], strict=True))
            fits = [math.prod(way.chances[row] for row in rows[begin:]) for way in ways]
            counts = Counter()
            free = 1.0
            for _, level in rows[begin:]:
                free *= (counts[level] + 0.5) / (counts.total() + 2.5)
                counts[level] += 1
            usual = np.mean([math.prod(chances[row] for row in rows[:begin]) for chances in honest])
            own = max(math.prod(chances[row] for row in rows) for chances in honest)
            step = begin // odds.STEP
            ratio = usual * np.mean([*fits, free]) / own / ((step + 1) * (step + 2))
            best = max(best, math.log(ratio))
    return best


@settings(max_examples=8, deadline=None)
@given(draw_answers())
def test_the_odds_are_those_of_the_definition(exam):
    truths, levels = exam[0][:25], exam[1][:25]
    result = odds.odds_of_behaviour(np.array(levels), np.eye(5)[truths])
    if len(levels) < odds.LEAST:
        assert result == odds.NONE
    else:
        assert result.log == pytest.approx(odds_by_definition(levels, truths))


def test_a_copy_of_what_somebody_answered_before_is_found_and_the_other_is_not_blamed():
    random = Random(3)
    truths = TRUTHS * 10
    first = [min(4, max(0, truth + random.choice([-1, 0, 0, 1]))) for truth in truths]
    copy = make_rows(first, truths, annotator=2)
    rows = pd.concat([make_rows(first, truths), copy.assign(submitted_at=LATER)])
    decisions = decide(rows, Limits())
    assert decisions[2].reason.startswith("copies annotator 1")
    assert decisions[1].state == "keep"


def test_nobody_is_stopped_on_the_word_of_one_other_person():
    truths = TRUTHS * 10
    votes = [
        make_rows(truths, [None] * len(truths), annotator=1, kind="first"),
        make_rows([4 - truth for truth in truths], [None] * len(truths), annotator=2, kind="first"),
    ]
    decisions = decide(pd.concat(votes), Limits()).values()
    assert {decision.state for decision in decisions} == {"undecided"}


def test_who_passed_after_feedback_or_was_admitted_begins_anew():
    exam = pd.DataFrame({"annotator": [1, 2, 3, 4], "level": [0, 1, 2, 3]})
    results = [(1, 1, "yes"), (2, 1, "no"), (2, 2, "yes"), (3, 1, "no"), (3, 2, "no"), (4, 1, "no")]
    frame = pd.DataFrame(results, columns=["annotator", "attempt", "passed"])
    assert drop_forgiven(exam, frame, admitted=[4])["annotator"].tolist() == [1, 3]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "honest"])
def test_simulated_people_are_found_within_150_judgments(kind):
    assert [stopped_after(kind, seed, exam=100)[-1] for seed in range(3)] == [True] * 3


def test_simulated_honest_people_are_not_stopped():
    assert [stopped_after("honest", seed, exam=0)[-1] for seed in range(6)] == [False] * 6
