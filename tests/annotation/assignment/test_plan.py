"""The plan: who is asked, what stays, what is never asked, and campaigns from end to end."""

from collections import Counter
from dataclasses import replace
from random import Random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.campaign_cases import NONE_VOIDED, SEAT, ledger_of, make_judgments
from support.simulated import (
    BATCH,
    Simulated,
    answer_all,
    answer_tasks,
    answers,
    campaign_of,
    candidates_of,
    open_planned,
    people,
)

from annotation.assignment.inputs import PlanError, Rule
from annotation.assignment.planning import plan
from annotation.assignment.progress import closed_state
from annotation.plan import refuse_too_few_people
from annotation.roster.annotator import Annotator
from annotation.votes.campaign_votes import consensus
from pipeline.core import tables

OUTCOMES = ("two", "four", "discarded", "unjudgeable")
seeds = st.integers(0, 10**6)
PAIR = ["query_id", "moment_id"]
ONE_QUERY = candidates_of(1, BATCH)
TWO_BATCHES = candidates_of(1, 2 * BATCH)


def who_has(result, **where):
    """Return the people per pair among the assignments that have such values."""
    rows = result.assignments
    for name, value in where.items():
        rows = rows[rows[name] == value]
    return rows.groupby(PAIR)["annotator"].agg(frozenset)


def loads(result):
    return {number: who["open"] for number, who in result.state["annotators"].items()}


def by_rank(levels):
    """Return the level of a task by its rank, from the last two digits of its moment."""
    return lambda task: levels[int(task["moment_id"][-2:]) - 1]


def deactivate(annotators, number):
    return [who._replace(active=who.active and who.number != number) for who in annotators]


# First votes


def test_two_people_judge_a_batch_the_same_two_all_its_pairs():
    result = plan(campaign_of(candidates_of(7, BATCH), people(5)))
    couples = who_has(result).groupby("query_id").agg(set)
    assert all(len(couple) == 1 and len(next(iter(couple))) == 2 for couple in couples)
    assert set(result.assignments["kind"]) == {"first"}
    assert result.state["pairs"]["waiting"] == len(result.assignments) / 2 == 42


@pytest.mark.parametrize("number", [4, 5, 6, 9])
def test_loads_differ_by_a_batch_at_most(number):
    result = plan(campaign_of(candidates_of(25, 20, batch=20), people(number), rule=Rule(20)))
    assert max(loads(result).values()) - min(loads(result).values()) <= 20


def test_couples_change_from_query_to_query():
    result = plan(campaign_of(candidates_of(40, BATCH), people(6)))
    assert len(set(who_has(result))) > 10  # of 15


def test_people_for_escalated_pairs_vote_first_only_where_annotators_are_too_few():
    rest = [Annotator(8, "lead", active=True), Annotator(9, "annotator", active=False)]
    enough = plan(campaign_of(candidates_of(9, BATCH), [*people(2, escalation=3), *rest]))
    assert set(enough.assignments["annotator"]) == {1, 2}, "nor a lead, nor who is not active"
    too_few = plan(campaign_of(candidates_of(9, BATCH), people(1, escalation=3)))
    assert all(1 in couple for couple in who_has(too_few))


def test_fewer_than_four_people_are_refused():
    three = [*people(2, escalation=1), Annotator(8, "lead", active=True)]
    with pytest.raises(PlanError, match=r"annotators\.yaml: 3 active people can judge, but 4"):
        refuse_too_few_people(three)
    refuse_too_few_people(people(3, escalation=1))


@pytest.mark.parametrize("number", [0, 1, 3])
def test_where_people_are_too_few_seats_stay_empty(number):
    result = plan(campaign_of(ONE_QUERY, people(number)))
    seats, pairs = min(number, 2), result.state["pairs"]
    assert [len(couple) for couple in who_has(result)] == [seats] * (BATCH if seats else 0)
    assert (pairs["waiting"], pairs["nobody_left"]) == (BATCH, 0 if seats == 2 else BATCH)


