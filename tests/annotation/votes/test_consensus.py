"""Consensus: the rule against its definition, and which judgments are votes at all."""

from fractions import Fraction
from itertools import product
from math import ceil
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.campaign_cases import (
    NONE_VOIDED,
    decisions_of,
    judgments_of,
    ledger_of,
    make_judgments,
    vote,
)

from annotation.votes import rule
from annotation.votes.adjudication import adjudicate, fresh_decisions
from annotation.votes.campaign_votes import consensus, counted_votes
from annotation.votes.rule import decide
from annotation.votes.votes import NO_LEVEL
from momentrank.meta import votes
from pipeline.core import tables

LEVELS = range(5)
PAIR = ("q", "m")
votes_of_a_pair = st.lists(st.sampled_from([*LEVELS, None]), max_size=9)


def by_definition(votes):
    """Return outcome and level of a pair's votes, as the paper and the design say it."""
    levels = sorted(vote for vote in votes if vote is not None)
    if votes.count(None) >= 2:
        return "unjudgeable", None
    if len(levels) == 2 and levels[1] - levels[0] <= 1:
        return "two", ceil(Fraction(sum(levels), 2))
    if len(levels) == 4:
        levels.remove(max(levels))
        levels.remove(min(levels))
        if max(levels) - min(levels) <= 1:
            return "four", ceil(Fraction(sum(levels), 2))
        return "discarded", None
    return "waiting", None


def in_time(votes):
    """Return the votes up to and with the one that decides the pair."""
    ends = range(len(votes) + 1)
    return next((votes[:end] for end in ends if by_definition(votes[:end])[0] != "waiting"), votes)


def decide_cases(cases, closed=False):
    pair = np.repeat(np.arange(len(cases)), [len(votes) for votes in cases])
    level = [NO_LEVEL if vote is None else vote for votes in cases for vote in votes]
    decisions = decide(pair, np.array(level, dtype=np.int64), len(cases), closed=closed)
    levels = [None if level == NO_LEVEL else int(level) for level in decisions.level]
    return list(zip(decisions.outcome.tolist(), levels, strict=True))


def only(table):
    """Return the one row of a table."""
    [row] = table.to_dict("records")
    return row


def decide_pair(rows, closed=False):
    return only(consensus(make_judgments(rows), ledger_of([PAIR]), NONE_VOIDED, closed=closed))


def make_tables(cases):
    """Return judgments and ledger of pairs with such votes."""
    rows = [
        vote(person, level, moment_id=f"m{number}")
        for number, votes in enumerate(cases)
        for person, level in enumerate(votes)
    ]
    return make_judgments(rows), ledger_of([("q", f"m{number}") for number in range(len(cases))])


def test_every_combination_of_votes_is_decided_as_defined():
    cases = [
        list(votes) for number in range(6) for votes in product([*LEVELS, None], repeat=number)
    ]
    assert decide_cases(cases) == [by_definition(votes) for votes in cases]


@pytest.mark.parametrize("rounding", get_args(rule.Rounding))
@pytest.mark.parametrize("number", [2, 4])
def test_the_scorers_noise_of_levels_decides_as_the_rule_does(number, rounding):
    levels = np.array(list(product(range(5), repeat=number)))
    pair = np.repeat(np.arange(len(levels)), number)
    how = {"closed": True, "rounding": rounding}
    expected = rule.decide(pair, levels.ravel(), len(levels), **how).level
    assert votes.decide(levels, rounding).tolist() == expected.tolist()


@settings(max_examples=15)
@given(st.lists(votes_of_a_pair, min_size=1, max_size=8), st.randoms())
def test_the_order_of_rows_does_not_matter(cases, random):
    judgments, ledger = make_tables(cases)
    order = random.sample(range(len(judgments)), len(judgments))
    shuffled = consensus(judgments.iloc[order], ledger.iloc[::-1], NONE_VOIDED)
    pd.testing.assert_frame_equal(shuffled, consensus(judgments, ledger, NONE_VOIDED))


@settings(max_examples=40)
@given(votes_of_a_pair)
def test_what_comes_after_the_decision_changes_nothing(votes):
    row = decide_pair([vote(person, level) for person, level in enumerate(votes)])
    counted = in_time(votes)
    level = None if pd.isna(row["level"]) else row["level"]
    assert (row["outcome"], level) == by_definition(counted)
    assert level == (None if pd.isna(row["mean"]) else ceil(row["mean"]))
    assert row["scores"] == sorted(level for level in counted if level is not None)


def test_votes_count_in_the_order_of_time_whatever_the_annotators_numbers():
    assert decide_pair([vote(9, 2), vote(8, 2), vote(1, 4), vote(2, 4)])["scores"] == [2, 2]


