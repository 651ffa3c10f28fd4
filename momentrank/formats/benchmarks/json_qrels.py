"""Qrels in JSON: the shapes of TVR-Ranking, flat records, and QVHighlights.

Each reader takes a file's records and returns its segments.
"""

from itertools import chain, repeat

import numpy as np

from momentrank.formats.column import Column
from momentrank.formats.table import Table
from momentrank.ids import KEY, query_number


def spread(queries: list[str], lists: Column) -> list[str]:
    """Repeat each query for every item of its list."""
    return list(chain.from_iterable(map(repeat, queries, map(len, lists.values))))


def read_tvr_ranking(records: Column) -> Table:
    """Read `{query_id, query, relevant_moment: [{video_name, timestamp, relevance, ...}]}`.

    A query's id is its `query_key`, if it has one.

    Raises:
        FormatError: a record is malformed; as in every reader here.
    """
    queries = own_ids(records).distinct_ids()
    lists = records.key("relevant_moment", list)
    return _of_pairs(lists.flat(), spread(queries, lists))._replace(queries=queries)


def own_ids(records: Column) -> Column:
    """Return each record's `query_key` if `query_id` is its number, else `query_id`."""
    ids = records.key("query_id")
    own = [
        key if isinstance(key := record.get(KEY), str) and query_number(key) == number else number
        for record, number in zip(records.values, ids.values, strict=True)
    ]
    return ids._replace(values=own)


def read_flat(records: Column) -> Table:
    """Read records `{query_id, video_name, timestamp, relevance, ...}`, one per pair."""
    return _of_pairs(records, records.key("query_id").ids())


def _of_pairs(pairs: Column, query: list[str]) -> Table:
    videos = pairs.key("video_name", str).ids()
    start, end = pairs.key("timestamp", list).parts("start end")
    levels = pairs.key("relevance").numbers()
    return Table(query, videos, start.numbers(), end.numbers(), levels, pairs.place)


def read_qvhighlights(records: Column) -> Table:
    """Read `{qid, vid, relevant_windows: [[start, end], ...]}`; each window has level 1."""
    queries = records.key("qid").distinct_ids()
    lists = records.key("relevant_windows", list)
    windows = lists.flat()
    start, end = windows.parts("start end")
    video = spread(records.key("vid", str).ids(), lists)
    levels = np.ones(len(video))
    query = spread(queries, lists)
    return Table(query, video, start.numbers(), end.numbers(), levels, windows.place, queries)
