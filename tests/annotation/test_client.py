"""Label Studio failing, over real HTTP: one line, no token in it, yesterday's table intact.

The server here is a small model of the calls that pull and push make.
"""

import json
import socket
from http import HTTPStatus

import label_studio_sdk.core.http_client
import pytest
from campaign_folder import CAMPAIGN, CampaignFolder, Size, email_of
from werkzeug import Response

from annotation import pull, push
from annotation.label_studio import page, projects, settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.errors import StudioError
from annotation.label_studio.keys import Key
from annotation.label_studio.settings import Endpoint, SettingsError
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import query_sha
from pipeline.core import tables

TOKEN = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105
PAGE, TASKS = 10, 24
NOW = "2026-01-01T00:00:00.000000Z"


class Model:
    """A server with one project of the campaign, each of whose tasks was answered."""

    def __init__(self, signer, http):
        self.faults, self.asked = {}, []
        self.level = 3
        self._signer = signer
        self.description = projects.description(CAMPAIGN, 1, "clips")
        self.users = [{"id": 30, "email": email_of(1)}]
        http.expect_request("/api/projects/").respond_with_handler(self._told(self._projects))
        http.expect_request("/api/projects/7/").respond_with_handler(self._told(self._project))
        http.expect_request("/api/users/").respond_with_handler(self._told(self._users))
        http.expect_request("/api/tasks/").respond_with_handler(self._told(self._tasks))
        http.expect_request("/api/projects/7/import").respond_with_handler(
            self._told(lambda _: self.imported)
        )
        self.imported = {"task_ids": [1, 2]}

    def fail(self, path, answer, page=1, times=99):
        """Let the first requests for a page of a path be answered like this."""
        self.faults[path, page] = [answer] * times

    def _told(self, right):
        def handler(request):
            page = int(request.args.get("page", 1))
            self.asked.append((request.method, request.path, page))
            waiting = self.faults.get((request.path, page))
            answer = waiting.pop() if waiting else right(request)
            if isinstance(answer, Response):
                return answer
            return Response(json.dumps(answer), content_type="application/json")

        return handler

    def _projects(self, request):
        if int(request.args.get("page", 1)) > 1:
            return Response(status=HTTPStatus.NOT_FOUND)
        return {"count": 1, "results": [self._project(request)]}

    def _project(self, request):
        numbers = {"task_number": TASKS, "total_annotations_number": TASKS}
        texts = {"title": "Faults, annotator 1", "description": self.description}
        return {"id": 7, "created_at": NOW, **texts, **numbers}

    def _users(self, request):
        return self.users

    def _tasks(self, request):
        first = PAGE * (int(request.args["page"]) - 1)
        tasks = [self._task(number) for number in range(first, min(first + PAGE, TASKS))]
        return {"total": TASKS, "total_annotations": 0, "total_predictions": 0, "tasks": tasks}

    def _task(self, number):
        query, clip = "a person sings", "https://clips.example.org/ab12.mp4"
        key = Key(f"q00{number // 12}", f"m{number}", 1, "first", query_sha(query), "ab12", "1")
        value = {"choices": [str(self.level)]}
        region = {"from_name": "level", "to_name": "clip", "type": "choices", "value": value}
        answer = {"id": number, "completed_by": 30, "updated_by": 30, "was_cancelled": False}
        times = {"created_at": NOW, "updated_at": NOW, "lead_time": 2.0}
        return {
            "id": number,
            "data": page.task_data(query, clip, self._signer.sign(key)),
            "is_labeled": True,
            "updated_at": NOW,
            "annotations": [answer | times | {"result": [region]}],
            "drafts": [],
        }


@pytest.fixture
def folder(tmp_path, repository, monkeypatch):
    made = CampaignFolder.make(tmp_path, repository, Size(people=4, page=PAGE))
    monkeypatch.chdir(tmp_path)
    waits = []
    monkeypatch.setattr(label_studio_sdk.core.http_client.time, "sleep", waits.append)
    return made


