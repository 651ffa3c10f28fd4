"""Drift: its figures by hand, and how often its interval and the report's check are right.

`python -m pytest -s tests/annotation/reliability/test_drift.py -k simulated` prints the rates.
"""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lazy import Lazy
from support.campaign_cases import NONE_VOIDED, START, ledger_of, make_judgments, voided_of

from annotation.reliability.drift import estimate_drift, measure_drifts
from annotation.reliability.scores import campaign_scores
from annotation.votes.campaign_votes import consensus
from annotation.votes.rule import LEVELS, decide
from pipeline.campaign.campaign import Reopening
from pipeline.campaign.voided import drop_voided
from pipeline.core.params import load
from pipeline.pages import soundness

metrics = Lazy("sklearn.metrics")
MOST = load().report.max_drift
DRAWS = 500
LEAST, SHARE = 10, 0.02


def verdict(drift):
    low, high = (None if np.isnan(end) else end for end in drift[1:])
    figures = {"drift": drift[0], "low": low, "high": high}
    rest = {"pairs": 50, "people": 2, "unasked": []}
    return soundness._check_drift(figures | rest, MOST).verdict


samples = st.lists(
    st.tuples(st.integers(-16, 16), st.integers(0, LEVELS - 1), st.integers(0, 5)), min_size=1
)


@given(samples, st.lists(st.integers(0, 500), min_size=LEVELS, max_size=LEVELS))
def test_drift_is_the_mean_over_the_population_of_the_levels_that_were_asked(rows, more):
    apart, level, query = (np.array(column) for column in zip(*rows, strict=True))
    population = np.bincount(level, minlength=LEVELS) + more
    drift = estimate_drift(apart / 4, level, query, population)
    means = [float(np.mean(apart[level == which] / 4)) for which in range(LEVELS) if which in level]
    weights = [population[which] for which in range(LEVELS) if which in level]
    assert drift[0] == pytest.approx(np.average(means, weights=weights))
    if len(set(query)) == 1:
        assert np.isnan(drift[1])
    shuffled = np.random.default_rng(1).permutation(len(rows))
    again = estimate_drift(apart[shuffled] / 4, level[shuffled], query[shuffled], population)
    assert again == pytest.approx(drift, nan_ok=True)


def test_nothing_asked_is_not_known_and_stays_open():
    nothing = np.array([], dtype=np.int64)
    drift = estimate_drift(nothing * 1.0, nothing, nothing, np.zeros(LEVELS, dtype=np.int64))
    assert np.isnan(drift).all()
    assert verdict(drift) == "open"


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((-0.1, 0.1), "pass"), ((0.1, 0.5), "look"), ((-0.5, -0.3), "look"), ((-0.4, 0.6), "open"),
     ((0.3, 1.5), "look"), ((-1.5, 0.2), "open"), ((0.26, 0.26), "look")],
)  # fmt: skip
def test_far_is_checked_and_too_wide_is_open(ends, expected):
    low, high = ends
    drift = {"drift": (low + high) / 2, "low": low, "high": high}
    check = soundness._check_drift(drift | {"pairs": 30, "people": 2, "unasked": [4]}, 0.25)
    assert check.verdict == expected
    assert "none of level 4" in check.detail


def vote(random, truth, shift):
    return np.clip(np.rint(truth + shift + random.normal(0, 0.8, len(truth))), 0, 4).astype("int64")


def draw_drift(random, queries, pairs, shift):
    """Return the drift of one simulated collection, whose new people judge `shift` levels off."""
    size, query = queries * pairs, np.repeat(np.arange(queries), pairs)
    truth = random.exponential(1.1, size) + random.normal(0, 0.3, queries)[query]
    votes = np.stack([vote(random, truth, 0) for _ in range(4)], axis=1)
    [disputed] = (abs(votes[:, 0] - votes[:, 1]) > 1).nonzero()
    pair = np.concatenate([np.repeat(np.arange(size), 2), np.repeat(disputed, 2)])
    given_level = np.concatenate([votes[:, :2].ravel(), votes[disputed, 2:].ravel()])
    order = np.argsort(pair, kind="stable")
    level = decide(pair[order], given_level[order], size, closed=True).level
    asked = []
    for which in range(LEVELS):
        [own] = (level == which).nonzero()
        number = min(len(own), max(LEAST, int(np.ceil(SHARE * len(own)))))
        asked.append(random.choice(own, number, replace=False))
    rows = np.concatenate(asked)
    old = np.bincount(pair, given_level)[rows] / np.bincount(pair)[rows]
    new = (vote(random, truth[rows], shift) + vote(random, truth[rows], shift)) / 2
    population = np.bincount(level[level >= 0], minlength=LEVELS)
    return estimate_drift(new - old, level[rows], query[rows], population), len(rows)