@settings(max_examples=6)
@given(seeds)
def test_a_closed_campaign_stands_as_its_consensus_says(seed):
    """Also where the last plan wanted what was never shown."""
    random = Random(seed)
    world = Simulated(
        candidates_of(3, 2 * BATCH), people(5, escalation=2), random, levels=(2, 2, 4)
    )
    pairs = set()
    for _ in range(random.randint(0, 6)):
        _, result = world.plan()
        pairs |= set(result.assignments[PAIR].itertuples(index=False, name=None))
        world.answer_some()
        world.come_and_go()
    ledger = ledger_of(sorted(pairs))
    state = closed_state(replace(world.campaign, annotators=[]), ledger)
    table = consensus(make_judgments(world.rows), ledger, NONE_VOIDED, closed=True)
    outcomes = Counter(table["outcome"])
    outcome_names = ("waiting", *OUTCOMES)
    assert {name: state["pairs"][name] for name in outcome_names} == {
        name: outcomes[name] for name in outcome_names
    }
    assert (state["pairs"]["all"], state["pairs"]["without_clip"]) == (len(table), 0)
    assert state["queries"]["for_the_lead"] == []
    second = {query for query, moment in pairs if int(moment[-2:]) > BATCH}
    assert state["queries"]["extended"] == sorted(second)
    assert all(who["open"] == 0 for who in state["annotators"].values())


def test_nothing_to_judge_is_an_empty_plan():
    result = plan(campaign_of(tables.CANDIDATES.empty(), []))
    assert result.assignments.empty
    assert result.state["pairs"]["all"] == result.state["queries"]["all"] == 0


def test_a_pair_without_a_clip_is_not_wanted_until_it_has_one():
    campaign = campaign_of(ONE_QUERY, people(4))
    missing = replace(campaign, clips=campaign.clips - {"m0-03"})
    result = plan(missing)
    assert "m0-03" not in set(result.assignments["moment_id"])
    assert result.state["pairs"]["without_clip"] == 1
    assert result.state["pairs"]["waiting"] == BATCH - 1
    mended = plan(replace(campaign, open_tasks=result.assignments))
    assert len(set(who_has(mended))) == 1


def test_equal_queries_are_judged_once_as_that_of_the_smallest_id_whose_are_their_judgments():
    candidates = pd.concat([ONE_QUERY, ONE_QUERY.assign(query_id="q1"), candidates_of(3, BATCH)])
    candidates = candidates.drop_duplicates(PAIR)
    texts = pd.DataFrame(
        {"query_id": ["q1", "q0", "q2"], "query": ["He waves.", " he WAVES. ", "x"]}
    )
    pair = {"query_id": "q1", "moment_id": "m0-01", "level": 2}
    rows = [pair | {"annotator": who} for who in (1, 2)]
    result = plan(campaign_of(candidates, people(4), queries=texts, judgments=make_judgments(rows)))
    assert set(result.assignments["query_id"]) == {"q0", "q2"}
    assert result.state["queries"]["left_out_as_equal"] == 1
    assert result.state["pairs"]["two"] == 1
    assert "m0-01" not in set(result.assignments["moment_id"])


# What stays


def test_who_leaves_is_followed_by_one_who_takes_all_their_pairs():
    campaign = open_planned(campaign_of(candidates_of(4, BATCH), people(5)))
    gone = campaign.open_tasks["annotator"].iloc[0]
    after = plan(replace(campaign, annotators=deactivate(campaign.annotators, gone))).assignments
    stayed = campaign.open_tasks[campaign.open_tasks["annotator"] != gone]
    unchanged = stayed.merge(after)
    assert len(unchanged) == len(stayed)
    couples = after.groupby(PAIR)["annotator"].agg(frozenset).groupby("query_id").nunique()
    assert (couples == 1).all()
    assert gone not in set(after["annotator"])


