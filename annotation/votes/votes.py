"""Votes: the judgments that count, in the order in which they were submitted.

A judgment counts if it is a first or escalated one of what was last shown, and the lead has not
voided it (see `classify`); a person has one vote on a pair, their newest. Votes count in the order
in which they were submitted, until the pair is decided: a late answer, to a task that was
withdrawn, changes nothing.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY, SHOWN_KEY, select_newest
from pipeline.campaign.voided import mark_voided
from pipeline.core import tables

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Columns = TypeVar("Columns", bound=NamedTuple)

Standing = Literal["vote", "check", "voided", "stale"]
"""What a judgment is: only a `vote` counts; a `check` is hidden among them (`tables.CHECKS`)."""

NO_LEVEL = -1
FIRST_VOTES = 2
UNJUDGEABLE_VOTES = 2
MAX_DIFFERENCE = 1


class Votes(NamedTuple):
    """Votes as columns, sorted by pair (its row in a table of pairs) and time.

    `level` is 0 to 4, or NO_LEVEL if the annotator can't judge. `row` is the place of the
    judgment among the given ones.
    """

    pair: Ints
    annotator: Ints
    level: Ints
    row: Ints


def select_rows(columns: Columns, rows: Bools | Ints) -> Columns:
    """Return a named tuple of columns at some rows (marks or places); other fields stay."""
    arrays = {
        name: column for name, column in columns._asdict().items() if isinstance(column, np.ndarray)
    }
    return columns._replace(**{name: column[rows] for name, column in arrays.items()})


def is_in(rows: pd.DataFrame, others: pd.DataFrame, key: Sequence[str]) -> Bools:
    """Mark the rows whose columns `key` equal those of a row in `others`."""
    if rows.empty or others.empty:
        return np.zeros(len(rows), dtype=np.bool_)
    columns = list(key)
    index = pd.MultiIndex.from_frame(others[columns])
    return pd.MultiIndex.from_frame(rows[columns]).isin(index)


def pair_rows(frame: pd.DataFrame, pairs: pd.DataFrame | pd.MultiIndex) -> Ints:
    """Return for each row of `frame` the row of its pair in `pairs`, or -1.

    `pairs` may be the index of their keys: building it takes longer than querying it.
    """
    if frame.empty or pairs.empty:
        return np.full(len(frame), -1, dtype=np.int64)
    index = pairs if isinstance(pairs, pd.MultiIndex) else pd.MultiIndex.from_frame(pairs[PAIR_KEY])
    return index.get_indexer(pd.MultiIndex.from_frame(frame[PAIR_KEY])).astype(np.int64)


def last_shown(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the hashes of each pair as it was last shown."""
    return select_newest(ledger)[SHOWN_KEY]


def classify(
    judgments: pd.DataFrame, shown: pd.DataFrame, voided: pd.DataFrame
) -> "pd.Series[Standing]":
    """Classify each judgment (`Standing`): the only place that says which judgments count.

    `shown` has `query_id, moment_id, query_sha, clip_sha`, a row for each pair: judgments of
    another text or clip, or of pairs never shown, are stale. `voided` is `tables.VOIDED`. A
    judgment that is both voided and stale is voided.
    """
    stale = ~is_in(judgments, shown, SHOWN_KEY)
    standing = np.select(
        [~judgments["kind"].isin(tables.VOTING), mark_voided(judgments, voided), stale],
        ["check", "voided", "stale"],
        "vote",
    )
    return pd.Series(standing, judgments.index, dtype="str")


def select_counting(
    judgments: pd.DataFrame, shown: pd.DataFrame, voided: pd.DataFrame
) -> pd.DataFrame:
    """Return the judgments that may count, according to `classify`."""
    votes = classify(judgments, shown, voided) == "vote"
    return judgments[votes].reset_index(drop=True)


def select_votes(judgments: pd.DataFrame, pairs: pd.DataFrame | pd.MultiIndex) -> Votes:
    """Return the votes on `pairs` among fresh judgments: the ones that decide."""
    placed = judgments.assign(pair=pair_rows(judgments, pairs), row=np.arange(len(judgments)))
    newest = _newest(placed[placed["pair"] >= 0])
    ordered = newest.sort_values(["pair", "submitted_at", "annotator"])
    levels = ordered["level"].fillna(NO_LEVEL).to_numpy("int64")
    pair, annotator, row = (ordered[name].to_numpy() for name in ("pair", "annotator", "row"))
    ordered_votes = Votes(pair, annotator, levels, row)
    return select_rows(ordered_votes, _before_decision(ordered_votes))


def _newest(judgments: pd.DataFrame) -> pd.DataFrame:
    person = ["pair", "annotator"]
    twice = judgments.duplicated(person, keep=False)
    if not twice.any():  # as in most campaigns
        return judgments
    ordered = judgments[twice].sort_values(["submitted_at", "origin", "kind"])
    return pd.concat([judgments[~twice], ordered.drop_duplicates(person, keep="last")])


def _before_decision(votes: Votes) -> Bools:
    """Mark the votes that come before their pair is decided, or decide it."""
    judged = votes.level != NO_LEVEL
    nth_level, nth_none = _running(judged, votes.pair), _running(~judged, votes.pair)
    opener = judged & (nth_level == 1)
    first = np.zeros(votes.pair.max(initial=-1) + 1, dtype=np.int64)
    first[votes.pair[opener]] = votes.level[opener]
    agrees = (nth_level == FIRST_VOTES) & (abs(votes.level - first[votes.pair]) <= MAX_DIFFERENCE)
    by_level = judged & (agrees | (nth_level == ALL_VOTES))
    decides = by_level | (~judged & (nth_none == UNJUDGEABLE_VOTES))
    before: Bools = _running(decides, votes.pair) - decides == 0
    return before


def _running(marks: Bools, pair: Ints) -> Ints:
    """Count the marks from a pair's first row up to and including each row."""
    total = np.cumsum(marks)
    begin = np.searchsorted(pair, pair)
    return total - (total - marks)[begin]
