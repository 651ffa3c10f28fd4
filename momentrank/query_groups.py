"""Groups of queries: as a file or a release names them, or by their relevant moments' length."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from momentrank.collection.declarations import (
    QUERIES,
    STRATA,
    decode_query,
    find_release,
    iterate_lines,
    read_declared,
)
from momentrank.errors import UsageError
from momentrank.formats.lines import NUMBER
from momentrank.formats.source import Location
from momentrank.ids import own_ids
from momentrank.mismatches import shorten
from momentrank.segments import Segments

LENGTH = "length"
BOUNDS = (10.0, 30.0)
"""Seconds: the bounds of QVHighlights' short, middle and long moments."""
NONE_RELEVANT = "no relevant moment"
_FIELDS = 2

Groups = dict[str, list[str]]


def group_queries(
    text: str, qrels: Segments, warn: Callable[[str], None], path: Path | None = None
) -> Groups:
    """Return the queries of each group, in the qrels' order.

    Args:
        text: a file of lines `query_id group`; or `length`, `length:10,30`: by the mean length in
            seconds of a query's relevant moments; or `stratum`, `origin`: as the release has them.
        qrels: whose queries are grouped.
        warn: called with what only the file or the qrels have.
        path: the file of the qrels, which may be in a release.
    """
    if text in STRATA:
        return _from_release(text, qrels, warn, path)
    kind, _, bounds = text.partition(":")
    if kind == LENGTH:
        return by_length(qrels, _bounds(text, bounds) if bounds else BOUNDS)
    return _arrange(Path(text), _read_members(Path(text)), qrels, warn)


def _bounds(text: str, bounds: str) -> list[float]:
    fields = bounds.split(",")
    numbers = [float(field) for field in fields if NUMBER.fullmatch(field)]
    if len(numbers) < len(fields) or sorted(set(numbers)) != numbers:
        raise UsageError(f"--by {text}: write {LENGTH}:10,30, ascending seconds")
    return numbers


def by_length(qrels: Segments, bounds: Sequence[float]) -> Groups:
    """Group queries by the mean length of their relevant moments; a bound is in the lower group."""
    relevant = qrels.value >= 1
    number = np.bincount(qrels.query[relevant], minlength=len(qrels.queries))
    lengths = (qrels.end - qrels.start)[relevant]
    total = np.bincount(qrels.query[relevant], lengths, len(qrels.queries))
    mean = np.divide(total, number, out=np.zeros(len(number)), where=number > 0)
    first, last = f"up to {bounds[0]:g} s", f"over {bounds[-1]:g} s"
    middle = [f"over {low:g}, up to {high:g} s" for low, high in pairwise(bounds)]
    names = [first, *middle, last, NONE_RELEVANT]
    group_of = np.where(number > 0, np.searchsorted(bounds, mean), len(names) - 1)
    groups: Groups = {name: [] for name in names}
    for query, at in zip(qrels.queries, group_of.tolist(), strict=True):
        groups[names[at]].append(query)
    return {name: queries for name, queries in groups.items() if queries}


def _from_release(
    column: str, qrels: Segments, warn: Callable[[str], None], path: Path | None
) -> Groups:
    release = find_release(path) if path and path.is_file() else None
    declared = read_declared(release.folder).get(column) if release else None
    if release is None or declared is None:
        raise UsageError(
            f"--by {column}: {path or 'the qrels'}: in no release whose {QUERIES} has the column"
            f" {column!r}; name a file of lines 'query_id group'"
        )
    members: dict[str, dict[str, int]] = {}
    for query, group in declared.items():
        members.setdefault(group or f"no {column}", {})[query] = 0
    own = set(qrels.queries)
    of_split = {
        group: {query: line for query, line in members[group].items() if query in own}
        for group in sorted(members)
    }
    return _arrange(release.folder / QUERIES, of_split, qrels, warn)


def _arrange(
    path: Path,
    members: dict[str, dict[str, int]],
    qrels: Segments,
    warn: Callable[[str], None],
) -> Groups:
    named = {query for queries in members.values() for query in queries}
    known = {query: query for query in qrels.queries}
    known |= own_ids(named - known.keys(), qrels.queries)
    groups = {
        group: [query for query in qrels.queries if query in within]
        for group, queries in members.items()
        if (within := {known[query] for query in queries if query in known})
    }
    if not groups:
        raise Location(path).error(
            f"none of its queries is in the qrels: {min(named)!r} here, {qrels.queries[0]!r} there"
        )
    _report(path, sorted(named - known.keys()), "which the qrels lack", warn)
    grouped = {query for queries in groups.values() for query in queries}
    _report(path, [q for q in qrels.queries if q not in grouped], "in no group", warn)
    return groups


def _read_members(path: Path) -> dict[str, dict[str, int]]:
    members: dict[str, dict[str, int]] = {}
    for location, text in iterate_lines(path):
        fields = text.split(None, 1)
        if len(fields) < _FIELDS:
            raise location.error("must be a query and its group: query_id group")
        query, group, line = (
            decode_query(location, fields[0]),
            fields[1].strip(),
            location.line or 0,
        )
        first = members.setdefault(group, {}).setdefault(query, line)
        if first != line:
            raise location.error(
                f"the query {query!r} is in the group {group!r} since line {first}"
            )
    if not members:
        raise Location(path).error("the file contains only comments")
    return members


def _report(path: Path, queries: Sequence[str], what: str, warn: Callable[[str], None]) -> None:
    if queries:
        warn(f"{path}: queries {what}: {len(queries)} ({shorten(queries)})")


def select_queries(segments: Segments, names: Sequence[str]) -> Segments:
    """Return the segments of some queries, in the order of the segments."""
    chosen = set(names)
    is_chosen = np.array([name in chosen for name in segments.queries], dtype=bool)
    rows = is_chosen[segments.query]
    number = np.cumsum(is_chosen) - 1
    selected = segments.select(rows)
    queries = [name for name in segments.queries if name in chosen]
    return selected._replace(queries=queries, query=number[selected.query].astype(np.int64))
