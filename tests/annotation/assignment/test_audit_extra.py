"""Audit and top-up in a campaign: what the plan asks for them, and what it does not."""

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.campaign_cases import make_judgments
from support.simulated import BATCH, answer_all, answers, campaign_of, candidates_of, people

from annotation.assignment.planning import plan
from annotation.assignment.shown import FIRST_EXTRA, extra_pairs
from pipeline.core import tables

PAIR = ["query_id", "moment_id"]
SECOND = "m0-07"
NOBODY = tables.AUDIT.empty()
NO_RUN = tables.TOPUP.empty()
TWO_BATCHES = candidates_of(1, 2 * BATCH)


def make_pairs(pairs, table=tables.AUDIT):
    """Return a table of `(query_id, moment_id, origin)`."""
    rows = [(query, moment, 70, 0.25, origin) for query, moment, origin in pairs]
    return table.check(pd.DataFrame(rows, columns=table.columns))


def strangers(count, query="q0", name="x"):
    return make_pairs((query, f"{name}{number:02}", "deep") for number in range(count))


def make_topup(run, *moments):
    return make_pairs((("q0", moment, run) for moment in moments), tables.TOPUP)


def campaign(audit=NOBODY, topup=NO_RUN, candidates=TWO_BATCHES, staff=6):
    extra = extra_pairs(candidates, audit, topup, BATCH)
    pairs = pd.concat([candidates, extra])
    base = campaign_of(pairs.drop_duplicates(PAIR), people(staff))
    return replace(base, candidates=candidates, extra=extra)


def in_candidates(level, elsewhere):
    return lambda task: level if task["moment_id"].startswith("m0") else elsewhere


def batches(extra):
    return extra.groupby("batch")["moment_id"].agg(set).to_dict()


# What is asked for


def test_batch_1_is_left_out_batch_2_keeps_its_number_and_others_follow():
    audit = make_pairs([("q0", "m0-01", "near"), ("q0", SECOND, "near"), ("q0", "x", "deep")])
    extra = extra_pairs(TWO_BATCHES, audit, NO_RUN, BATCH)
    assert batches(extra) == {2: {SECOND}, FIRST_EXTRA: {"x"}}


def test_others_form_batches_of_at_most_the_size_audit_and_runs_apart():
    audit = pd.concat([strangers(8), strangers(1, query="q1")])
    topup = pd.concat([make_topup("b", "y1", "x00"), make_topup("a", "z1", "z2")])
    extra = extra_pairs(TWO_BATCHES, audit, topup, BATCH)
    own = extra[extra["query_id"] == "q0"]
    first = {f"x0{number}" for number in range(6)}
    parts = [first, {"x06", "x07"}, {"z1", "z2"}, {"y1"}]
    assert batches(own) == dict(enumerate(parts, FIRST_EXTRA))
    assert batches(extra[extra["query_id"] == "q1"]) == {FIRST_EXTRA: {"x00"}}


# What the plan makes of it


def test_extra_pairs_are_voted_on_at_once_a_couple_for_each_batch():
    result = plan(campaign(strangers(2 * BATCH)))
    couples = result.assignments.groupby(PAIR)["annotator"].agg(frozenset)
    assert (result.assignments.groupby(PAIR).size() == 2).all()
    assert len(couples) == 3 * BATCH
    groups = [couples.iloc[first : first + BATCH] for first in range(0, 3 * BATCH, BATCH)]
    assert [group.nunique() for group in groups] == [1, 1, 1]
    assert set(result.assignments["kind"]) == {"first"}
    assert result.state["pairs"]["all"] == 3 * BATCH


@pytest.mark.parametrize(("level", "extended"), [(1, []), (2, ["q0"])])
def test_the_extension_asks_the_candidates_alone(level, extended):
    now = answer_all(campaign(strangers(9)), in_candidates(level, 4 if level < 2 else 0))
    assert plan(now).state["queries"]["extended"] == extended


def test_an_extra_pair_of_batch_2_does_not_begin_it():
    now = campaign(make_pairs([("q0", SECOND, "near")]))
    assert SECOND in set(plan(now).assignments["moment_id"])
    after = plan(answer_all(now, lambda _: 1))
    assert after.state["queries"]["extended"] == []
    assert after.assignments.empty
    assert after.state["pairs"]["two"] == BATCH + 1


def test_a_query_is_extended_past_the_pairs_that_were_judged_already():
    now = answer_all(campaign(make_pairs([("q0", SECOND, "near")])), lambda _: 3)
    result = plan(now)
    assert result.state["queries"]["extended"] == ["q0"]
    assert set(result.assignments["moment_id"]) == {f"m0-{rank:02}" for rank in range(8, 13)}


def test_extra_pairs_are_wanted_though_the_lead_says_no():
    now = replace(campaign(make_pairs([("q0", SECOND, "near")])), extend={"q0": False})
    assert SECOND in set(plan(now).assignments["moment_id"])


def test_extra_pairs_that_wait_do_not_hold_up_the_second_batch():
    now = campaign(strangers(3))
    tasks = plan(now).assignments
    own = tasks[tasks["moment_id"].str.startswith("m0")]
    now = replace(now, judgments=make_judgments(answers(own, lambda _: 4)))
    assert plan(now).state["queries"]["extended"] == ["q0"]


def test_a_top_up_takes_nothing_away_from_anybody():
    before = campaign(strangers(4))
    tasks = plan(before).assignments
    later = campaign(strangers(4), make_topup("a", "a1", "z1", SECOND))
    after = plan(replace(later, open_tasks=tasks)).assignments
    assert len(tasks.merge(after)) == len(tasks)
    assert len(after) == len(tasks) + 2 * 3


@settings(max_examples=10)
@given(st.randoms(), st.sets(st.integers(1, 2 * BATCH)), st.integers(0, 9), st.integers(0, 9))
def test_all_that_is_asked_is_judged_once_whatever_the_order(random, ranks, others, results):
    audit = make_pairs([("q0", f"m0-{rank:02}", "near") for rank in sorted(ranks)])
    audit = pd.concat([audit, strangers(others)])
    topup = make_topup("run", *(f"x{number:02}" for number in range(5, 5 + results)))
    now = campaign(audit, topup)
    mixed = campaign(
        *(frame.sample(frac=1, random_state=random.randrange(99)) for frame in (audit, topup))
    )
    result = plan(now)
    pd.testing.assert_frame_equal(plan(mixed).assignments, result.assignments)
    wanted = pd.concat([TWO_BATCHES[:BATCH], audit, topup])["moment_id"]
    assert set(result.assignments["moment_id"]) == set(wanted)
    assert (result.assignments.groupby(PAIR).size() == 2).all()
    assert (now.extra.groupby("batch").size() <= BATCH).all()
