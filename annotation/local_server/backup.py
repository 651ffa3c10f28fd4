"""A backup of the server in one file: what neither git nor DVC holds.

The database as it is at one moment (SQLite's own online copy, so people may go on judging), Label
Studio's other files, `.env` and the private list of people. Clips are made again by `dvc repro`,
judgments that were pulled are in git.
"""

import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from annotation.label_studio import settings
from annotation.local_server.layout import DATA, DATABASE, HOME, ServerError
from annotation.local_server.process import find
from pipeline.core import files
from pipeline.core.tables import PRIVATE

SETTINGS = (settings.ENV, PRIVATE)
PARTS_OF_A_DATABASE = tuple(f"{DATABASE.name}{end}" for end in ("", "-journal", "-wal", "-shm"))
BUSY_SECONDS = 60.0


def write(path: Path) -> str:
    """Write a backup, readable by its owner alone; return what is in it.

    Raises:
        ServerError: there is no server's database here, or it is damaged, or the file is there.
        FileError: the file can't be written.
    """
    if path.exists():
        raise ServerError(f"{path}: exists already; a backup is never overwritten")
    if not DATABASE.is_file():
        raise ServerError(f"{DATABASE}: no server of this folder has run, so there is nothing here")
    with TemporaryDirectory(dir=HOME) as folder:
        copy = Path(folder) / DATABASE.name
        answers = _copy_database(copy)
        with (
            files.unfinished(path, "wb", private=True) as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            archive.write(copy, DATABASE)
            for other in _others():
                archive.write(other, other)
    return f"{path}: the server's database with {answers:,} answers, {settings.ENV}, and the people"


def _copy_database(to: Path) -> int:
    """Copy the database while it is in use; return how many answers are in the copy."""
    try:
        with (
            closing(sqlite3.connect(DATABASE, timeout=BUSY_SECONDS)) as source,
            closing(sqlite3.connect(to)) as copy,
        ):
            source.backup(copy)
            return _answers(copy, DATABASE)
    except sqlite3.Error as exc:
        raise ServerError(f"{DATABASE}: can't be copied ({exc})") from exc


def _answers(database: sqlite3.Connection, name: Path) -> int:
    [[state]] = database.execute("pragma quick_check(1)").fetchall()
    if state != "ok":
        raise ServerError(f"{name}: is damaged ({state})")
    [[number]] = database.execute("select count(*) from task_completion").fetchall()
    return int(number)


def _others() -> Iterator[Path]:
    """Yield Label Studio's other files (its key, uploads), and this folder's settings."""
    paths = sorted(path for path in DATA.rglob("*") if path.is_file())
    yield from (path for path in paths if path.name not in PARTS_OF_A_DATABASE)
    yield from (path for path in SETTINGS if path.is_file())


def restore(path: Path) -> str:
    """Put a backup in place; move what is there aside; return what was done.

    Raises:
        ServerError: the server runs, or the file is no backup of ours.
    """
    if find() is not None:
        raise ServerError("the server runs: python -m annotation.server stop, then again")
    try:
        HOME.mkdir(mode=0o700, exist_ok=True)
        with zipfile.ZipFile(path) as archive, TemporaryDirectory(dir=HOME) as folder:
            names = [_check_name(path, name) for name in archive.namelist()]
            archive.extractall(folder, names)
            new = Path(folder)
            if not (new / DATABASE).is_file():
                raise ServerError(f"{path}: contains no server database")
            with closing(sqlite3.connect(new / DATABASE)) as copy:
                answers = _answers(copy, path)
            aside = _move_aside()
            _put_in_place(new, names)
    except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile, sqlite3.Error) as exc:
        raise ServerError(f"{path}: not a readable backup ({exc})") from exc
    remark = f"; what was here is in {aside}" if aside else ""
    return (
        f"{path}: {answers:,} answers are back{remark}. Next: python -m annotation.server start,"
        " dvc repro"
    )


def _check_name(path: Path, name: str) -> str:
    """Return a name that a backup may hold: nothing outside of the folders that we write."""
    parts = PurePosixPath(name)
    is_known = parts in {PurePosixPath(one) for one in SETTINGS} or parts.is_relative_to(DATA)
    if not is_known or ".." in parts.parts or parts.is_absolute():
        raise ServerError(f"{path}: contains {name!r}, so it is not a backup of ours")
    return name


def _move_aside() -> Path | None:
    present = [one for one in (DATA, *SETTINGS) if one.exists()]
    if not present:
        return None
    aside = HOME / f"before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    for one in present:
        (aside / one).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(one, aside / one)
    return aside


def _put_in_place(new: Path, names: list[str]) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).chmod(0o600)
        shutil.move(new / name, name)
