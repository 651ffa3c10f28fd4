"""The address of a PostgreSQL database and Label Studio's settings of it; the embedded database."""

import shlex
import stat
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_server_port import make_database

from annotation.label_studio import settings
from annotation.local_server import backup, database, environment, layout, sqlite
from annotation.server import ServerError, start

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch):
    for name in (database.URL, database.PASSWORD, "PGPASSWORD", settings.HOST):
        monkeypatch.delenv(name, raising=False)


def read_password(text):
    return database.parse(text).password


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
    place = database.parse(f"postgresql://{quote(user, safe='')}:{secret}@{place}/kitchen{option}")
    assert place.settings == {
        "DJANGO_DB": "default",
        "POSTGRE_HOST": host,
        "POSTGRE_PORT": str(port),
        "POSTGRE_NAME": "kitchen",
        "POSTGRE_USER": user,
        "POSTGRE_PASSWORD": f"pass {password} word",
        **({"PGSSLMODE": ssl} if ssl else {}),
    }
    assert secret not in place.address + repr(place)
    database.remember(place)
    assert stat.S_IMODE(settings.ENV.stat().st_mode) == 0o600
    assert database.configured() == place


@pytest.mark.parametrize(
    "text",
    [
        "mysql://a:secret@b/c",
        "postgresql://a:secret@b:x/c",
        "postgresql://[::1/secret",
        "postgresql://b/secret",
        "postgresql://a:secret@b",
        "postgresql://a:secret@b/c?port=1",
        "postgresql://a:secret@/c",
    ],
)
def test_what_is_no_address_is_said_without_repeating_it(text):
    with pytest.raises(ServerError, match="expected postgresql://user@host") as caught:
        database.parse(text)
    assert "secret" not in str(caught.value)


def test_a_password_comes_from_the_address_else_the_environment_else_the_file(monkeypatch):
    text = "postgresql://a@b/c"
    monkeypatch.setenv("PGPASSWORD", "of libpq")
    assert read_password(text) == "of libpq"
    settings.write({database.PASSWORD: "of the file"})
    assert read_password(text) == "of the file"
    monkeypatch.setenv(database.PASSWORD, "of the environment")
    assert read_password(text) == "of the environment"
    assert read_password("postgresql://a:typed@b/c") == "typed"


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


def test_a_backup_of_postgres_is_left_to_its_own_program(monkeypatch):
    monkeypatch.setenv(database.URL, "postgresql://a:hidden-word@/c d?host=/run")
    with pytest.raises(ServerError) as caught:
        backup.write(Path("my backup.zip"))
    _, _, typed = str(caught.value).partition("to save them: ")
    assert shlex.split(typed) == [
        "pg_dump",
        "--format=custom",
        "--file=my backup.dump",
        "postgresql://a@/c d?host=/run",
    ]


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
    make_database()
    layout.CUT_CLIPS.mkdir(parents=True)
    for name in ("a.mp4", "b.mp4"):
        (layout.CUT_CLIPS / name).write_bytes(b"one")
    assert "clips" in backup.write(Path("saved.zip"), clips=True)
    (layout.CUT_CLIPS / "a.mp4").unlink()
    (layout.CUT_CLIPS / "b.mp4").write_bytes(b"two")
    backup.restore(Path("saved.zip"))
    assert (layout.CUT_CLIPS / "a.mp4").read_bytes() == b"one"
    assert (layout.CUT_CLIPS / "b.mp4").read_bytes() == b"two"
