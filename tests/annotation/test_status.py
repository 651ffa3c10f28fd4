"""What the lead is told, on campaigns small enough to count by hand."""

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pandas as pd
import pytest
from opened import OPEN
from support.campaign_cases import START, make_judgments
from support.simulated import Simulated, campaign_of, candidates_of, people

from annotation import status
from annotation.assignment import status_text
from annotation.assignment.inputs import CheckInputs, Rule
from annotation.assignment.pace import further_judgments, measure_progress, pace
from annotation.assignment.planning import plan
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.next_step import Situation, next_steps
from pipeline.core import tables

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def answer(query, rank, annotator, level, **rest):
    moment = f"m{query[1:]}-{rank:02}"
    pair = {"query_id": query, "moment_id": moment, "annotator": annotator}
    return pair | {"level": level} | rest


def spread(rows):
    """Return the rows, each submitted 20 minutes after the one before."""
    return [
        row | {"submitted_at": START + pd.Timedelta(minutes=20 * at)} for at, row in enumerate(rows)
    ]


def measure_status(campaign, rejected=None, now=NOW):
    refused = tables.REJECTED_JUDGMENTS.empty() if rejected is None else rejected
    progress = measure_progress(campaign, plan(campaign).state, refused, 5.0, now)
    extra = tables.AUDIT.empty(), tables.TOPUP.empty()
    return status.status(campaign, progress, next_steps(Situation(OPEN, progress)), *extra)


@pytest.fixture
def figures():
    """Two queries of six pairs: one wholly judged and extended, of the other three pairs."""
    candidates = candidates_of(2, 12)
    rows = [answer("q0", rank, who, 3) for rank in range(1, 7) for who in (1, 2)]
    rows += [answer("q1", 1, who, level) for who, level in ((3, 0), (4, 4))]
    rows += [answer("q1", 2, who, level, seconds=12.0) for who, level in ((3, 1), (4, 2))]
    rows += [answer("q1", 3, 3, None)]
    campaign = campaign_of(
        candidates,
        people(5, escalation=1),
        judgments=make_judgments(spread(rows)),
        rule=Rule(6, 5, 2.0),
    )
    return measure_status(campaign)


def test_hours_are_what_people_spent_and_what_is_left_at_their_pace(figures):
    first, third = figures["annotators"]["1"], figures["annotators"]["3"]
    assert (first["done"], first["hours"], first["per_hour"]) == (6, round(24 / 3600, 2), 900)
    assert (third["per_hour"], third["hours"]) == (900, round((4 + 12 + 4) / 3600, 2))
    assert third["hours_left"] == round(third["open"] * 4 / 3600, 2)
    assert figures["annotators"]["5"]["per_hour"] is None
    assert sum(who["open"] for who in figures["annotators"].values()) == figures["wanted"]


def test_the_yield_is_of_decided_pairs_and_the_next_batch_of_open_queries(figures):
    step = {"pairs": 7, "judgments": 14, "relevant": 7, "per_judgment": 0.5}
    [found] = figures["yield"]
    assert found == {"step": "first batch", "mean": pytest.approx(20 / 7, abs=1e-6), **step}
    assert [(own["step"], own["queries"], own["done"]) for own in figures["prospects"]] == [
        ("first batch", 1, 1), ("second batch", 1, 0)
    ]  # fmt: skip
    page = status.text("Spring", figures)
    assert re.search(r"first batch +7 +14 +7 +50\.0\n", page)
    assert "second batch of 1 query: nothing to expect yet" in page


def test_the_yield_of_a_run_and_an_audit_stands_apart():
    rows = [answer("q0", rank, who, 4) for rank in (1, 8, 9) for who in (1, 2)]
    campaign = campaign_of(candidates_of(1, 12), people(4), judgments=make_judgments(spread(rows)))
    found = pd.DataFrame({"query_id": "q0", "moment_id": ["m0-08"], "rank": 8, "similarity": 0.5})
    audit, topup = found.assign(origin="deep"), found.assign(rank=9, moment_id="m0-09")
    asked = tables.AUDIT.check(audit), tables.TOPUP.check(topup.assign(origin="clip"))
    nothing = tables.REJECTED_JUDGMENTS.empty()
    progress = measure_progress(campaign, plan(campaign).state, nothing, 5.0, NOW)
    result = status.status(campaign, progress, next_steps(Situation(OPEN, progress)), *asked)
    steps = {own["step"]: own["relevant"] for own in result["yield"]}
    assert steps == {"first batch": 1, "clip": 1, "audit": 1}


