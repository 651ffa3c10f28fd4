"""Files: atomic writes, and reading with errors that name file, line and field.

Nothing here knows what a table means; that is `pipeline.core.tables`.
"""

import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from momentrank.errors import MomentRankError
from momentrank.ids import is_utf8, without_repeats

DAG = Path("dvc.yaml")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
MAX_LINE_BYTES = 16 * 2**20
"""A longer line is not an annotation: it is refused before it is read into memory."""


ASKED = 2**20
"""Bytes with which a disk is asked whether it is full."""


class FileError(MomentRankError):
    """A file can't be read or written as intended."""


class Span(NamedTuple):
    """Whole lines of a file: `length` bytes from `start` on, the first of them line `line`."""

    start: int = 0
    length: float = math.inf
    line: int = 1


WHOLE = Span()


class Line(NamedTuple):
    """One line of a text file, without its end.

    Bytes that are not UTF-8 become lone surrogates in `text`, so that a reader can
    refuse the one line (`is_utf8`) instead of the whole file.
    """

    number: int
    text: str


@contextmanager
def unfinished(path: Path, mode: str = "w", *, private: bool = False) -> Iterator[IO[Any]]:
    """Open `path` for writing so that it appears whole or not at all; `private`: for its owner.

    Writes next to the target, syncs, then renames: a kill, a full disk or an exception
    leaves the previous file (or none) in place.

    Raises:
        FileError: it can't be written: the disk is full, read-only, a folder is in the way ...
    """
    descriptor, name = _create_beside(path)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    try:
        os.close(descriptor)
        with (
            disk_errors(path, Path(name)),
            Path(name).open(mode, encoding=encoding, newline=newline) as stream,
        ):
            yield stream  # whose name another program may write to
            stream.flush()
            os.fsync(stream.fileno())
        if not private:  # as it was made
            Path(name).chmod(0o666 & ~_umask())
        with disk_errors(path, Path(name)):
            Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _create_beside(path: Path) -> tuple[int, str]:
    """Create a uniquely named file next to `path`; create the folder if needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as exc:
        raise _write_error(path, exc) from exc


def _write_error(path: Path, exc: OSError) -> FileError:
    reason = os.strerror(exc.errno) if exc.errno else str(exc)
    return FileError(f"{path}: can't be written ({reason.lower()})")


@contextmanager
def disk_errors(path: Path, written: Path) -> Iterator[None]:
    """Turn an error in writing `path`, so far as the file or folder `written`, into one line.

    numpy, torch, DuckDB and ffmpeg don't pass on that the disk is full: so the disk is asked, with
    more bytes.

    Raises:
        FileError: the error is of this file, or the disk refuses to take more.
    """
    try:
        yield
    except OSError as exc:
        if exc.filename not in {None, str(written)}:  # another file's
            raise
        reason = None if exc.errno else refusal(written)
        raise _write_error(path, reason or exc) from exc
    except MomentRankError:
        raise
    except Exception as exc:
        if reason := refusal(written):
            raise _write_error(path, reason) from exc
        raise


def refusal(path: Path) -> OSError | None:
    """Return why the disk takes no more bytes in a file, or in a folder; None if it does."""
    try:
        with tempfile.TemporaryFile(dir=path) if path.is_dir() else path.open("ab") as stream:
            stream.write(bytes(ASKED))
    except OSError as exc:
        return OSError(exc.errno, exc.strerror)
    return None


def make_private(path: Path) -> bool:
    """Let only the owner of a file read it; return whether others could before.

    Raises:
        FileError: it can't be done: someone else owns the file, or the file system has no owners.
    """
    if not _others_can_read(path):
        return False
    with suppress(OSError):
        path.chmod(0o600)
    if _others_can_read(path):
        raise FileError(f"{path}: others can read it, and that can't be changed here; move it")
    return True


def _others_can_read(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, keys in the order given, NaN refused."""
    with unfinished(path) as stream:
        json.dump(value, stream, indent=2, ensure_ascii=False, allow_nan=False)
        stream.write("\n")


def read_lines(path: Path, span: Span = WHOLE) -> Iterator[Line]:
    """Yield the lines of a text file, numbered from 1 in it, blank ones included.

    Raises:
        FileError: the file is missing, or a line exceeds `MAX_LINE_BYTES`.
    """
    for number, text in enumerate(decode_lines(path, span), start=span.line):
        yield Line(number, text.removesuffix("\n").removesuffix("\r"))


def decode_lines(path: Path, span: Span = WHOLE) -> Iterator[str]:
    """Yield the lines with their ends, without a byte order mark."""
    number, left = span.line - 1, span.length
    with open_source(path) as stream:
        if span.start:
            stream.seek(span.start)
        while left > 0 and (raw := stream.readline(MAX_LINE_BYTES + 1)):
            number, left = number + 1, left - len(raw)
            if len(raw) > MAX_LINE_BYTES:
                raise FileError(f"{path}, line {number}: longer than {MAX_LINE_BYTES >> 20} MiB")
            if number == 1 and raw.startswith(UTF_16):
                raise FileError(
                    f"{path}: UTF-16 (Excel's `Unicode Text`); save it as `CSV UTF-8`, or type:"
                    " iconv -f UTF-16 -t UTF-8 OLD > NEW"
                )
            text = raw.decode("utf-8", errors="surrogateescape")
            yield text.removeprefix("\ufeff") if number == 1 else text


