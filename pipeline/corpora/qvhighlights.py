"""QVHighlights (Lei et al., NeurIPS 2021): JSON lines with `relevant_windows`.

One moment per window, `qid_0`, `qid_1`, ...: a query there may have several windows.
"""

from collections.abc import Iterator
from pathlib import Path

from momentrank.formats.benchmarks.qvhighlights_records import FIELDS
from pipeline.core import files
from pipeline.corpora.rows import Row, interval, unreadable
from pipeline.corpora.sources import Portion


def read(portion: Portion) -> Iterator[Row]:
    """Yield the windows of a JSON-lines file.

    The test split has no windows; its lines are rejected and counted, not skipped.
    """
    for record in files.read_json_lines(*portion):
        yield from _rows(portion.path, record)


def _rows(path: Path, record: files.Record) -> Iterator[Row]:
    if record.problem:
        yield unreadable(path, record.line, record.problem)
        return
    windows = record.fields.get(FIELDS.times)
    if not isinstance(windows, list) or not windows:
        yield unreadable(path, record.line, "no-windows")
        return
    for number, window in enumerate(windows):
        yield _row(path, record, number, window)


def _row(path: Path, record: files.Record, number: int, window: object) -> Row:
    qid, (start, end) = record.fields.get(FIELDS.query), interval(window)
    return Row(
        file=path.name,
        line=record.line,
        item=f"{FIELDS.times}[{number}]",
        moment_id=f"{qid}_{number}" if isinstance(qid, int | str) else None,
        video_id=record.fields.get(FIELDS.video),
        start=start,
        end=end,
        duration=record.fields.get(FIELDS.duration),
        description=record.fields.get(FIELDS.text),
    )
