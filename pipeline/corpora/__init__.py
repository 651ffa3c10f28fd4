"""One small module per corpus format, each `read(source) -> rows`.

A reader knows where a format keeps its fields (`momentrank.formats.benchmarks`) and nothing else:
it passes on what is there, right or wrong, with its place. `pipeline.ingest` decides what can be
used.
"""

from collections.abc import Iterator
from pathlib import Path

from pipeline.core.sections import Columns
from pipeline.corpora import activitynet_captions, charades_sta, didemo, qvhighlights, table, tvr
from pipeline.corpora.rows import Row

_READERS = {
    "tvr": tvr.read,
    "charades-sta": charades_sta.read,
    "activitynet-captions": activitynet_captions.read,
    "qvhighlights": qvhighlights.read,
    "didemo": didemo.read,
}


def read(corpus: str, source: Path, columns: Columns) -> Iterator[Row]:
    """Yield the rows of a corpus in the format `corpus`; `columns` is for `table` alone.

    Raises:
        FileError: the source is missing, or no file of that format.
    """
    if corpus == "table":
        return table.read(source, columns)
    return _READERS[corpus](source)
