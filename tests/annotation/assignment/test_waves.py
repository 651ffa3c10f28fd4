"""Waves: how much people have open, in which order, and what happens to what nobody takes."""

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.campaign_cases import SEAT
from support.simulated import (
    BATCH,
    Simulated,
    answer_tasks,
    campaign_of,
    candidates_of,
    open_planned,
    people,
)

from annotation.assignment.inputs import Rule, query_sort_key
from annotation.assignment.planning import find_overdue, plan
from annotation.roster.annotator import Annotator
from pipeline.core import tables

PAIR = ["query_id", "moment_id"]
DAY = date(2024, 6, 3)
QUEUE = 2 * BATCH
SMALL = Rule(BATCH, max_open=QUEUE)
MANY = candidates_of(30, BATCH)
seeds = st.integers(0, 10**6)


def loads(new_plan):
    return Counter(new_plan.assignments["annotator"].tolist())


def morning_of(day):
    return pd.Timestamp(day, tz="UTC") + pd.Timedelta(hours=9)


def answer_on(campaign, tasks, day, level_of=lambda _: 2):
    """Return the campaign with these tasks answered on a day, and the others of it open."""
    return answer_tasks(campaign, tasks, level_of, submitted_at=morning_of(day))


def batches(tasks):
    """Return the people of each batch by their number of pairs."""
    return tasks.groupby(["query_id", "annotator"]).size()


# The queue, and the order


@pytest.mark.parametrize("number", [4, 5, 8])
def test_everybody_has_a_queue_of_whole_batches_from_the_front_of_one_order(number):
    new_plan = plan(campaign_of(MANY, people(number), rule=SMALL, id="c"))
    assert loads(new_plan) == dict.fromkeys(range(1, number + 1), QUEUE)
    assert set(batches(new_plan.assignments)) == {BATCH}
    order = sorted(set(MANY["query_id"]), key=lambda query: query_sort_key("c", query))
    given_out = set(new_plan.assignments["query_id"])
    assert given_out == set(order[: len(given_out)])
    assert new_plan.state["later"] == 2 * len(MANY) - number * QUEUE
    parts = [who["later"] for who in new_plan.state["annotators"].values()]
    assert abs(sum(parts) - new_plan.state["later"]) < number


def test_another_campaign_has_another_order():
    first, second = (
        set(plan(campaign_of(MANY, people(4), rule=SMALL, id=name)).assignments["query_id"])
        for name in ("c", "d")
    )
    assert first != second


def test_a_batch_larger_than_the_queue_is_given_out_whole():
    new_plan = plan(campaign_of(MANY, people(4), rule=Rule(BATCH, max_open=BATCH - 2)))
    assert loads(new_plan) == dict.fromkeys(range(1, 5), BATCH)


def test_disputes_and_second_batches_come_before_the_rest():
    campaign = open_planned(
        campaign_of(candidates_of(30, 2 * BATCH), people(6), rule=SMALL, id="c")
    )
    front = min(campaign.open_tasks["query_id"], key=lambda query: query_sort_key("c", query))
    own = campaign.open_tasks[campaign.open_tasks["query_id"] == front]
    apart = own.drop_duplicates(PAIR).index
    for levels, kind, batch in (((0, 4), "escalated", 1), ((3, 3), "first", 2)):
        rows = own.assign(level=[levels[row in apart] for row in own.index])
        by_task = rows.set_index(SEAT)["level"].to_dict()
        done = answer_on(campaign, own, DAY, lambda task, by_task=by_task: by_task[
            task["query_id"], task["moment_id"], task["annotator"]])  # fmt: skip
        more = answer_on(done, done.open_tasks, DAY)  # everybody has room
        tasks = plan(replace(more, today=DAY)).assignments
        new = tasks[(tasks["query_id"] == front) & (tasks["kind"] == kind)]
        assert (new.groupby(PAIR).size() == 2).all()
        assert {int(moment[-2:]) > BATCH for moment in new["moment_id"]} == {batch == 2}


def test_a_batch_that_was_begun_is_finished_first():
    campaign = open_planned(campaign_of(MANY, people(5), rule=SMALL, id="zz"))
    last = max(campaign.open_tasks["query_id"], key=lambda query: query_sort_key("zz", query))
    leaver = campaign.open_tasks.loc[campaign.open_tasks["query_id"] == last, "annotator"].min()
    others = campaign.open_tasks[campaign.open_tasks["annotator"] != leaver]
    done = answer_on(campaign, others, DAY)
    gone = [who._replace(active=who.number != leaver) for who in done.annotators]
    tasks = plan(replace(done, annotators=gone)).assignments
    assert (tasks[tasks["query_id"] == last].groupby("annotator").size() == [BATCH]).all()


