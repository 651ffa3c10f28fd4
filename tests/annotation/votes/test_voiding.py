"""Voided judgments: they stay in the file, and vanish from whatever is made of judgments."""

import re
from dataclasses import replace
from itertools import product
from math import ceil

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.campaign_cases import NONE_VOIDED, START, ledger_of, make_judgments, voided_of, vote
from support.rehearsed import rehearsed
from support.simulated import BATCH, answers, campaign_of, candidates_of, people

from annotation.agreement import measure_campaign
from annotation.assignment.inputs import Rule
from annotation.assignment.pace import measure_progress
from annotation.assignment.pair_states import find_pair_states
from annotation.assignment.planning import plan
from annotation.consensus import summarize_campaign
from annotation.votes.campaign_votes import consensus, counted_votes
from annotation.votes.votes import classify, last_shown
from pipeline.campaign.voided import count_withdrawn, drop_voided, mark_voided, voided_for_good
from pipeline.core import tables
from pipeline.core.params import load_defaults

PAIR = ("q", "m")


def void(*rows):
    """Return the table of `(annotator, since, until)`, in seconds from the first judgment."""
    times = [
        (who, *(None if at is None else START + pd.Timedelta(seconds=at) for at in span), None)
        for who, *span in rows
    ]
    return voided_of(*times)


spans = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 9), st.none() | st.integers(0, 12)),
    max_size=4,
    unique_by=lambda row: row[:2],
)


@given(st.lists(st.integers(1, 3), max_size=12), spans)
def test_a_judgment_is_voided_from_the_instant_on_and_before_the_end(who, rows):
    judgments = make_judgments(
        vote(annotator, 2, moment_id=f"m{at}") for at, annotator in enumerate(who)
    )
    voided = void(*rows)
    expected = [
        any(
            annotator == row[0] and row[1] <= at < (99 if row[2] is None else row[2])
            for row in rows
        )
        for at, annotator in enumerate(who)
    ]
    assert mark_voided(judgments, voided).tolist() == expected
    assert len(drop_voided(judgments, voided)) == len(who) - sum(expected)
    assert sum(count_withdrawn(judgments, voided).values()) == sum(expected)
    assert voided_for_good(voided) == {row[0] for row in rows if row[2] is None}


def test_each_judgment_is_one_thing():
    rows = [
        vote(1, 4),
        vote(2, 4, clip_sha="old"),
        vote(3, 4, kind="gold"),
        vote(4, 4, kind="escalated"),
        vote(4, 4, clip_sha="old"),
        vote(4, 4, kind="repeat"),
    ]
    last_hashes = last_shown(ledger_of([PAIR]))
    standing = classify(make_judgments(rows), last_hashes, void((4, 0, None)))
    assert standing.tolist() == ["vote", "stale", "check", "voided", "voided", "check"]
    assert classify(make_judgments([]), last_hashes, NONE_VOIDED).empty
    nobody = tables.ADJUDICATIONS.empty()
    result = summarize_campaign(
        make_judgments(rows), ledger_of([PAIR]), void((4, 0, None)), nobody, decide_pairs(rows)
    )
    counts = {"counted": 1, "late": 0, "stale": 1, "voided": 2, "checks": 2}
    assert result["judgments"] == {"all": 6, "without_level": 0} | counts


def decide_pairs(rows, voided=NONE_VOIDED):
    return consensus(make_judgments(rows), ledger_of([PAIR]), voided)


DISPUTED = [levels for levels in product(range(5), repeat=3) if abs(levels[0] - levels[1]) > 1]
"""All triples that can wait: where the first two agree, they have decided."""


def test_whichever_of_four_votes_is_voided_the_rest_is_as_if_it_had_not_been():
    cases = [(levels, out) for levels in product(range(5), repeat=4) for out in range(4)]
    pairs = [("q", f"m{number:04}") for number in range(len(cases))]
    judgments = make_judgments(
        vote(10 * number + person, level, moment_id=moment)
        for number, ((_, moment), (levels, _)) in enumerate(zip(pairs, cases, strict=True))
        for person, level in enumerate(levels)
    )
    voided = [(10 * number + out, 0, None) for number, (_, out) in enumerate(cases)]
    table = consensus(judgments, ledger_of(pairs), void(*voided))
    for (levels, out), outcome, level in zip(cases, table["outcome"], table["level"], strict=True):
        first, second, third = (*levels[:out], *levels[out + 1 :])
        agreed = abs(first - second) <= 1
        wanted = ("two", ceil((first + second) / 2)) if agreed else ("waiting", None)
        assert (outcome, None if pd.isna(level) else level) == wanted, (levels, out, third)


