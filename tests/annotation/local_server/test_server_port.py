"""The server's port: taken under its nose, kept over restarts, and never another program's.

The server is a small program that finds its port as Label Studio does; one test is on the real one.
"""

import contextlib
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path

import psutil
import pytest
from support.campaign_cases import make_judgments, vote
from support.campaign_folder import CampaignFolder, Size

from annotation import server
from annotation.label_studio import settings
from annotation.label_studio.client import TESTED
from annotation.local_server import database, layout, log_writer, ports
from annotation.local_server.process import find, find_running, is_alive
from annotation.server import ServerError, start, stop, whoami_status
from pipeline.core import tables

pytestmark = [pytest.mark.integration]
FAKE = Path(__file__).parents[2] / "support/fake_label_studio.py"


@pytest.fixture
def usual_port(monkeypatch):
    """Return the port that takes the place of 8080."""
    port = next(port for port in range(20000 + os.getpid() % 9000, 32000) if ports.is_free(port))
    monkeypatch.setattr(server, "USUAL_PORT", port)
    return port


@pytest.fixture
def folder(tmp_path, monkeypatch, usual_port):
    """Return a folder with a server that is quick; it and its rival are stopped afterwards."""
    for name in (settings.URL, settings.TOKEN, settings.USERNAME, settings.PASSWORD):
        monkeypatch.delenv(name, raising=False)
    campaign = tmp_path / "campaign"
    campaign.mkdir()
    monkeypatch.chdir(campaign)
    layout.PROGRAM.parent.mkdir(parents=True)
    layout.PROGRAM.touch()
    program = layout.PROGRAM.with_name("python")
    program.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
    program.chmod(0o755)
    yield campaign
    os.chdir(campaign)
    stop()
    end_the_rival()


def end_the_rival():
    with contextlib.suppress(OSError, psutil.Error):
        rival = psutil.Process(int(Path("rival").read_text()))
        rival.kill()
        psutil.wait_procs([rival], timeout=5)


