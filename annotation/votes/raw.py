"""Read any collection's raw judgments: `pair_id,worker,relevance`, a row for each answer.

The columns `submitted_at` (ISO 8601) and `seconds` (what the answer took) may be there; others
are passed over. An empty relevance is an answer without a level.
"""

from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from annotation.votes.raw_columns import REQUIRED, Column, fast, values, with_lines
from annotation.votes.votes import Ints
from momentrank.ids import as_integers
from pipeline.core.files import FileError

__all__ = ["REQUIRED", "Raw", "Repeated", "read"]

Repeated = Literal["both", "distinct"]
"""One person's two answers on a pair: `both` count (the paper), or the newer one alone."""


class Raw(NamedTuple):
    """Raw judgments as columns, in the order of the file.

    `pair` and `annotator` are places in `pairs` and `annotators`, the ids in rising order:
    numbers where all of them are. `level` is 0 to 4 or NO_LEVEL. `time` and `seconds` are None
    where the file does not tell them.
    """

    pairs: pd.Index
    annotators: pd.Index
    pair: Ints
    annotator: Ints
    level: Ints
    time: npt.NDArray[np.datetime64] | None = None
    seconds: npt.NDArray[np.float64] | None = None


def read(path: Path, repeated: Repeated = "both") -> Raw:
    """Read raw judgments; of a person's answers on one pair `repeated` says which count.

    With `distinct` it is the newest one; where times are not known or equal, the last in the
    file.

    Raises:
        FileError: the file is missing or malformed, with file, line and field.
    """
    try:
        raw = _coded(path, fast(path))
    except (pa.ArrowException, OSError, FileError):
        raw = _coded(path, with_lines(path))
    return raw if repeated == "both" else _distinct(raw)


_DTYPES = {"relevance": "int64", "submitted_at": "datetime64[us]", "seconds": "float64"}


def _coded(path: Path, columns: dict[str, Column]) -> Raw:
    if not len(columns["pair_id"].code):
        raise FileError(f"{path}: holds no judgment")
    found = {name: values(path, name, column) for name, column in columns.items()}
    rest = {
        name: found[name].to_numpy(dtype)[columns[name].code]
        for name, dtype in _DTYPES.items()
        if name in columns
    }
    pair, pairs = _places(found["pair_id"], columns["pair_id"].code)
    annotator, annotators = _places(found["worker"], columns["worker"].code)
    return Raw(
        pairs,
        annotators,
        pair,
        annotator,
        rest["relevance"],
        rest.get("submitted_at"),
        rest.get("seconds"),
    )


def _places(ids: pd.Series, code: Ints) -> tuple[Ints, pd.Index]:
    """Return each row's place among the distinct ids in order, and these ids."""
    ids = pd.Series(as_integers(ids.tolist()))
    order = ids.argsort(kind="stable").to_numpy()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[code], pd.Index(ids.iloc[order])


def _distinct(raw: Raw) -> Raw:
    frame = pd.DataFrame({"pair": raw.pair, "annotator": raw.annotator})
    order = np.arange(len(frame)) if raw.time is None else raw.time.argsort(kind="stable")
    kept = frame.iloc[order].drop_duplicates(keep="last").index.sort_values().to_numpy()
    return raw._replace(
        pair=raw.pair[kept],
        annotator=raw.annotator[kept],
        level=raw.level[kept],
        time=None if raw.time is None else raw.time[kept],
        seconds=None if raw.seconds is None else raw.seconds[kept],
    )
