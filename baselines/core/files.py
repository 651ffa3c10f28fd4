"""Files: atomic writes, JSON errors that name file and position, and fingerprints."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import orjson

from momentrank.errors import MomentRankError


class FileError(MomentRankError):
    """A file that can't be read, parsed or written."""


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Yield a path next to `path` to write to; it then replaces `path`, whole or not at all.

    Raises:
        FileError: the folder can't be written to, or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as exc:
        raise FileError(f"{path}: can't be written ({(exc.strerror or str(exc)).lower()})") from exc
    os.close(descriptor)
    try:
        yield Path(name)
        with Path(name).open("rb") as stream:
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException as exc:
        refused = _refusal(Path(name)) if isinstance(exc, Exception) else None
        with suppress(FileNotFoundError):
            Path(name).unlink()
        if refused and not isinstance(exc, MomentRankError):
            raise FileError(f"{path}: can't be written ({refused})") from exc
        raise


def _refusal(path: Path) -> str | None:
    """Return why the disk takes no more bytes: safetensors does not pass it on."""
    try:
        with path.open("ab") as stream:
            stream.write(bytes(2**20))
    except OSError as exc:
        return os.strerror(exc.errno or 0).lower()
    return None


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    with unfinished(path) as unfinished_path:
        unfinished_path.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, with keys in the given order; NaN is refused."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def read_json(path: Path) -> object:
    """Read one JSON document; the caller checks its content.

    Raises:
        FileError: the file is missing or not JSON, with line and column.
    """
    try:
        document: object = orjson.loads(path.read_bytes())
    except OSError as exc:
        raise FileError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc
    except orjson.JSONDecodeError as exc:
        raise FileError(f"{path}, line {exc.lineno}, column {exc.colno}: {exc.msg}") from exc
    return document


def hash_file(path: Path) -> str:
    """Return a file's SHA-256.

    Raises:
        FileError: the file can't be read.
    """
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise FileError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc


def fingerprint(*values: object) -> str:
    """Return 16 hexadecimal digits that depend on every part."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
