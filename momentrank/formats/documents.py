"""What a release contains besides qrels: training sets, lists of files, and the meaning of levels.

`manifest.json`, `train_manifest.json`, `machine_manifest.json` and `croissant.json` list files
with their SHA-256; the files next to them are checked against it.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import numpy as np

from momentrank.formats.records import Column
from momentrank.formats.source import FormatError, Place, sha256_of
from momentrank.formats.table import Table

DocumentKind = Literal["manifest", "croissant", "levels"]
_WEB = "://"


class Document(NamedTuple):
    """A kind of document: a test for it, and a check that returns its number of entries."""

    kind: DocumentKind
    knows: Callable[[Mapping[str, Any]], bool]
    check: Callable[[Place, Mapping[str, Any]], int]


def detect_document(record: object) -> Document | None:
    """Return the kind of document that a JSON value is, if any."""
    if not isinstance(record, dict):
        return None
    return next((one for one in DOCUMENTS if one.knows(record)), None)


def _check_manifest(place: Place, record: Mapping[str, Any]) -> int:
    listed = place.key("files")
    return _check_files((listed.key(name), name, one) for name, one in record["files"].items())


def _check_croissant(place: Place, record: Mapping[str, Any]) -> int:
    listed = place.key("distribution")
    files = [
        (listed.item(row), one.get("contentUrl"), one)
        for row, one in enumerate(record["distribution"])
        if isinstance(one, dict) and "sha256" in one
    ]
    return _check_files(one for one in files if _WEB not in str(one[1]))


def _check_files(files: Iterable[tuple[Place, object, object]]) -> int:
    """Check the SHA-256 of every file; return how many there are."""
    number = 0
    for place, name, entry in files:
        number += 1
        if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
            raise place.error("must be an object with sha256, the file's hash as a string")
        path = PurePosixPath(name if isinstance(name, str) else "..")
        if {"\0", "\\"} & set(str(path)) or path.is_absolute() or ".." in path.parts:
            raise place.error("must name a file in this folder")
        if (actual := _sha256(place, place.path.parent / path)) != entry["sha256"]:
            raise place.error(f"the file in this folder has another SHA-256: {actual}")
    return number


def _sha256(place: Place, path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as exc:
        reason = (exc.strerror or str(exc)).lower()
        raise FormatError(f"{path}: {reason}, but {place.path} names it") from exc


def _check_levels(place: Place, record: Mapping[str, Any]) -> int:
    levels = record["levels"]
    for level, entry in levels.items():
        here = place.key("levels").key(level)
        if not level.isdecimal():
            raise here.error("must be a level: 0, 1, 2, ...")
        for name in ("name", "meaning"):
            if not isinstance(entry, dict) or not isinstance(entry.get(name), str):
                raise here.error("must be an object with name and meaning, both strings")
    return len(levels)


def _with(key: str, kind: type) -> Callable[[Mapping[str, Any]], bool]:
    return lambda record: isinstance(record.get(key), kind)


DOCUMENTS = (
    Document("croissant", _with("distribution", list), _check_croissant),
    Document("levels", _with("levels", dict), _check_levels),
    Document("manifest", _with("files", dict), _check_manifest),
)


def check_release(records: Column) -> None:
    """Check the optional fields of released qrels."""
    records.key("query", str)
    moments = records.key("relevant_moment", list).flat()
    _optional(moments, "pair_id", int).distinct_ids()
    _optional(moments, "caption", str)
    for name in ("duration", "similarity"):
        _check_finite(_optional(moments, name))


def _optional(moments: Column, name: str, *kinds: type) -> Column:
    moments.require(dict)
    rows = [row for row, moment in enumerate(moments.values) if name in moment]
    return moments.select(rows).key(name, *kinds)


def _check_finite(values: Column) -> None:
    values.refuse((~np.isfinite(values.numbers())).tolist(), "must be a number")


def check_training(records: Column) -> tuple[int, int]:
    """Check `{query_id, query, relevant_moment: [{..., caption, similarity}]}`."""
    queries = records.key("query_id").distinct_ids()
    records.key("query", str)
    moments = records.key("relevant_moment", list).flat()
    start, end = moments.key("timestamp", list).parts("start end")
    _check_finite(moments.key("duration"))
    _check_finite(moments.key("similarity"))
    moments.key("caption", str)
    videos = moments.key("video_name", str).ids()
    columns = (start.numbers(), end.numbers(), np.zeros(len(videos)))
    Table([""] * len(videos), videos, *columns, moments.place).run()
    return len(queries), len(videos)
