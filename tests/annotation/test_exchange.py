"""A campaign whose server is out of reach: files carried in and out, by hand and by a real one."""

import contextlib
import json
import os
from collections import Counter

import pytest
from campaign_folder import CampaignFolder, Size, email_of
from studio import studio

from annotation import push
from annotation.label_studio import page, settings
from annotation.label_studio.errors import StudioError
from annotation.label_studio.exchange import FileExchange
from annotation.label_studio.exports import read_exports
from annotation.label_studio.roster import Account
from pipeline.core import files, tables

PASSWORD = "a-good-password"  # noqa: S105
SIZE = Size(queries=2, ranks=2, people=4)
EXCHANGE = "exchange"


def choose_level(data, who):
    """Return a level on which people differ by at most 2, so that some pairs need four."""
    return (len(data["clip_html"]) + ord(data["query"][-1])) % 3 + (who % 2) * 2 - (who % 2 and 1)


@pytest.fixture
def campaign(folder, repository, command):
    """Return a campaign by files, and its commands in this process."""
    camp = CampaignFolder.make(folder, repository, SIZE, "https://clips.example.org")
    text = (folder / "params.yaml").read_text()
    text = text.replace("backend: label-studio ", "backend: files ")
    (folder / "params.yaml").write_text(
        text.replace("folder: datasets/work/exchange", "folder: exchange")
    )
    camp.unconfigure()
    accounts = {n: {"email": email_of(n), "number": 10 + n} for n in range(1, SIZE.people + 1)}
    path = folder / tables.CAMPAIGN / "annotators.private.yaml"
    files.write_yaml(path, {"accounts": accounts}, "accounts")

    def loop():
        for module in ("pull", "plan", "push"):
            with contextlib.chdir(folder):
                code, _, errors = command(f"annotation.{module}")
            assert code == 0, errors

    camp.loop = loop
    return camp


def imports(folder):
    """Return the tasks of each import file, by whose they are and its name."""
    tasks_by_file = {}
    for path in sorted((folder / EXCHANGE / "projects").glob("*/import-*.json")):
        who = int(path.parent.name.rpartition("-")[2])
        tasks_by_file[who, path.name] = [task["data"] for task in json.loads(path.read_text())]
    return tasks_by_file


def answer(number, who, data, level, *, at="2026-05-01T10:00:00.000000Z", **changes):
    annotation = {
        "id": number,
        "completed_by": 10 + who,
        "updated_by": 10 + who,
        "was_cancelled": False,
    }
    times = {"created_at": at, "updated_at": at, "lead_time": 7.5}
    return {"id": number, "data": data, "annotations": [
        annotation | times | {"result": page.result_of(level)} | changes
    ]}  # fmt: skip


def convert_to_json_min(task):
    [annotation] = task["annotations"]
    [choice] = annotation["result"][0]["value"]["choices"]
    own = {
        "annotator": annotation["completed_by"],
        "annotation_id": annotation["id"],
        "level": choice,
    }
    times = {name: annotation[name] for name in ("created_at", "updated_at", "lead_time")}
    return {"id": task["id"], **task["data"], **own, **times}


def put_exports(folder, tasks, name="all.json"):
    target = folder / EXCHANGE / "exports" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(tasks))


def test_the_loop_goes_through_files_of_either_form(campaign, folder):
    campaign.loop()
    first = imports(folder)
    campaign.loop()
    assert imports(folder) == first, "what was given out is not given out again"
    for _ in range(4):
        tasks = [(who, data) for (who, _), own in imports(folder).items() for data in own]
        answers = [
            (who, answer(number, who, data, choose_level(data, who)))
            for number, (who, data) in enumerate(tasks)
        ]
        put_exports(folder, [task for who, task in answers if who % 2], "odd.json")
        put_exports(
            folder, [convert_to_json_min(task) for who, task in answers if not who % 2], "even.json"
        )
        campaign.loop()
        assert files.read_json(push.RECEIPT)["closed"] == 0, "what was answered is not taken back"
    state = files.read_json(tables.STATE)["pairs"]
    assert (state["waiting"], state["two"] + state["four"] + state["discarded"]) == (0, 4)
    judgments = tables.JUDGMENTS.read()
    assert len(judgments) == len(tasks)
    expected = {
        (data["query"], data["clip_html"], who): choose_level(data, who) for who, data in tasks
    }
    assert Counter(judgments["level"]) == Counter(expected.values())
    assert tables.REJECTED_JUDGMENTS.read().empty


def test_a_task_is_as_old_as_its_import_file_not_as_its_project(campaign, folder):
    campaign.loop()
    for path in (folder / EXCHANGE / "projects").glob("*/project.json"):
        long_ago = {"created_at": "2024-01-01T00:00:00+00:00"}
        files.write_json(path, files.read_json(path) | long_ago)
    first = imports(folder)
    campaign.loop()
    assert imports(folder) == first, "nothing is overdue"
    for path in (folder / EXCHANGE / "projects").glob("*/import-*.json"):
        os.utime(path, (0, 0))
    campaign.loop()
    assert set(tables.OPEN_TASKS.read()["opened_at"].dt.year) == {1970}
    assert len(imports(folder)) > len(first), "what nobody took goes to others"


