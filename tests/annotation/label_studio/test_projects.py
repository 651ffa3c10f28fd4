"""Which projects are the campaign's: by the mark in their description, never by their title."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened import OPEN

from annotation.label_studio import projects
from annotation.label_studio.records import Project
from pipeline.campaign.campaign import CampaignError

OURS, OTHER = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b", "6f1c2a34-5b6d-4e7f-8a9b-ffffffffffff"
CAMPAIGN = OPEN.model_copy(update={"id": OURS})


class Studio:
    url = "http://127.0.0.1:1"

    def __init__(self, *descriptions):
        self._descriptions = descriptions

    def projects(self):
        for number, text in enumerate(self._descriptions, start=1):
            yield Project(number, "Faults, annotator 1", text, "", "", "", 0, 0)


def find_ours(*descriptions, **options):
    by_annotator = projects.find_projects(Studio(*descriptions), CAMPAIGN, **options)
    return {annotator: project.id for annotator, project in by_annotator.items()}


def describe(campaign, annotator):
    return projects.description(campaign, annotator, "clips")


def test_the_campaigns_projects_are_found_by_their_mark_alone():
    assert find_ours(describe(OURS, 3), "", "Faults, annotator 2", describe(OURS, 12)) == {
        3: 1,
        12: 4,
    }
    assert find_ours(projects.mark(OURS, 3)) == {3: 1}, "one that was begun and not finished too"
    assert find_ours(f"a copy of: {describe(OURS, 3)}") == {}
    assert find_ours() == {}


@pytest.mark.parametrize("number", ["9" * 5000, "\u0663", "-3", ""])
def test_a_mark_that_we_never_write_marks_nothing(number):
    assert find_ours(f"MomentRank campaign {OURS}, annotator {number}.", describe(OURS, 3)) == {
        3: 2
    }


def test_a_server_of_another_campaign_is_refused_unless_it_is_to_be_shared():
    with pytest.raises(CampaignError, match=rf"another campaign \({OTHER}.*--beside-others"):
        find_ours(describe(OTHER, 1))
    assert find_ours(describe(OTHER, 1), beside_others=True) == {}
    assert find_ours(describe(OTHER, 1), describe(OURS, 1)) == {1: 2}, (
        "once there, it need not be said again"
    )


def test_a_project_that_was_copied_is_refused_not_chosen():
    with pytest.raises(CampaignError, match=r"two projects are marked.*\[1, 3\]"):
        find_ours(describe(OURS, 3), describe(OTHER, 3), describe(OURS, 3), describe(OURS, 4))


def test_projects_of_another_purpose_are_told_apart_and_make_the_server_ours():
    exam = projects.description(OURS, 3, "clips", "exam")
    assert find_ours(exam, describe(OURS, 3), describe(OTHER, 3)) == {3: 2}
    assert find_ours(exam, describe(OURS, 3), purpose="exam") == {3: 1}
    assert find_ours(exam, describe(OTHER, 3)) == {}, "the campaign's own come later"
    assert projects.title("Faults", 3, "exam") == "Faults, exam, annotator 3"


@given(st.text(min_size=1), st.integers(1, 10**6))
def test_a_title_fits_and_tells_people_apart(name, annotator):
    title = projects.title(name, annotator)
    assert len(title) <= projects.TITLE_LENGTH
    assert title.endswith(f", annotator {annotator}")
    assert title.startswith(name[:20])


@given(st.uuids(), st.integers(1, 10**6), st.text(), st.text())
def test_a_description_is_read_as_it_was_written_and_tells_where_the_clips_are(
    campaign, annotator, clips, elsewhere
):
    text = projects.description(str(campaign), annotator, clips)
    assert projects.MARK.match(text).groups() == ("campaign", str(campaign), str(annotator))
    moved = projects.description(str(campaign), annotator, elsewhere)
    assert (text == moved) == (clips == elsewhere)
    assert len(clips) < 12 or clips not in text, "a folder of the server stands nowhere"
