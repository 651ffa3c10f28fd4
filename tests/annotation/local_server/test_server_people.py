"""The real server with people on it: what an annotator can do, a backup while they judge, its log.

What SECURITY.md says of Label Studio's Community edition is tried here, one by one.
"""

import contextlib
import os
import re
import shutil
import subprocess
import threading
import time
from http import HTTPStatus

import httpx
import pytest
from support.campaign_folder import PASSWORD
from support.studio import Studio, studio

from annotation.label_studio import settings as env
from annotation.label_studio.errors import StudioError
from annotation.local_server import layout
from annotation.roster.roster import Account
from annotation.server import start, stop
from annotation.simulation.accounts import Visitor
from pipeline.core import files
from pipeline.core.tables import PRIVATE

pytestmark = [pytest.mark.integration, pytest.mark.slow]
HOST = "https://judge.example.org"
CONFIG = """<View><Text name="t" value="$q"/><Choices name="c" toName="t">
<Choice value="0"/><Choice value="1"/></Choices></View>"""
RESULT = [{"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": ["1"]}}]
ALL = {"selectedItems": {"all": True, "excluded": []}}


@pytest.fixture(scope="module")
def compose(repository):
    """Return the settings of Label Studio in docs/compose.yaml, for the host of this name."""
    services = files.read_yaml(repository / "docs/compose.yaml")["services"]
    settings = services["label-studio"]["environment"]
    return {name: value.replace("${LABEL_STUDIO_HOST:?}", HOST) for name, value in settings.items()}


@pytest.fixture(scope="module")
def lead(tmp_path_factory, label_studio, compose):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CSRF_TRUSTED_ORIGINS", compose["CSRF_TRUSTED_ORIGINS"])
        with studio(tmp_path_factory.mktemp("people"), label_studio) as lead:
            yield lead


@pytest.fixture(scope="module")
def ann(lead):
    with contextlib.closing(lead.sign_up("ann@example.org", PASSWORD)) as ann:
        yield ann


@pytest.fixture(scope="module")
def bo(lead):
    with contextlib.closing(lead.sign_up("bo@example.org", PASSWORD)) as bo:
        yield bo


def status(who, method, path, body=None):
    return who.http.request(method, path, json=body).status_code


def read_backup(repository):
    """Return the commands of docs/server.md that save, and those that put the files in place."""
    page = (repository / "docs/server.md").read_text().partition("## Back up and restore")[2]
    save, restore = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)[:2]
    _stop, _move, *put, _start, _repro = restore.splitlines()
    return save, "\n".join(put)


def type_in(folder, commands, home):
    done = subprocess.run(
        ["bash", "-euc", commands],
        cwd=folder,
        env=os.environ | {"HOME": str(home)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="no sqlite3")
def test_a_backup_made_while_people_judge_holds_what_they_had_judged(
    repository, lead, ann, bo, tmp_path
):
    project = lead.project("Backup", CONFIG)
    tasks = lead.add(project, [{"q": str(number)} for number in range(400)])
    done, ended = [], threading.Event()

    def judge(who, own):
        for task in own:
            if ended.is_set():
                return
            done.append(who.annotate(task, RESULT)["id"])

    people = [
        threading.Thread(target=judge, args=(who, tasks[at::2])) for at, who in enumerate([ann, bo])
    ]
    for thread in people:
        thread.start()
    while len(done) < 10:
        assert all(thread.is_alive() for thread in people), "nobody has judged all of it yet"
        time.sleep(0.01)
    server = lead.media.parent.parent
    (server / PRIVATE).parent.mkdir(parents=True, exist_ok=True)
    (server / PRIVATE).write_text("accounts: {}\n")
    save, put = read_backup(repository)
    try:
        before = list(done)
        type_in(server, save, tmp_path)
        after = list(done)
    finally:
        ended.set()
        for thread in people:
            thread.join()
    assert len(after) >= len(before) >= 10
    assert (tmp_path / "kitchen").stat().st_mode & 0o077 == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".venv-label-studio").symlink_to(server / ".venv-label-studio")
    type_in(elsewhere, put, tmp_path)
    for path in (layout.DATABASE, env.ENV):
        assert (elsewhere / path).stat().st_mode & 0o077 == 0
    with contextlib.chdir(elsewhere):
        try:
            restored = Studio(start(0).url, lead.token, elsewhere)
            restored_tasks = restored.tasks(project)
            restored.close()
        finally:
            stop()
    answers = {answer["id"] for task in restored_tasks for answer in task["annotations"]}
    assert len(restored_tasks) == 400
    assert set(before) <= answers
    assert len(answers) <= len(after) + 2, "two answers may have been under way"


