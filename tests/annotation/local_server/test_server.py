"""The real Label Studio server: started, looked at as a stranger would, killed, stopped."""

import contextlib
import gc
import os
import signal
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import httpx
import pytest
from support import studio

from annotation.label_studio import client, settings
from annotation.local_server import layout, ports
from annotation.local_server.process import find, is_alive
from annotation.server import ServerError, find_running, start, stop, whoami_status
from pipeline.trials import services

pytestmark = [pytest.mark.integration]


@pytest.fixture
def installation(folder, label_studio):
    """Return a folder in which the server is installed; it is stopped afterwards."""
    (folder / label_studio.name).symlink_to(label_studio)
    yield folder
    stop()


def test_without_a_server_the_command_to_type_is_said(folder):
    with pytest.raises(ServerError, match="make label-studio"):
        start(0)
    assert find_running() is None
    assert stop() is False


OURS = {settings.URL: "http://127.0.0.1:1", settings.TOKEN: "t"}
OURS |= {settings.USERNAME: "u", settings.PASSWORD: "p"}


@pytest.mark.parametrize("name", OURS)
def test_another_server_in_the_environment_is_not_taken_for_this_one(folder, monkeypatch, name):
    settings.write(OURS)
    monkeypatch.setenv(name, "http://127.0.0.1:2")
    with pytest.raises(ServerError, match=f"{name} is set in the environment"):
        start(0)
    monkeypatch.setenv(name, settings.read()[name])
    with pytest.raises(ServerError, match="is not installed here"):
        start(0)


def assert_version_is_compared(monkeypatch, command):
    """The real server's version is the tested one; if another were tested, both would be named."""
    assert "WARNING" not in command("annotation.server", "check")[2]
    with monkeypatch.context() as patched:
        patched.setattr(client, "TESTED", "0.1")
        code, _, said = command("annotation.server", "check")
    gc.collect()  # the clients' connections, which end with their process usually
    assert code == 0
    assert f"is Label Studio {client.TESTED}; only 0.1 was tested" in said
    code, _, said = command("annotation.server", "check", "--create")
    gc.collect()
    assert code == 0, said
    assert services.CHECKED.search(said)[2] == client.TESTED, "by which a trial finds it"
    assert studio.read_projects() == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_it_starts_alone_answers_us_and_is_closed_to_strangers(installation, monkeypatch, command):
    running = start(0)
    token = settings.read()[settings.TOKEN]
    assert settings.endpoint() == (running.url, token)
    assert whoami_status(running.url, token) == HTTPStatus.OK
    assert_version_is_compared(monkeypatch, command)
    assert whoami_status(running.url, "0" * 40) == HTTPStatus.UNAUTHORIZED
    with httpx.Client(base_url=running.url, follow_redirects=True, timeout=20) as stranger:
        assert stranger.get("/api/projects/").status_code == HTTPStatus.UNAUTHORIZED
        assert stranger.post("/user/signup/").status_code == HTTPStatus.FORBIDDEN
        (layout.MEDIA / "a.txt").write_text("mine")
        answer = stranger.get("/data/local-files/?d=a.txt")
        assert answer.status_code != HTTPStatus.OK
        assert b"mine" not in answer.content
    assert start(0) == running, "it runs already"
    with contextlib.closing(sqlite3.connect(layout.EMPTY)) as empty:
        assert empty.execute("select count(*) from htx_user").fetchone() == (0,)

    os.killpg(running.pid, signal.SIGKILL)
    while is_alive(running.process):
        time.sleep(0.05)
    again = start(0)
    assert whoami_status(again.url, token) == HTTPStatus.OK, "the same database, the same token"

    assert stop() is True
    assert whoami_status(again.url, token) is None
    log = layout.LOG.read_text()
    assert token not in log
    assert settings.read()[settings.PASSWORD] not in log


@pytest.mark.slow
def test_where_its_port_is_taken_as_it_starts_the_real_one_is_found_where_it_went(
    installation, capsys
):
    port = ports.first_free(0)
    settings.write({settings.URL: f"http://127.0.0.1:{port}"})
    with socket.socket() as rival, ThreadPoolExecutor(1) as pool:
        rival.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        starting = pool.submit(start, None)
        while find() is None:
            time.sleep(0.01)
        rival.bind(("127.0.0.1", port))  # free when it was chosen, taken before it listens
        rival.listen()
        running = starting.result()
        assert running.port != port
        assert settings.endpoint() == (running.url, settings.read()[settings.TOKEN])
        assert whoami_status(*settings.endpoint()) == HTTPStatus.OK
    message = capsys.readouterr().err
    assert f"http://127.0.0.1:{port} " in message
    assert running.url in message
