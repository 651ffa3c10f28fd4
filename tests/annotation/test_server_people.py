"""The real server with people on it: what an annotator can do, a backup while they judge, its log.

What SECURITY.md says of Label Studio's Community edition is tried here, one by one.
"""

import contextlib
import threading
import zipfile
from http import HTTPStatus
from pathlib import Path

import pytest
from studio import Studio, studio

from annotation import env
from annotation.local_server import backup, layout
from annotation.server import ServerError, start, stop
from pipeline import files

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PASSWORD = "a-good-password"  # noqa: S105
CONFIG = """<View><Text name="t" value="$q"/><Choices name="c" toName="t">
<Choice value="0"/><Choice value="1"/></Choices></View>"""
RESULT = [{"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": ["1"]}}]
ALL = {"selectedItems": {"all": True, "excluded": []}}


@pytest.fixture(scope="module")
def lead(tmp_path_factory, repository):
    with studio(tmp_path_factory.mktemp("people"), repository) as lead:
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


def test_a_backup_made_while_people_judge_holds_what_they_had_judged(lead, ann, bo, tmp_path):
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
    for one in people:
        one.start()
    while len(done) < 10:
        pass
    saved, server = tmp_path / "saved.zip", lead.media.parent.parent
    try:
        with contextlib.chdir(server):
            before = list(done)
            said = backup.write(saved)
            after = list(done)
    finally:
        ended.set()
        for one in people:
            one.join()
    assert len(after) >= len(before) >= 10
    assert saved.stat().st_mode & 0o077 == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".venv-label-studio").symlink_to(server / ".venv-label-studio")
    with contextlib.chdir(elsewhere):
        assert "answers are back" in backup.restore(saved)
        assert (elsewhere / env.ENV).stat().st_mode & 0o077 == 0
        try:
            restored = Studio(start(0).url, lead.token, elsewhere)
            found = restored.tasks(project)
            restored.close()
        finally:
            stop()
    answers = {answer["id"] for task in found for answer in task["annotations"]}
    assert len(found) == 400
    assert set(before) <= answers
    assert f"{len(answers):,} answers" in said
    assert len(answers) <= len(after) + 2, "two answers may have been under way"


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
    judged = f"/api/annotations/{bo.annotate(tasks[0], RESULT)['id']}/"
    where = f"/api/projects/{project}"
    forged = {"result": RESULT, "completed_by": 1}
    can = [
        ("GET", f"{where}/export?exportType=JSON", None),
        ("PATCH", judged, {"result": RESULT}),
        ("POST", f"/api/tasks/{tasks[1]}/annotations/", forged),
        ("POST", f"{where}/import", [{"data": {"q": "x"}, "annotations": [forged]}]),
        ("PATCH", f"/api/tasks/{tasks[2]}/", {"data": {"q": "another"}}),
        ("DELETE", judged, None),
        ("DELETE", f"/api/tasks/{tasks[3]}/", None),
        ("PATCH", f"{where}/", {"title": "Nobody's", "description": ""}),
        ("POST", f"/api/dm/actions?id=delete_tasks&project={project}", ALL),
        ("DELETE", f"/api/projects/{other}/", None),
        ("POST", "/api/invite/reset-token", None),
        ("GET", "/api/users/", None),
        ("PATCH", "/api/users/1/", {"first_name": "Nobody"}),
    ]
    for method, path, body in can:
        done = status(ann, method, path, body)
        assert HTTPStatus(done).is_success, (method, path, done)
    people = {one["email"]: one["id"] for one in lead.api("GET", "/api/users/")}
    can_not = [
        ("DELETE", f"/api/users/{people['bo@example.org']}/", None),
        ("PATCH", "/api/users/1/", {"email": "ann2@example.org"}),
        ("POST", "/api/storages/localfiles/", {"project": project, "path": "/etc", "title": "x"}),
    ]
    for method, path, body in can_not:
        done = status(ann, method, path, body)
        assert not HTTPStatus(done).is_success, (method, path, done)
    # Last, since it locks the lead out: a session is needed to switch it on again.
    off = {"api_tokens_enabled": True, "legacy_api_tokens_enabled": False}
    assert HTTPStatus(status(ann, "POST", "/api/jwt/settings", off)).is_success
    assert status(lead, "GET", "/api/current-user/whoami") == HTTPStatus.UNAUTHORIZED


def test_only_a_backup_of_ours_is_restored_and_what_was_there_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ServerError, match="no server of this folder has run"):
        backup.write(Path("a.zip"))
    for name in ("../x", "datasets/work/x", "/etc/passwd"):
        with zipfile.ZipFile("wrong.zip", "w") as archive:
            archive.writestr(name, "x")
        with pytest.raises(ServerError, match="no backup of ours"):
            backup.restore(Path("wrong.zip"))
    Path("text.zip").write_text("text")
    with pytest.raises(ServerError, match="can be read"):
        backup.restore(Path("text.zip"))
    with zipfile.ZipFile("empty.zip", "w") as archive:
        archive.writestr(str(env.ENV), "A=b\n")
    env.write({env.TOKEN: "mine"})
    with pytest.raises(ServerError, match="holds no database"):
        backup.restore(Path("empty.zip"))
    assert env.read() == {env.TOKEN: "mine"}
    with files.atomic(Path("there.zip")) as stream:
        stream.write("x")
    with pytest.raises(ServerError, match="never overwritten"):
        backup.write(Path("there.zip"))
