"""The judge that looks at no video: levels from the similarity of query and caption alone.

It is an ordinal regression (proportional odds) of people's levels on validation queries. It serves
as a control: a model that does not beat it has not looked at the video.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY
from pipeline.judges.base import Answer, Pair
from pipeline.judges.proportional_odds import Fit, fit

FITTED_ON = "val"
"""The split whose levels it learns from."""
DIGITS = 4


class SimilarityJudge:
    """The judge behind `judge.backend: similarity`.

    The levels of a validation query come from a fit without that query, those of all other
    queries from the fit on all validation queries. A pair's level is its expected level, rounded,
    which minimizes the expected squared error. (The most probable level is nearly always the same
    one, if most pairs have that level.) It answers each pair once, whatever `judge.repeats` says,
    as its answers do not vary.
    """

    model = "similarity"
    prompt: str | None = None
    guideline: str | None = None

    def __init__(self, people: pd.DataFrame) -> None:
        """Learn from people's levels: `query_id, moment_id, level`, for any queries."""
        self._people = people
        self._metrics: dict[str, object] = {}

    def judge(self, pairs: Sequence[Pair]) -> Iterator[Answer]:
        """Yield the level of every pair, or `no-judgments` if there are no levels to learn from."""
        table = pd.DataFrame(list(pairs), columns=Pair._fields).sort_values(PAIR_KEY)
        levels = table[table["split"] == FITTED_ON].merge(self._people, on=PAIR_KEY)
        whole = _fit(levels)
        self._metrics = {
            "fitted_on_pairs": len(levels),
            "fitted_on_queries": levels["query_id"].nunique(),
            "slope": None if whole is None else round(whole.slope / whole.scale, DIGITS),
        }
        of_own = set(levels["query_id"])
        others = table[~table["query_id"].isin(of_own)]
        yield from _answer(others, whole)
        for query_id, rows in table[table["query_id"].isin(of_own)].groupby("query_id"):
            yield from _answer(rows, _fit(levels[levels["query_id"] != query_id], whole))

    def metrics(self) -> Mapping[str, object]:
        """Return how much was learned from, and the slope: log odds for a similarity of 1."""
        return self._metrics


def _fit(levels: pd.DataFrame, near: Fit | None = None) -> Fit | None:
    """Fit the levels of these pairs, starting from a fit to nearly the same; None without any."""
    if levels.empty:
        return None
    return fit(levels["similarity"].to_numpy("float64"), levels["level"].to_numpy("int64"), near)


def _answer(pairs: pd.DataFrame, fitted: Fit | None) -> Iterator[Answer]:
    keys = zip(pairs["query_id"], pairs["moment_id"], strict=True)
    if fitted is None:
        yield from (Answer(query, moment, reason="no-judgments") for query, moment in keys)
        return
    expected = fitted.expect(pairs["similarity"].to_numpy("float64")).round(DIGITS)
    levels = np.rint(expected).astype("int64")
    rows = zip(keys, levels.tolist(), expected.tolist(), strict=True)
    for (query, moment), level, mean in rows:
        yield Answer(query, moment, level=level, expected=mean)
