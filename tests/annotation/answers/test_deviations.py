"""Deviations: what was answered while a project was not as push made it waits for the lead."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opened import OPEN
from test_pulling import KEY, NOTHING, OWNER, SIGNER, START, answer, task

from annotation.answers import deviations, pulling
from annotation.answers.history import first_pairs
from annotation.answers.judgments import Rules, sort_answers
from annotation.label_studio import projects
from annotation.label_studio.records import OPTIONS, Attachment, Project
from annotation.label_studio.setup import find_differences, seal_settings
from pipeline.core import tables

WHOSE = (3, "campaign")
CAMPAIGN = OPEN.model_copy(update={"opened_at": "2025-12-31T00:00:00Z"})
CONNECTION = SimpleNamespace(campaign=CAMPAIGN, signer=SIGNER)
FOUND = {WHOSE: "label_config"}
steps = st.lists(st.sampled_from(["say", "say", "spoil", "undo", "pull", "push", "take"]))


def instant(second):
    return START + timedelta(seconds=second)


@settings(max_examples=60)
@given(steps)
def test_what_counts_was_pulled_before_or_said_after_push_restored_it_or_the_lead_took_it(
    tmp_path_factory, happens
):
    """The oracle knows no periods: it moves answers between three piles."""
    folder = tmp_path_factory.mktemp("campaign")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        history, table, server = NOTHING, tables.DEVIATIONS.empty(), {}
        waiting, aside, counted = set(), set(), set()
        spoiled = seen = False
        for second, what in enumerate([*happens, "pull"], 1):
            tables.JUDGMENT_HISTORY.write(history.versions)
            if what == "say":
                server[second] = task(
                    answer(second, second), number=second, key=KEY._replace(moment_id=f"m{second}")
                )
                (aside if seen else waiting).add(second)
            elif what == "push" and spoiled:
                table = deviations.open_period(table, WHOSE, ["sampling"], CONNECTION)
                table = deviations.close(table, WHOSE, instant(second))
                aside, waiting = aside | waiting, set()
                spoiled = seen = False
            elif what in {"pull", "take"}:
                found = FOUND if spoiled else {}
                table = deviations.update_deviations(table, found, CONNECTION, instant(second))
                if spoiled:
                    aside, waiting = aside | waiting, set()
                seen = spoiled
                if what == "take":
                    table = deviations.take(table, instant(second))
                    counted, aside = counted | aside, set()
                counted, waiting = counted | waiting, set()
                set_aside = deviations.find_set_aside(table, "campaign", history.versions)
                pairs = first_pairs(history.versions)
                rules = Rules(SIGNER, OPEN.guidelines_shown, first_pairs=pairs)
                owner = OWNER._replace(set_aside=set_aside(3))
                rows = sort_answers(server.values(), owner, rules)
                history = pulling.merge_history(history.versions, rows)
                assert {row["reason"] for row in rows.rejected} <= {"not-as-configured"}
                assert len(rows.rejected) == len(aside)
                assert {f"m{n}" for n in counted} == set(history.judgments["moment_id"])
            else:
                spoiled = spoiled if what == "push" else what == "spoil"


CLIPS = "https://clips.example.org"


def make_project(*, title="T", clips=CLIPS, **changes):
    base = projects.description(CAMPAIGN.id, 3, clips)
    texts = {"title": title, "description": base, "label_config": "<View/>"}
    sealed = seal_settings(SIGNER, {**texts, "expert_instruction": "", **OPTIONS}) | changes
    options = tuple(sealed[name] for name in OPTIONS)
    predictions = changes.get("predictions", 0)
    texts = [sealed[name] for name in ("title", "description", "label_config")]
    return Project(1, *texts, sealed["expert_instruction"], "", 1, 0, predictions, options)


def differences(project, *attached, clips=CLIPS):
    studio = SimpleNamespace(attachments=lambda _: list(attached))
    here = SimpleNamespace(campaign=CAMPAIGN, signer=SIGNER, studio=studio)
    return find_differences(here, project, clips, {"label_config": "<View/>", **OPTIONS})


def test_a_project_as_push_made_it_does_not_differ():
    assert differences(make_project()).texts == []
    begun = make_project(description=projects.mark(CAMPAIGN.id, 3))._replace(tasks=0)
    assert differences(begun).texts == [], "a push was killed before it was set up"


EXPORT = Attachment("export storage", "p", "/clips", "2026-01-01T00:00:00Z")
IMPORT = Attachment("import storage", "p", "/elsewhere", "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("changes", "attached", "text"),
    [
        *(({name: "other"}, [], name) for name in OPTIONS),
        ({"label_config": "<View><Header/></View>"}, [], "label_config"),
        ({"expert_instruction": "All are 4."}, [], "its settings"),
        ({"description": projects.mark(CAMPAIGN.id, 3)}, [], "its settings"),
        ({"predictions": 2}, [], "2 predictions"),
        ({}, [EXPORT], "export storage '/clips' (created 2026-01-01T00:00:00)"),
        ({}, [IMPORT], "import storage '/elsewhere' (created"),
        ({}, [EXPORT._replace(kind="webhook")], "webhook '/clips'"),
        ({}, [Attachment("view", "p", "Default", "")], "view 'Default'"),
    ],
)
def test_whatever_else_is_there_is_told(changes, attached, text):
    found = differences(make_project(**changes), *attached)
    assert text in "; ".join(found.texts)
    assert found.foreign == attached


@pytest.mark.parametrize("clips", ["s3://bucket/clips/", "label-studio"])
def test_the_storage_of_the_clips_is_ours_once(monkeypatch, clips):
    monkeypatch.setenv("LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT", "/media/")
    where = "/media/clips" if clips == "label-studio" else clips
    project = make_project(clips=where)
    ours = IMPORT._replace(location=where.rstrip("/"))
    assert differences(project, ours, clips=clips).texts == []
    assert differences(project, clips=clips).texts == ["the storage of its clips is missing"]
    assert differences(project, ours, ours._replace(path="q"), clips=clips).foreign == [
        ours._replace(path="q")
    ]
    moved = differences(project, ours, EXPORT, clips="s3://another/")
    assert moved.texts == [str(EXPORT)], "that the clips have moved is the lead's doing"
    assert moved.foreign == [ours, EXPORT], "push attaches the new one"


def test_a_seal_is_of_this_campaign_and_of_these_settings():
    mine, other = make_project(), make_project(title="U")
    copied = mine._replace(title="U")
    assert differences(copied).texts
    assert differences(copied._replace(description=other.description)).texts == []
    assert SIGNER.seal({"a": 1}) != type(SIGNER)("another", "a secret").seal({"a": 1})


ONE = [{"filter": "filter:tasks:id", "operator": "equal", "type": "Number", "value": 1}]


@pytest.mark.parametrize(
    ("data", "hides"),
    [
        (None, False),
        ("text", False),
        ({"filters": "text", "ordering": {}, "selectedItems": "text"}, False),
        ({"title": "Default", "hiddenColumns": {"explore": ["tasks:id"]}}, False),
        ({"filters": {"conjunction": "and", "items": []}, "ordering": []}, False),
        ({"selectedItems": {"all": True, "excluded": []}}, False),
        ({"selectedItems": {"all": False, "included": []}}, False),
        ({"filters": {"conjunction": "and", "items": ONE}}, True),
        ({"ordering": ["-tasks:id"]}, True),
        ({"selectedItems": {"all": False, "included": [3]}}, True),
        ({"selectedItems": {"all": True, "excluded": [3]}}, True),
    ],
)
def test_a_view_is_told_if_it_hides_tasks_or_orders_them(data, hides):
    view = Attachment.parse_view("view", "api/dm/views/", {"id": 7, "data": data})
    assert (view is not None) == hides
    assert view is None or view.path == "api/dm/views/7"
