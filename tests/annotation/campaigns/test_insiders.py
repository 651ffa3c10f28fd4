"""What somebody with an account does to a page, a project or an answer, on the real server."""

import pytest
from support.campaign_folder import Size
from test_campaign_faults import camp, make_result, read_assigned, world  # noqa: F401

from annotation.label_studio.records import OPTIONS

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
    assert begun.read_refusals() == dict.fromkeys([planted, cut, copied], "prefilled")
    assert begun.read_judgments() == {honest: 3}
    begun.well("plan", "push")
    assert not {planted, cut, copied} & read_assigned(begun)
    settings = read_settings(begun, 1)
    assert settings["total_predictions_number"] == 0
    assert {name: settings[name] for name in OPTIONS} == OPTIONS
