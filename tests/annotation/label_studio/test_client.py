"""Label Studio failing, over real HTTP: one line, no token in it, yesterday's table intact.

The server here is a small model of the calls that pull and push make.
"""

import json
import socket
from argparse import Namespace
from http import HTTPStatus

import label_studio_sdk.core.http_client
import pytest
from opened import LABELS
from support.campaign_folder import CAMPAIGN, CampaignFolder, Size, email_of
from werkzeug import Response

from annotation import pull, push
from annotation.label_studio import page, projects
from annotation.label_studio.client import TESTED, LabelStudio
from annotation.label_studio.connection import connect
from annotation.label_studio.errors import StudioError
from annotation.label_studio.keys import Key
from annotation.label_studio.records import OPTIONS
from annotation.label_studio.settings import Endpoint
from annotation.label_studio.setup import seal_settings
from annotation.server import check
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables

TOKEN = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105
PAGE, TASKS = 10, 24
ATTACHED = (
    "/api/storages/",
    "/api/storages/export",
    "/api/webhooks/",
    "/api/ml/",
    "/api/dm/views/",
)
NOW = "2026-01-01T00:00:00.000000Z"


class Model:
    """A server with one project of the campaign, each of whose tasks was answered."""

    def __init__(self, signer, http):
        self.faults, self.requests = {}, []
        self.level, self.sent, self.updated_at = 3, [], NOW
        self._signer = signer
        self.description = projects.description(CAMPAIGN, 1, "clips")
        self.users = [{"id": 30, "email": email_of(1), "date_joined": NOW}]
        self.imported = {"task_ids": [1, 2]}
        self.version = {"release": TESTED, "edition": "Community"}
        for path, right in (
            ("/api/projects/", self._projects),
            ("/api/projects/7/", self.as_project),
            ("/api/users/", lambda _: self.users),
            *((path, lambda _: []) for path in ATTACHED),
            ("/api/current-user/whoami", lambda _: {"id": 1, "email": "lead@example.org"}),
            ("/api/version/", lambda _: self.version),
            ("/api/tasks/", self._tasks),
            ("/api/projects/7/import", lambda _: self.imported),
        ):
            http.expect_request(path).respond_with_handler(self._make_handler(right))

    def fail(self, path, answer, page=1, times=99):
        """Let the first requests for a page of a path be answered like this."""
        self.faults[path, page] = [answer] * times

    def _make_handler(self, right):
        def handler(request):
            page = int(request.args.get("page", 1))
            self.requests.append((request.method, request.path, page))
            waiting = self.faults.get((request.path, page))
            answer = waiting.pop() if waiting else right(request)
            if isinstance(answer, Response):
                return answer
            return Response(json.dumps(answer), content_type="application/json")

        return handler

    def _projects(self, request):
        if int(request.args.get("page", 1)) > 1:
            return Response(status=HTTPStatus.NOT_FOUND)
        return {"count": 1, "results": [self.as_project()]}

    def as_project(self, _=None):
        numbers = {"task_number": TASKS, "total_annotations_number": TASKS}
        texts = {"title": "Faults, annotator 1", "description": self.description}
        texts |= {"label_config": "<View/>", "expert_instruction": "Judge."}
        whose = {"created_by": {"id": 1, "email": "lead@example.org"}}
        settings = seal_settings(self._signer, {**texts, **OPTIONS})
        return {"id": 7, "created_at": NOW, **settings, **numbers, **whose}

    def _tasks(self, request):
        first = PAGE * (int(request.args["page"]) - 1)
        tasks = [self._task(number) for number in range(first, min(first + PAGE, TASKS))]
        return {"total": TASKS, "total_annotations": 0, "total_predictions": 0, "tasks": tasks}

    def _task(self, number):
        query, clip = "a person sings", "https://clips.example.org/ab12.mp4"
        key = Key(f"q00{number // 12}", f"m{number}", 1, "first", query_sha(query), "ab12", "1")
        signed = self._signer.sign(key, page.digest(query, page.clip_html(clip)))
        answer = {"id": number, "completed_by": 30, "updated_by": 30, "was_cancelled": False}
        times = {"created_at": NOW, "updated_at": self.updated_at, "lead_time": 2.0}
        return {
            "id": number,
            "data": page.task_data(query, clip, signed),
            "is_labeled": True,
            "updated_at": NOW,
            "annotations": [
                answer | times | {"result": [*self.sent, *page.result_of(LABELS, self.level)]}
            ],
            "drafts": [],
        }