def test_exactly_one_more_person_is_asked_about_three_levels():
    candidates = candidates_of(len(DISPUTED), 1, BATCH)
    pairs = list(zip(candidates["query_id"], candidates["moment_id"], strict=True))
    by_query = dict(zip(sorted({query for query, _ in pairs}), DISPUTED, strict=True))
    rows = [
        vote(person, level, query_id=query, moment_id=moment)
        for query, moment in pairs
        for person, level in enumerate((*by_query[query][:2], 4, by_query[query][2]), start=1)
    ]
    judgments = make_judgments(rows)
    voided = void((3, 0, None))
    asked = plan(
        replace(campaign_of(candidates, people(6)), judgments=judgments, voided=voided)
    ).assignments
    assert sorted(zip(asked["query_id"], asked["moment_id"], strict=True)) == sorted(pairs)
    assert set(asked["annotator"]) <= {5, 6}, "the others have seen it"


@pytest.fixture(scope="module")
def voided_campaign():
    """Return a campaign that has ended, and everything of one person in it voided."""
    rehearsal = rehearsed(videos=12, val=3, test=5)
    careless = int(rehearsal.judgments["annotator"].mode()[0])
    since = rehearsal.judgments["submitted_at"].quantile(0.3)
    return rehearsal, voided_of((careless, since, None, "did not look"))


def select_remaining(rehearsal, voided):
    """Return the judgments as if the voided ones had never been made."""
    return rehearsal.judgments[~mark_voided(rehearsal.judgments, voided)].reset_index(drop=True)


def test_a_voided_vote_vanishes_from_consensus_votes_and_agreement(voided_campaign):
    rehearsal, voided = voided_campaign
    rest, ledger = select_remaining(rehearsal, voided), rehearsal.ledger
    assert 0 < len(rest) < len(rehearsal.judgments)
    whole = rehearsal.judgments
    table = consensus(whole, ledger, voided)
    pd.testing.assert_frame_equal(table, consensus(rest, ledger, NONE_VOIDED))
    assert not table.equals(consensus(whole, ledger, NONE_VOIDED))
    pd.testing.assert_frame_equal(
        counted_votes(whole, ledger, voided), counted_votes(rest, ledger, NONE_VOIDED)
    )
    ours = measure_campaign(whole, ledger, voided, table, load_defaults().agreement)
    theirs = measure_campaign(rest, ledger, NONE_VOIDED, table, load_defaults().agreement)
    assert ours.metrics == theirs.metrics
    for name, frame in ours.lead.items():
        pd.testing.assert_frame_equal(frame, theirs.lead[name])


def test_the_plan_asks_others_and_never_the_same_person_again():
    campaign = campaign_of(candidates_of(2, BATCH), people(5))
    judgments = make_judgments(answers(plan(campaign).assignments, lambda _: 3))
    done = replace(campaign, judgments=judgments)
    assert plan(done).assignments.empty
    careless = int(judgments["annotator"].iloc[0])
    voided = void((careless, 0, 10_000))
    again = plan(replace(done, voided=voided)).assignments
    own = judgments[judgments["annotator"] == careless][["query_id", "moment_id"]]
    asked = again[["query_id", "moment_id"]]
    assert sorted(map(tuple, asked.to_numpy())) == sorted(map(tuple, own.to_numpy()))
    assert careless not in set(again["annotator"])
    progress = measure_after_an_hour(replace(done, voided=voided))
    assert progress["judgments"] == len(judgments) - len(own)
    assert progress["annotators"][str(careless)]["done"] == 0
    assert progress["pace"]["people"] == len(set(judgments["annotator"])) - 1


def measure_after_an_hour(campaign):
    now = START.to_pydatetime() + pd.Timedelta(hours=1)
    nothing = tables.REJECTED_JUDGMENTS.empty()
    return measure_progress(campaign, plan(campaign).state, nothing, 5.0, now)


def test_a_second_batch_follows_the_mean_of_the_votes_that_count():
    campaign = campaign_of(candidates_of(1, 2 * BATCH), people(6), rule=Rule(BATCH, 3, 2.0))
    first = plan(campaign).assignments
    careless = {who: number for number, who in enumerate(sorted(set(first["annotator"])))}
    others = sorted(set(range(1, 7)) - careless.keys())
    fours = answers(first, lambda _: 4)
    zeros = [row | {"annotator": others[careless[row["annotator"]]], "level": 0} for row in fours]
    judged = replace(campaign, judgments=make_judgments(fours))
    assert plan(judged).state["queries"]["extended"] == ["q0"]
    voided = void(*((who, 0, 10_000) for who in careless))
    again = replace(judged, judgments=make_judgments(fours + zeros), voided=voided)
    assert (find_pair_states(again).consensus.level[:BATCH] == 0).all()
    assert plan(again).state["queries"]["extended"] == []
    assert plan(again).assignments.empty


RAW = {
    "annotation/pull.py": "writes them",
    "annotation/tasks/pushing.py": "records what was shown, whether votes on it count or not",
    "annotation/rehearsal.py": "counts what people made, before it is thrown away",
}
"""Who reads judgments.csv and need not ask what is voided."""


def test_whoever_reads_judgments_asks_which_are_voided(repository):
    forgetful = [
        str(path.relative_to(repository))
        for package in ("annotation", "pipeline")
        for path in (repository / package).rglob("*.py")
        if re.search(r"tables\.JUDGMENTS\.read", text := path.read_text())
        and "VOIDED.read" not in text
    ]
    assert set(forgetful) <= RAW.keys()
