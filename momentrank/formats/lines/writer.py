"""Segments written as lines of fields."""

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
    """Refuse empty ids and a file without queries, which no reader accepts."""
    if "" in segments.queries or "" in segments.video:
        raise FormatError("an id is empty; no format can express that")
    if not segments.queries:
        raise FormatError("there are no queries to write")


def refuse_empty_queries(segments: Segments) -> None:
    """Refuse queries without segments, for formats that would lose them."""
    counts = np.bincount(segments.query, minlength=len(segments.queries))
    if not counts.all():
        name = segments.queries[int(np.argmin(counts))]
        raise FormatError(f"the query {name!r} has no segments; this format can't express that")


def fields(ids: Sequence[str]) -> dict[str, str]:
    """Return the field for each id; a leading # is encoded, as it would start a comment.

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
        FormatError: a query has no segments, or an id can't be written.
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
