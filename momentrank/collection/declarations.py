"""What is declared about queries: which are negative, and a release's strata and origins.

A negative has no relevant moment: its level 1 counts as 0. A release declares them in `queries.tsv`
(`stratum`, `origin`, `negative`), a user by their ids.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from momentrank.collection.versions import refuse_newer
from momentrank.formats.lines import is_comment
from momentrank.formats.source import FormatError, Location, read_source, sha256_of
from momentrank.formats.table import Truth
from momentrank.ids import decode_id, id_text, own_ids

MANIFEST, QUERIES = "manifest.json", "queries.tsv"
NEGATIVE, YES = "negative", "yes"
STRATA = ("stratum", "origin")
HIGH = 2
"""The lowest level that contradicts a declaration."""

Negatives = str | Path | Iterable[str]
"""A file of query ids, one a line, or the ids."""


class Release(NamedTuple):
    """The release that a file belongs to."""

    folder: Path
    version: str


def find_release(path: Path, sha256: str = "") -> Release | None:
    """Return the release whose manifest, next to or above a file, lists the file's SHA-256.

    Raises:
        FormatError: its format is newer than this code.
    """
    places = (path.absolute(), path.resolve())  # a hub's cache has links to its files
    for folder in dict.fromkeys(folder for place in places for folder in [*place.parents][:2]):
        try:
            text = (folder / MANIFEST).read_text(encoding="utf-8")
            manifest = json.loads(text)
            version = str(manifest["version"])
            is_listed = (sha256 or sha256_of(path)) in text
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if is_listed:
            refuse_newer(folder / MANIFEST, manifest)
            return Release(folder, version)
    return None


def read_declared(folder: Path) -> Mapping[str, Mapping[str, str]]:
    """Return each column of a release's `queries.tsv`, by query; older ones declare nothing.

    Raises:
        FormatError: it is not the file that the manifest lists, or malformed.
    """
    columns: dict[str, dict[str, str]] = {}
    path = folder / QUERIES
    if not path.is_file():
        return columns
    if sha256_of(path) not in (folder / MANIFEST).read_text(encoding="utf-8"):
        raise FormatError(f"{path}: not the file that {MANIFEST} lists: fetch the release again")
    text = read_source(path).text.removesuffix("\n")
    header, *lines = (line.split("\t") for line in text.split("\n"))
    names = [name for name in (*STRATA, NEGATIVE) if name in header]
    for number, fields in enumerate(lines, start=2):
        if len(fields) != len(header):
            raise Location(path, number).error(f"must have {len(header)} fields")
        query = decode_query(Location(path, number), fields[0])
        for name in names:
            columns.setdefault(name, {})[query] = fields[header.index(name)]
        if NEGATIVE in names and columns[NEGATIVE][query] not in {YES, ""}:
            raise Location(path, number).error(f"{NEGATIVE} must be {YES!r} or empty")
    return columns


def declare_negatives(
    truth: Truth, path: Path | None, negatives: Negatives, warn: Callable[[str], None]
) -> Truth:
    """Return a truth in which the declared negatives have no relevant moment.

    Args:
        truth: the judged segments.
        path: their file, which may be in a release.
        negatives: those that the user declares.
        warn: called with what the qrels lack.

    Raises:
        FormatError: a negative has a moment of level 2 or more, or a file is malformed.
    """
    if path and path.is_file() and (release := find_release(path)):
        truth = declare_released(truth, release.folder)
    if isinstance(negatives, str | Path):
        source, names = str(negatives), list(_read_ids(Path(negatives)))
    else:
        source, names = "negatives", [id_text(name) or str(name) for name in negatives]
    if lacking := sorted(set(names) - _known(truth, names).keys()):
        warn(
            f"{source}: queries that the qrels lack: {len(lacking)}, such as {lacking[0]!r}; they"
            " count as queries without a judged moment"
        )
        queries = [*truth.segments.queries, *lacking]
        truth = replace(truth, segments=truth.segments._replace(queries=queries))
    return _declare(truth, source, names)


def declare_released(truth: Truth, folder: Path) -> Truth:
    """Return a truth in which the negatives of its release have no relevant moment."""
    declared = read_declared(folder).get(NEGATIVE, {})
    names = [name for name in declared if declared[name] == YES]
    return _declare(truth, str(folder / QUERIES), names)


def _declare(truth: Truth, source: str, names: Collection[str]) -> Truth:
    segments, negative = truth.segments, set(_known(truth, names).values())
    is_negative = np.array([name in negative for name in segments.queries], dtype=bool)
    rows = is_negative[segments.query]
    if len(high := np.flatnonzero(rows & (segments.value >= HIGH))):
        row = high[0]
        moment = f"{segments.video[row]} {segments.start[row]:g} to {segments.end[row]:g} s"
        raise FormatError(
            f"{source}: the query {segments.queries[segments.query[row]]!r} is declared negative,"
            f" but the qrels give {moment} the level {segments.value[row]:g}: correct one of them"
        )
    levels = np.where(rows, np.minimum(segments.value, 0.0), segments.value)
    missed = segments.missed - negative
    return replace(truth, segments=segments._replace(value=levels, missed=missed))


def _known(truth: Truth, names: Collection[str]) -> dict[str, str]:
    """Return the qrels' own id for each of some ids, or numbers that stand for one."""
    queries = set(truth.segments.queries)
    known = {name: name for name in names if name in queries}
    return known | own_ids(set(names) - known.keys(), truth.segments.queries)


def _read_ids(path: Path) -> Iterator[str]:
    for location, text in iterate_lines(path):
        if len(text.split()) > 1:
            raise location.error("must be a query id alone")
        yield decode_query(location, text.strip())


def iterate_lines(path: Path) -> Iterator[tuple[Location, str]]:
    """Yield the lines of a file that are neither empty nor comments."""
    for line, text in enumerate(read_source(path).text.split("\n"), start=1):
        if text.strip() and not is_comment(text):
            yield Location(path, line), text


def decode_query(location: Location, field: str) -> str:
    """Return the id in a field."""
    try:
        return decode_id(field)
    except UnicodeDecodeError:
        raise location.error(f"the query {field!r} is not percent-encoded UTF-8") from None
