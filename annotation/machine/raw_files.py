"""A machine's levels beside raw votes, of any collection, read from files.

People: `pair_id,worker,relevance` (`annotation.votes.raw`). Machine: `pair_id` and `level`
(or `relevance`), empty where it has none; `repeat` and `reason` are optional, other columns are
ignored. Which query a pair is of tells `pairs.csv` (`pair_id,query_id`), or the judged moments of a
release (val.json, test.json), which know similarities too.
"""

from collections import Counter
from collections.abc import Sequence
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
from annotation.votes.votes import NO_LEVEL, Ints, select_rows
from pipeline.core import csv_files
from pipeline.core.files import FileError

LEVEL_COLUMNS = ("level", "relevance")
NO_REASON = "no level"


class Machine(NamedTuple):
    """A machine's levels by pair_id, NO_LEVEL where it has none, and what it was asked."""

    level: dict[str, int]
    answers: dict[str, Any]


class Compared(NamedTuple):
    """People and a machine on the same pairs; whether it is known which query each is of."""

    panel: Panel
    answers: dict[str, Any]
    by_query: bool


def read_machine(path: Path) -> Machine:
    """Read a machine's levels; several of one pair (`repeat`) come to their median.

    Raises:
        FileError: the file is missing or malformed, with file, line and field.
    """
    frame = csv_files.read_csv(path, ["pair_id"]).fillna("")
    name = next((one for one in LEVEL_COLUMNS if one in frame), None)
    if name is None:
        raise FileError(f"{path}, line 1: column 'level' is missing (found: {list(frame)})")
    for line, text in frame[name].items():
        if text not in LEVEL_OF:
            raise FileError(f"{path}, line {line}, {name}: {text!r} is not a level from 0 to 4,"
                            " nor empty")  # fmt: skip
    key = ["pair_id", *(["repeat"] if "repeat" in frame else [])]
    twice = frame[frame.duplicated(key)]
    if len(twice):
        raise FileError(f"{path}, line {twice.index[0]}, pair_id: {twice['pair_id'].iloc[0]!r}"
                        " appears twice; number its levels in a column `repeat`")  # fmt: skip
    level = frame[name].map(LEVEL_OF).astype("int64")
    given = frame.assign(number=level)[level != NO_LEVEL].groupby("pair_id")["number"]
    by_pair = dict.fromkeys(frame["pair_id"], NO_LEVEL) | settle_repeats(given)
    missing = level == NO_LEVEL
    reasons = frame["reason"].replace("", NO_REASON) if "reason" in frame else None
    return Machine(
        by_pair,
        {
            "asked": len(frame),
            "with_level": int((~missing).sum()),
            "reasons": dict(Counter(reasons[missing])) if reasons is not None else {},
            "stale": 0,
        },
    )


def settle_repeats(levels: Any) -> dict[str, int]:  # noqa: ANN401  (of pandas)
    """Return the median of each group of levels; between two levels the higher one."""
    median = levels.median()
    return {str(key): int(np.ceil(value)) for key, value in median.items()}


def compare_files(
    people: Path, machine: Path, pairs: Path | None, judged: Sequence[Path]
) -> Compared:
    """Read people's votes and a machine's levels of the same pairs.

    Without `pairs` and `judged`, `pairs.csv` beside the votes is read if it is there; else each
    pair counts as a query of its own, and intervals suppose that pairs are independent.

    Raises:
        MomentRankError: a file is missing or malformed, or no pair is in both.
    """
    votes, said = raw.read(people), read_machine(machine)
    ids = [str(one) for one in votes.pairs]
    level = np.array([said.level.get(one, NO_LEVEL) for one in ids], dtype=np.int64)
    if not said.level.keys() & set(ids):
        raise FileError(f"{machine}: none of its pairs is in {people}: are they of one collection?")
    query, similarity = _read_queries(people, pairs, judged)
    numbers, names = pd.factorize(pd.Series([query.get(one, f"\0{one}") for one in ids]))
    known = [similarity.get(one, np.nan) for one in ids]
    panel = Panel(
        _scores(votes),
        numbers.astype(np.int64),
        len(names),
        level,
        decide(votes.pair, votes.level, len(ids)).level,
        np.array(known) if similarity and not np.isnan(known).all() else None,
    )
    return Compared(_add_control(_drop_unknown(panel)), said.answers, bool(query))


def _drop_unknown(panel: Panel) -> Panel:
    """Let the machine have no level of pairs whose similarity is not known, where others' is."""
    if panel.similarity is None:
        return panel
    unknown = np.isnan(panel.similarity)
    machine: Ints = np.where(unknown, NO_LEVEL, panel.machine)
    return panel._replace(machine=machine, similarity=np.where(unknown, 0.0, panel.similarity))


def _add_control(panel: Panel) -> Panel:
    if panel.similarity is None:
        return panel
    control = find_control_in_folds(panel.query, panel.similarity, panel.consensus)
    return panel._replace(control=control)


def _scores(votes: Raw) -> Scores:
    columns = votes.pair, votes.annotator, votes.level
    scores = Scores(*columns, len(votes.pairs), votes.annotators, votes.time)
    return sort_scores(select_rows(scores, votes.level != NO_LEVEL))


def _read_queries(
    people: Path, pairs: Path | None, judged: Sequence[Path]
) -> tuple[dict[str, str], dict[str, float]]:
    if judged:
        parts = [read_pairs(path) for path in judged]
        return (
            {
                pair: query
                for one in parts
                for pair, query in zip(one.pair_id, one.query_id, strict=True)
            },
            {
                pair: near
                for one in parts
                for pair, near in zip(one.pair_id, one.similarity.tolist(), strict=True)
            },
        )
    path = pairs or people.with_name("pairs.csv")
    if pairs is None and not path.is_file():
        return {}, {}
    table = csv_files.read_csv(path, ["pair_id", "query_id"])
    return dict(zip(table["pair_id"], table["query_id"], strict=True)), {}
