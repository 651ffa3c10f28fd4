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
SEGMENT_COLUMNS = ["query_id", "video_name", "start", "end"]
NO_REASON = "no reason"

PairIds = Mapping[tuple[str, ...], str]
"""The pair_id of each query and segment."""


class Machine(NamedTuple):
    """A machine's levels by pair_id, or NO_LEVEL, and what it was asked."""

    level: dict[str, int]
    answers: dict[str, Any]


def read_machine(path: Path, pair_ids: PairIds) -> Machine:
    """Read a machine's levels; several of one pair (`repeat`) are combined into one.

    Pairs that people were never shown, which have no pair_id, are left out.

    Raises:
        FileError: the file is missing or malformed, with file, line and field.
    """
    frame = _name_pairs(path, csv_files.read_csv(path), pair_ids).fillna("")
    name = next((column for column in LEVEL_COLUMNS if column in frame), None)
    if name is None:
        raise FileError(f"{path}, line 1: column 'level' is missing (found: {list(frame)})")
    for line, text in frame[name].items():
        if text not in LEVEL_OF:
            raise FileError(f"{path}, line {line}, {name}: {text!r} is not a level from 0 to 4,"
                            " nor empty")  # fmt: skip
    _refuse_repeated(path, frame)
    level = frame[name].map(LEVEL_OF).astype("int64")
    answers = pd.DataFrame({"query_id": "", "moment_id": frame["pair_id"], "level": level})
    answers = answers.assign(repeat=range(len(answers)), expected=float("nan"), remark=None)
    settled = settle_machine(answers[level != NO_LEVEL])
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


def find_pair_ids(pairs: pd.DataFrame) -> PairIds:
    """Return the place of each pair from pairs.csv; nothing if it has no places."""
    if not {*SEGMENT_COLUMNS} <= {*pairs}:
        return {}
    return dict(zip(_keys(pairs), pairs["pair_id"], strict=True))


def _name_pairs(path: Path, frame: pd.DataFrame, pair_ids: PairIds) -> pd.DataFrame:
    if "pair_id" in frame:
        return frame
    if not {*SEGMENT_COLUMNS} <= {*frame}:
        raise FileError(f"{path}, line 1: column 'pair_id' is missing (found: {list(frame)})")
    if not pair_ids:
        raise FileError(
            f"{path}: identifies pairs by {', '.join(SEGMENT_COLUMNS)}: pairs.csv of the same"
            " release must be next to the votes, or given with --pairs"
        )
    keys = _keys(frame)
    listed = frame[[key in pair_ids for key in keys]]
    return listed.assign(pair_id=[pair_ids[key] for key in keys if key in pair_ids])


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