def test_judged_pairs_of_who_leaves_stay_judged():
    campaign = open_planned(campaign_of(ONE_QUERY, people(5)))
    leaver = campaign.open_tasks["annotator"].min()
    half = campaign.open_tasks[campaign.open_tasks["annotator"] == leaver].iloc[:3]
    after = answer_tasks(campaign, half, lambda _: 2)
    after = replace(after, annotators=deactivate(after.annotators, leaver))
    result = plan(after)
    assert (result.assignments.groupby(PAIR).size() == [1, 1, 1, 2, 2, 2]).all()
    who = result.state["annotators"][str(leaver)]
    assert who == {"role": "annotator", "active": False, "open": 0, "later": 0, "done": 3}


def test_who_joins_takes_nothing_away():
    campaign = open_planned(campaign_of(candidates_of(4, BATCH), people(4)))
    result = plan(replace(campaign, annotators=people(8)))
    pd.testing.assert_frame_equal(result.assignments, campaign.open_tasks)


def test_what_was_open_twice_over_is_open_once_again():
    campaign = open_planned(campaign_of(ONE_QUERY, people(5)))
    idle = min({1, 2, 3, 4, 5} - set(campaign.open_tasks["annotator"]))
    more = campaign.open_tasks.drop_duplicates(PAIR).assign(annotator=idle)
    result = plan(replace(campaign, open_tasks=pd.concat([campaign.open_tasks, more])))
    assert len(result.assignments) == 2 * BATCH


def test_a_task_that_is_still_listed_after_its_answer_is_not_wanted_again():
    campaign = open_planned(campaign_of(ONE_QUERY, people(5)))
    task = campaign.open_tasks.iloc[:1]
    stale = [row | {"clip_sha": "older"} for row in answers(task, lambda _: 2)]
    result = plan(replace(campaign, judgments=make_judgments(stale)))
    [(query, moment, person)] = task[SEAT].itertuples(index=False, name=None)
    couple = who_has(result)[query, moment]
    assert len(couple) == 2
    assert person not in couple


# Escalation, and votes without a level


def make_disagreement(annotators, first=(0, 4), candidates=ONE_QUERY):
    """Return a campaign in which the two first voters gave these levels everywhere."""
    now = open_planned(campaign_of(candidates, annotators))
    smaller = now.open_tasks["annotator"].min()
    return answer_tasks(now, now.open_tasks, lambda task: first[int(task["annotator"] != smaller)])


def test_levels_apart_go_to_two_others():
    campaign = make_disagreement(people(6))
    result = plan(campaign)
    voted = set(campaign.judgments["annotator"])
    assert all(len(couple) == 2 and not couple & voted for couple in who_has(result))
    assert set(result.assignments["kind"]) == {"escalated"}
    assert result.state["pairs"]["escalated"] == result.state["pairs"]["waiting"] == BATCH


