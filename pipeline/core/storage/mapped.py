"""Frames larger than memory: written to a file in batches, and memory-mapped as one frame.

Texts stay in the file, as Arrow's arrays; numbers are in memory. The system loads a page of the
file when it is read, and may evict it at any time.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.batches import ROWS
from pipeline.core.files import disk_errors


def map_frames(folder: Path, frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return one or more frames of the same columns as one, mapped from a file in `folder`.

    The frame outlives the folder where files in use can be deleted (not on Windows, where the file
    stays until the next run).
    """
    descriptor, name = tempfile.mkstemp(".arrow", dir=folder)
    os.close(descriptor)
    made = (pa.Table.from_pandas(frame, preserve_index=False) for frame in frames)
    first = next(made)
    with (
        disk_errors(Path(name), Path(name)),
        pa.OSFile(name, "wb") as stream,
        pa.ipc.new_file(stream, first.schema) as writer,
    ):
        for table in chain([first], made):
            writer.write_table(table.cast(first.schema))
    frame: pd.DataFrame = pa.ipc.open_file(pa.memory_map(name)).read_all().to_pandas()
    return frame


def select(frame: pd.DataFrame, mask: "pd.Series[bool]") -> pd.DataFrame:
    """Return the rows where `mask` is true; without copying texts if they are contiguous."""
    rows = np.flatnonzero(mask.to_numpy())
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return frame.iloc[rows[0] : rows[-1] + 1]
    return frame.iloc[rows]


def blocks(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield a frame in blocks of rows, without copying its texts."""
    for first in range(0, len(frame), ROWS):
        yield frame.iloc[first : first + ROWS]
