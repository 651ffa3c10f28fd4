"""Hidden checks in the plan: their shares, what they are made of, and that nothing counts them."""

from collections import Counter
from dataclasses import replace
from math import floor
from random import Random

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.campaign_cases import ledger_of, make_judgments
from support.simulated import BATCH, LEVELS, Simulated, campaign_of, candidates_of, people

from annotation.assignment.inputs import CheckInputs, Rule
from annotation.assignment.planning import plan
from annotation.quality.gold import collect_gold
from annotation.votes.campaign_votes import consensus
from pipeline.core import tables

PAIR = ["query_id", "moment_id"]
SHARES = {"gold": 0.15, "repeats": 0.1}
GAP = 8


def make_gold(pairs, level=2, sources=None):
    """Return known levels: the lead's, or of the sources named."""
    lead = pd.DataFrame([(*pair, level, None) for pair in pairs], columns=tables.GOLD.columns)
    gold = collect_gold(tables.GOLD.check(lead), tables.EXAM.empty(), tables.ADJUDICATIONS.empty())
    return gold if sources is None else gold.assign(source=sources)


def list_pairs(candidates):
    return list(candidates[PAIR].itertuples(index=False, name=None))


def make_checks(candidates, **changes):
    """Return hidden checks whose gold are the last pairs of each query's second batch."""
    last = candidates[candidates["rank"] > 2 * BATCH - 3]
    usual = {"gap": GAP, "known": make_gold(list_pairs(last))} | SHARES
    return CheckInputs(**(usual | changes))


def watch(candidates, number, random, levels=LEVELS, **checks):
    """Return a campaign under way, with hidden checks and a limit of open tasks."""
    rest = {"checks": make_checks(candidates, **checks), "rule": Rule(BATCH, max_open=200)}
    return Simulated(candidates, people(number), random, levels, rest=rest | {"id": "c"})


def count_tasks(world, new_plan):
    """Return what each person was given of each kind, answered or open."""
    rows = [*((row["annotator"], row["kind"]) for row in world.rows)]
    rows += new_plan.assignments[["annotator", "kind"]].itertuples(index=False, name=None)
    return Counter(rows)


def count_votes(totals, who):
    return totals[who, "first"] + totals[who, "escalated"]


def check_watched(world, campaign, new_plan):
    """Check what must be true of every plan with hidden checks."""
    rows = [
        (row["query_id"], row["moment_id"], row["annotator"], row["kind"]) for row in world.rows
    ]
    rows += new_plan.assignments.itertuples(index=False, name=None)
    assert len(rows) == len(set(rows)), "no check and no vote twice"
    pair_counts = Counter(row[:3] for row in rows if row[3] != "repeat")
    assert set(pair_counts.values()) <= {1}, "gold is never voted on by the same person"
    asked = {who.number for who in world.annotators if who.active}
    assert set(new_plan.assignments["annotator"]) <= asked
    before = Counter(map(tuple, campaign.open_tasks.itertuples(index=False, name=None)))
    totals = count_tasks(world, new_plan)
    new = Counter(new_plan.assignments.itertuples(index=False, name=None))
    for query, moment, who, kind in new - before:
        if kind == "repeat":
            rate = SHARES["repeats"] / (1 - sum(SHARES.values()))
            assert totals[who, kind] <= floor(rate * count_votes(totals, who) + 1e-9)
            own = [row for row in world.rows if row["annotator"] == who]
            [at] = [
                place
                for place, row in enumerate(own)
                if (row["query_id"], row["moment_id"]) == (query, moment)
            ]
            assert own[at]["kind"] in tables.VOTING
            assert own[at]["level"] is not None
            waiting = (campaign.open_tasks["annotator"] == who).sum()
            assert len(own) - at - 1 + waiting >= GAP
    again = plan(replace(campaign, open_tasks=new_plan.assignments))
    pd.testing.assert_frame_equal(again.assignments, new_plan.assignments)


