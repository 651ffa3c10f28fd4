"""Which judgments are votes, and in which order (design, section 3, "Votes").

A judgment counts where it is a first or an escalated one of what was last shown; a person has
one vote on a pair, their newest. Votes count in the order in which they were submitted, until
the pair is decided: an answer that comes late, on a task that was taken back, changes nothing.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.campaign.pairs import ALL_VOTES, PAIR, SHOWN, newest

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

VOTING = ("first", "escalated")
NO_LEVEL = -1
FIRST_VOTES = 2
ENOUGH_WITHOUT_LEVEL = 2
NEAR = 1


class Votes(NamedTuple):
    """Votes as columns, sorted by pair (its row in a table of pairs) and time.

    `level` is 0 to 4, or NO_LEVEL where the annotator can't judge. `row` is the place of the
    judgment among those that were given.
    """

    pair: Ints
    annotator: Ints
    level: Ints
    row: Ints

    def of(self, kept: Bools) -> "Votes":
        """Return the votes that `kept` marks."""
        return Votes(*(column[kept] for column in self))


def rows_of(frame: pd.DataFrame, pairs: pd.DataFrame) -> Ints:
    """Return for each row of `frame` the row of its pair in `pairs`, -1 where it has none."""
    index = pd.MultiIndex.from_frame(pairs[PAIR])
    return index.get_indexer(pd.MultiIndex.from_frame(frame[PAIR])).astype(np.int64)


def last_shown(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the hashes of each pair as it was last shown."""
    return newest(ledger)[SHOWN]


def fresh(judgments: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments that may count: no gold, no repeat, and none that is stale.

    `shown` holds `query_id, moment_id, query_sha, clip_sha`, a row for each pair. What was
    judged of another text or clip, or was never shown, is stale.
    """
    voting = judgments[judgments["kind"].isin(VOTING)]
    return voting.merge(shown[SHOWN], on=SHOWN)


def votes(judgments: pd.DataFrame, pairs: pd.DataFrame) -> Votes:
    """Return the votes on `pairs` among fresh judgments: the ones that decide."""
    own = judgments.assign(pair=rows_of(judgments, pairs), row=np.arange(len(judgments)))
    newest = _newest(own[own["pair"] >= 0])
    ordered = newest.sort_values(["pair", "submitted_at", "annotator"])
    levels = ordered["level"].fillna(NO_LEVEL).to_numpy("int64")
    pair, annotator, row = (ordered[name].to_numpy() for name in ("pair", "annotator", "row"))
    found = Votes(pair, annotator, levels, row)
    return found.of(_before_decision(found))


def _newest(judgments: pd.DataFrame) -> pd.DataFrame:
    person = ["pair", "annotator"]
    twice = judgments.duplicated(person, keep=False)
    ordered = judgments[twice].sort_values(["submitted_at", "origin", "kind"])
    return pd.concat([judgments[~twice], ordered.drop_duplicates(person, keep="last")])


def _before_decision(found: Votes) -> Bools:
    """Tell which votes come before their pair is decided, or decide it."""
    judged = found.level != NO_LEVEL
    nth_level, nth_none = _running(judged, found.pair), _running(~judged, found.pair)
    opener = judged & (nth_level == 1)
    first = np.zeros(found.pair.max(initial=-1) + 1, dtype=np.int64)
    first[found.pair[opener]] = found.level[opener]
    agrees = (nth_level == FIRST_VOTES) & (abs(found.level - first[found.pair]) <= NEAR)
    by_level = judged & (agrees | (nth_level == ALL_VOTES))
    decides = by_level | (~judged & (nth_none == ENOUGH_WITHOUT_LEVEL))
    before: Bools = _running(decides, found.pair) - decides == 0
    return before


def _running(marks: Bools, pair: Ints) -> Ints:
    """Count the marks from a pair's first row up to and with each row."""
    total = np.cumsum(marks)
    begin = np.searchsorted(pair, pair)
    counted: Ints = total - (total - marks)[begin]
    return counted