def test_somebody_new_for_escalated_pairs_comes_before_who_stood_in_for_them():
    campaign = make_disagreement(people(9, escalation=1))
    half = plan(campaign).assignments.iloc[: BATCH // 2 * 2]
    joined = [*campaign.annotators, Annotator(11, "escalation", active=True)]
    couples = who_has(plan(replace(campaign, annotators=joined, open_tasks=half)))
    assert list(couples == {10, 11}) == [False] * (BATCH // 2) + [True] * (BATCH // 2)


def test_the_people_for_escalated_pairs_come_first():
    result = plan(make_disagreement(people(9, escalation=2)))
    assert set(who_has(result)) == {frozenset({10, 11})}
    alone = plan(make_disagreement(people(9, escalation=1)))
    assert all(10 in couple for couple in who_has(alone))


def test_one_vote_without_a_level_asks_one_more():
    campaign = make_disagreement(people(6), first=(3, None))
    result = plan(campaign)
    assert set(result.assignments["kind"]) == {"first"}
    assert (result.assignments.groupby(PAIR).size() == 1).all()
    assert len(set(result.assignments["annotator"])) == 1  # the same for the whole batch
    assert not set(result.assignments["annotator"]) & set(campaign.judgments["annotator"])
    agreed = answer_all(campaign, lambda _: 4)
    assert plan(agreed).state["pairs"]["two"] == BATCH


def test_a_pair_that_everybody_has_seen_waits_and_is_counted():
    campaign = make_disagreement(people(4), first=(0, None))
    campaign = answer_all(campaign, lambda _: 4)
    result = plan(campaign)
    assert (result.assignments.groupby(PAIR).size() == 1).all()
    assert result.state["pairs"]["nobody_left"] == BATCH
    joined = plan(replace(campaign, annotators=people(5), open_tasks=result.assignments))
    assert joined.state["pairs"]["nobody_left"] == 0


# Extension


def last_ranks(levels, first=0):
    """Return a campaign with agreed levels: `first` at rank 1, then `levels`."""
    campaign = campaign_of(TWO_BATCHES, people(6))
    return answer_all(campaign, by_rank([first, *levels]))


def find_extension(campaign):
    state = plan(campaign).state["queries"]
    return bool(state["extended"]), bool(state["for_the_lead"])


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([2, 2, 2, 2, 2], True),
        ([4, 4, 2, 0, 0], True),
        ([4, 4, 1, 0, 0], False),
        ([2, 2, 2, 2, 1], False),
        ([None, None, None, None, 2], True),
        ([None, 3, None, 2, 0], False),
    ],
)
def test_a_query_is_extended_where_the_mean_level_of_the_last_ranks_is_two(levels, expected):
    assert find_extension(last_ranks(levels, first=4)) == (expected, False)


@pytest.mark.parametrize(("level", "alone"), [(None, (False, True)), (4, (True, False)),
                                              (0, (False, False))])  # fmt: skip
def test_a_decision_overrules_the_mean_and_is_wanted_where_there_is_none(level, alone):
    campaign = last_ranks([level] * 5, first=4)
    assert find_extension(campaign) == alone
    assert find_extension(replace(campaign, extend={"q0": False})) == (False, False)
    assert find_extension(replace(campaign, extend={"q0": True})) == (True, False)


def test_a_decision_on_an_unknown_query_is_refused():
    campaign = campaign_of(ONE_QUERY, people(4), extend={"q7": True})
    with pytest.raises(PlanError, match=r"extend\.csv: .*query 'q7'; delete the line"):
        plan(campaign)


def test_the_second_batch_waits_for_the_first():
    campaign = open_planned(campaign_of(TWO_BATCHES, people(6)))
    assert set(campaign.open_tasks["moment_id"]) == set(ONE_QUERY["moment_id"])
    nearly = answer_tasks(campaign, campaign.open_tasks.iloc[1:], lambda _: 4)
    assert find_extension(nearly) == (False, False)
    done = answer_tasks(nearly, nearly.open_tasks, lambda _: 4)
    assert set(plan(done).assignments["moment_id"]) == {f"m0-{rank:02}" for rank in range(7, 13)}
    assert plan(done).state["pairs"]["all"] == 2 * BATCH


def test_a_second_batch_that_was_begun_is_gone_on_with():
    begun = open_planned(last_ranks([2, 2, 2, 2, 2]))
    changed = begun.judgments.assign(level=begun.judgments["level"].mask(lambda s: s == 2, 1))
    changed = replace(begun, judgments=changed)
    pd.testing.assert_frame_equal(plan(changed).assignments, begun.open_tasks)
    assert plan(replace(changed, extend={"q0": False})).assignments.empty


def test_too_few_candidates_are_never_extended():
    campaign = answer_all(campaign_of(candidates_of(1, BATCH - 1), people(6)), lambda _: None)
    assert find_extension(campaign) == (False, False)
    assert find_extension(replace(campaign, extend={"q0": True})) == (False, False)


# Whole campaigns