@contextlib.contextmanager
def occupy(port):
    """Be another program that answers nobody on a port."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ports.LOCALHOST, port))
        listener.listen()
        yield


def read_starts():
    lines = Path("starts").read_text().splitlines() if Path("starts").exists() else []
    return [line for line in lines if line.startswith("start")]


def is_ours(process):
    """Tell whether the address in `.env` is that of the process, and knows our token."""
    url, token = settings.endpoint()
    return url == process.url and whoami_status(url, token) == HTTPStatus.OK


@pytest.mark.parametrize(("when", "launched"), [("look", 1), ("listen", 2)])
def test_a_port_that_is_taken_while_it_starts_is_not_asked_again(
    folder, usual_port, when, launched
):
    Path("fate").write_text(f"rival before {when}")
    running = start(None)
    assert running.port == usual_port + 1
    assert is_ours(running)
    assert len(read_starts()) == launched
    stop()
    end_the_rival()
    assert start(None).port == usual_port + 1, "its links are known by now"


@pytest.mark.parametrize("when", ["look", "listen"])
def test_a_port_that_was_asked_for_is_not_exchanged_for_another(folder, usual_port, when):
    Path("fate").write_text(f"rival before {when}")
    with pytest.raises(ServerError, match=f"--port {usual_port}: taken by .*process"):
        start(usual_port)
    assert find() is None
    end_the_rival()
    with occupy(usual_port), pytest.raises(ServerError, match=f"--port {usual_port}: taken by"):
        start(usual_port)
    assert find() is None
    assert start(usual_port).port == usual_port
    with pytest.raises(
        ServerError, match=f"runs at http://127.0.0.1:{usual_port}; .*stop it first"
    ):
        start(usual_port + 1)


def test_it_keeps_its_port_though_connections_of_before_are_still_closing(folder, usual_port):
    running = start(None)
    with socket.create_connection((ports.LOCALHOST, running.port)) as visitor:
        visitor.sendall(b"GET / HTTP/1.0\r\n\r\n")  # the server closes first, and its end lingers
        while visitor.recv(1000):
            pass
    assert stop()
    assert start(None).port == running.port == usual_port


def test_where_it_can_not_keep_its_port_both_addresses_are_said(folder, usual_port, capsys):
    start(None)
    stop()
    assert capsys.readouterr().err == ""
    with occupy(usual_port):
        running = start(None)
        message = capsys.readouterr().err
        assert is_ours(running)
    new = f"http://127.0.0.1:{usual_port + 1}"
    for needed in (
        "WARNING",
        f"http://127.0.0.1:{usual_port} ",
        new,
        f"--port {usual_port}",
        "invite",
    ):
        assert needed in message
    assert f"process {os.getpid()}" in message
    assert start(None) == running
    assert capsys.readouterr().err == "", "once is enough"
    stop()
    assert start(usual_port).port == usual_port
    assert capsys.readouterr().err == ""


def start_slowly(seconds, **how):
    """Start a server that takes some time, in a process of its own."""
    repository = str(Path(server.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": repository, "FAKE_SECONDS": str(seconds)}
    command = [sys.executable, "-m", "annotation.server", "start"]
    return subprocess.Popen(command, env=environment, **how)


def test_a_starter_that_is_killed_leaves_a_server_that_the_next_one_finds(folder, usual_port):
    settings.write({settings.URL: f"http://127.0.0.1:{usual_port}"})
    with start_slowly(2, stderr=subprocess.DEVNULL) as starter:
        while (process := find()) is None:
            time.sleep(0.01)
        starter.send_signal(signal.SIGKILL)
    assert find_running() is None, "it does not listen yet"
    running = start(None)
    assert running.pid == process.pid
    assert is_ours(running)
    assert len(read_starts()) == 1


def test_two_starts_at_once_are_one(folder, usual_port):
    settings.write({settings.URL: f"http://127.0.0.1:{usual_port}"})
    starters = [start_slowly(1, stderr=subprocess.PIPE) for _ in range(2)]
    errors = [starter.communicate(timeout=60)[1].decode() for starter in starters]
    assert [starter.returncode for starter in starters] == [0, 0], errors
    assert len(read_starts()) == 1
    assert is_ours(find_running())


def test_a_database_of_another_token_is_said_and_nothing_is_left_running(folder):
    start(None)
    stop()
    settings.write({settings.TOKEN: "f" * 40})
    with pytest.raises(ServerError, match="does not know the token"):
        start(None)
    assert find() is None


WRONG = 'connection to server at "::1", port 1 failed: FATAL:  password authentication failed'


@pytest.mark.parametrize(
    ("reason", "message"),
    [("", r"server\.log says why"), (WRONG, "FATAL:  password authentication")],
)
def test_a_server_that_can_not_start_is_not_tried_again(folder, reason, message):
    Path("fate").write_text(f"broken: {reason}")
    with pytest.raises(ServerError, match=message):
        start(None)
    assert len(read_starts()) == 1
    assert "broken" in layout.LOG.read_text()


def test_on_postgres_the_password_is_kept_in_env_and_in_no_command_line_or_log(folder, monkeypatch):
    monkeypatch.setenv(database.URL, "postgresql://a:hidden-word@127.0.0.1:1/c")
    start(None, 3)
    monkeypatch.delenv(database.URL)
    assert stop()
    assert stat.S_IMODE(settings.ENV.stat().st_mode) == 0o600
    running = start(None, 4)
    assert running.workers == 4
    environment = running.process.environ()
    expected = {
        "POSTGRE_HOST": "127.0.0.1",
        "POSTGRE_PASSWORD": "hidden-word",
        "DJANGO_DB": "default",
    }
    assert expected.items() <= environment.items()
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert any(str(layout.DATA.resolve()) in line for line in lines)
    assert not any("hidden-word" in word for line in lines for word in line)
    stop()
    Path("fate").write_text("broken: hidden-word")
    with pytest.raises(ServerError) as caught:
        start(None)
    log = layout.LOG.read_text()
    assert "broken" in log
    assert "hidden-word" not in log + str(caught.value)


def test_a_copy_of_the_folder_gets_a_server_of_its_own(folder, usual_port, capsys):
    first = start(None)
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy, symlinks=True)
    with contextlib.chdir(copy):
        assert find_running() is None, "that one is of the other folder, though it knows our token"
        second = start(None)
        assert (second.port, is_ours(second)) == (usual_port + 1, True)
        assert "WARNING" in capsys.readouterr().err
        assert stop()
    assert find_running() == first
    assert is_alive(first.process)


def test_a_server_of_somebody_else_on_this_machine_is_not_left(folder, usual_port):
    first = start(None)
    other_folder = folder.parent / "other"
    other_folder.mkdir()
    shutil.copytree(layout.PROGRAM.parent, other_folder / layout.PROGRAM.parent)
    with contextlib.chdir(other_folder):
        settings.write({settings.URL: first.url, settings.TOKEN: "a token of ours, by hand"})
        with pytest.raises(ServerError, match=f"names another server .{first.url}"):
            start(None)
        assert settings.read()[settings.URL] == first.url


def test_the_log_stays_small_and_holds_no_secret(tmp_path):
    log, password, invite = tmp_path / "server.log", "a pass word", "ITRK8jRHKbTJp7ceCcTTQfl"
    token, key = "0123456789abcdef" * 2 + "01234567", "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln-_"
    line = f'"GET /user/signup/?token={invite}&x=1 HTTP/1.1" {password} {token} key {key}.\n'
    command = [sys.executable, "-I", log_writer.__file__, log, "20000"]
    environment = {**os.environ, log_writer.MASKED: f"{password}\n\n"}
    text = "".join(f"{number} {line}" for number in range(3000)) + "x" * 200_000 + "\nthe end"
    subprocess.run(command, input=text.encode(), env=environment, check=True, timeout=60)
    written = sorted(tmp_path.iterdir())
    assert [path.name for path in written] == [f"server.log{end}" for end in ("", ".1", ".2", ".3")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    together = "".join(path.read_text() for path in reversed(written))
    assert len(together) < 4 * (20000 + log_writer.LINE_BYTES)
    assert together.endswith("the end\n")
    assert f"token={log_writer.HIDDEN}&x=1 HTTP/1.1" in together or "xxx" in together
    for secret in (password, invite, token, key):
        assert secret not in together


def test_a_line_of_the_log_loses_its_secrets_and_nothing_else():
    line = 'GET /user/signup/?token=abc.DEF-1&x=1 and password=hunter2 by "s3cret" ' + "0a" * 20
    masked = log_writer.mask(line, ["s3cret"])
    hidden = log_writer.HIDDEN
    assert masked == (
        f'GET /user/signup/?token={hidden}&x=1 and password={hidden} by "{hidden}" {hidden}'
    )
    quoted = "GET /user/login/?next=/user/signup/%3Ftoken%3DITRK8j HTTP/1.1"
    assert log_writer.mask(quoted, []) == quoted.replace("ITRK8j", hidden)


def test_a_full_disk_does_not_stop_the_server(tmp_path):
    (tmp_path / "log").mkdir()
    command = [sys.executable, "-I", log_writer.__file__, tmp_path / "log/server.log", "1000"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as writer:
        writer.stdin.write(b"begin\n")
        writer.stdin.flush()
        while not (tmp_path / "log/server.log").exists():
            time.sleep(0.01)
        shutil.rmtree(tmp_path / "log")  # root writes wherever it likes: a folder that is gone
        writer.stdin.write(b"more than a thousand bytes\n" * 9000)
        writer.stdin.close()
        assert writer.wait(20) == 0


def test_starting_names_another_version(folder, capsys):
    Path("release").write_text(TESTED)
    start(0)
    assert "WARNING" not in capsys.readouterr().err
    Path("release").write_text("1.22.0")
    start(0)
    assert f"is Label Studio 1.22.0; only {TESTED} was tested" in capsys.readouterr().err


def make_database(*answers, more=100):
    """Make the server's database in this folder, with these answers, number and time, and more."""
    layout.DATA.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(layout.DATABASE)) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("create table task_completion (id integer primary key, created_at text)")
        rows = [(number, f"2026-01-01 00:00:0{second}.000123") for number, second in answers]
        database.executemany("insert into task_completion values (?, ?)", rows)
        filler = [(number, "x" * 500) for number in range(1000, 1000 + more)]
        database.executemany("insert into task_completion values (?, ?)", filler)
        database.commit()


