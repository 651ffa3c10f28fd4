"""The corpus of MTEB's layout: every moment of the pool is a document, and has no text."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core import files, tables
from pipeline.core.batches import ROWS
from pipeline.distribution.release_files import columns

CORPUS_FILE = "corpus/corpus.parquet"
TEXT, SECONDS = pa.string(), pa.float64()
DOCUMENTS = pa.schema(
    dict.fromkeys(("_id", "title", "text"), TEXT)
    | dict.fromkeys(("start", "end", "duration"), SECONDS)
)
"""Moments as documents: their title is the video."""
COLUMNS = ("moment_id", "video_id", "text", "start", "end", "duration")
"""The columns of a frame that become `DOCUMENTS`."""


def write_corpus(moments: pd.DataFrame, seconds: pd.Series) -> None:
    """Write the moments of the pool (as from `join_captions`), without their captions.

    They are in the order of their ids; `seconds` are the videos' durations.
    """
    with (
        files.unfinished(tables.RELEASE / CORPUS_FILE, "wb") as stream,
        pq.ParquetWriter(stream, DOCUMENTS, compression="zstd") as writer,
    ):
        for first in range(0, len(moments), ROWS):
            rows = moments.iloc[first : first + ROWS]
            documents = rows.assign(text="", duration=rows["video_id"].map(seconds))
            cells = columns(documents, *COLUMNS)
            writer.write_table(pa.table(cells, schema=DOCUMENTS))
