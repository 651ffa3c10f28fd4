"""Write qrels and runs, whole or not at all; what is read back is what was written."""

import gzip
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from momentrank.errors import UsageError
from momentrank.formats import to_json, to_text
from momentrank.formats.registry import SEGMENTS, check_format
from momentrank.formats.source import FormatError
from momentrank.segments import Segments

TAG = "momentrank"


def write_qrels(path: Path | str, segments: Segments, fmt: str = SEGMENTS) -> None:
    """Write judged segments; compressed if the name ends in .gz.

    Raises:
        FormatError: the format can't hold them.
        UsageError: qrels are not written in that format.
    """
    check_format(fmt, tuple(_QRELS))
    to_text.refuse_empty_ids(segments)
    _write(Path(path), _QRELS[fmt](segments))


def write_run(path: Path | str, segments: Segments, fmt: str = SEGMENTS, tag: str = TAG) -> None:
    """Write results in their order, with `tag` where a format has one; see `write_qrels`.

    Raises:
        FormatError: the format can't hold them.
        UsageError: runs are not written in that format, or the tag is not one field.
    """
    check_format(fmt, tuple(_RUNS))
    if tag.split() != [tag]:
        raise UsageError(f"the tag {tag!r} must be one word")
    to_text.refuse_empty_ids(segments)
    _write(Path(path), _RUNS[fmt](segments, tag))


def _write(path: Path, text: str) -> None:
    """Write beside the target, then rename: a kill leaves the former file, or none."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as exc:
        raise FormatError(f"{path}: {exc.object[exc.start]!r} can't be written as UTF-8") from exc
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    try:
        _replace(path, data)
    except OSError as exc:
        raise FormatError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc


def _replace(path: Path, data: bytes) -> None:
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.umask(mask := os.umask(0))
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


_QRELS: dict[str, Callable[[Segments], str]] = {
    SEGMENTS: to_text.qrels_text,
    "flat": to_json.flat_qrels,
    "qvhighlights": to_json.qvhighlights_qrels,
}
_RUNS: dict[str, Callable[[Segments, str], str]] = {
    SEGMENTS: to_text.run_text,
    "tvr-ranking": to_json.tvr_ranking_run,
    "qvhighlights": to_json.qvhighlights_run,
}
QRELS_WRITTEN, RUNS_WRITTEN = tuple(_QRELS), tuple(_RUNS)
