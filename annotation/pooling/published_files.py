"""Judged moments with their pairs and similarities, as published in a release.

`[{query_id, query, relevant_moment: [{pair_id, similarity, relevance, ...}]}]`, or a record
`{query_id, pair_id, similarity, relevance, ...}` for each pair.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats
from momentrank.formats.benchmarks.tvr import own_ids
from momentrank.formats.records import Column, read_records
from momentrank.formats.source import Location, read_source

LISTS = "relevant_moment"


class Pairs(NamedTuple):
    """Judged moments as columns, in the order of the file."""

    query_id: list[str]
    pair_id: list[str]
    similarity: Floats
    level: list[int]


def read_pairs(path: Path) -> Pairs:
    """Read the judged moments of a file.

    Raises:
        FormatError: it is malformed, with the path in the JSON.
    """
    records = read_records(read_source(path)).require(dict)
    if not any({LISTS, "pair_id"} & record.keys() for record in records.values):
        hint = "expected val.json and test.json of a release"
        raise Location(path).error(f"no judged moments with pair_id; {hint}")
    queries, pairs = _flatten(records)
    ids = pairs.key("pair_id").distinct_ids()
    similarity = pairs.key("similarity")
    values = similarity.numbers()
    similarity.refuse((~np.isfinite(values)).tolist(), "must be a number")
    level = pairs.key("relevance", int)
    level.refuse((not 0 <= value < LEVELS for value in level.values), f"must be 0 to {LEVELS - 1}")
    return Pairs(queries, ids, values, level.values)


def _flatten(records: Column) -> tuple[list[str], Column]:
    """Return the query of each pair, and the records of all pairs."""
    if "pair_id" in records.values[0]:
        return records.key("query_id").ids(), records
    lists = records.key(LISTS, list)
    queries = own_ids(records).distinct_ids()
    owner = np.repeat(np.arange(len(queries)), [len(values) for values in lists.values])
    return [queries[row] for row in owner], lists.flat().require(dict)
