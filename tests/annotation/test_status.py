"""What the lead is told, on campaigns small enough to count by hand."""

import sys

import pytest
from campaign_cases import told
from simulated import campaign_of, candidates_of, people

from annotation import status
from annotation.opened import CampaignError
from annotation.plan import plan
from annotation.planning.campaign import Rule


def answer(query, rank, annotator, level, **rest):
    moment = f"m{query[1:]}-{rank:02}"
    pair = {"query_id": query, "moment_id": moment, "annotator": annotator}
    return pair | {"level": level} | rest


def stands(campaign):
    return status.status(campaign, plan(campaign).state)


@pytest.fixture
def figures():
    """Two queries of six pairs: one wholly judged and extended, of the other three pairs."""
    candidates = candidates_of(2, 12)
    rows = [answer("q0", rank, who, 3) for rank in range(1, 7) for who in (1, 2)]
    rows += [answer("q1", 1, who, level) for who, level in ((3, 0), (4, 4))]
    rows += [answer("q1", 2, who, level, seconds=12.0) for who, level in ((3, 1), (4, 2))]
    rows += [answer("q1", 3, 3, None)]
    campaign = campaign_of(
        candidates, people(5, escalation=1), judgments=told(rows), rule=Rule(6, 5, 2.0)
    )
    return stands(campaign)


def test_agreement_is_of_the_first_two_levels(figures):
    assert figures["agreement"] == {
        "pairs_with_two": 8,
        "exact": 0.75,
        "within_1": 0.875,
        "escalated": 1,
    }


def test_an_extended_query_shows_its_levels_in_the_order_of_ranks(figures):
    assert figures["extended"] == {"q0": [3] * 6}
    assert figures["pairs"]["two"] == 7
    assert figures["for_the_lead"] == []


def test_hours_are_what_people_spent_and_what_is_left_at_their_pace(figures):
    first, third = figures["annotators"]["1"], figures["annotators"]["3"]
    assert (first["done"], first["hours"], first["per_hour"]) == (6, round(24 / 3600, 2), 900)
    assert third["per_hour"] == round(3600 / ((4 + 12 + 4) / 3))
    assert figures["annotators"]["5"]["per_hour"] is None
    assert sum(who["open"] for who in figures["annotators"].values()) == figures["wanted"]


def test_the_page_says_all_of_it(figures):
    page = status.text("Spring", figures)
    assert page.startswith(f"Spring: {figures['wanted']} judgments wanted")
    assert "q0                    3 3 3 3 3 3" in page
    assert " 87.5 %" in page
    assert "None" not in page


def test_a_campaign_without_judgments_has_no_shares():
    empty = stands(campaign_of(candidates_of(1, 6), people(4)))
    assert (empty["agreement"]["exact"], empty["wanted"]) == (None, 12)
    assert "-" in status.text("Spring", empty)


def test_without_a_campaign_there_is_nothing_to_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "datasets/campaign").mkdir(parents=True)
    (tmp_path / "datasets/campaign/campaign.yaml").write_text("null\n")
    with pytest.raises(CampaignError, match="no campaign is open here"):
        status.now()


@pytest.mark.parametrize("seconds", ["-1", "0", "inf"])
def test_nobody_watches_a_time_that_is_none(monkeypatch, capsys, seconds):
    monkeypatch.setattr(sys, "argv", ["status", "--watch", seconds])
    with pytest.raises(SystemExit):
        status._arguments()
    assert f"--watch: {seconds}: must be above 0" in capsys.readouterr().err