# Shares, weeks and days


def test_a_share_is_of_an_equal_part():
    who = [*people(4), Annotator(5, "annotator", active=True, share=0.25)]
    world = Simulated(candidates_of(80, BATCH), who, Random(2), levels=(2,))
    world.rest = {"rule": SMALL, "id": "c"}
    world.judge_all()
    done = Counter(row["annotator"] for row in world.rows)
    part = sum(done.values()) / 4.25
    assert abs(done[5] - part / 4) <= QUEUE
    assert all(abs(done[annotator] - part) <= 2 * QUEUE for annotator in range(1, 5))


@pytest.mark.parametrize("most", [BATCH - 2, BATCH, 2 * BATCH + 1])
def test_nobody_judges_more_in_a_week_than_they_said(most):
    who = [*people(4), Annotator(5, "annotator", active=True, per_week=most)]
    world = Simulated(candidates_of(60, BATCH), who, Random(4), levels=(2,))
    days = []
    for number in range(16):
        today = DAY + timedelta(days=number)
        world.rest = {"rule": Rule(BATCH, max_open=BATCH, patience=99), "today": today}
        world.plan()
        before = len(world.rows)
        world.answer(world.tasks)
        world.rows[before:] = [
            row | {"submitted_at": morning_of(today)} for row in world.rows[before:]
        ]
        days.append(sum(row["annotator"] == 5 for row in world.rows[before:]))
    weeks = [sum(days[begin : begin + 7]) for begin in range(10)]
    assert max(weeks) <= most
    assert sum(days) >= 2 * (most - most % BATCH or most), "and what they said is used"


def test_who_comes_later_or_has_left_is_not_asked():
    def select_annotators(day):
        who = [
            *people(4),
            Annotator(5, "annotator", active=True, since=DAY),
            Annotator(6, "annotator", active=True, until=DAY),
        ]
        return set(plan(campaign_of(MANY, who, rule=SMALL, today=day)).assignments["annotator"])

    days = [DAY - timedelta(days=1), DAY, DAY + timedelta(days=1)]
    assert [select_annotators(day) - {1, 2, 3, 4} for day in days] == [{6}, {5, 6}, {5}]


def test_who_is_barred_is_not_asked_and_their_tasks_go_to_others():
    campaign = open_planned(campaign_of(MANY, people(6), rule=SMALL))
    new_plan = plan(replace(campaign, barred={2: "has not passed the exam"}))
    assert loads(new_plan) == dict.fromkeys((1, 3, 4, 5, 6), QUEUE)


# Patience


def make_patient_campaign(**rest):
    """Return a campaign of a month in which all but annotator 1 judged yesterday."""
    campaign = open_planned(campaign_of(MANY, people(5), rule=SMALL, id="c"))
    others = campaign.open_tasks[campaign.open_tasks["annotator"] != 1]
    begun = answer_on(campaign, others.iloc[:1], DAY - timedelta(days=30))
    done = answer_on(begun, others.iloc[1:], DAY - timedelta(days=1))
    return replace(done, today=DAY, **rest)


def test_what_nobody_takes_in_time_goes_to_others_who_judge():
    campaign = make_patient_campaign()
    assert not campaign.open_tasks.empty
    remaining = campaign.open_tasks.merge(plan(campaign).assignments)
    assert len(remaining) == len(campaign.open_tasks), "as long as it is not overdue"
    late = replace(campaign, overdue=campaign.open_tasks)
    new_plan = plan(late)
    moved = new_plan.assignments.merge(campaign.open_tasks[PAIR])
    assert not set(moved["annotator"]) & {1}
    assert moved.groupby(PAIR).size().eq(1).all(), "one vote was missing of each, one is asked"
    assert len(moved) == len(campaign.open_tasks)
    assert loads(new_plan)[1] == BATCH, "a batch waits for whoever comes back"