@pytest.mark.parametrize(("origin", "entered"), [(HOST, True), ("https://evil.example", False)])
def test_the_login_form_works_behind_https(lead, ann, compose, origin, entered):
    # What a proxy passes on: the name that people typed, and by plain HTTP.
    assert int(compose["SESSION_COOKIE_SECURE"]) == 1, "Label Studio reads a number here"
    with httpx.Client(base_url=lead.url, headers={"Host": httpx.URL(HOST).host}) as browser:
        browser.get("/user/login/").raise_for_status()
        fields = {"email": "ann@example.org", "password": PASSWORD}
        fields["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
        headers = {"Origin": origin, "Referer": f"{origin}/user/login/"}
        response = browser.post("/user/login/", data=fields, headers=headers)
    assert (response.status_code == HTTPStatus.FOUND) is entered
    assert (response.status_code == HTTPStatus.FORBIDDEN) is not entered


def test_a_visitor_whose_password_is_wrong_is_told_so(lead, ann):
    account = Account(email="ann@example.org", name=None, password="another")  # noqa: S106
    invite = lead.api("GET", "/api/invite")["invite_url"]
    with pytest.raises(StudioError, match=r"ann@example\.org can neither log in nor sign up"):
        Visitor(lead.url, invite, account)
    with pytest.raises(StudioError, match="can't be reached"):
        Visitor("http://127.0.0.1:1", invite, account)


def test_the_log_of_the_real_server_holds_no_secret(lead, ann, bo):
    invite = lead.api("GET", "/api/invite")["token"]
    assert status(ann, "POST", "/api/token/", {}) == HTTPStatus.CREATED
    lead.http.get(f"/user/login/?password={PASSWORD}&token={lead.token}")
    server = lead.media.parent.parent
    log = (server / layout.LOG).read_text()
    assert "GET /user/signup/?token=" in log
    password = env.read(server / env.ENV)[env.PASSWORD]
    for secret in (invite, password, PASSWORD, lead.token, ann.token, bo.token):
        assert secret not in log


def test_an_annotator_can_do_what_the_security_page_says(lead, ann, bo):
    project, other = lead.project("Mine", CONFIG), lead.project("Others", CONFIG)
    tasks = lead.add(project, [{"q": str(number)} for number in range(9)])
    answer_path = f"/api/annotations/{bo.annotate(tasks[0], RESULT)['id']}/"
    where = f"/api/projects/{project}"
    forged = {"result": RESULT, "completed_by": 1}
    can = [
        ("GET", f"{where}/export?exportType=JSON", None),
        ("PATCH", answer_path, {"result": RESULT}),
        ("POST", f"/api/tasks/{tasks[1]}/annotations/", forged),
        ("POST", f"{where}/import", [{"data": {"q": "x"}, "annotations": [forged]}]),
        ("PATCH", f"/api/tasks/{tasks[2]}/", {"data": {"q": "another"}}),
        ("DELETE", answer_path, None),
        ("DELETE", f"/api/tasks/{tasks[3]}/", None),
        ("PATCH", f"{where}/", {"title": "Nobody's", "description": ""}),
        ("POST", f"/api/dm/actions?id=delete_tasks&project={project}", ALL),
        ("DELETE", f"/api/projects/{other}/", None),
        ("POST", "/api/invite/reset-token", None),
        ("GET", "/api/users/", None),
        ("POST", "/api/users/", {"email": "BO@EXAMPLE.ORG", "username": "x", "password": PASSWORD}),
        ("PATCH", "/api/users/1/", {"first_name": "Nobody"}),
    ]
    for method, path, body in can:
        code = status(ann, method, path, body)
        assert httpx.codes.is_success(code), (method, path, code)
    people = {user["email"]: user["id"] for user in lead.api("GET", "/api/users/")}
    can_not = [
        ("DELETE", f"/api/users/{people['bo@example.org']}/", None),
        ("PATCH", "/api/users/1/", {"email": "ann2@example.org"}),
        ("POST", "/api/storages/localfiles/", {"project": project, "path": "/etc", "title": "x"}),
    ]
    for method, path, body in can_not:
        code = status(ann, method, path, body)
        assert not httpx.codes.is_success(code), (method, path, code)
    bos = f"/api/users/{people['bo@example.org']}/"
    status(ann, "PATCH", bos, {"password": "another-password"})
    assert lead.token_of("bo@example.org", PASSWORD) == bo.token, "it is still their password"
    again = lead.add(lead.project("Again", CONFIG), [{"q": "1"}])
    # Last, since it locks the lead out: a session is needed to switch it on again.
    off = {"api_tokens_enabled": True, "legacy_api_tokens_enabled": False}
    assert httpx.codes.is_success(status(ann, "POST", "/api/jwt/settings", off))
    assert status(lead, "GET", "/api/current-user/whoami") == HTTPStatus.UNAUTHORIZED
    account = Account(email="ann@example.org", name=None, password=PASSWORD)
    with contextlib.closing(Visitor(lead.url, "", account)) as visitor:
        visitor.answer(again[0], RESULT, 3.0)
        with pytest.raises(StudioError, match="answering task 1000000 failed"):
            visitor.answer(1_000_000, RESULT, 3.0)