@pytest.fixture
def folder(tmp_path, repository, monkeypatch):
    camp = CampaignFolder.make(tmp_path, repository, Size(people=4, page=PAGE))
    monkeypatch.chdir(tmp_path)
    waits = []
    monkeypatch.setattr(label_studio_sdk.core.http_client.time, "sleep", waits.append)
    return camp


@pytest.fixture
def server(folder, httpserver):
    """Return the model; the campaign here knows yesterday's judgments of it."""
    model = Model(folder.signer, httpserver)
    folder.configure(httpserver.url_for("").rstrip("/"), TOKEN)
    main()
    assert len(folder.get(tables.JUDGMENTS)) == TASKS
    model.level, model.updated_at = 4, NOW.replace("0Z", "1Z")
    model.requests.clear()
    return model


def main():
    pull.main(Namespace(accept_loss=False, full=True, trust_imported=False, take_set_aside=False))


def read_one_line(caught):
    """Return what the user reads: one line without the token, and nothing else of the failure."""
    text = str(caught.value)
    assert "\n" not in text
    assert TOKEN not in text
    assert len(text) < 250
    return text


def refusal(folder, match):
    """Pull, which fails with such a message in one line, and leaves yesterday's tables."""
    before = folder.content()
    with pytest.raises(StudioError, match=match) as caught:
        main()
    assert folder.content() == before
    return read_one_line(caught)


def make_response(text, status=HTTPStatus.OK):
    return Response(text, status, content_type="application/json")


NOT_OURS = "the response is not from Label Studio"
FAULTS = [
    (Response("<html>Bad Gateway</html>", 502, content_type="text/html"), "answered 502"),
    (
        make_response(json.dumps({"detail": f"Invalid token {TOKEN}"}), HTTPStatus.UNAUTHORIZED),
        "does not accept the token; correct LABEL_STUDIO_API_KEY",
    ),
    (make_response('{"detail": "database is locked"}', 500), "500 database is locked; try again"),
    (make_response('{"total": 12, "tasks": [{"id": 1'), NOT_OURS),
    (Response("<html>Please log in</html>", content_type="text/html"), NOT_OURS),
    (Response(status=HTTPStatus.NOT_FOUND), r"\(404\); is this a Label Studio"),
    (make_response('{"hello": "world"}'), NOT_OURS),
    (make_response("[1, 2]"), NOT_OURS),
]
FAILED = FAULTS[0][0]
SHORTER = "a list got shorter while it was read; try again"


@pytest.mark.parametrize(
    ("path", "page"),
    [("/api/projects/", 1), ("/api/users/", 1), ("/api/tasks/", 1), ("/api/tasks/", 2)],
)
def test_a_failing_server_is_one_clear_line_and_yesterdays_tables_stay(server, folder, path, page):
    """Also in the middle of paging: that is no shorter list."""
    for answer, message in FAULTS:
        server.fail(path, answer, page)
        ends = page > 1 and answer.status_code == HTTPStatus.NOT_FOUND
        assert refusal(folder, SHORTER if ends else message).startswith("http://")
    server.faults.clear()
    main()
    assert set(folder.get(tables.JUDGMENTS)["level"]) == {4}


@pytest.mark.parametrize("number", [29, 31])
def test_two_accounts_of_one_address_take_nobodys_judgments_away(server, folder, number):
    server.users.append({"id": number, "email": email_of(1).upper()})
    message = refusal(folder, r"accounts .* have one address")
    assert {"30", str(number)} <= set(message.split())
    assert "@" not in message, "no address in a message"


def test_a_list_that_ends_too_early_is_told(server, folder):
    server.fail("/api/tasks/", make_response(json.dumps({"total": TASKS, "tasks": []})), page=3)
    refusal(folder, SHORTER)


def test_projects_are_read_again_where_one_was_deleted_meanwhile(server, studio):
    """The server counts, and then reads; and behind what is deleted all others move up."""
    client, project = studio
    long = {"count": 2, "results": [server.as_project()]}
    for first in (long, long | {"count": 3}):
        server.fail("/api/projects/", make_response(json.dumps(first)), times=3)
        assert list(client.projects()) == [project]
        server.fail("/api/projects/", make_response(json.dumps(first)), times=4)
        with pytest.raises(StudioError, match=SHORTER):
            list(client.projects())
        server.faults.clear()
    server.fail("/api/projects/", make_response(json.dumps(long)), page=2, times=1)
    server.fail("/api/projects/", make_response(json.dumps(long | {"count": 3})), times=1)
    assert list(client.projects()) == [project], "not the one twice"


def test_reading_is_tried_again(server, folder):
    server.fail("/api/tasks/", FAILED, page=2, times=1)
    main()
    assert set(folder.get(tables.JUDGMENTS)["level"]) == {4}
    assert server.requests.count(("GET", "/api/tasks/", 2)) == 2


