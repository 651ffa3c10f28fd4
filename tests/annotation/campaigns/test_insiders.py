"""What somebody with an account does to a page, a project or an answer, on the real server."""

import re
import time

import pytest
from opened import LABELS
from support.campaign_folder import Size
from test_campaign_faults import camp, make_result, open_, read_assigned, world  # noqa: F401

from annotation.label_studio.records import OPTIONS
from pipeline.core import tables

pytestmark = [pytest.mark.integration, pytest.mark.slow]
SMALL = Size(queries=2, ranks=4, people=4)


@pytest.fixture
def begun(camp):  # noqa: F811
    """Return a campaign whose people have their tasks."""
    campaign = camp(SMALL)
    campaign.well("pull", "plan", "push")
    return campaign


def own_tasks(camp, number):  # noqa: F811
    """Return somebody's tasks, `(key, task)`, in order."""
    return sorted((key, same[0]) for key, same in camp.tasks().items() if key[2] == number)


def read_settings(camp, number):  # noqa: F811
    return camp.lead.api("GET", f"/api/projects/{camp.projects()[number]}/")


def test_projects_that_claim_to_be_the_campaigns_stop_nothing_and_take_no_answer(begun):
    bob, projects = begun.world.people[2], begun.projects()
    (key, task), *_ = own_tasks(begun, 1)
    real = begun.lead.api("GET", f"/api/projects/{projects[1]}/")
    for number in (1, 99):
        text = real["description"].replace("annotator 1.", f"annotator {number}.")
        title, config = f"Claims, annotator {number}", real["label_config"]
        claiming = bob.project(title, config, description=text)
        bob.add(claiming, [task["data"]])
        [copy] = bob.tasks(claiming)
        begun.world.people[1].annotate(copy["id"], make_result(0))
    pulled = begun.well("pull")
    assert "claims to be annotator 99's" in pulled.said
    assert "claims to be annotator 1's" in pulled.said
    assert begun.run("status").code == 75
    assert begun.read_judgments() == {}
    begun.well("plan")
    assert " 0 tasks added, 0 closed, 0 reopened" in begun.well("push").said
    begun.world.people[1].annotate(task["id"], make_result(3))
    begun.well("pull")
    assert begun.read_judgments() == {key: 3}


def test_a_project_renamed_to_be_another_ones_is_found_out_by_its_tasks(begun):
    bob, projects = begun.world.people[2], begun.projects()
    (key, task), *_ = own_tasks(begun, 3)
    other = begun.lead.api("GET", f"/api/projects/{projects[3]}/")["description"]
    bob.api("PATCH", f"/api/projects/{projects[1]}/", {"description": other})
    begun.world.people[3].annotate(task["id"], make_result(3))
    assert f"project {projects[1]} " in begun.well("pull").said
    assert begun.read_judgments() == {key: 3}


def test_a_task_whose_answer_was_moved_away_is_asked_again_and_only_once(begun):
    bob, projects = begun.world.people[2], begun.projects()
    (pulled, first), (unpulled, second), (away, third), (_, fourth), *_ = own_tasks(begun, 1)
    begun.answer(first, pulled, 4)
    begun.well("pull", "plan", "push")
    moved = [begun.answer(task, key, 3) for key, task in ((unpulled, second), (away, third))]
    own = begun.lead.tasks(projects[1])
    [before] = [task["annotations"][0] for task in own if task["id"] == first["id"]]
    elsewhere = own_tasks(begun, 2)[0][1]
    for annotation, task in ((before, fourth), (moved[0], fourth), (moved[1], elsewhere)):
        bob.api("PATCH", f"/api/annotations/{annotation['id']}/", {"task": task["id"]})
    said = begun.well("pull", "plan", "push").said
    assert {unpulled, away} <= read_assigned(begun), "nobody has answered them"
    assert pulled not in read_assigned(begun), "what was pulled counts"
    assert not said.startswith("push: 0 tasks added")
    assigned, offered = read_assigned(begun), begun.count_offered()
    assert offered[unpulled] == offered[away] == 1
    begun.well("pull", "plan")
    assert read_assigned(begun) == assigned
    assert "  assign " not in begun.run("status").said
    assert " 0 tasks added, 0 closed, 0 reopened" in begun.well("push").said
    for key in (unpulled, away):
        [copy] = [task for task in begun.tasks()[key] if open_(task)]
        begun.world.people[1].annotate(copy["id"], make_result(1))
    begun.well("pull", "plan", "push")
    judged = begun.read_judgments()
    assert [judged[key] for key in (pulled, unpulled, away)] == [4, 1, 1]
    assert " 0 tasks added, 0 closed, 0 reopened" in begun.well("pull", "plan", "push").said