def test_the_page_says_all_of_it(figures):
    page = status.text("Spring", figures)
    assert page.startswith(f"Spring: {figures['wanted']} judgments wanted now;")
    assert "None" not in page


def test_a_campaign_without_judgments_has_all_to_ask():
    empty = measure_status(campaign_of(candidates_of(1, 6), people(4)))
    assert empty["wanted"] == 12
    assert "-" in status.text("Spring", empty)


def test_one_night_with_an_open_page_is_neither_paid_nor_forecast():
    rows = [answer("q0", rank, 1, 3, seconds=20.0) for rank in range(1, 6)]
    night = [answer("q0", 6, 1, 3, seconds=12 * 3600.0)]
    report = measure_status(
        campaign_of(candidates_of(2, 12), people(4), judgments=make_judgments(spread(rows + night)))
    )
    who = report["annotators"]["1"]
    assert who["hours"] == round((5 * 20 + 5 * 60) / 3600, 2)
    assert who["hours_left"] == round(who["open"] * 20 / 3600, 2)
    assert report["forecast"]["hours"]["open"] == round(report["wanted"] * 20 / 3600, 1)
    # Who has judged nothing yet is forecast by everybody's median.
    beginner = report["annotators"]["2"]
    assert (beginner["per_hour"], beginner["hours_left"]) == (
        None,
        round(beginner["open"] * 20 / 3600, 2),
    )


def at(days, query, rank, annotator):
    when = pd.Timestamp(NOW) - pd.Timedelta(days=days)
    return answer(query, rank, annotator, 3) | {"submitted_at": when}


def test_pace_is_of_the_last_seven_days_by_day_and_people():
    rows = [at(9, "q0", rank, 1) for rank in range(1, 4)]
    rows += [at(2, "q0", 4, 1), at(2, "q0", 4, 2), at(0.1, "q0", 5, 1)]
    result = pace(make_judgments(rows), NOW)
    assert result["judgments_per_day"] == round(3 / 7, 2)
    assert (result["days"], result["people"]) == (7, 2)
    days = {day["date"]: (day["judgments"], day["people"]) for day in result["by_day"]}
    assert len(days) == 7
    assert (days["2024-04-29"], days["2024-05-01"]) == ((2, 2), (1, 1))
    young = pace(make_judgments([at(0.1, "q0", rank, 1) for rank in range(1, 4)]), NOW)
    assert (young["judgments_per_day"], young["days"]) == (3, 1), "a day at least"


def test_who_has_not_begun_and_who_was_not_seen_for_a_week_is_named():
    rows = [at(8.5, "q0", 1, 1), at(6.5, "q0", 1, 2)]
    campaign = campaign_of(
        candidates_of(4, 6), people(5, escalation=1), judgments=make_judgments(rows)
    )
    report = measure_status(campaign)
    assert report["not_seen"] == {"1": 8}
    assert report["not_begun"] == ["3", "4", "5"], "the sixth has nothing to do yet"
    page = status.text("Spring", report)
    assert "not begun: annotator 3, 4, 5" in page
    assert "not seen for 8 days: annotator 1" in page


def test_refused_answers_are_told_by_reason_whatever_it_is_called():
    reasons = ["not-the-annotator"] * 3 + ["of-tomorrow"]
    whose = {"annotator": [2, 2, 2, 1], "sent_by": ["annotator 2"] * 2 + ["account 9", None]}
    rejected = pd.DataFrame({"reason": reasons, **whose})
    report = measure_status(campaign_of(candidates_of(1, 6), people(4)), rejected)
    assert report["refused"] == {"not-the-annotator": 3, "of-tomorrow": 1}
    assert report["annotators"]["2"]["refused"] == 2, "what somebody else sent is not theirs"
    page = status.text("Spring", report)
    assert "not-the-annotator           3" in page
    assert "of-tomorrow                 1" in page


