"""Segments as lines of fields: `query_id Q0 video_id start end ...`; see `formats.text`."""

import re
from collections.abc import Sequence

import numpy as np

from momentrank.formats.source import FormatError
from momentrank.ids import encode_id
from momentrank.segments import Segments

Row = tuple[int, str, float, float, float]


def list_rows(segments: Segments) -> list[Row]:
    """Return each segment as (index of its query, video, start, end, value)."""
    columns = (segments.start.tolist(), segments.end.tolist(), segments.value.tolist())
    return list(zip(segments.query.tolist(), segments.video, *columns, strict=True))


def refuse_empty_ids(segments: Segments) -> None:
    """Refuse what no reader would take back."""
    if "" in segments.queries or "" in segments.video:
        raise FormatError("an id is empty: no format can say that")
    if not segments.queries:
        raise FormatError("there are no queries to write")


def refuse_empty_queries(segments: Segments) -> None:
    """Refuse to lose a query: only a format with a record per query can hold an empty one."""
    counts = np.bincount(segments.query, minlength=len(segments.queries))
    if not counts.all():
        name = segments.queries[int(np.argmin(counts))]
        raise FormatError(f"the query {name!r} has no segments, which this format can't say")


def fields(ids: Sequence[str]) -> dict[str, str]:
    """Return each id as one field; a leading # would make its line a comment.

    Raises:
        FormatError: an id can't be written as UTF-8.
    """
    try:
        encoded = {text: encode_id(text) for text in dict.fromkeys(ids)}
    except UnicodeEncodeError as exc:
        raise FormatError(f"the id {exc.object!r} can't be written as UTF-8") from exc
    return {text: re.sub("^#", "%23", field) for text, field in encoded.items()}


def _text_parts(segments: Segments) -> tuple[list[str], dict[str, str]]:
    refuse_empty_queries(segments)
    queries = fields(segments.queries)
    return [queries[name] for name in segments.queries], fields(segments.video)


def qrels_text(segments: Segments) -> str:
    """Return judged segments as lines.

    Raises:
        FormatError: a query has no segments, or an id can't be a field; also below.
    """
    queries, videos = _text_parts(segments)
    return "".join(
        f"{queries[query]} Q0 {videos[video]} {start!r} {end!r} {int(level)}\n"
        for query, video, start, end, level in list_rows(segments)
    )


def run_text(segments: Segments, tag: str) -> str:
    """Return results as lines, ranked from 1."""
    queries, videos = _text_parts(segments)
    return "".join(
        f"{queries[query]} Q0 {videos[video]} {start!r} {end!r} {rank} {score!r} {tag}\n"
        for (query, video, start, end, score), rank in zip(
            list_rows(segments), segments.rank.tolist(), strict=True
        )
    )
