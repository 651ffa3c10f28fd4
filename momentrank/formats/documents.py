"""What a release contains besides qrels: training sets, lists of files, and the meaning of levels.

`manifest.json`, `train_manifest.json`, `machine_manifest.json` and `croissant.json` list files
with their SHA-256; the files next to them are checked against it. `changes.json` lists what changed
since the version before.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import numpy as np

from momentrank.formats.records import Column
from momentrank.formats.source import FormatError, Location, sha256_of
from momentrank.formats.table import Table

DocumentKind = Literal["manifest", "croissant", "levels", "changes"]
_WEB = "://"
CHANGED = (
    "queries_added",
    "queries_removed",
    "queries_reworded",
    "pairs_added",
    "pairs_removed",
    "levels",
)
"""The lists of what changed in a split."""


class Document(NamedTuple):
    """A kind of document: a test for it, and a check that returns its number of entries."""

    kind: DocumentKind
    knows: Callable[[Mapping[str, Any]], bool]
    check: Callable[[Location, Mapping[str, Any]], int]


def detect_document(record: object) -> Document | None:
    """Return the kind of document that a JSON value is, if any."""
    if not isinstance(record, dict):
        return None
    return next((document for document in DOCUMENTS if document.knows(record)), None)


def _check_manifest(location: Location, record: Mapping[str, Any]) -> int:
    listed = location.key("files")
    return _check_files((listed.key(name), name, entry) for name, entry in record["files"].items())


def _check_croissant(location: Location, record: Mapping[str, Any]) -> int:
    listed = location.key("distribution")
    files = [
        (listed.item(row), file.get("contentUrl"), file)
        for row, file in enumerate(record["distribution"])
        if isinstance(file, dict) and "sha256" in file
    ]
    return _check_files(file for file in files if _WEB not in str(file[1]))


def _check_files(files: Iterable[tuple[Location, object, object]]) -> int:
    """Check the SHA-256 of every file; return how many there are."""
    number = 0
    for location, name, entry in files:
        number += 1
        if not isinstance(entry, dict) or not isinstance(entry.get("sha256"), str):
            raise location.error("must be an object with sha256, the file's hash as a string")
        path = PurePosixPath(name if isinstance(name, str) else "..")
        if {"\0", "\\"} & set(str(path)) or path.is_absolute() or ".." in path.parts:
            raise location.error("must name a file in this folder")
        if (actual := _sha256(location, location.path.parent / path)) != entry["sha256"]:
            raise location.error(f"the file in this folder has another SHA-256: {actual}")
    return number


def _sha256(location: Location, path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as exc:
        reason = (exc.strerror or str(exc)).lower()
        raise FormatError(f"{path}: {reason}, but {location.path} names it") from exc


def _check_levels(location: Location, record: Mapping[str, Any]) -> int:
    levels = record["levels"]
    for level, entry in levels.items():
        level_location = location.key("levels").key(level)
        if not level.isdecimal():
            raise level_location.error("must be a level: 0, 1, 2, ...")
        for name in ("name", "meaning"):
            if not isinstance(entry, dict) or not isinstance(entry.get(name), str):
                raise level_location.error("must be an object with name and meaning, both strings")
    return len(levels)


def _check_changes(location: Location, record: Mapping[str, Any]) -> int:
    number = 0
    for split, changes in record["splits"].items():
        split_location = location.key("splits").key(split)
        if not isinstance(changes, dict):
            raise split_location.error("must be an object")
        for name in CHANGED:
            if not isinstance(changes.get(name), list):
                raise split_location.error(f"must have the list {name}")
            number += len(changes[name])
    return number


def _with(key: str, kind: type) -> Callable[[Mapping[str, Any]], bool]:
    return lambda record: isinstance(record.get(key), kind)


DOCUMENTS = (
    Document("croissant", _with("distribution", list), _check_croissant),
    Document("levels", _with("levels", dict), _check_levels),
    Document("manifest", _with("files", dict), _check_manifest),
    Document("changes", _with("splits", dict), _check_changes),
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
    start, end = moments.key("timestamp", list).split_as("start end")
    _check_finite(moments.key("duration"))
    _check_finite(moments.key("similarity"))
    moments.key("caption", str)
    videos = moments.key("video_name", str).ids()
    columns = (start.numbers(), end.numbers(), np.zeros(len(videos)))
    Table([""] * len(videos), videos, *columns, moments.location).run()
    return len(queries), len(videos)
