"""The files of `ingest.source`, and JSON documents, which are read whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.core.files import FileError, read_json

MAX_DOCUMENT_BYTES = 2**30
"""A larger document is refused before it is held in memory; JSON lines have a bound each."""
UNREAD = (".bz2", ".gz", ".ods", ".xls", ".xlsx", ".xz", ".zip", ".zst")
"""Suffixes of packed files and of spreadsheets."""


def source_files(source: Path, *suffixes: str) -> list[Path]:
    """List the files of a corpus: `source` itself, or those of a folder, by name.

    `suffixes` are in lower case, and mean those in capitals, too.

    Raises:
        FileError: `source` is missing, or the folder contains no file with such a suffix.
    """
    if not source.exists():
        raise FileError(f"{source}: no such file or folder; set ingest.source in params.yaml")
    if source.is_file():
        return [source]
    files = sorted(path for path in source.iterdir() if path.suffix.lower() in suffixes)
    if not files:
        raise FileError(f"{source}: contains no {' or '.join(suffixes)} file")
    return files


def list_unread(source: Path) -> list[str]:
    """List the files of a folder that may hold annotations, but that no reader opens."""
    names = sorted(path.name for path in source.iterdir()) if source.is_dir() else []
    return [name for name in names if name.lower().endswith(UNREAD)]


def documents(source: Path) -> Iterator[tuple[Path, Any]]:
    """Yield each JSON file of a corpus with its content.

    Raises:
        FileError: there is none, or one is not JSON or passes `MAX_DOCUMENT_BYTES`.
    """
    for path in source_files(source, ".json"):
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            raise FileError(
                f"{path}: larger than {MAX_DOCUMENT_BYTES >> 20:,} MiB, and JSON is read whole;"
                " split it into several files in a folder, or make JSON lines of it"
                " (ingest.corpus: table)"
            )
        yield path, read_json(path)
