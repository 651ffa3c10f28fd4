"""Backups and private files, without a server."""

import sqlite3
import stat
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from test_server_port import make_database

from annotation.label_studio import settings
from annotation.local_server import backup, layout
from annotation.roster import roster
from annotation.server import ServerError
from pipeline.core import files
from pipeline.core.tables import PRIVATE

pytestmark = pytest.mark.usefixtures("folder")


def count_answers():
    with closing(sqlite3.connect(layout.DATABASE)) as connection:
        return connection.execute("select count(*) from task_completion").fetchone()[0]


def test_what_is_restored_is_what_was_saved_and_what_was_there_is_kept():
    make_database(more=3)
    (layout.DATA / ".env").write_text("SECRET_KEY=a")
    settings.write({settings.TOKEN: "first"})
    PRIVATE.parent.mkdir(parents=True)
    PRIVATE.write_text("accounts: {}\n")
    with closing(sqlite3.connect(layout.DATABASE)) as writer:
        writer.execute("begin immediate")  # a server that is just about to write
        assert "3 answers" in backup.write(Path("saved.zip"))
        writer.execute("insert into task_completion (id) values (9)")
        writer.commit()
    assert stat.S_IMODE(Path("saved.zip").stat().st_mode) == 0o600
    settings.write({settings.TOKEN: "second"})
    message = backup.restore(Path("saved.zip"))
    assert (count_answers(), settings.read()[settings.TOKEN]) == (3, "first")
    assert (layout.DATA / ".env").read_text() == "SECRET_KEY=a"
    [aside] = layout.HOME.glob("before-*")
    assert str(aside) in message
    assert settings.read(aside / settings.ENV)[settings.TOKEN] == "second"
    with closing(sqlite3.connect(aside / layout.DATABASE)) as connection:
        assert connection.execute("select count(*) from task_completion").fetchone() == (4,)
    for path in (layout.DATABASE, layout.DATA / ".env", settings.ENV, PRIVATE):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_damaged_database_is_not_saved_as_if_it_were_sound():
    make_database(more=2000)
    content = bytearray(layout.DATABASE.read_bytes())
    content[4096 * 2 : 4096 * 3] = b"x" * 4096
    layout.DATABASE.write_bytes(content)
    with pytest.raises(ServerError, match=r"damaged|can't be copied"):
        backup.write(Path("saved.zip"))
    assert not Path("saved.zip").exists()


def test_only_a_backup_of_ours_is_restored_and_what_was_there_is_kept():
    with pytest.raises(ServerError, match="no server has run in this folder"):
        backup.write(Path("a.zip"))
    for name in ("../x", "datasets/work/x", "/etc/passwd"):
        with zipfile.ZipFile("wrong.zip", "w") as archive:
            archive.writestr(name, "x")
        with pytest.raises(ServerError, match="not one of our backups"):
            backup.restore(Path("wrong.zip"))
    Path("text.zip").write_text("text")
    with pytest.raises(ServerError, match="not a readable backup"):
        backup.restore(Path("text.zip"))
    with zipfile.ZipFile("empty.zip", "w") as archive:
        archive.writestr(str(settings.ENV), "A=b\n")
    settings.write({settings.TOKEN: "mine"})
    with pytest.raises(ServerError, match="contains no server database"):
        backup.restore(Path("empty.zip"))
    assert settings.read() == {settings.TOKEN: "mine"}
    with files.unfinished(Path("there.zip")) as stream:
        stream.write("x")
    with pytest.raises(ServerError, match="never overwritten"):
        backup.write(Path("there.zip"))


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_private_file_that_was_written_by_hand_is_made_private_and_that_is_said(mode, capsys):
    PRIVATE.parent.mkdir(parents=True)
    settings.ENV.write_text(f"{settings.TOKEN}=abc\n")
    PRIVATE.write_text("accounts:\n  1: {email: ann@example.org}\n")
    for path, read in ((settings.ENV, settings.read), (PRIVATE, roster.read_accounts)):
        path.chmod(mode)
        assert read()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        message = capsys.readouterr().err
        assert f"{path}: others could read it" in message
        assert "abc" not in message
        assert read()
        assert capsys.readouterr().err == "", "once is enough"


def test_where_that_is_impossible_it_is_said_and_the_file_is_read(monkeypatch, capsys):
    settings.ENV.write_text(f"{settings.TOKEN}=abc\n")
    settings.ENV.chmod(0o644)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)  # as on a disk that knows no owners
    assert settings.read() == {settings.TOKEN: "abc"}
    assert "others can read it" in capsys.readouterr().err