def cut_short(content):
    return content[: len(content) // 2]


def overwrite_page(content):
    return content[: 4096 * 2] + b"x" * 4096 + content[4096 * 3 :]


def overwrite_header(content):
    return b"\0" * 100 + content[100:]


def replace_all(_content):
    return b"<html>not found</html>" * 99


@pytest.mark.parametrize("damage", [cut_short, overwrite_page, overwrite_header, replace_all])
def test_no_server_is_started_on_a_damaged_database(folder, damage):
    make_database()
    layout.DATABASE.write_bytes(damage(layout.DATABASE.read_bytes()))
    before = layout.DATABASE.read_bytes()
    with pytest.raises(ServerError) as caught:
        start(0)
    for words in ("is damaged", "Restore a backup (docs/server.md)", "label_studio.sqlite3-wal"):
        assert words in str(caught.value)
    assert (find(), layout.DATABASE.read_bytes()) == (None, before)


PULLED = [(1, 1, "stands"), (2, 2, "stands"), (3, 3, "replaced"), (4, 4, "lost"), (5, 5, "trusted")]


def write_history(folder, repository):
    campaign = CampaignFolder.make(folder, repository, Size(queries=1, ranks=1))
    times = [f"2026-01-01T00:00:0{second}.000123Z" for _, second, _ in PULLED]
    judgments = make_judgments(
        vote(1, 2, moment_id=f"m{number}", submitted_at=when, origin=f"{number}@{when}")
        for (number, _, _), when in zip(PULLED, times, strict=True)
    )
    states = [state for _, _, state in PULLED]
    history = judgments.assign(updated_at=judgments["submitted_at"], state=states)
    campaign.put(tables.JUDGMENT_HISTORY, history)
    settings.ENV.unlink()
    return campaign


def copy_while_in_use(answers, later):
    """Copy the database's main file alone, while newer answers are in its `-wal`."""
    make_database(*answers)
    with contextlib.closing(sqlite3.connect(layout.DATABASE)) as database:
        rows = [(number, f"2026-01-01 00:00:0{second}.000123") for number, second in later]
        database.executemany("insert into task_completion values (?, ?)", rows)
        database.commit()
        content = layout.DATABASE.read_bytes()
        assert Path(f"{layout.DATABASE}-wal").stat().st_size
    layout.DATABASE.write_bytes(content)
    assert not Path(f"{layout.DATABASE}-wal").exists()


@pytest.mark.parametrize(
    ("answers", "later", "lacks"),
    [
        ([(1, 1)], [(2, 2), (5, 5)], "lacks 2 of 3 answers that were pulled"),
        ([(1, 1), (2, 2)], [(5, 5)], "lacks 1 of 3"),
        ([(1, 9), (2, 2), (5, 5)], [(7, 7)], "lacks 1 of 3"),  # of a server that was wiped
        ([(1, 1), (2, 2), (5, 5)], [(7, 7)], ""),
    ],
)
def test_a_copy_that_forgets_the_newest_answers_is_named(
    folder, repository, capsys, answers, later, lacks
):
    campaign = write_history(folder, repository)
    copy_while_in_use(answers, later)
    start(0)
    said = capsys.readouterr().err
    assert lacks in said
    assert ("label_studio.sqlite3-wal" in said) == ("--accept-loss" in said) == bool(lacks)
    stop()
    campaign.open(closed_at="2026-02-01T00:00:00Z")
    start(0)
    assert "lacks" not in capsys.readouterr().err, "nobody will pull it again"
