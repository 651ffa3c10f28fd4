"""DiDeMo (Hendricks et al., ICCV 2017): a JSON list whose times are 5-second indices.

Indices are inclusive: (1, 4) is 5 s to 25 s. Several people marked each description; the
pair that most of them chose is the moment (the first one in a tie).
The files have no durations: a video is assumed to last `num_segments` times 5 s.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

from momentrank.formats.benchmarks.didemo import (
    FIELDS,
    SEGMENT_SECONDS,
    SEGMENTS,
    segment_seconds,
)
from pipeline.core.files import FileError
from pipeline.corpora.rows import Row, interval
from pipeline.corpora.sources import Portion, read_document


def read(portion: Portion) -> Iterator[Row]:
    """Yield the moments of a JSON file.

    Raises:
        FileError: the file is not JSON, or not a list.
    """
    entries = read_document(portion.path)
    if not isinstance(entries, list):
        raise FileError(f"{portion.path}: expected a list of annotations")
    for number, entry in enumerate(entries):
        yield _row(portion.path, number, entry)


def _row(path: Path, number: int, entry: object) -> Row:
    item = f"[{number}]"
    if not isinstance(entry, dict):
        return Row(file=path.name, item=item, problem="not-an-object")
    start, end = _seconds(entry.get(FIELDS.times))
    segments = entry.get(SEGMENTS)
    return Row(
        file=path.name,
        item=item,
        moment_id=entry.get(FIELDS.query),
        video_id=entry.get(FIELDS.video),
        start=start,
        end=end,
        duration=segments * SEGMENT_SECONDS if _is_index(segments) else None,
        description=entry.get(FIELDS.text),
    )


def _seconds(times: object) -> tuple[int | None, int | None]:
    pairs = [interval(pair) for pair in times] if isinstance(times, list) else []
    marked = Counter((first, last) for first, last in pairs if _is_index(first) and _is_index(last))
    if not marked:
        return None, None
    [((first, last), _)] = marked.most_common(1)
    return segment_seconds(first, last)


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