def test_no_server_is_one_line_that_says_what_to_start(server, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        folder.configure(url, TOKEN)
        assert url in refusal(folder, r"no server answers there; start it")


def test_a_server_of_another_campaign_is_refused_by_pull_and_push(server, folder):
    other_id = "6f1c2a34-5b6d-4e7f-8a9b-ffffffffffff"
    server.description = projects.description(other_id, 1, "clips")
    folder.put(tables.ASSIGNMENTS, tables.ASSIGNMENTS.empty())
    before = folder.content()
    for command in (main, lambda: push.main(Namespace(beside_others=False))):
        with pytest.raises(CampaignError, match=f"has another campaign .{other_id}") as caught:
            command()
        assert TOKEN not in str(caught.value)
    assert folder.content() == before
    assert {method for method, _, _ in server.requests} == {"GET"}


@pytest.fixture
def studio(server, folder, httpserver):
    client = LabelStudio(Endpoint(httpserver.url_for("").rstrip("/"), TOKEN), PAGE)
    [project] = client.projects()
    server.requests.clear()
    return client, project


def test_the_tested_version_is_the_pinned_one(repository):
    pinned = (repository / "requirements-label-studio.lock").read_text().splitlines()
    assert f"label-studio=={TESTED}" in pinned


VERSIONS = {"1": "2025-12-31T00:00:00Z", "2": "2026-01-02T00:00:00Z", "3": "2026-01-03T00:00:00Z"}


@pytest.mark.parametrize(
    ("sent", "version"),
    [("sha of 1", "1"), ("sha of 2", "2"), ("sha of 3", "3"), ("another", "1"), (None, "1")],
)
def test_an_answer_has_the_guideline_of_the_page_whenever_it_was_sent(
    sent, version, server, folder
):
    """Version 1 is in force at NOW; what a page says goes before the time."""
    guidelines = [
        {"version": name, "sha": f"sha of {name}", "since": since, "reason": None, "labels": LABELS}
        for name, since in VERSIONS.items()
    ]
    folder.open(guideline="3", guidelines=guidelines)
    value = {"from_name": "guideline_sha", "to_name": "clip", "type": "choices"}
    server.sent = [value | {"value": {"choices": [sent]}}] if sent else []
    main()
    assert set(folder.get(tables.JUDGMENTS)["guideline"]) == {version}
    assert set(folder.get(tables.JUDGMENTS)["level"]) == {4}


@pytest.mark.parametrize(
    "ask", [main, check, lambda: connect("push")], ids=["pull", "check", "push"]
)
def test_another_version_is_one_line_and_no_refusal(ask, server, folder, capsys):
    ask()
    assert "WARNING" not in capsys.readouterr().err
    server.version["release"] = "1.22.0"
    said = ask()
    [line] = [line for line in capsys.readouterr().err.splitlines() if "WARNING" in line]
    assert f"Label Studio 1.22.0; only {TESTED} was tested" in line
    assert ask is not check or "Label Studio 1.22.0, " in said


@pytest.mark.parametrize(
    "answer", [{"release": None}, *(answer for answer, _ in FAULTS)], ids=lambda _: ""
)
def test_a_server_without_a_version_is_used_and_nothing_is_said(server, folder, capsys, answer):
    server.fail("/api/version/", answer)
    main()
    assert "WARNING" not in capsys.readouterr().err
    assert set(folder.get(tables.JUDGMENTS)["level"]) == {4}


def test_writing_is_never_tried_again_of_itself(server, studio):
    client, project = studio
    server.fail("/api/projects/7/import", FAILED)
    with pytest.raises(StudioError, match="answered 502") as caught:
        client.add(project, [{"query": "q"}, {"query": "r"}])
    read_one_line(caught)
    assert server.requests == [("POST", "/api/projects/7/import", 1)]


def test_tasks_that_were_not_taken_are_told(server, studio):
    client, project = studio
    server.imported = {"task_ids": [1]}
    with pytest.raises(StudioError, match="1 of 2 tasks; push again"):
        client.add(project, [{"query": "q"}, {"query": "r"}])


def test_the_token_goes_to_the_server_and_nowhere_else(server, folder, httpserver, capfd):
    main()
    assert all(TOKEN in request.headers["Authorization"] for request, _ in httpserver.log)
    out = "".join(capfd.readouterr())
    assert TOKEN not in out
    for path in folder.path.rglob("*"):
        assert not path.is_file() or path.name == ".env" or TOKEN.encode() not in path.read_bytes()