@pytest.mark.parametrize(
    ("queries", "pairs", "caught"), [(50, 20, 0.7), (200, 20, 0.85), (1000, 30, 1.0)]
)
def test_a_simulated_shift_is_found_and_none_is_covered(queries, pairs, caught):
    random = np.random.default_rng(2)
    draws = DRAWS if queries < 1000 else 100
    same, strict = (
        [draw_drift(random, queries, pairs, shift) for _ in range(draws)] for shift in (0, -0.5)
    )
    number = np.mean([asked for _, asked in same])
    covered = np.mean([low <= 0 <= high for (_, low, high), _ in same])
    wrong = np.mean([verdict(drift) == "look" for drift, _ in same])
    found, left = (
        np.mean([verdict(drift) == word for drift, _ in strict]) for word in ("look", "open")
    )
    shift = np.mean([mean for (mean, *_), _ in strict])
    sys.stdout.write(
        f"{number:.0f} pairs: covers 0 {covered:.1%}, wrong {wrong:.1%}; half a level stricter:"
        f" mean {shift:+.2f}, found {found:.1%}, open {left:.1%}\n"
    )
    assert covered >= (0.93 if draws == DRAWS else 0.88)
    assert wrong <= 0.05
    assert found >= caught


def reopen(second, version="1.0"):
    at = (START + pd.Timedelta(seconds=second)).isoformat()
    return Reopening(at=at, reason="late runs", closed_at="2024-05-01T00:00:00Z", version=version)


def answer(query, annotator, level, second, **rest):
    row = {"query_id": query, "moment_id": "m", "annotator": annotator, "level": level}
    return row | {"submitted_at": START + pd.Timedelta(seconds=second)} | rest


def measure(rows, reopenings, voided=NONE_VOIDED):
    judgments = make_judgments(rows)
    ledger = ledger_of([("a", "m"), ("b", "m"), ("c", "m"), ("d", "m")])
    table = consensus(judgments, ledger, voided)
    timed = judgments.assign(seconds=1.0)
    valid = drop_voided(judgments, voided)
    return measure_drifts(reopenings, valid, table, campaign_scores(timed, ledger, voided, table))


OLD = [
    *(answer("a", who, level, who) for who, level in ((1, 2), (2, 3))),
    *(answer("b", who, 0, 2 + who) for who in (1, 2)),
    *(answer("c", who, 0, 4 + who) for who in (1, 2)),
    answer("d", 1, 4, 8),  # it waits
]


def test_new_votes_are_compared_with_old_ones_pair_by_pair():
    rows = [
        *OLD,
        answer("a", 7, 4, 100, kind="link"),
        answer("a", 8, 3, 101, kind="link"),
        answer("b", 7, 1, 102, kind="link"),
        answer("d", 7, 0, 103, kind="link"),  # not decided before
        answer("c", 8, None, 104, kind="link"),
        answer("c", 9, 4, 50, kind="link"),  # before the reopening
    ]
    [drift] = measure(rows, [reopen(90)])
    # Of three decided pairs, a (level 3) is 1 above and b (level 0, as c) is 1 above.
    assert drift["drift"] == pytest.approx((1 * 1.0 + 2 * 1.0) / 3)
    assert (drift["pairs"], drift["votes"], drift["people"]) == (2, 3, 2)
    assert drift["unasked"] == []
    # Each new vote with both old ones: 4 and 3 with 2 and 3, 1 with 0 and 0.
    theirs = metrics.cohen_kappa_score([4, 4, 3, 3, 1, 1], [2, 3, 2, 3, 0, 0], weights="quadratic")
    assert drift["kappa_quadratic"] == pytest.approx(theirs, abs=1e-6)
    assert drift["version"] == "1.0"


def test_what_was_decided_or_voided_since_is_left_out():
    late = [*OLD, answer("d", 2, 4, 95), answer("d", 7, 2, 100, kind="link")]
    assert measure(late, [reopen(90)])[0]["pairs"] == 0
    assert measure(late, [reopen(90)])[0]["drift"] is None
    assert measure(late, [reopen(90)])[0]["unasked"] == [0, 3]
    rows, voided = [*OLD, answer("a", 7, 4, 100, kind="link")], voided_of((7, START, None, None))
    [unknown] = measure(rows, [reopen(90)], voided)
    assert unknown["votes"] == 0


def test_each_reopening_has_a_drift_of_its_own():
    rows = [
        *OLD,
        answer("a", 7, 4, 100, kind="link"),
        answer("d", 2, 4, 120),  # decided between the two
        answer("d", 8, 2, 200, kind="link"),
    ]
    first, second = measure(rows, [reopen(90), reopen(150, "1.1")])
    assert (first["drift"], first["pairs"]) == (1.5, 1)
    assert (second["drift"], second["version"]) == (-2.0, "1.1")