@settings(max_examples=3, phases=[Phase.generate])  # a seed can't be made simpler
@given(st.integers(0, 10**6))
def test_checks_keep_their_shares_come_late_enough_and_never_twice(seed):
    random = Random(seed)
    candidates = candidates_of(6, 2 * BATCH)
    world = watch(candidates, random.randint(5, 8), random, levels=(*LEVELS, None))
    for _ in range(6):
        campaign, new_plan = world.plan()
        check_watched(world, campaign, new_plan)
        world.answer_some()
        world.come_and_go()
    whole = make_judgments(world.rows)
    votes = whole[whole["kind"].isin(tables.VOTING)]
    ledger = ledger_of(sorted({(row["query_id"], row["moment_id"]) for row in world.rows}))
    none = tables.VOIDED.empty()
    pd.testing.assert_frame_equal(consensus(whole, ledger, none), consensus(votes, ledger, none))
    quiet = replace(world.campaign, open_tasks=tables.ASSIGNMENTS.empty())
    with_checks, without = (
        plan(replace(quiet, judgments=judgments)) for judgments in (whole, votes)
    )
    for name in ("two", "four", "discarded", "unjudgeable", "waiting", "escalated"):
        assert with_checks.state["pairs"][name] == without.state["pairs"][name]
    assert with_checks.state["queries"] == without.state["queries"]


def run_to_end(queries=30, number=6):
    """Return a campaign at its end, whose queries came one after the other; nobody disagreed."""
    whole = candidates_of(queries, 2 * BATCH)
    world = watch(whole, number, Random(1), levels=(1, 1, 2))
    for asked in range(3, queries + 1, 3):
        names = [f"q{query}" for query in range(asked)]
        world.candidates = whole[whole["query_id"].isin(names)]
        world.plan()
        world.answer(world.tasks)
    return world


@pytest.fixture(scope="module")
def finished_world():
    return run_to_end()


def test_over_a_stream_the_shares_come_to_what_is_asked_for(finished_world):
    totals = Counter((row["annotator"], row["kind"]) for row in finished_world.rows)
    for who in range(1, 7):
        votes = count_votes(totals, who)
        for kind, share in zip(("gold", "repeat"), SHARES.values(), strict=True):
            wanted = share / (1 - sum(SHARES.values())) * votes
            most = wanted + 4 if kind == "gold" else wanted + 1e-9
            assert wanted - 4 <= totals[who, kind] <= most


def test_gold_rotates_and_people_meet_it_in_different_orders(finished_world):
    gold = [row for row in finished_world.rows if row["kind"] == "gold"]
    times = Counter((row["query_id"], row["moment_id"]) for row in gold)
    assert max(times.values()) - min(times.values()) <= 1
    first = {}
    for row in gold:
        first.setdefault(row["annotator"], (row["query_id"], row["moment_id"]))
    assert len(set(first.values())) > 2


def test_the_campaign_ends_and_checks_come_with_votes_alone(finished_world):
    _, new_plan = finished_world.plan()
    assert new_plan.assignments.empty
    assert new_plan.state["pairs"]["waiting"] == 0


def test_where_gold_runs_out_there_are_fewer_and_the_state_says_so():
    candidates = candidates_of(12, 2 * BATCH)
    two = make_gold([("q0", "m0-12"), ("q1", "m1-12"), ("q9", "nothing")])
    world = watch(candidates, 6, Random(1), known=two, gold=0.3)
    _, new_plan = world.plan()
    golds = new_plan.assignments[new_plan.assignments["kind"] == "gold"]
    assert set(golds.groupby("annotator").size()) <= {1, 2}
    state = new_plan.state["checks"]
    assert (state["gold"], state["unusable"]) == (2, 1)
    assert state["without_gold"] == [1, 2, 3, 4, 5, 6]


def test_nobody_gets_gold_that_they_know_or_that_waits_for_all_who_are_left():
    candidates = candidates_of(20, BATCH, batch=BATCH)
    inputs = {"gold": 0.3, "known": make_gold([("q0", "m0-01"), ("q0", "m0-02")])}

    def gold_for(number, **changes):
        campaign = campaign_of(
            candidates, people(number), id="c", checks=CheckInputs(**(inputs | changes))
        )
        assignments = plan(campaign).assignments
        return assignments[assignments["kind"] == "gold"]

    first = gold_for(8)
    assert len(first)
    known = gold_for(8, taken=first[[*PAIR, "annotator"]])
    assert known.merge(first, on=[*PAIR, "annotator"]).empty
    assert gold_for(5).empty, "its votes need everybody"


