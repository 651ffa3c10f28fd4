"""The files of `ingest.source`, their portions, and JSON documents, which are read whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.core.batches import count_rows
from pipeline.core.files import MAX_LINE_BYTES, WHOLE, FileError, Span, open_source, read_json

MAX_DOCUMENT_BYTES = 2**30
"""A larger document is refused before it is loaded; each of JSON lines has its own limit."""
UNREAD = (".bz2", ".gz", ".ods", ".xls", ".xlsx", ".xz", ".zip", ".zst")
"""Suffixes of packed files and of spreadsheets."""


PORTION_BYTES = 32 * 2**20
"""Size of a portion of a cut file: some 200,000 rows, a few seconds' work."""
ROW_BYTES = 100
"""Rough size of a moment in a JSON document."""


class Portion(NamedTuple):
    """A file of a corpus, or some lines of it."""

    path: Path
    span: Span = WHOLE


def cut_file(path: Path) -> list[Portion]:
    """Cut a text file into portions of about `PORTION_BYTES`."""
    return [Portion(path, span) for span in cut_lines(path, PORTION_BYTES)]


def cut_lines(path: Path, length: int) -> Iterator[Span]:
    """Yield one or more spans of a text file, each of `length` bytes and the rest of a line.

    Raises:
        FileError: the file is missing.
    """
    start, line = 0, 1
    with open_source(path) as stream:
        while True:
            text = stream.read(length)
            text += stream.readline(MAX_LINE_BYTES + 1)
            if not text and start:
                return
            yield Span(start, len(text), line)
            if not text:
                return
            start, line = start + len(text), line + text.count(b"\n")


def estimate_rows(path: Path) -> int:
    """Return about how many rows a file has, without reading them; a line is at least one."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return count_rows(path)
    if suffix == ".json":
        return path.stat().st_size // ROW_BYTES
    with open_source(path) as stream:
        return 1 + sum(block.count(b"\n") for block in iter(lambda: stream.read(2**20), b""))


def source_files(source: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """List the files of a corpus: `source` itself, or those of a folder, by name.

    `suffixes` are in lower case, but match capitals too.

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
    """List the files of a folder that may contain annotations, but that no reader opens."""
    names = sorted(path.name for path in source.iterdir()) if source.is_dir() else []
    return [name for name in names if name.lower().endswith(UNREAD)]


def read_document(path: Path) -> object:
    """Read a JSON file.

    Raises:
        FileError: it is not JSON, or exceeds `MAX_DOCUMENT_BYTES`.
    """
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        raise FileError(
            f"{path}: larger than {MAX_DOCUMENT_BYTES >> 20:,} MiB, and JSON is read whole;"
            " split it into several files in a folder, or convert it to JSON lines"
            " (ingest.corpus: table)"
        )
    return read_json(path)