def test_the_forecast_takes_the_pace_and_adds_disputes_and_second_batches():
    rows = [at(2, "q0", rank, who) for rank in range(1, 7) for who in (1, 2)]
    report = measure_status(
        campaign_of(candidates_of(3, 12), people(4), judgments=make_judgments(rows))
    )
    forecast = report["forecast"]
    assert forecast["open"] == report["wanted"] == (2 * 6 + 6) * 2  # two first batches, a second
    end = NOW + timedelta(days=forecast["open"] / report["pace"]["judgments_per_day"])
    assert forecast["dates"]["open"] == end.date().isoformat()
    assert forecast["open"] <= forecast["to_come"]["low"] < forecast["to_come"]["high"]
    still = measure_status(make_abandoned_campaign())
    assert still["forecast"]["dates"]["open"] is None
    assert "but nobody is judging" in status.text("Spring", still)


def test_the_forecast_says_what_hidden_checks_add():
    campaign = campaign_of(candidates_of(1, 6), people(4))
    assert "hidden checks" not in status.text("Spring", measure_status(campaign))
    checks = CheckInputs(gold=0.03, repeats=0.02)
    page = status.text("Spring", measure_status(replace(campaign, checks=checks)))
    assert re.search(r"hidden checks .* up to 5\.3 % more", page)


def make_abandoned_campaign():
    rows = [at(20, "q0", 1, 1)]
    return campaign_of(candidates_of(3, 12), people(4), judgments=make_judgments(rows))


def test_nothing_known_is_the_whole_range():
    outlook = dict.fromkeys(("compared", "disputed", "decided", "extended"), 0)
    bounds = further_judgments(outlook | {"first": 10, "undecided": 1, "second_pairs": 6})
    assert bounds == (0, 2 * 10 + 4 * 6)


def test_what_was_to_come_lies_in_the_forecast():
    """Of campaigns with 8 queries, judged to their end, at many points on the way."""
    inside = Counter()
    for seed in (1, 2):
        random = Random(seed)
        run = Simulated(candidates_of(8, 12), people(6), random, levels=(1, 2, 3))
        forecasts = []
        _, new_plan = run.plan()
        while not new_plan.assignments.empty:
            forecasts.append((len(run.rows) + len(new_plan.assignments), new_plan.state["outlook"]))
            share = 0.3 if len(new_plan.assignments) > 30 else 1.0
            run.answer(new_plan.assignments.sample(frac=share, random_state=random.randrange(999)))
            _, new_plan = run.plan()
        for number, outlook in forecasts:
            low, high = further_judgments(outlook)
            inside[low <= len(run.rows) - number <= high] += 1
    assert inside[True] >= 0.9 * inside.total()
    assert inside.total() > 9


def test_without_a_campaign_there_is_nothing_to_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "datasets/campaign").mkdir(parents=True)
    (tmp_path / "datasets/campaign/campaign.yaml").write_text("null\n")
    with pytest.raises(CampaignError, match=r"no campaign is open here; next: .*: dvc repro$"):
        status.read_status()
    queries = pd.DataFrame({"query_id": ["q"], "query": "q", "split": "val", "moment_id": "m"})
    tables.QUERIES.write(queries)
    with pytest.raises(CampaignError, match=r"no campaign is open here; next: .*campaign open"):
        status.read_status()


@pytest.mark.parametrize(("judged", "is_left"), [(3, True), (10, False)])
def test_an_audit_is_told_as_unfinished_until_all_its_queries_are_judged(judged, is_left):
    audit = {"queries": 10, "drawn": 7, "judged": judged}
    [line] = status_text._yield({"yield": [], "audit": audit})
    assert f"audit of 10 queries: 7 drawn, {judged} judged" in line
    assert ("tells nothing" in line) is is_left