@pytest.mark.parametrize("rank", [1, 12])
def test_gold_comes_among_the_votes_of_its_query_and_these_go_to_others(rank):
    candidates = candidates_of(40, 2 * BATCH)
    known = make_gold(list_pairs(candidates[candidates["rank"] == rank]))
    campaign = campaign_of(candidates, people(9), id="c", rule=Rule(BATCH, max_open=60))
    without = plan(campaign).assignments
    wanted = plan(replace(campaign, checks=CheckInputs(gold=0.1, known=known))).assignments
    gold = wanted[wanted["kind"] == "gold"]
    votes = wanted[wanted["kind"] != "gold"]
    assert len(gold) >= 9
    together = wanted.groupby(["query_id", "annotator"]).size()
    sizes = [together[row.query_id, row.annotator] for row in gold.itertuples()]
    assert max(sizes) <= BATCH + 1, "one more only where nobody else has room"
    assert sizes.count(BATCH) > 0.7 * len(sizes), "as many as without it"
    pairs = votes.groupby(PAIR).size()
    assert set(pairs) == {2}, "each pair has its votes"
    assert len(votes) <= len(without)


def test_gold_is_as_frequent_among_the_few_votes_that_it_replaced_elsewhere():
    candidates = candidates_of(200, 20, batch=20)
    known = make_gold(list_pairs(candidates[candidates["rank"] <= 3]))
    checks = CheckInputs(gold=0.09, known=known)
    campaign = campaign_of(
        candidates, people(8), id="c", rule=Rule(20, max_open=2000), checks=checks
    )
    tasks = plan(campaign).assignments
    together = tasks.groupby(["query_id", "annotator"])["moment_id"].transform("size")
    for few in (together <= 2, together == 3, together > 3):
        number, gold = few.sum(), (tasks.loc[few, "kind"] == "gold").sum()
        assert number > 100
        assert abs(gold - 0.09 * number) < 3.5 * (0.09 * number) ** 0.5


def test_a_full_queue_has_as_many_tasks_however_much_of_it_is_gold():
    candidates = candidates_of(40, BATCH, batch=BATCH)
    gold = make_gold(list_pairs(candidates[candidates["rank"] == 1]))
    usual = {"id": "c", "rule": Rule(BATCH, max_open=4 * BATCH)}
    checks = CheckInputs(gold=0.1, known=gold)
    tasks = plan(campaign_of(candidates, people(8), checks=checks, **usual)).assignments
    gold = tasks.loc[tasks["kind"] == "gold", "annotator"]
    assert len(set(gold.value_counts())) > 1
    assert set(tasks.groupby("annotator").size()) == {4 * BATCH}


def test_pairs_that_people_could_not_agree_on_come_last():
    candidates = candidates_of(20, 2 * BATCH)
    last = candidates[candidates["rank"].isin([1, 12])]
    gold = make_gold(list_pairs(last), sources=["adjudicated", "lead"] * 20)
    assignments = plan(
        campaign_of(candidates, people(9), id="c", checks=CheckInputs(gold=0.1, known=gold))
    ).assignments
    golds = assignments[assignments["kind"] == "gold"]
    assert len(golds) >= 9
    assert set(golds["moment_id"].str[-2:]) == {"12"}


def test_gold_on_a_second_batch_does_not_begin_it():
    candidates = candidates_of(1, 2 * BATCH)
    row = {"query_id": "q0", "moment_id": "m0-12", "annotator": 1, "level": 2, "kind": "gold"}
    campaign = campaign_of(candidates, people(6), judgments=make_judgments([row]))
    assert plan(campaign).state["queries"]["extended"] == []
    consumed = pd.DataFrame([("q0", "m0-12", 2, "gold")], columns=tables.ASSIGNMENTS.columns)
    assert plan(replace(campaign, consumed_slots=consumed)).state["queries"]["extended"] == []


def test_checks_of_who_is_stopped_are_closed_with_their_votes():
    candidates = candidates_of(12, 2 * BATCH)
    campaign = campaign_of(candidates, people(6), id="c", checks=make_checks(candidates))
    now = replace(campaign, open_tasks=plan(campaign).assignments)
    who = int(now.open_tasks.loc[now.open_tasks["kind"] == "gold", "annotator"].iloc[0])
    after = plan(replace(now, barred={who: "stopped"}))
    assert who not in set(after.assignments["annotator"])
    others = now.open_tasks[now.open_tasks["annotator"] != who]
    assert len(others.merge(after.assignments)) == len(others)