def test_what_is_overdue_stays_where_nobody_has_room():
    campaign = make_patient_campaign()
    busy = [who._replace(per_week=1) if who.number != 1 else who for who in campaign.annotators]
    new_plan = plan(replace(campaign, annotators=busy, overdue=campaign.open_tasks))
    assert len(new_plan.assignments.merge(campaign.open_tasks)) == len(campaign.open_tasks)


def test_who_comes_back_has_a_whole_queue_again():
    campaign = make_patient_campaign()
    back = answer_on(campaign, campaign.open_tasks.iloc[:1], DAY)
    new_plan = plan(replace(back, today=DAY + timedelta(days=1)))
    assert loads(new_plan)[1] > BATCH


def test_a_task_is_overdue_after_days_of_patience():
    times = pd.to_datetime(["2024-05-27T00:00:00Z", "2024-05-27T00:00:01Z", "2024-06-03T08:00:00Z"])
    tasks = plan(campaign_of(MANY, people(4))).assignments.iloc[:3].assign(opened_at=times)
    overdue = find_overdue(tasks, DAY, 7.0)
    pd.testing.assert_frame_equal(overdue, tasks.iloc[:1].drop(columns="opened_at"))


# Whole campaigns


def staff(random):
    """Return people who differ in all that the roster can say."""
    everybody = people(random.randint(4, 6), escalation=random.randint(0, 3))
    return [
        who._replace(
            share=random.choice([1, 1, 0.5, 0.2]),
            per_week=random.choice([None, None, 9, 40]),
            since=random.choice([None, None, DAY + timedelta(days=5)]),
        )
        if who.number > 4
        else who
        for who in everybody
    ]


@settings(max_examples=2)
@given(seeds)
def test_waves_keep_their_word_and_end(seed):
    """However people judge, stay away and come back: four go on, and some lose their tasks."""
    random = Random(seed)
    world = Simulated(candidates_of(3, 2 * BATCH), staff(random), random, levels=(0, 1, 2, 3, 4))
    since, absent = {}, {1} if len(world.annotators) > 5 else set()
    for number in range(200):
        today = DAY + timedelta(days=number)
        seats = list(world.tasks[SEAT].itertuples(index=False, name=None))
        marks = [today - since[seat] >= timedelta(days=3) for seat in seats]
        late = world.tasks[pd.Series(marks, index=world.tasks.index, dtype="bool")]
        world.rest = {
            "rule": Rule(BATCH, max_open=random.choice([BATCH, QUEUE]), patience=3),
            "today": today,
            "overdue": late,
            "id": str(seed),
        }
        campaign, new_plan = world.plan()
        check(campaign, new_plan)
        if new_plan.state["pairs"]["waiting"] == new_plan.state["pairs"]["nobody_left"]:
            break
        since = {
            seat: since.get(seat, today)
            for seat in new_plan.assignments[SEAT].itertuples(index=False, name=None)
        }
        mine = world.tasks[~world.tasks["annotator"].isin(absent)]
        before = len(world.rows)
        world.answer(mine.sample(frac=random.choice([0.0, 0.4, 1.0]), random_state=number))
        world.rows[before:] = [
            row | {"submitted_at": morning_of(today)} for row in world.rows[before:]
        ]
    else:
        raise AssertionError("the campaign does not end")


def check(campaign, new_plan):
    """Check what must be true of every plan in waves."""
    tasks, held = (
        new_plan.assignments,
        set(campaign.open_tasks[SEAT].itertuples(index=False, name=None)),
    )
    assert not tasks.duplicated(SEAT).any()
    assert set(tasks["kind"]) <= set(tables.VOTING)
    again = plan(replace(campaign, open_tasks=tasks))
    pd.testing.assert_frame_equal(again.assignments, tasks)
    assert again.state == new_plan.state
    kept_counts = Counter(
        seat[2] for seat in held & set(tasks[SEAT].itertuples(index=False, name=None))
    )
    week = campaign.judgments["submitted_at"] > pd.Timestamp(campaign.today, tz="UTC") - timedelta(
        6
    )
    recent = Counter(campaign.judgments.loc[week, "annotator"].tolist())
    people_now = {who.number: who for who in campaign.annotators}
    for number, count in loads(new_plan).items():
        who = people_now[number]
        assert count <= max(campaign.rule.max_open, kept_counts[number], BATCH)
        assert (
            who.per_week is None
            or count == kept_counts[number]
            or count + recent[number] <= who.per_week
        )
        assert who.since is None or who.since <= campaign.today
