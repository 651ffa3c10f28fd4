"""TVR (Lei et al., ECCV 2020): JSON lines `vid_name, duration, ts, desc, type, desc_id`."""

from collections.abc import Iterator
from pathlib import Path

from pipeline.core import files
from pipeline.corpora.rows import Row, interval, unreadable
from pipeline.corpora.sources import source_files


def read(source: Path) -> Iterator[Row]:
    """Yield the moments of one JSON-lines file, or of a folder of splits."""
    for path in source_files(source, ".jsonl"):
        for record in files.read_json_lines(path):
            yield _row(path, record)


def _row(path: Path, record: files.Record) -> Row:
    if record.problem:
        return unreadable(path, record.line, record.problem)
    start, end = interval(record.fields.get("ts"))
    return Row(
        file=path.name,
        line=record.line,
        moment_id=record.fields.get("desc_id"),
        video_id=record.fields.get("vid_name"),
        start=start,
        end=end,
        duration=record.fields.get("duration"),
        description=record.fields.get("desc"),
        modality=record.fields.get("type"),
    )
