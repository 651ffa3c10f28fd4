"""Charades-STA (Gao et al., ICCV 2017): lines `VIDEO START END##sentence`.

They have no durations; these come from Charades' own CSV (columns `id`, `length`). The
source is a folder with both: `charades_sta_*.txt` and `Charades_*.csv`.
"""

from collections.abc import Iterator
from pathlib import Path

from momentrank.formats.benchmarks.captions import DURATIONS, split_line
from pipeline.core import csv_files, files
from pipeline.corpora.rows import Row, stable_id, unreadable
from pipeline.corpora.sources import Portion, source_files


def list_files(source: Path) -> list[Path]:
    """List the `charades_sta*.txt` of a folder.

    Raises:
        FileError: it contains none, or no `.csv`, or is a file.
    """
    if source.is_file():
        raise files.FileError(
            f"{source}: charades-sta needs a folder: the annotations (.txt) and, for the"
            " videos' durations, Charades' CSV (columns id, length)"
        )
    source_files(source, (".csv",))
    texts = sorted(source.glob("charades_sta*.txt"))
    if not texts:  # Charades' own folder contains other .txt files too
        raise files.FileError(f"{source}: contains no charades_sta*.txt file")
    return texts


def read(portion: Portion) -> Iterator[Row]:
    """Yield the moments of a `.txt`, with durations from the `.csv` next to it.

    Raises:
        FileError: a CSV lacks `id` or `length`.
    """
    tables = source_files(portion.path.parent, (".csv",))
    durations = {video: length for path in tables for video, length in _lengths(path)}
    for line in files.read_lines(*portion):
        if line.text.strip():
            yield _row(portion.path, line, durations)


def _lengths(path: Path) -> Iterator[tuple[str, str]]:
    table = csv_files.read_csv(path, list(DURATIONS))
    return zip(*(table[name] for name in DURATIONS), strict=True)


def _row(path: Path, line: files.Line, durations: dict[str, str]) -> Row:
    fields = split_line(line.text)
    if fields is None:
        return unreadable(path, line.number, "not-a-charades-line")
    video, start, end, sentence = fields
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
