"""Charades-STA (Gao et al., ICCV 2017): lines `VIDEO START END##sentence`.

They give no durations; these come from Charades' own CSV (columns `id`, `length`). The
source is a folder with both: `charades_sta_*.txt` and `Charades_*.csv`.
"""

from collections.abc import Iterator
from pathlib import Path

from momentrank.formats.benchmarks.captions import DURATIONS, split_line
from pipeline.core import csv_files, files
from pipeline.corpora.rows import Row, stable_id, unreadable
from pipeline.corpora.sources import source_files


def read(source: Path) -> Iterator[Row]:
    """Yield the moments of `charades_sta*.txt`, durations from the `.csv` beside them.

    Raises:
        FileError: the folder lacks one of them, or a CSV lacks `id` or `length`.
    """
    if source.is_file():
        raise files.FileError(
            f"{source}: charades-sta needs a folder: the annotations (.txt) and, for the"
            " videos' durations, Charades' CSV (columns id, length)"
        )
    tables, texts = source_files(source, ".csv"), sorted(source.glob("charades_sta*.txt"))
    if not texts:  # Charades' own folder holds other .txt files beside
        raise files.FileError(f"{source}: contains no charades_sta*.txt file")
    durations = {video: length for path in tables for video, length in _lengths(path)}
    for path in texts:
        for line in files.read_lines(path):
            if line.text.strip():
                yield _row(path, line, durations)


def _lengths(path: Path) -> Iterator[tuple[str, str]]:
    table = csv_files.read_csv(path, list(DURATIONS))
    return zip(*(table[name] for name in DURATIONS), strict=True)


def _row(path: Path, line: files.Line, durations: dict[str, str]) -> Row:
    parts = split_line(line.text)
    if parts is None:
        return unreadable(path, line.number, "not-a-charades-line")
    video, start, end, sentence = parts
    return Row(
        file=path.name,
        line=line.number,
        moment_id=stable_id(video, start, end, sentence),
        video_id=video,
        start=start,
        end=end,
        duration=durations.get(video),
        description=sentence,
    )
