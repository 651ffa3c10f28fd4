"""A machine's levels read from a file: `pair_id,level`, or as in a release.

The level (`level` or `relevance`) is empty where the machine has none; `repeat` and `reason` are
optional, other columns are ignored. A release's machine_judgments.csv names its pairs by
`query_id,video_name,start,end`, as pairs.csv does.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from annotation.votes.raw import LEVEL_OF
from annotation.votes.votes import NO_LEVEL
from pipeline.core import csv_files
from pipeline.core.files import FileError
from pipeline.judges.repeats import settle_machine

LEVEL_COLUMNS = ("level", "relevance")
PLACE = ["query_id", "video_name", "start", "end"]
NO_REASON = "no reason"

Places = Mapping[tuple[str, ...], str]
"""The pair_id of each query and segment."""


class Machine(NamedTuple):
    """A machine's levels by pair_id, or NO_LEVEL, and what it was asked."""

    level: dict[str, int]
    answers: dict[str, Any]


def read_machine(path: Path, places: Places) -> Machine:
    """Read a machine's levels; several of one pair (`repeat`) are combined into one.

    Pairs that people were never shown, which have no pair_id, are left out.

    Raises:
        FileError: the file is missing or malformed, with file, line and field.
    """
    frame = _name_pairs(path, csv_files.read_csv(path), places).fillna("")
    name = next((one for one in LEVEL_COLUMNS if one in frame), None)
    if name is None:
        raise FileError(f"{path}, line 1: column 'level' is missing (found: {list(frame)})")
    for line, text in frame[name].items():
        if text not in LEVEL_OF:
            raise FileError(f"{path}, line {line}, {name}: {text!r} is not a level from 0 to 4,"
                            " nor empty")  # fmt: skip
    _refuse_repeated(path, frame)
    level = frame[name].map(LEVEL_OF).astype("int64")
    given = pd.DataFrame({"query_id": "", "moment_id": frame["pair_id"], "level": level})
    given = given.assign(repeat=range(len(given)), expected=float("nan"), remark=None)
    settled = settle_machine(given[level != NO_LEVEL])
    missing = level == NO_LEVEL
    reasons = frame["reason"].replace("", NO_REASON) if "reason" in frame else None
    return Machine(
        dict.fromkeys(frame["pair_id"], NO_LEVEL)
        | dict(zip(settled["moment_id"], settled["level"].tolist(), strict=True)),
        {
            "asked": len(frame),
            "with_level": int((~missing).sum()),
            "reasons": {} if reasons is None else dict(Counter(reasons[missing])),
            "stale": 0,
        },
    )


def find_places(pairs: pd.DataFrame) -> Places:
    """Return the place of each pair from pairs.csv; nothing if it has no places."""
    if not {*PLACE} <= {*pairs}:
        return {}
    return dict(zip(_keys(pairs), pairs["pair_id"], strict=True))


def _name_pairs(path: Path, frame: pd.DataFrame, places: Places) -> pd.DataFrame:
    if "pair_id" in frame:
        return frame
    if not {*PLACE} <= {*frame}:
        raise FileError(f"{path}, line 1: column 'pair_id' is missing (found: {list(frame)})")
    if not places:
        raise FileError(
            f"{path}: identifies pairs by {', '.join(PLACE)}: pairs.csv of the same release must be"
            " next to the votes, or given with --pairs"
        )
    keys = _keys(frame)
    listed = frame[[key in places for key in keys]]
    return listed.assign(pair_id=[places[key] for key in keys if key in places])


def _keys(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the place of each row; equal numbers match, however they are written."""
    times = (pd.to_numeric(frame[name], errors="coerce").map(repr) for name in ("start", "end"))
    return list(zip(frame["query_id"], frame["video_name"], *times, strict=True))


def _refuse_repeated(path: Path, frame: pd.DataFrame) -> None:
    key = ["pair_id", *(["repeat"] if "repeat" in frame else [])]
    twice = frame[frame.duplicated(key)]
    if len(twice):
        raise FileError(f"{path}, line {twice.index[0]}, pair_id: {twice['pair_id'].iloc[0]!r}"
                        " appears twice; number its levels in a column `repeat`")  # fmt: skip
