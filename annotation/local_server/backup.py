"""A backup of the server in one file: everything that neither git nor DVC has.

It contains a consistent copy of the database (from SQLite's online backup, so people can keep
judging), Label Studio's other files, `.env`, the private list of people, and clips if requested.
Otherwise `dvc repro` makes the clips again; judgments that were pulled are in git. A PostgreSQL
database is saved by PostgreSQL's own programs.
"""

import shlex
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from annotation.label_studio import settings
from annotation.local_server import database, sqlite
from annotation.local_server.layout import CUT_CLIPS, DATA, DATABASE, HOME, ServerError
from annotation.local_server.process import find
from pipeline.core import files
from pipeline.core.tables import PRIVATE

SETTINGS = (settings.ENV, PRIVATE)


def write(path: Path, *, clips: bool = False) -> str:
    """Write a backup, readable only by its owner; return what is in it.

    Raises:
        ServerError: there is no SQLite database here, it is damaged, or the file already exists.
        FileError: the file can't be written.
    """
    if path.exists():
        raise ServerError(f"{path}: already exists; a backup is never overwritten")
    if postgres := database.configured():
        dump = (
            "pg_dump",
            "--format=custom",
            f"--file={path.with_suffix('.dump')}",
            postgres.address,
        )
        raise ServerError(f"the answers are in PostgreSQL; to save them: {shlex.join(dump)}")
    HOME.mkdir(mode=0o700, exist_ok=True)
    with TemporaryDirectory(dir=HOME) as folder:
        copy = Path(folder) / DATABASE.name
        answers = sqlite.dump(copy)
        with (
            files.unfinished(path, "wb", private=True) as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            archive.write(copy, DATABASE)
            for other in _others():
                archive.write(other, other)
            for clip in _clips() if clips else ():
                archive.write(clip, clip, zipfile.ZIP_STORED)
    more = ", and the clips" if clips else ""
    return (
        f"{path}: the server's database with {answers:,} answers, {settings.ENV}, and the people"
        f"{more}"
    )


def _others() -> Iterator[Path]:
    """Yield Label Studio's other files (its key, uploads), and this folder's settings."""
    paths = sorted(path for path in DATA.rglob("*") if path.is_file())
    yield from (path for path in paths if path.name not in sqlite.PARTS)
    yield from (path for path in SETTINGS if path.is_file())


def _clips() -> Iterator[Path]:
    yield from sorted(path for path in CUT_CLIPS.rglob("*") if path.is_file())


def restore(path: Path) -> str:
    """Put a backup in place, moving existing files aside; return what was done.

    Raises:
        ServerError: the server is running, or the file is not one of our backups.
    """
    if find() is not None:
        raise ServerError(
            "the server is running; stop it: python -m annotation.server stop, then try again"
        )
    try:
        HOME.mkdir(mode=0o700, exist_ok=True)
        with zipfile.ZipFile(path) as archive, TemporaryDirectory(dir=HOME) as folder:
            names = [_check_name(path, name) for name in archive.namelist()]
            archive.extractall(folder, names)
            new, aside = Path(folder), HOME / f"before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
            for name in names:
                (new / name).chmod(0o644 if _is_clip(name) else 0o600)
            if not (new / DATABASE).is_file():
                raise ServerError(f"{path}: contains no server database")
            answers = sqlite.count_answers(new / DATABASE, path)
            _move_aside(aside)
            _put_in_place(new, names)
    except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile) as exc:
        why = getattr(exc, "strerror", None) or exc
        raise ServerError(f"{path}: not a readable backup ({why})") from exc
    remark = f"; the previous files are in {aside}" if aside.exists() else ""
    return (
        f"{path}: {answers:,} answers restored{remark}. Next: python -m annotation.server start,"
        " dvc repro"
    )


def _check_name(path: Path, name: str) -> str:
    """Return a file name from a backup; refuse any outside the folders that we write."""
    parts = PurePosixPath(name)
    is_known = parts in {PurePosixPath(file) for file in SETTINGS}
    is_known = is_known or parts.is_relative_to(DATA) or parts.is_relative_to(CUT_CLIPS)
    if not is_known or ".." in parts.parts or parts.is_absolute():
        raise ServerError(f"{path}: contains {name!r}, so it is not one of our backups")
    return name


def _move_aside(aside: Path) -> None:
    for name in (DATA, *SETTINGS):
        for path in sorted(name.rglob("*")) if name.is_dir() else [name]:
            if path.is_file():
                (aside / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                shutil.move(path, aside / path)


def _put_in_place(new: Path, names: list[str]) -> None:
    for name in names:
        if _is_clip(name) and Path(name).exists():
            continue  # named after its content
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(new / name, name)


def _is_clip(name: str) -> bool:
    return PurePosixPath(name).is_relative_to(CUT_CLIPS)
