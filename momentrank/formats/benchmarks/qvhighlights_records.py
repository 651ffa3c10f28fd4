"""QVHighlights (Lei et al., NeurIPS 2021): annotations and submissions, one record per query.

The order of a list is the ranking. Other benchmarks are often converted to this format.
"""

from momentrank.formats.benchmarks.base import (
    Fields,
    JsonFormat,
    Reading,
    has_key,
    parse_list,
    read_qrels,
    read_run,
    with_details,
)
from momentrank.formats.records import Column
from momentrank.formats.table import Table, Windows

FIELDS = Fields("qid", "vid", "relevant_windows", "query", "duration")
PREDICTED = "pred_relevant_windows"


def read_annotations(records: Column, _: Reading) -> Table:
    """Read `{qid, vid, relevant_windows: [[start, end], ...]}`; each window has level 1."""
    queries = records.key(FIELDS.query).distinct_ids()
    lists = records.key(FIELDS.times, list)
    table = read_qrels(queries, records.key(FIELDS.video, str).ids(), lists)
    return with_details(table, records, FIELDS, queries)


def read_submission(records: Column, reading: Reading) -> Table:
    """Read `{qid, vid, pred_relevant_windows: [[start, end, score], ...]}`.

    If no record has `vid`, a query's video is that in the qrels. A score that is null or NaN is
    missing: the script's R1 does not read it.
    """
    queries = records.key(FIELDS.query).distinct_ids()
    if reading.truth is not None and not any(FIELDS.video in record for record in records.values):
        videos = [reading.truth.videos.get(query, "") for query in queries]
    else:
        videos = records.key(FIELDS.video, str).ids()

    def parse(windows: Column) -> Windows:
        return parse_list(windows, "start end score", any_score=True)

    return read_run(queries, records.key(PREDICTED, list), reading, parse, videos)


ANNOTATIONS = JsonFormat(
    "qvhighlights",
    "{qid, vid, relevant_windows: [[start, end], ...]}",
    has_key(FIELDS.times),
    read_annotations,
    convention="qvhighlights",
)
SUBMISSION = JsonFormat(
    "qvhighlights",
    "{qid, vid, pred_relevant_windows: [[start, end, score], ...]}",
    has_key(PREDICTED),
    read_submission,
    convention="qvhighlights",
)
