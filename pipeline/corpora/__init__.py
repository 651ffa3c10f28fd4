"""One small module per corpus format, each `read(portion) -> rows`.

A reader knows where a format keeps its fields (`momentrank.formats.benchmarks`) and nothing else:
it passes on what it finds, right or wrong, with its place. `pipeline.ingest` decides what can be
used.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pipeline.core.sections import Columns
from pipeline.corpora import (
    activitynet_captions,
    charades_sta,
    didemo,
    moment_table,
    qvhighlights,
    tvr,
)
from pipeline.corpora.rows import Row
from pipeline.corpora.sources import Portion, cut_file, estimate_rows, source_files


class _Format(NamedTuple):
    """How a format's files are found and read, and which have at least one row per line."""

    list_files: Callable[[Path], list[Path]]
    read: Callable[[Portion], Iterator[Row]]
    lines: tuple[str, ...] = ()


_LINES = partial(source_files, suffixes=(".jsonl",))
_DOCUMENTS = partial(source_files, suffixes=(".json",))
_FORMATS = {
    "tvr": _Format(_LINES, tvr.read, ("",)),
    "qvhighlights": _Format(_LINES, qvhighlights.read, ("",)),
    "charades-sta": _Format(charades_sta.list_files, charades_sta.read, ("",)),
    "activitynet-captions": _Format(_DOCUMENTS, activitynet_captions.read),
    "didemo": _Format(_DOCUMENTS, didemo.read),
}


def _format(corpus: str, columns: Columns) -> _Format:
    if corpus == "table":
        return _Format(
            moment_table.list_files, partial(moment_table.read, columns=columns), (".jsonl",)
        )
    return _FORMATS[corpus]


def read(corpus: str, source: Path, columns: Columns) -> Iterator[Row]:
    """Yield the rows of a corpus in the format `corpus`; `columns` is for `table` alone.

    Raises:
        FileError: the source is missing, or is not of that format.
    """
    for path in _format(corpus, columns).list_files(source):
        yield from read_portion(corpus, Portion(path), columns)


def read_portion(corpus: str, portion: Portion, columns: Columns) -> Iterator[Row]:
    """Yield the rows of a portion; errors as in `read`."""
    return _format(corpus, columns).read(portion)


def count_roughly(corpus: str, source: Path) -> int:
    """Return about how many rows a corpus has, without reading them; errors as in `read`."""
    return sum(map(estimate_rows, _format(corpus, {}).list_files(source)))


def cut(corpus: str, source: Path) -> list[Portion]:
    """Return the portions of a corpus, in order: files, or lines of them; errors as in `read`."""
    form = _format(corpus, {})
    portions = (
        cut_file(path) if path.name.lower().endswith(form.lines) else [Portion(path)]
        for path in form.list_files(source)
    )
    return list(chain.from_iterable(portions))
