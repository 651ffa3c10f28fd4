"""The plan of a campaign whose further batches are learned: all that the pool has is asked."""

from dataclasses import replace

import pandas as pd
import pytest
from support.simulated import BATCH, answer_all, campaign_of, candidates_of, people

from annotation.assignment.ended import find_batches
from annotation.assignment.inputs import Rule
from annotation.assignment.planning import plan
from pipeline.core import tables

TOP = 3 * BATCH
QUERIES = 4


def find_nothing(_):
    return 0


def make_campaign(*learned, **changes):
    """Return a campaign of which these queries have a learned batch of three, of any rank."""
    first = candidates_of(QUERIES, BATCH)
    rows = [
        (f"q{query}", f"x{query}-{n}", 50 + n, 0.2, 2 + again)
        for query, batches in learned
        for again in range(batches)
        for n in range(3 * again, 3 * again + 3)
    ]
    more = pd.DataFrame(rows, columns=first.columns)
    pool = tables.CANDIDATES.check(pd.concat([first, more]).assign(batch=1)).assign(
        batch=[*first["batch"], *more["batch"]]
    )
    return campaign_of(pool, people(6), rule=Rule(BATCH, learned=TOP), **changes)


def asked(now):
    return set(plan(now).assignments["moment_id"])


def test_a_learned_batch_is_asked_whatever_the_first_one_found():
    now = make_campaign((0, 1), (1, 2))
    assert {"x0-0", "x1-0", "x1-5"} <= asked(now)
    state = plan(answer_all(now, find_nothing)).state
    assert state["queries"]["extended"] == ["q0", "q1"]
    assert state["queries"]["for_the_lead"] == []
    assert state["pairs"]["two"] == QUERIES * BATCH + 9
    assert state["pairs"]["waiting"] == 0


def test_what_the_lead_ends_is_asked_no_more():
    now = make_campaign((0, 1), (1, 1), extend={"q0": False})
    assert not {moment for moment in asked(now) if moment.startswith("x0")}
    assert {moment for moment in asked(now) if moment.startswith("x1")}


def test_a_query_has_ended_once_nothing_of_its_pool_waits():
    now = make_campaign((0, 1))
    nobody = tables.TOPUP.empty()
    assert find_batches(now, nobody).ended == set()
    judged = answer_all(now, find_nothing)
    assert find_batches(judged, nobody).ended == {f"q{query}" for query in range(QUERIES)}
    later = make_campaign((0, 2))
    pool = {name: getattr(later, name) for name in ("candidates", "shown", "clips")}
    assert "q0" not in find_batches(replace(judged, **pool), nobody).ended


@pytest.mark.parametrize("answered", [False, True])
def test_the_outlook_counts_what_a_query_has_left(answered):
    now = make_campaign((0, 1), (1, 2))
    outlook = plan(answer_all(now, find_nothing) if answered else now).state["outlook"]
    if answered:
        assert (outlook["undecided"], outlook["second_pairs"]) == (0, 0)
        assert (outlook["decided"], outlook["extended"]) == (QUERIES, 2)
    else:
        left = QUERIES * (TOP - BATCH) - 3 - 6
        assert (outlook["undecided"], outlook["second_pairs"]) == (QUERIES, left)
        assert (outlook["decided"], outlook["extended"]) == (0, 0)
