"""A campaign's pilot and its guideline's versions: what holds when, which queries count."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from opened import LABELS, OPEN

from pipeline.campaign.campaign import CampaignError, Pilot, load_campaign, write_campaign
from pipeline.campaign.phases import GuidelineFile, draw_pilot, end_pilot, revise_guideline

FILE = Path("annotation/guideline/en.md")
OPENED = datetime(2024, 5, 1, 7, tzinfo=UTC)
QUERIES = pd.DataFrame({"query_id": [f"q{n}" for n in range(9)], "query": list("abcdefghA")})


def guideline(version, sha=None):
    return GuidelineFile(version, sha or version, FILE, LABELS)


def start_campaign(version="1"):
    first = guideline(version).since(OPEN.opened_at)
    return OPEN.model_copy(update={"guideline": version, "guidelines": [first]})


def test_what_is_judged_after_a_revision_is_judged_by_the_new_version():
    revised = revise_guideline(start_campaign(), guideline("2"), "colours", "2024-05-02T07:00:00Z")
    again = revise_guideline(revised, guideline("3"), "sounds", "2024-05-03T07:00:00Z")
    hours = (-1, 0, 23, 24, 48)
    shown = [again.guidelines_shown(None, OPENED + timedelta(hours=hour)) for hour in hours]
    versions = ["".join(guide.version for guide in guides) for guides in shown]
    assert versions == ["1", "1", "1", "21", "321"]
    sent = again.guidelines_shown(again.guidelines[1].sha, OPENED)
    assert [guide.version for guide in sent] == ["2", "1"], "what the page says comes first"
    assert [revision.reason for revision in again.guidelines] == [None, "colours", "sounds"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (guideline("1"), r"is unchanged; change it first"),
        (guideline("1", "changed"), r"version 1 was used before; raise `version`"),
    ],
)
def test_a_version_is_recorded_once(file, message):
    with pytest.raises(CampaignError, match=message):
        revise_guideline(start_campaign(), file, "because", "2024-05-02T07:00:00Z")


def run_pilot(take_over):
    pilot = draw_pilot(QUERIES, OPEN.id, 3)
    running = OPEN.model_copy(update={"pilot": Pilot(queries=pilot)})
    return running, end_pilot(running, take_over=take_over, now="2024-05-02T07:00:00Z")


@pytest.mark.parametrize("take_over", [True, False])
def test_a_pilot_is_asked_alone_and_then_all_others(take_over):
    running, ended = run_pilot(take_over)
    pilot = set(running.pilot.queries)
    others = set(QUERIES["query_id"]) - pilot
    assert len(pilot) == 3
    assert "q8" not in pilot, "it is judged as the query of the same text"
    assert set(running.select_asked(QUERIES)["query_id"]) == pilot
    assert set(running.select_kept(QUERIES)["query_id"]) == pilot | others
    wanted = pilot | others if take_over else others
    assert set(ended.select_asked(QUERIES)["query_id"]) == wanted
    assert set(ended.select_kept(QUERIES)["query_id"]) == wanted
    with pytest.raises(CampaignError, match="has no pilot running"):
        end_pilot(ended, take_over=take_over, now="2024-05-03T07:00:00Z")


def test_a_pilot_leaves_queries_for_the_campaign():
    with pytest.raises(CampaignError, match=r"--pilot 8: there are only 8 distinct queries"):
        draw_pilot(QUERIES, OPEN.id, 8)


def test_phases_are_kept_in_the_campaigns_file(tmp_path):
    _, ended = run_pilot(take_over=False)
    revised = revise_guideline(ended, guideline("2"), 'it\'s "so": #1', "2024-05-02T07:00:00Z")
    write_campaign(revised, tmp_path / "campaign.yaml")
    assert load_campaign(tmp_path / "campaign.yaml") == revised