def test_a_forged_answer_says_who_sent_it_and_nobody_is_paid_for_what_a_clock_claims(begun):
    ann, bob = begun.world.people[1], begun.world.people[2]
    me = ann.api("GET", "/api/current-user/whoami")["id"]
    (forged, first), *others = own_tasks(begun, 1)
    body = {"result": make_result(0), "lead_time": 290.0}
    bob.api("POST", f"/api/tasks/{first['id']}/annotations/", body | {"completed_by": me})
    for _, task in others:
        ann.api("POST", f"/api/tasks/{task['id']}/annotations/", body)
    assert "by annotator 2 (1), in others' projects" in begun.well("pull").said
    [row] = begun.folder.get(tables.REJECTED_JUDGMENTS).to_dict("records")
    assert (row["moment_id"], row["reason"]) == (forged[1], "changed-by-another")
    assert (row["annotator"], row["sent_by"]) == (1, "annotator 2")
    line = begun.run("people", "hours").said.splitlines()[1].split()
    assert (line[0], int(line[2]), int(line[-2])) == ("1", len(others), 0)
    assert len(others) > 1
    assert float(line[3]) < (290 + 60) / 3600, "one whole answer, and seconds of the others"


def change_setups(begun):
    """Let somebody change something in each project; return what pull calls it, by annotator."""
    bob, projects = begun.world.people[2], begun.projects()
    settings = {number: f"/api/projects/{project}/" for number, project in projects.items()}
    config = bob.api("GET", settings[1])["label_config"]
    swap = {LABELS["0"]: LABELS["4"], LABELS["4"]: LABELS["0"]}
    swapped = re.sub("|".join(swap), lambda text: swap[text[0]], config)
    bob.api("PATCH", settings[1], {"label_config": swapped})
    clips = begun.lead.media / "clips"
    clips.mkdir(exist_ok=True)
    storage = {"project": projects[2], "title": "e", "path": str(clips), "use_blob_urls": False}
    bob.api("POST", "/api/storages/export/localfiles", storage)
    bob.api("POST", "/api/storages/localfiles/", storage | {"project": projects[4]})
    nothing = {"filter": "filter:tasks:id", "operator": "equal", "type": "Number", "value": 0}
    data = {"title": "Default", "filters": {"conjunction": "and", "items": [nothing]}}
    bob.api("POST", "/api/dm/views/", {"project": projects[2], "data": data})
    task = own_tasks(begun, 3)[-1][1]
    plant = {"task": task["id"], "result": make_result(4), "model_version": "m"}
    bob.api("POST", "/api/predictions/", plant)
    bob.api("PATCH", settings[4], {"show_collab_predictions": True})
    return {
        1: "label_config",
        2: "export storage",
        3: "1 predictions",
        4: "show_collab_predictions; import storage",
    }


def answer_next(begun, level):
    """Let everybody answer one of their tasks; return the levels."""
    levels = {}
    for number in begun.projects():
        key, task = next((key, task) for key, task in own_tasks(begun, number) if open_(task))
        begun.answer(task, key, level)
        levels[key] = level
    return levels


def test_a_changed_setup_is_told_and_restored_and_answers_in_between_are_set_aside(begun):
    before = answer_next(begun, 4)
    assert "not as push made it" not in begun.well("pull").said
    names = change_setups(begun)
    between = answer_next(begun, 3)
    said = begun.well("pull").said
    for number, name in names.items():
        assert f"annotator {number}'s campaign project is not as push made it: {name}" in said
    assert "; view 'Default'" in said, "the page would say that no tasks are left"
    assert begun.read_judgments() == before
    assert begun.read_refusals() == dict.fromkeys(between, "not-as-configured")
    begun.well("plan", "push")
    time.sleep(2)  # the server's clock is read to the second
    after = answer_next(begun, 2)
    said = begun.well("pull").said
    assert "not as push made it:" not in said
    assert "--take-set-aside" in said
    assert begun.read_judgments() == before | after
    periods = begun.folder.get(tables.DEVIATIONS)
    assert (len(periods), periods["until"].isna().sum()) == (4, 0)
    project = begun.projects()[2]
    for attached in ("storages/export", "dm/views/"):
        assert begun.lead.api("GET", f"/api/{attached}?project={project}") == []
    assert begun.run("pull", "--take-set-aside").code == 0
    assert begun.read_judgments() == before | between | after
    assert begun.read_refusals() == {}
    begun.well("pull", "plan")
    assert begun.read_judgments() == before | between | after, "the lead has taken them"


