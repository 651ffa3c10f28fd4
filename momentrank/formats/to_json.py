"""Segments in JSON; query ids are integers where all of them are written as integers."""

import json
from typing import Any

import numpy as np

from momentrank.formats.source import FormatError
from momentrank.formats.to_text import Row, list_rows, refuse_empty_queries
from momentrank.ids import as_integers
from momentrank.segments import Segments


def _lists(segments: Segments) -> list[list[Row]]:
    rows = list_rows(segments)
    ends = np.cumsum(np.bincount(segments.query, minlength=len(segments.queries))).tolist()
    return [rows[first:last] for first, last in zip([0, *ends], ends, strict=False)]


def _array(records: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(map(_json, records)) + "\n]\n"


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{_json(record)}\n" for record in records)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def tvr_ranking_run(segments: Segments, _: str) -> str:
    """Return an array of `{query_id, predictions: [[video, start, end, score], ...]}`."""
    ids = as_integers(segments.queries)
    return _array(
        [
            {"query_id": name, "predictions": [row[1:] for row in rows]}
            for name, rows in zip(ids, _lists(segments), strict=True)
        ]
    )


def flat_qrels(segments: Segments) -> str:
    """Return a line `{query_id, video_name, timestamp, relevance}` for each segment.

    Raises:
        FormatError: a query has no segments.
    """
    refuse_empty_queries(segments)
    ids = as_integers(segments.queries)
    names = ("query_id", "video_name", "timestamp", "relevance")
    return _lines(
        [
            dict(zip(names, (ids[query], video, [start, end], int(level)), strict=True))
            for query, video, start, end, level in list_rows(segments)
        ]
    )


def _qvhighlights(segments: Segments, key: str, width: int) -> str:
    """Return a line for each query.

    Raises:
        FormatError: a query has no segments, or they are not of one video.
    """
    refuse_empty_queries(segments)
    records = []
    for name, rows in zip(as_integers(segments.queries), _lists(segments), strict=True):
        video = rows[0][1]
        if any(row[1] != video for row in rows):
            raise FormatError(f"qvhighlights has one video a query, and {str(name)!r} has more")
        records.append({"qid": name, "vid": video, key: [row[2 : 2 + width] for row in rows]})
    return _lines(records)


def qvhighlights_qrels(segments: Segments) -> str:
    """Return lines `{qid, vid, relevant_windows}`; a level that is not 1 is refused."""
    if (segments.value != 1).any():
        raise FormatError("qvhighlights has level 1 only; try flat or segments")
    return _qvhighlights(segments, "relevant_windows", 2)


def qvhighlights_run(segments: Segments, _: str) -> str:
    """Return lines `{qid, vid, pred_relevant_windows}`."""
    return _qvhighlights(segments, "pred_relevant_windows", 3)