def test_once_the_campaign_is_closed_what_waits_is_discarded_and_told_apart():
    apart = decide_pair([vote(1, 0), vote(2, 4)], closed=True)
    assert (apart["outcome"], apart["scores"]) == ("discarded", [0, 4])
    assert decide_pair([], closed=True)["outcome"] == "discarded"
    assert decide_pair([vote(1, 3), vote(2, 4)], closed=True)["outcome"] == "two"


def test_a_stale_gold_or_repeated_judgment_never_counts():
    changes = {"clip_sha": "older"}, {"query_sha": "older"}, {"kind": "gold"}, {"kind": "repeat"}
    changed = [vote(number, 3, **change) for number, change in enumerate(changes, 2)]
    assert decide_pair([vote(1, 3), *changed])["scores"] == [3]


def test_a_clip_that_was_shown_anew_makes_the_older_judgments_stale():
    ledger = pd.concat([ledger_of([PAIR], "old"), ledger_of([PAIR], "new").assign(pair_id=7)])
    rows = [vote(1, 0, clip_sha="old"), vote(2, 3, clip_sha="new"), vote(3, 4, clip_sha="new")]
    for order in (ledger, ledger.iloc[::-1]):
        assert only(consensus(make_judgments(rows), order, NONE_VOIDED))["scores"] == [3, 4]


def test_what_was_never_shown_has_no_consensus():
    judgments = judgments_of([("q", "other", 1, 3), ("q", "other", 2, 3)])
    assert only(consensus(judgments, ledger_of([PAIR]), NONE_VOIDED))["moment_id"] == "m"


def test_a_person_has_one_vote_their_newest():
    assert decide_pair([vote(1, 0), vote(1, 3, kind="escalated"), vote(2, 4)])["scores"] == [3, 4]


def test_the_votes_that_count_are_listed_under_the_number_of_their_pair_as_last_shown():
    ledger = pd.concat([ledger_of([PAIR], "old"), ledger_of([PAIR], "new").assign(pair_id=7)])
    newly = [(5, None), (4, 4), (2, 3), (3, 0)]
    rows = [vote(1, 0, clip_sha="old"), *(vote(*answer, clip_sha="new") for answer in newly)]
    counted = (
        counted_votes(make_judgments(rows), ledger, NONE_VOIDED)
        .astype(object)
        .fillna("")
        .values.tolist()
    )
    assert counted == [[7, 2, 3, ""], [7, 4, 4, ""], [7, 5, "", "broken-clip"]]
    assert counted_votes(tables.JUDGMENTS.empty(), ledger_of([]), NONE_VOIDED).empty


@settings(max_examples=20)
@given(st.lists(votes_of_a_pair, min_size=1, max_size=6))
def test_the_votes_that_count_are_the_ones_of_the_consensus(cases):
    judgments, ledger = make_tables(cases)
    counted = counted_votes(judgments, ledger, NONE_VOIDED).dropna(subset="level")
    scores = counted.groupby("pair_id")["level"].apply(sorted).to_dict()
    whole = consensus(judgments, ledger, NONE_VOIDED).merge(ledger, on=["query_id", "moment_id"])
    assert {row["pair_id"]: row["scores"] for row in whole.to_dict("records") if row["scores"]} == {
        number: list(map(int, levels)) for number, levels in scores.items()
    }


def make_adjudications(rows):
    """Return adjudications of `(moment, level)`; what a pair was as it was shown."""
    moments, levels, clips = zip(*rows, strict=True)
    shown = ledger_of((("q", moment) for moment in moments), sha=clips)
    return decisions_of(shown, pd.array(levels, "Int64"))


def test_what_the_lead_decided_goes_before_the_votes_and_beside_what_they_came_to():
    votes = {"m1": (0, 4, 0, 4), "m2": (None, None), "m3": (2, 3), "m4": (1, 1), "m5": (0, 4, 0, 4)}
    rows = [("q", moment, who, level) for moment, own in votes.items()
            for who, level in enumerate(own)]  # fmt: skip
    ledger = ledger_of([("q", moment) for moment in votes])
    voted = consensus(judgments_of(rows), ledger, NONE_VOIDED)
    decisions = make_adjudications(
        [("m1", 2, "clip"), ("m2", None, "clip"), ("m3", 0, "clip"), ("m5", 1, "older"),
         ("m9", 1, "clip")]
    )  # fmt: skip
    table = adjudicate(voted, fresh_decisions(decisions, ledger)).set_index("moment_id")
    assert table["outcome"].to_dict() == {
        "m1": "adjudicated", "m2": "unjudgeable", "m3": "adjudicated", "m4": "two",
        "m5": "discarded",
    }  # fmt: skip
    assert table["level"].fillna(-1).tolist() == [2, -1, 0, 1, -1]
    assert table["voted_level"].fillna(-1).tolist() == [-1, -1, 3, 1, -1]
    assert table["voted_outcome"].tolist() == voted["outcome"].tolist()
    assert table["mean"].notna().tolist() == [False, False, False, True, False]