def test_a_change_that_only_push_finds_sets_aside_as_well_and_one_that_is_undone_ends(begun):
    names = change_setups(begun)
    between = answer_next(begun, 3)
    assert begun.well("push").said.count("restore") == len(names)
    time.sleep(2)
    after = answer_next(begun, 2)
    begun.well("pull")
    assert (begun.read_judgments(), set(begun.read_refusals())) == (after, set(between))
    path = f"/api/projects/{begun.projects()[1]}/"
    bob = begun.world.people[2]
    bob.api("PATCH", path, {"sampling": "Uniform sampling"})
    assert "not as push made it: sampling" in begun.well("pull").said
    bob.api("PATCH", path, {"sampling": OPTIONS["sampling"]})
    assert "not as push made it:" not in begun.well("pull").said
    assert begun.folder.get(tables.DEVIATIONS)["until"].notna().all()


def test_an_answer_that_a_prediction_chose_counts_for_nobody_and_predictions_are_removed(begun):
    ann, bob = begun.world.people[1], begun.world.people[2]
    project = begun.projects()[1]
    (planted, first), (cut, second), (copied, third), (honest, fourth), *_ = own_tasks(begun, 1)
    bob.api("PATCH", f"/api/projects/{project}/", {"show_collab_predictions": True})
    prediction = {"task": first["id"], "result": make_result(4), "model_version": "m"}
    number = bob.api("POST", "/api/predictions/", prediction)["id"]
    for task, more in (
        (first, {"parent_prediction": number}),
        (second, {"result": [make_result(4)[0] | {"origin": "prediction"}]}),
        (fourth, {"result": [make_result(3)[0] | {"origin": "manual"}]}),
    ):
        body = {"result": make_result(4)} | more
        made = ann.api("POST", f"/api/tasks/{task['id']}/annotations/", body)
    body = {"result": make_result(4), "parent_annotation": made["id"]}
    ann.api("POST", f"/api/tasks/{third['id']}/annotations/", body)
    begun.well("pull")
    chosen = dict.fromkeys([planted, cut, copied], "prefilled")
    assert begun.read_refusals() == chosen | {honest: "not-as-configured"}
    begun.well("plan", "push")
    assert begun.run("pull", "--take-set-aside").code == 0
    assert begun.read_refusals() == chosen, "the lead can't take what somebody else chose"
    assert begun.read_judgments() == {honest: 3}
    assert not {planted, cut, copied} & read_assigned(begun)
    settings = read_settings(begun, 1)
    assert settings["total_predictions_number"] == 0
    assert {name: settings[name] for name in OPTIONS} == OPTIONS


@pytest.mark.parametrize("way", ["api/labels/bulk", "api/dm/actions?id=rename_labels"])
def test_answers_whose_labels_are_exchanged_on_the_server_count_as_they_were_pulled(begun, way):
    """Label Studio rewrites the answers of a project without a new time or author."""
    bob, project = begun.world.people[2], begun.projects()[1]
    (key, task), (other, second), *_ = own_tasks(begun, 1)
    begun.answer(task, key, 4)
    begun.answer(second, other, 1)
    begun.well("pull")
    one = {"project": project, "old_label": [LABELS["4"]], "new_label": [LABELS["0"]]}
    many = {
        "selectedItems": {"all": True, "excluded": []},
        "old_label_name": LABELS["4"],
        "new_label_name": LABELS["0"],
        "control_tag": "level",
    }
    if "bulk" in way:
        bob.api("POST", f"/{way}", one)
    else:
        bob.api("POST", f"/{way}&project={project}", many)
    stored = {
        region["value"]["choices"][0]
        for task in begun.lead.tasks(project)
        for annotation in task["annotations"]
        for region in annotation["result"]
    }
    assert {LABELS["0"], LABELS["1"]} <= stored, "the server has them otherwise now"
    assert LABELS["4"] not in stored
    said = begun.run("pull", "--full").said
    assert "1 judgments, or their tasks, were changed by someone else" in said
    assert begun.read_judgments() == {key: 4, other: 1}
