"""A machine's levels and raw votes, of any collection, read from files.

People: `pair_id,worker,relevance` (`annotation.votes.raw`). Machine: `pair_id,level`, or as in a
release, whose machine_judgments.csv names its pairs by `query_id,video_name,start,end`, as
pairs.csv does. Its level (`level` or `relevance`) is empty where the machine has none; `repeat` and
`reason` are optional, other columns are ignored. The query of each pair comes from `pairs.csv`
(`pair_id,query_id`), or from the judged moments of a release (val.json, test.json), which also have
similarities.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.leave_one_out import Panel
from annotation.machine.similarity_control import find_control_in_folds
from annotation.pooling.published_files import read_pairs
from annotation.reliability.scores import Scores, sort_scores
from annotation.votes import raw
from annotation.votes.raw import LEVEL_OF, Raw
from annotation.votes.rule import decide
from annotation.votes.votes import NO_LEVEL, Floats, Ints, select_rows
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


class Compared(NamedTuple):
    """People and a machine on the same pairs; whether the query of each is known."""

    panel: Panel
    answers: dict[str, Any]
    by_query: bool


def compare_files(
    people: Path, machine: Path, pairs: Path | None, judged: Sequence[Path]
) -> Compared:
    """Read people's votes and a machine's levels of the same pairs.

    Without `pairs` and `judged`, `pairs.csv` next to the votes is read if it exists; else each
    pair counts as its own query, and intervals assume that pairs are independent.

    Raises:
        MomentRankError: a file is missing or malformed, or no pair is in both.
    """
    votes, facts = raw.read(people), _read_known(people, pairs, judged)
    judge = read_machine(machine, facts.pair_ids)
    ids = [str(pair_id) for pair_id in votes.pairs]
    level = np.array([judge.level.get(pair_id, NO_LEVEL) for pair_id in ids], dtype=np.int64)
    if not judge.level.keys() & set(ids):
        raise FileError(
            f"{machine}: none of its pairs is in {people}: are they from the same collection?"
        )
    query, names = pd.factorize(
        pd.Series([facts.query.get(pair_id, f"\0{pair_id}") for pair_id in ids])
    )
    similarity = np.array([facts.similarity.get(pair_id, np.nan) for pair_id in ids])
    consensus = decide(votes.pair, votes.level, len(ids)).level
    panel = Panel(_scores(votes), query.astype(np.int64), len(names), level, consensus)
    if not np.isnan(similarity).all():
        control = _find_control(panel, similarity)
        panel = panel._replace(similarity=similarity, control=control)
    return Compared(panel, judge.answers, bool(facts.query))


def _find_control(panel: Panel, similarity: Floats) -> Ints:
    """Return the control's levels of the pairs with known similarity."""
    rows = ~np.isnan(similarity)
    control = np.full(len(similarity), NO_LEVEL, dtype=np.int64)
    control[rows] = find_control_in_folds(
        panel.query[rows], similarity[rows], panel.consensus[rows]
    )
    return control


def _scores(votes: Raw) -> Scores:
    columns = votes.pair, votes.annotator, votes.level
    scores = Scores(*columns, len(votes.pairs), votes.annotators, votes.time)
    return sort_scores(select_rows(scores, votes.level != NO_LEVEL))


class _Known(NamedTuple):
    """The query and similarity of pairs by pair_id, and the pair_id of places."""

    query: dict[str, str]
    similarity: dict[str, float]
    pair_ids: PairIds


def _read_known(people: Path, pairs: Path | None, judged: Sequence[Path]) -> _Known:
    path = pairs or people.with_name("pairs.csv")
    if pairs is None and not path.is_file():
        table = pd.DataFrame({"pair_id": [], "query_id": []})
    else:
        table = csv_files.read_csv(path, ["pair_id", "query_id"])
    query = dict(zip(table["pair_id"], table["query_id"], strict=True))
    similarity: dict[str, float] = {}
    for listed in map(read_pairs, judged):
        query |= dict(zip(listed.pair_id, listed.query_id, strict=True))
        similarity |= dict(zip(listed.pair_id, listed.similarity.tolist(), strict=True))
    return _Known(query, similarity, find_pair_ids(table))