def target(levels):
    """Return how many votes with a level the pair has in the end, as far as can be seen."""
    return 4 if len(levels) >= 2 and abs(levels[0] - levels[1]) > 1 else 2


def check_plan(world, campaign, result):
    """Check what must be true of every plan."""
    tasks = result.assignments
    assert set(tasks["annotator"]) <= {who.number for who in world.annotators if who.active}
    assert not tasks.duplicated(SEAT).any()
    assert not {tuple(row[name] for name in SEAT) for row in world.rows} & list_seats(tasks)
    levels = {pair: [] for pair in tasks[PAIR].itertuples(index=False, name=None)}
    for row in world.rows:
        pair = row["query_id"], row["moment_id"]
        if pair in levels and row["level"] is not None:
            levels[pair].append(row["level"])
    wanted = {pair: target(levels[pair]) - len(levels[pair]) for pair in levels}
    assert Counter(tasks[PAIR].itertuples(index=False, name=None)) == wanted
    again = plan(replace(campaign, open_tasks=tasks))
    pd.testing.assert_frame_equal(again.assignments, tasks)
    assert again.state == result.state


def list_seats(tasks):
    return set(tasks[SEAT].itertuples(index=False, name=None))


def check_stable(campaign, result):
    """Check that nobody new has a pair that was taken from somebody who could go on."""
    active = {who.number for who in campaign.annotators if who.active}
    before, after = list_seats(campaign.open_tasks), list_seats(result.assignments)
    newly_asked = {seat[:2] for seat in after - before}
    assert not [seat for seat in before - after if seat[2] in active and seat[:2] in newly_asked]


@settings(max_examples=4)
@given(seeds)
def test_a_campaign_ends_with_every_pair_decided_by_two_or_four_people(seed):
    random = Random(seed)
    staff = people(random.randint(3, 6), escalation=random.randint(3, 4))
    world = Simulated(candidates_of(2, 2 * BATCH), staff, random)
    for _ in range(5):
        campaign, result = world.plan()
        check_plan(world, campaign, result)
        check_stable(campaign, result)
        if random.random() < 0.3:
            world.late(campaign.open_tasks)
        world.answer_some()
        world.come_and_go()
    counts = world.judge_all().state["pairs"]
    assert counts["waiting"] == counts["nobody_left"] == 0
    check_outcomes(world, counts)


def check_outcomes(world, counts):
    """Check the plan's counts, and how many people voted, against the consensus."""
    judged_pairs = {(row["query_id"], row["moment_id"]) for row in world.rows}
    table = consensus(make_judgments(world.rows), ledger_of(sorted(judged_pairs)), NONE_VOIDED)
    outcomes = Counter(table["outcome"])
    assert {name: counts[name] for name in OUTCOMES} == {name: outcomes[name] for name in OUTCOMES}
    assert counts["all"] == len(table)
    votes = {(row.outcome, len(row.scores)) for row in table.itertuples()}
    agreed = {vote for vote in votes if vote[0] != "unjudgeable"}
    assert agreed <= {("two", 2), ("four", 4), ("discarded", 4)}


@settings(max_examples=6)
@given(seeds)
def test_the_order_of_rows_does_not_matter(seed):
    random = Random(seed)
    world = Simulated(candidates_of(4, 2 * BATCH), people(4, escalation=3), random)
    for _ in range(random.randint(0, 4)):
        world.plan()
        world.answer_some()
    campaign = world.campaign

    def shuffle(frame):
        return frame.sample(frac=1, random_state=random.randrange(999))

    names = ("queries", "candidates", "shown", "judgments", "open_tasks")
    frames = {name: shuffle(getattr(campaign, name)) for name in names}
    clips, annotators = sorted(campaign.clips, reverse=True), campaign.annotators[::-1]
    reordered = replace(campaign, **frames, clips=clips, annotators=annotators)
    first, second = plan(campaign), plan(reordered)
    pd.testing.assert_frame_equal(first.assignments, second.assignments)
    assert first.state == second.state
