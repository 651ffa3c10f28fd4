"""A machine's levels and raw votes, of any collection, read from files.

People: `pair_id,worker,relevance` (`annotation.votes.raw`). Machine: `pair_id,level`, or as in a
release (`annotation.machine.raw_machine`). The query of each pair comes from `pairs.csv`
(`pair_id,query_id`), or from the judged moments of a release (val.json, test.json), which also have
similarities.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.leave_one_out import Panel
from annotation.machine.raw_machine import PairIds, find_pair_ids, read_machine
from annotation.machine.similarity_control import find_control_in_folds
from annotation.pooling.published_files import read_pairs
from annotation.reliability.scores import Scores, sort_scores
from annotation.votes import raw
from annotation.votes.raw import Raw
from annotation.votes.rule import decide
from annotation.votes.votes import NO_LEVEL, Floats, Ints, select_rows
from pipeline.core import csv_files
from pipeline.core.files import FileError


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