def test_the_newest_of_several_exports_counts_and_a_strangers_answer_does_not(campaign, folder):
    campaign.loop()
    own = imports(folder)
    (who, _), [first, second] = next((key, data) for key, data in own.items() if len(data) == 2)
    put_exports(folder, [answer(1, who, first, 4)], "b-old.json")
    later = "2026-05-02T10:00:00.000000Z"
    changed = answer(1, who, first, 0, updated_at=later)
    stolen = answer(2, who, second, 4, completed_by=99)
    unknown = answer(3, who, first | {"pair": "nobody's"}, 4)
    put_exports(folder, [changed, stolen, unknown], "a-new.json")
    campaign.loop()
    [judged] = tables.JUDGMENTS.read().itertuples()
    assert (judged.level, judged.annotator) == (0, who)
    assert tables.REJECTED_JUDGMENTS.read()["reason"].tolist() == ["not-the-annotator"]


def test_a_task_that_shows_something_else_on_the_server_is_refused(campaign, folder):
    campaign.loop()
    (who, _), [data, *_] = next(iter(imports(folder).items()))
    put_exports(folder, [answer(1, who, data | {"query": "something else"}, 4)])
    campaign.loop()
    assert tables.JUDGMENTS.read().empty
    assert tables.REJECTED_JUDGMENTS.read()["reason"].tolist() == ["not-what-was-shown"]


def test_invitations_name_the_folders_to_carry(campaign, folder, command):
    campaign.loop()
    code, out, errors = command("annotation.people", "invite")
    assert code == 0, errors
    places = sorted((folder / EXCHANGE / "projects").iterdir())
    assert len(places) == SIZE.people
    for place in places:
        assert f"import {EXCHANGE}/projects/{place.name} into Label Studio" in out
    assert "labeling=1" not in out


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", "[{}]", '[{"data": {}}]', '[{"data": {}, "annotations": [{"id": "x"}]}]',
     '[{"annotation_id": 1}]', '[{"data": 3, "annotations": []}]'],
)  # fmt: skip
def test_what_is_no_export_is_one_line_with_its_file(tmp_path, text):
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(StudioError, match=r"export\.json: ") as caught:
        read_exports(tmp_path)
    assert "\n" not in str(caught.value)


def test_an_account_without_a_number_is_asked_for(tmp_path):
    put_exports(tmp_path, [answer(1, 1, {"pair": "p", "query": "q", "clip_html": "c"}, 4)])
    exchange = FileExchange(tmp_path / EXCHANGE, {1: Account(email="ann@example.org")})
    with pytest.raises(StudioError, match=r"accounts\.1\.number is missing"):
        exchange.users()


@pytest.mark.integration
@pytest.mark.slow
def test_files_are_carried_into_a_real_server_and_out_of_it(
    campaign, folder, tmp_path_factory, label_studio
):
    """Import files go in as they are, exports come out as they are; until nothing is wanted."""
    with (
        studio(tmp_path_factory.mktemp("away"), label_studio) as lead,
        contextlib.ExitStack() as all_,
    ):
        people = {
            who: all_.enter_context(contextlib.closing(lead.sign_up(email_of(who), PASSWORD)))
            for who in range(1, SIZE.people + 1)
        }
        numbers = {
            who: {
                "email": email_of(who),
                "number": person.api("GET", "/api/current-user/whoami")["id"],
            }
            for who, person in people.items()
        }
        path = folder / tables.CAMPAIGN / "annotators.private.yaml"
        files.write_yaml(path, {"accounts": numbers}, "accounts")
        projects, carried = {}, set()
        campaign.loop()
        while new := imports(folder).keys() - carried:
            for who, name in sorted(new):
                [place] = (folder / EXCHANGE / "projects").glob(f"*-{who}")
                if who not in projects:
                    config = (place / "label_config.xml").read_text()
                    projects[who] = lead.project(place.name, config, **page.OPTIONS)
                tasks = json.loads((place / name).read_text())
                lead.api("POST", f"/api/projects/{projects[who]}/import", tasks)
            carried |= new
            for who, project in projects.items():
                for task in lead.tasks(project):
                    if not task["annotations"]:
                        result = page.result_of(choose_level(task["data"], who))
                        people[who].annotate(task["id"], result)
                form = "JSON" if who % 2 else "JSON_MIN"
                exported = lead.api("GET", f"/api/projects/{project}/export?exportType={form}")
                put_exports(folder, exported, f"{who}.json")
            campaign.loop()
    state = files.read_json(folder / tables.STATE)["pairs"]
    assert (state["waiting"], state["two"] + state["four"] + state["discarded"]) == (0, 4)
    judgments = tables.JUDGMENTS.read(folder / tables.JUDGMENTS.path)
    votes = judgments[judgments["kind"].isin(tables.VOTING)]
    assert set(votes.groupby(["query_id", "moment_id"]).size()) <= {2, 4}
    assert settings.endpoint() is None