def open_source(path: Path) -> IO[bytes]:
    """Open a user's file for reading.

    Raises:
        FileError: it is missing, a folder, or not readable.
    """
    try:
        return path.open("rb")
    except OSError as exc:
        command = command_for(path) if isinstance(exc, FileNotFoundError) else None
        remedy = f"; `{command}` makes it" if command else ""
        if isinstance(exc, FileNotFoundError) and not remedy and _is_elsewhere(path):
            remedy = f"; this folder is no working copy (it has no {DAG})"
        raise FileError(f"{path}: {(exc.strerror or str(exc)).lower()}{remedy}") from exc


def _is_elsewhere(path: Path) -> bool:
    """Tell whether a file of the working copy is looked for in another folder."""
    return path.parts[:1] in {("datasets",), ("params.yaml",)} and not DAG.exists()


_MERGED = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
"""What git leaves in a file that it could not merge."""


def refuse_conflict(path: Path, content: bytes, line: int = 1) -> None:
    """Refuse a file that git could not merge; `content` begins with its line `line`.

    Raises:
        FileError: a line begins with one of git's marks.
    """
    if mark := _MERGED.search(content):
        number = line + content.count(b"\n", 0, mark.start())
        raise FileError(
            f"{path}, line {number}: a merge conflict: git could not merge two versions. Take one"
            f" whole: git checkout --ours {path} && git add {path} (and so on for each file that"
            " `git status` lists), then: git commit, dvc repro push (docs/troubleshooting.md)"
        )


def command_for(path: Path) -> str | None:
    """Return the command that creates a missing file, or None if no stage writes it."""
    stages = read_yaml(DAG)["stages"] if DAG.is_file() else {}
    folders = {path.absolute(), *path.absolute().parents}
    for name, entry in stages.items():
        outs = (next(iter(out)) if isinstance(out, dict) else out for out in entry["outs"])
        if any(Path(out).absolute() in folders for out in outs):
            return f"dvc repro {name}"
    return None


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Record(NamedTuple):
    """One object of a JSON-lines file: its line, its fields, or why there are none."""

    line: int
    fields: dict[str, Any]
    problem: str


def read_json_lines(path: Path, span: Span = WHOLE) -> Iterator[Record]:
    """Yield the objects of a JSON-lines file; blank lines are skipped.

    A line that is not a JSON object in UTF-8 is yielded with `problem`, never skipped.

    Raises:
        FileError: the file is missing, or a line is too long to be an annotation.
    """
    for line in read_lines(path, span):
        if line.text.strip():
            yield Record(line.number, *_parse_object(line.text))


def _parse_object(text: str) -> tuple[dict[str, Any], str]:
    if not is_utf8(text):
        return {}, "not-utf8"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}, "not-json"
    return (value, "") if isinstance(value, dict) else ({}, "not-an-object")


def read_json(path: Path) -> Any:  # noqa: ANN401  (the caller's format decides)
    """Read one JSON document; a key that appears twice is an error, as it would hide a value.

    Bytes that are not UTF-8 become lone surrogates, as in `Line`.

    Raises:
        FileError: the file is missing or not JSON, with line and column.
    """
    with open_source(path) as stream:
        content = stream.read()
    refuse_conflict(path, content)
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    try:
        return json.loads(text, object_pairs_hook=without_repeats)
    except json.JSONDecodeError as exc:
        raise FileError(f"{path}, line {exc.lineno}, column {exc.colno}: {exc.msg}") from exc
    except RecursionError as exc:
        raise FileError(f"{path}: nested too deep to be an annotation file") from exc
    except ValueError as exc:  # a repeated key, or an integer of thousands of digits
        raise FileError(f"{path}: {exc}") from exc


def read_yaml(path: Path) -> Any:  # noqa: ANN401  (the caller's model decides)
    """Read one YAML document as DVC reads it (YAML 1.2; a repeated key is an error).

    Raises:
        FileError: the file is missing or not YAML, with line and column.
    """
    with open_source(path) as stream:
        content = stream.read()
    refuse_conflict(path, content)
    try:
        return deepcopy(_parse_yaml(content))
    except MarkedYAMLError as exc:
        mark = exc.problem_mark
        location = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FileError(f"{path}{location}: {exc.problem}") from exc
    except RecursionError as exc:
        raise FileError(f"{path}: nested too deep") from exc
    except (YAMLError, UnicodeDecodeError) as exc:
        raise FileError(f"{path}: not YAML ({' '.join(str(exc).split())})") from exc


@lru_cache(maxsize=8)
def _parse_yaml(content: bytes) -> object:
    # A command reads params.yaml several times, and each takes 10 ms.
    return YAML(typ="safe", pure=True).load(content)


def write_yaml(path: Path, value: object, remark: str, *, private: bool = False) -> None:
    """Write `value` as YAML below a comment line, keys in the order given."""
    with unfinished(path, private=private) as stream:
        stream.write(f"# {remark}\n")
        YAML(typ="safe", pure=True).dump(value, stream)


class ManifestEntry(NamedTuple):
    """A file of a manifest: its hash and size, and `rows` if it is a table or a list."""

    sha256: str
    bytes: int
    rows: int | None


def manifest_json(entries: Mapping[str, ManifestEntry]) -> dict[str, dict[str, Any]]:
    """Return the entries of a manifest for JSON, by their paths in order."""
    return {path: entry._asdict() for path, entry in sorted(entries.items())}