@pytest.fixture
def server(folder, httpserver):
    """Return the model; the campaign here knows yesterday's judgments of it."""
    model = Model(folder.signer, httpserver)
    folder.configure(httpserver.url_for("").rstrip("/"), TOKEN)
    main()
    assert len(folder.get(tables.JUDGMENTS)) == TASKS
    model.level = 4
    model.asked.clear()
    return model


def main():
    pull.main(pull_options())


def pull_options():
    class Options:
        accept_loss, full, trust_imported = False, True, False

    return Options


def one_line(told):
    """Return what the user reads: one line without the token, and nothing else of the failure."""
    text = str(told.value)
    assert "\n" not in text
    assert TOKEN not in text
    assert len(text) < 250
    return text


HTML = Response("<html>Bad Gateway</html>", HTTPStatus.BAD_GATEWAY, content_type="text/html")
DENIED = Response(
    json.dumps({"detail": f"Invalid token {TOKEN}"}),
    HTTPStatus.UNAUTHORIZED,
    content_type="application/json",
)
ERROR = Response('{"detail": "database is locked"}', 500, content_type="application/json")
CUT = Response('{"total": 12, "tasks": [{"id": 1', content_type="application/json")
LOGIN = Response("<html>Please log in</html>", content_type="text/html")
NOT_FOUND = Response(status=HTTPStatus.NOT_FOUND)
OTHER_JSON = Response('{"hello": "world"}', content_type="application/json")
LIST = Response("[1, 2]", content_type="application/json")
PATHS = ["/api/projects/", "/api/users/", "/api/tasks/"]
SAID = {
    "html": (HTML, "answered 502"),
    "denied": (DENIED, "does not accept the token; correct LABEL_STUDIO_API_KEY"),
    "error": (ERROR, "answered 500 database is locked; try again"),
    "cut": (CUT, "the response is not from Label Studio"),
    "login": (LOGIN, "the response is not from Label Studio"),
    "not-found": (NOT_FOUND, r"\(404\); is this a Label Studio"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("fault", SAID)
def test_a_failing_server_is_one_clear_line_and_yesterdays_tables_stay(server, folder, path, fault):
    answer, said = SAID[fault]
    before = folder.content()
    server.fail(path, answer)
    with pytest.raises(StudioError, match=said) as told:
        main()
    assert one_line(told).startswith("http://")
    assert folder.content() == before
    server.faults.clear()
    main()
    assert set(folder.get(tables.JUDGMENTS)["level"]) == {4}


@pytest.mark.parametrize("fault", SAID)
def test_a_failure_in_the_middle_of_paging_is_no_shorter_list(server, folder, fault):
    answer, said = SAID[fault]
    before = folder.content()
    server.fail("/api/tasks/", answer, page=2)
    with pytest.raises(StudioError, match=said) as told:
        main()
    one_line(told)
    assert folder.content() == before


@pytest.mark.parametrize("number", [29, 31])
def test_two_accounts_of_one_address_take_nobodys_judgments_away(server, folder, number):
    before = folder.content()
    server.users.append({"id": number, "email": email_of(1).upper()})
    with pytest.raises(StudioError, match=r"accounts .* have one address") as told:
        main()
    assert {"30", str(number)} <= set(one_line(told).split())
    assert "@" not in one_line(told), "no address in a message"
    assert folder.content() == before


def test_a_list_that_ends_too_early_is_told(server, folder):
    before = folder.content()
    short = Response(json.dumps({"total": TASKS, "tasks": []}), content_type="application/json")
    server.fail("/api/tasks/", short, page=3)
    with pytest.raises(StudioError, match="a list got shorter while it was read") as told:
        main()
    one_line(told)
    assert folder.content() == before


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("answer", [OTHER_JSON, LIST], ids=["other", "list"])
def test_json_of_something_else_is_one_line_too(server, folder, path, answer):
    before = folder.content()
    server.fail(path, answer)
    with pytest.raises(StudioError, match="not from Label Studio") as told:
        main()
    one_line(told)
    assert folder.content() == before


def test_reading_is_tried_again(server, folder):
    server.fail("/api/tasks/", HTML, page=2, times=1)
    main()
    assert set(folder.get(tables.JUDGMENTS)["level"]) == {4}
    assert server.asked.count(("GET", "/api/tasks/", 2)) == 2


def test_no_server_is_one_line_that_says_what_to_start(server, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        folder.configure(url, TOKEN)
        before = folder.content()
        with pytest.raises(StudioError, match=r"no server answers there; start it") as told:
            main()
    assert url in one_line(told)
    assert folder.content() == before


NO_ADDRESSES = [
    *("127.0.0.1:8080", "localhost", "http://", "ftp://127.0.0.1"),
    *("http://[::1", "http://127.0.0.1:80a", "http://127.0.0.1:99999", "http://127.0.0.1:0"),
]


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_an_address_that_is_none_is_one_line(server, folder, url):
    folder.configure(url, TOKEN)
    with pytest.raises(SettingsError, match="LABEL_STUDIO_URL: is not a valid address") as told:
        main()
    one_line(told)


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("http://127.0.0.1:1", "s3cret\x01s3cret"),
        ("http://127.0.0.1:1", "s3cr\u00e9t"),
        ("http://lead:s3cret@127.0.0.1:1", "token"),
    ],
)
def test_a_token_or_address_that_would_leak_is_refused_without_repeating_it(
    server, folder, monkeypatch, url, token
):
    monkeypatch.setenv("LABEL_STUDIO_URL", url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", token)
    with pytest.raises(SettingsError) as told:
        main()
    assert "s3cr" not in one_line(told)


def test_a_line_break_after_a_token_is_none_of_it(monkeypatch):
    monkeypatch.setenv("LABEL_STUDIO_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "token\n")
    assert settings.endpoint() == ("http://127.0.0.1:1", "token")


def test_a_server_of_another_campaign_is_refused_by_pull_and_push(server, folder):
    other = "6f1c2a34-5b6d-4e7f-8a9b-ffffffffffff"
    server.description = projects.description(other, 1, "clips")
    folder.put(tables.ASSIGNMENTS, tables.ASSIGNMENTS.empty())
    before = folder.content()
    for command, options in ((pull.main, pull_options()), (push.main, PushOptions)):
        with pytest.raises(CampaignError, match=f"has another campaign .{other}") as told:
            command(options)
        assert TOKEN not in str(told.value)
    assert folder.content() == before
    assert {method for method, _, _ in server.asked} == {"GET"}


class PushOptions:
    beside_others = False


@pytest.fixture
def studio(server, folder, httpserver):
    client = LabelStudio(Endpoint(httpserver.url_for("").rstrip("/"), TOKEN), PAGE)
    [project] = client.projects()
    server.asked.clear()
    return client, project


def test_writing_is_never_tried_again_of_itself(server, studio):
    client, project = studio
    server.fail("/api/projects/7/import", HTML)
    with pytest.raises(StudioError, match="answered 502") as told:
        client.add(project, [{"query": "q"}, {"query": "r"}])
    one_line(told)
    assert server.asked == [("POST", "/api/projects/7/import", 1)]


def test_tasks_that_were_not_taken_are_told(server, studio):
    client, project = studio
    server.imported = {"task_ids": [1]}
    with pytest.raises(StudioError, match="took 1 of 2 tasks; push again"):
        client.add(project, [{"query": "q"}, {"query": "r"}])


def test_the_token_goes_to_the_server_and_nowhere_else(server, folder, httpserver, capfd):
    main()
    assert all(TOKEN in request.headers["Authorization"] for request, _ in httpserver.log)
    out = "".join(capfd.readouterr())
    assert TOKEN not in out
    for path in folder.path.rglob("*"):
        assert not path.is_file() or path.name == ".env" or TOKEN.encode() not in path.read_bytes()
