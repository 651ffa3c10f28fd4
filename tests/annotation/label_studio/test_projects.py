"""Which projects are the campaign's: by the mark in their description, never by their title."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened import OPEN
from support.campaign_cases import make_judgments

from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import Key, Signer
from annotation.label_studio.records import Project, Task
from annotation.roster.annotator import Annotator
from annotation.roster.roster import Account, Roster
from pipeline.campaign.campaign import CampaignError
from pipeline.core import tables

OURS, OTHER = "6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b", "6f1c2a34-5b6d-4e7f-8a9b-ffffffffffff"
ACCOUNT = Account(email="ann@example.org")
CAMPAIGN = OPEN.model_copy(update={"id": OURS})


class Studio:
    url = "http://127.0.0.1:1"

    def __init__(self, *descriptions):
        self._projects = [
            text if isinstance(text, Project) else make_project(number, text)
            for number, text in enumerate(descriptions, start=1)
        ]

    def projects(self):
        return self._projects

    def whoami(self):
        return LEAD

    def tasks(self, project):
        keys = [KEY._replace(annotator=whose) for whose in HOLDS.get(project.id, ())]
        return [Task(1, SIGNER.sign(key, "shown"), False, 0) for key in keys]


LEAD, INSIDER = 1, 5
SIGNER = Signer(OURS, "a secret")
KEY = Key("q", "m", 3, "first", "text", "clip", "1")
HOLDS = {}
"""Whose tasks a project has, by number."""


def make_project(number, text, creator=LEAD, tasks=0):
    return Project(number, "Faults, annotator 1", text, "", "", "", tasks, 0, creator=creator)


def find_ours(*descriptions, **options):
    people = Roster([Annotator(3, "annotator", active=True)], {12: ACCOUNT, 1: ACCOUNT})
    connection = Connection(CAMPAIGN, Studio(*descriptions), SIGNER, people)
    by_annotator = projects.find_projects(connection, **options)
    return {annotator: project.id for annotator, project in by_annotator.items()}


def read_log(capsys):
    return capsys.readouterr().err


@pytest.fixture(autouse=True)
def judged(folder):
    """Nobody has judged."""
    HOLDS.clear()
    projects._log_once.cache_clear()
    tables.JUDGMENT_HISTORY.write(tables.JUDGMENT_HISTORY.empty())


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


def test_a_project_of_an_annotator_who_is_not_listed_is_told_and_ignored(capsys):
    assert find_ours(describe(OURS, 3), describe(OURS, 99)) == {3: 1}
    assert "project 2 ('Faults, annotator 1') claims to be annotator 99's" in read_log(capsys)
    rows = make_judgments([{"query_id": "q", "moment_id": "m", "annotator": 99, "level": 2}])
    tables.JUDGMENT_HISTORY.write(rows.assign(updated_at=rows["submitted_at"], state="stands"))
    assert find_ours(describe(OURS, 99)) == {99: 1}, "somebody who judged, and was taken off"


@pytest.mark.parametrize(
    ("claiming", "holds", "ours"),
    [
        ([(INSIDER, 0)], {}, None),
        ([(INSIDER, 1)], {1: [3]}, 1),
        ([(INSIDER, 1)], {1: [12]}, None),
        ([(INSIDER, 1), (LEAD, 0)], {1: [3]}, 2),
        ([(LEAD, 0), (INSIDER, 1)], {2: [3]}, 1),
        ([(LEAD, 1), (LEAD, 1)], {1: [12], 2: [3, 3]}, 2),
        ([(LEAD, 0), (LEAD, 0)], {}, 1),
        ([(INSIDER, 1), (INSIDER, 1)], {1: [12], 2: [3]}, 2),
    ],
)
def test_of_projects_that_claim_to_be_somebodys_the_leads_with_their_tasks_is(
    claiming, holds, ours, capsys
):
    HOLDS.update(holds)
    marked = [
        make_project(number, describe(OURS, 3), creator, tasks)
        for number, (creator, tasks) in enumerate(claiming, start=1)
    ]
    assert find_ours(*marked, describe(OURS, 12)) == ({3: ours} if ours else {}) | {
        12: len(marked) + 1
    }
    assert read_log(capsys).count("claims to be annotator 3's") == len(marked) - bool(ours)


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
