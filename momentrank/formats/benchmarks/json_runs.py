"""Runs in JSON: the shapes of TVR-Ranking, TVR's VCMR task, and QVHighlights.

The order of a list is the ranking; scores are kept. Each reader takes a file's records and reads
all results or the first `depth` of each query.
"""

from collections.abc import Mapping

from momentrank.formats.benchmarks.json_qrels import spread
from momentrank.formats.column import Column
from momentrank.formats.source import Place
from momentrank.formats.table import Table
from momentrank.formats.videos import name_videos, whole_numbers

Corpus = Mapping[int, str] | None


def read_tvr_ranking(records: Column, depth: int | None, corpus: Corpus) -> Table:
    """Read `{query_id, predictions: [[video, start, end, score], ...]}`.

    Raises:
        FormatError: a record is malformed, or a video is an index and `corpus` is missing; as in
            every reader here.
    """
    queries = records.key("query_id").distinct_ids()
    return _of_lists(queries, records.key("predictions", list), depth, corpus)


def _of_lists(queries: list[str], lists: Column, depth: int | None, corpus: Corpus) -> Table:
    lists = cut(lists, depth)
    results = lists.flat()
    video, start, end, score = results.parts("video start end score")
    columns = (name_videos(video, corpus), start.numbers(), end.numbers(), score.numbers())
    return Table(spread(queries, lists), *columns, results.place, queries)


def cut(lists: Column, depth: int | None) -> Column:
    """Return the first `depth` values of each list."""
    lists.require(list)
    return lists if depth is None else lists._replace(values=[v[:depth] for v in lists.values])


def read_scores(records: Column, depth: int | None, corpus: Corpus) -> Table:
    """Read `{query_id: [{video_name, timestamp, model_scores}, ...], ...}`.

    `model_scores` is a number or a list, whose first value is the score.
    """
    owner = [row for row, record in enumerate(records.require(dict).values) for _ in record]
    names = [name for record in records.values for name in record]

    def place(row: int) -> Place:
        return records.place(owner[row]).key(names[row])

    queries = Column(names, place).distinct_ids()
    lists = cut(Column([v for record in records.values for v in record.values()], place), depth)
    results = lists.flat()
    start, end = results.key("timestamp", list).parts("start end")
    scores = _first(results.key("model_scores")).numbers()
    video = name_videos(results.key("video_name"), corpus)
    query = spread(queries, lists)
    return Table(query, video, start.numbers(), end.numbers(), scores, results.place, queries)


def _first(scores: Column) -> Column:
    """Return numbers as they are, and the first value of lists."""
    scores.refuse((value == [] for value in scores.values), "must be a number or a non-empty list")
    first = [value[0] if type(value) is list else value for value in scores.values]
    return scores._replace(values=first)


def read_vcmr(records: Column, depth: int | None, _: Corpus) -> Table:
    """Read `{video2idx: {name: index}, VCMR: [{desc_id, predictions: [[index, ...]]}]}`."""
    tasks = records.key("VCMR", list).flat()
    queries = tasks.key("desc_id").distinct_ids()
    names = _video_names(records.key("video2idx", dict))
    return _of_lists(queries, tasks.key("predictions", list), depth, names)


def _video_names(records: Column) -> dict[int, str]:
    if not records.values:
        return {}
    if len(records.values) > 1:  # each may number videos differently
        raise records.place(1).error("a second object; the format allows only one")
    names = list(records.values[0])
    indices = list(records.values[0].values())
    column = Column(indices, lambda row: records.place(0).key(names[row]))
    numbers = whole_numbers(column)
    column._replace(values=numbers).distinct_ids()  # an index must name one video
    return dict(zip(numbers, names, strict=True))


def read_qvhighlights(records: Column, depth: int | None, _: Corpus) -> Table:
    """Read `{qid, vid, pred_relevant_windows: [[start, end, score], ...]}`."""
    queries = records.key("qid").distinct_ids()
    lists = cut(records.key("pred_relevant_windows", list), depth)
    windows = lists.flat()
    start, end, score = windows.parts("start end score")
    video = spread(records.key("vid", str).ids(), lists)
    columns = (start.numbers(), end.numbers(), score.numbers())
    return Table(spread(queries, lists), video, *columns, windows.place, queries)
