"""TVR (Lei et al., ECCV 2020): JSON lines `vid_name, duration, ts, desc, type, desc_id`."""

from collections.abc import Iterator
from pathlib import Path

from momentrank.formats.benchmarks.tvr import FIELDS, MODALITY
from pipeline.core import files
from pipeline.corpora.rows import Row, interval, unreadable
from pipeline.corpora.sources import Portion


def read(portion: Portion) -> Iterator[Row]:
    """Yield the moments of a JSON-lines file."""
    for record in files.read_json_lines(*portion):
        yield _row(portion.path, record)


def _row(path: Path, record: files.Record) -> Row:
    if record.problem:
        return unreadable(path, record.line, record.problem)
    start, end = interval(record.fields.get(FIELDS.times))
    return Row(
        file=path.name,
        line=record.line,
        moment_id=record.fields.get(FIELDS.query),
        video_id=record.fields.get(FIELDS.video),
        start=start,
        end=end,
        duration=record.fields.get(FIELDS.duration),
        description=record.fields.get(FIELDS.text),
        modality=record.fields.get(MODALITY),
    )
