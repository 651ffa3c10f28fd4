"""The address of a PostgreSQL database: read, kept private, and not left unnoticed."""

import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio import settings
from annotation.local_server import backup, choice, database, environment, layout, sqlite
from annotation.server import ServerError, start

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch):
    for name in (database.URL, database.PASSWORD, "PGPASSWORD", settings.HOST):
        monkeypatch.delenv(name, raising=False)


def read_password(place):
    return place.password


@given(
    user=TEXT,
    password=TEXT,
    host=st.sampled_from(["db.example.org", "::1", "/var/run/postgresql"]),
    port=st.integers(1, 65535),
    ssl=st.sampled_from([None, "require"]),
)
def test_an_address_is_read_whatever_its_parts_contain_and_printed_without_the_password(
    user, password, host, port, ssl
):
    settings.ENV.unlink(missing_ok=True)
    secret = quote(f"pass {password} word", safe="")
    socket = host.startswith("/")
    options = [f"host={host}"] * socket + [f"sslmode={ssl}"] * (ssl is not None)
    option = f"?{'&'.join(options)}" if options else ""
    place = f"{'' if socket else f'[{host}]' if ':' in host else host}:{port}"
    text = f"postgresql://{quote(user, safe='')}:{secret}@{place}/kitchen{option}"
    address = database.parse(text)
    assert address == (host, port, "kitchen", user, f"pass {password} word", ssl)
    assert database.parse(address.url) == address._replace(password="")
    assert secret not in address.url + repr(address)
    database.remember(address)
    assert database.configured() == address


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mysql://a:secret@b/c", "is not a PostgreSQL address"),
        ("postgresql://a:secret@b:x/c", "is not an address"),
        ("postgresql://[::1/secret", "is not an address"),
        ("postgresql://b/secret", "needs a user"),
        ("postgresql://a:secret@b", "a database name"),
        ("postgresql://a:secret@b/c/d", "a database name"),
        ("postgresql://a:secret@b/c?port=1", "only sslmode and host are allowed"),
        ("postgresql://a:secret@/c?host=d", "must be the folder of a socket"),
        ("postgresql://a:secret@b/c?host=/d", "must be the folder of a socket"),
    ],
)
def test_what_is_no_address_is_said_without_repeating_it(text, problem):
    with pytest.raises(ServerError, match=problem) as caught:
        database.parse(text)
    assert "secret" not in str(caught.value)


def test_a_password_comes_from_the_address_else_the_environment_else_the_file(monkeypatch):
    text = "postgresql://a@b/c"
    monkeypatch.setenv("PGPASSWORD", "of libpq")
    assert read_password(database.parse(text)) == "of libpq"
    settings.write({database.PASSWORD: "of the file"})
    assert read_password(database.parse(text)) == "of the file"
    monkeypatch.setenv(database.PASSWORD, "of the environment")
    assert read_password(database.parse(text)) == "of the environment"
    assert read_password(database.parse("postgresql://a:typed@b/c")) == "typed"


def test_a_folder_keeps_to_its_database():
    choice.choose("postgresql://a:x@b/c")
    assert stat.S_IMODE(settings.ENV.stat().st_mode) == 0o600
    choice.choose("postgresql://a:y@b:5432/c")
    assert read_password(database.configured()) == "y"
    with pytest.raises(ServerError, match=r"in postgresql://a@b:5432/c, which .*/other would"):
        choice.choose("postgresql://a:x@b/other")
    assert database.configured().name == "c"


def test_answers_in_sqlite_are_not_left_behind():
    layout.DATA.mkdir(parents=True)
    with closing(sqlite.sqlite3.connect(layout.DATABASE)) as connection:
        connection.execute("create table task_completion (id integer)")
        connection.commit()
        choice.choose("postgresql://a:x@b/c")
        settings.ENV.unlink()
        connection.execute("insert into task_completion values (1)")
        connection.commit()
    with pytest.raises(ServerError, match=r"has 1 answers in .*sqlite3, which"):
        choice.choose("postgresql://a:x@b/c")
    assert not settings.ENV.exists()


def test_the_embedded_database_writes_ahead_and_is_copied_meanwhile(tmp_path):
    sqlite.write_ahead()
    assert not layout.DATABASE.exists(), "Label Studio makes it"
    layout.DATA.mkdir(parents=True)
    with closing(sqlite.sqlite3.connect(layout.DATABASE)) as connection:
        connection.execute("create table task_completion (id integer)")
    sqlite.write_ahead()
    with closing(sqlite.sqlite3.connect(layout.DATABASE)) as server:
        assert server.execute("pragma journal_mode").fetchone() == ("wal",)
        server.execute("insert into task_completion values (1)")
        server.commit()
        assert sqlite.dump(tmp_path / "copy.sqlite3") == 1
    layout.DATABASE.write_bytes(b"no database" * 999)
    sqlite.write_ahead()
    with pytest.raises(ServerError, match="can't be copied"):
        sqlite.dump(tmp_path / "copy.sqlite3")


def test_several_workers_need_postgres():
    layout.PROGRAM.parent.mkdir(parents=True)
    layout.PROGRAM.touch()
    with pytest.raises(ServerError, match="--workers 3: SQLite has one writer"):
        start(0, 3)


def test_the_password_is_soon_gone_from_the_process_list(repository):
    address = "postgresql://a:hidden-word@127.0.0.1:1/c"
    command = [sys.executable, "-m", "annotation.server", "start", "--database", address]
    command_lines = []
    with subprocess.Popen(
        command, env={"PYTHONPATH": str(repository)}, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.poll() is None:
            try:
                command_lines.append(" ".join(psutil.Process(process.pid).cmdline()))
            except psutil.Error:
                break
            time.sleep(0.02)
        errors = process.stderr.read()
    assert "is not installed" in errors
    assert "hidden-word" not in errors
    assert "postgresql://a@127.0.0.1:1/c" in next(line for line in reversed(command_lines) if line)
    assert settings.read()[database.PASSWORD] == "hidden-word"


def test_a_server_behind_https_is_told_its_address_and_people_get_it():
    assert environment.behind_https(None) == environment.behind_https("http://a") == {}
    assert environment.behind_https("https://judge.example.org/") == {
        "LABEL_STUDIO_HOST": "https://judge.example.org",
        "CSRF_TRUSTED_ORIGINS": "https://judge.example.org",
        "SESSION_COOKIE_SECURE": "1",
    }
    local = "http://127.0.0.1:8080"
    assert settings.public_address(local) == local
    settings.write({settings.HOST: "https://judge.example.org/"})
    assert settings.public_address(local) == "https://judge.example.org"


def test_clips_are_in_a_backup_that_asks_for_them_and_only_missing_ones_are_restored():
    layout.DATA.mkdir(parents=True)
    with closing(sqlite.sqlite3.connect(layout.DATABASE)) as connection:
        connection.execute("create table task_completion (id integer)")
    layout.MADE.mkdir(parents=True)
    for name in ("a.mp4", "b.mp4"):
        (layout.MADE / name).write_bytes(b"one")
    assert "clips" in backup.write(Path("saved.zip"), clips=True)
    (layout.MADE / "a.mp4").unlink()
    (layout.MADE / "b.mp4").write_bytes(b"two")
    backup.restore(Path("saved.zip"))
    assert (layout.MADE / "a.mp4").read_bytes() == b"one"
    assert (layout.MADE / "b.mp4").read_bytes() == b"two"
