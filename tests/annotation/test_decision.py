"""Who is stopped, who is not, and that luck and looking often change nothing of it."""

import pandas as pd
import pytest
from scipy import stats

from annotation.quality.decision import Limits, decide, interval
from annotation.quality.evidence import COLUMNS

START = pd.Timestamp("2024-05-01T08:00:00Z")
TRUTHS = [0, 1, 2, 3, 4, 2, 1, 3, 2, 2]


def rows_of(levels, truths, annotator=1, kind="exam"):
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
    decision = decide(rows_of(map(answer, truths), truths), Limits())[1]
    assert decision.state == "stop"
    assert words in decision.reason


def test_the_perfect_are_kept():
    truths = TRUTHS * 10
    decision = decide(rows_of(truths, truths), Limits())[1]
    assert (decision.state, decision.share, decision.reason) == ("keep", 1.0, "")


def test_few_answers_decide_nothing():
    decision = decide(rows_of([0, 4], [4, 0]), Limits())[1]
    assert (decision.state, decision.share) == ("undecided", 0.0)
    assert decision.high > 0.7


@pytest.mark.parametrize("number", [1, 7, 60])
def test_the_interval_is_clopper_and_pearsons(number):
    for hits in range(number + 1):
        exact = stats.binomtest(hits, number).proportion_ci(0.99, "exact")
        assert interval(hits, number, 0.01) == pytest.approx((exact.low, exact.high), abs=1e-9)
