"""Drift: how far the votes of new people lie from those before a reopening, in levels.

New people judge a sample of decided pairs again (kind `link`), more densely where a level is rare.
Drift is the mean over pairs of the new votes' mean less the old votes', weighted back to the levels
of all decided pairs. Its interval is Student's, clustered by query (Taylor linearisation of a
stratified mean; Cochran, Sampling Techniques, 1977), its degrees of freedom those that the queries'
unequal weights leave (Satterthwaite 1946).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from annotation.reliability.kappa import WEIGHTS, kappa
from annotation.reliability.scores import Scores, number
from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats, Ints, pair_rows
from pipeline.campaign.campaign import Reopening
from pipeline.core.tables import LINK

CONFIDENCE = 0.95


def estimate_drift(
    apart: Floats, level: Ints, query: Ints, population: Ints
) -> tuple[float, float, float]:
    """Return the drift over a population of pairs, and its interval; NaN where unknown.

    A sample of n pairs has the new mean less the old, `apart`, the `level` before the reopening,
    and the `query`, a number from 0. `population` is how many pairs have each level, shape (5,);
    those of levels that the sample lacks are left out.
    """
    if not len(apart):
        return np.nan, np.nan, np.nan
    asked = np.bincount(level, minlength=LEVELS)
    weight = population * (asked > 0) / population[asked > 0].sum()
    mean = np.bincount(level, apart, LEVELS) / np.maximum(asked, 1)
    drift = float(weight @ mean)
    rest = (apart - mean[level]) * np.sqrt(asked / np.maximum(asked - 1, 1))[level]
    rest = np.where(asked[level] == 1, apart - drift, rest)  # one pair has no spread of its own
    share = weight[level] / asked[level]
    spread = np.bincount(level, rest**2, LEVELS) / np.maximum(asked, 1)
    queries = len(np.unique(query))
    if queries == 1 or not spread.any():
        return drift, np.nan, np.nan
    from scipy import special  # noqa: PLC0415  (--help needs none)

    expected = np.bincount(query, share**2 * spread[level])
    degrees = expected.sum() ** 2 / (expected**2).sum() - 1
    variance = queries / (queries - 1) * (np.bincount(query, share * rest) ** 2).sum()
    half = float(special.stdtrit(degrees, (1 + CONFIDENCE) / 2) * np.sqrt(variance))
    return drift, drift - half, drift + half


def measure_drifts(
    reopenings: Sequence[Reopening], valid: pd.DataFrame, table: pd.DataFrame, scores: Scores
) -> list[dict[str, Any]]:
    """Return the drift after each reopening, for JSON: undefined figures are null.

    `valid` are the judgments that are not voided; `scores` are the counted votes on the pairs of
    the consensus `table`. In the result, `pairs` were decided before and judged again, in `votes`
    by `people`; `unasked` are the levels of decided pairs of which none was. Kappa is of all new
    votes with the old ones on their pairs.
    """
    begins = [pd.Timestamp(reopening.at) for reopening in reopenings]
    ends = [*begins[1:], pd.Timestamp.max.tz_localize("UTC")]
    links = valid[(valid["kind"] == LINK) & valid["level"].notna()]
    links = links.assign(pair=pair_rows(links, table))
    when = links["submitted_at"]
    return [
        {"version": reopening.version}
        | _measure(links[(when >= begin) & (when < end)], table, scores, begin)
        for reopening, begin, end in zip(reopenings, begins, ends, strict=True)
    ]


def _measure(
    links: pd.DataFrame, table: pd.DataFrame, scores: Scores, begin: pd.Timestamp
) -> dict[str, Any]:
    votes = pd.DataFrame({"pair": scores.pair, "old": scores.level, "time": scores.time})
    decided = votes.groupby("pair").agg(old=("old", "mean"), last=("time", "max"))
    decided["level"] = table["voted_level"].reset_index(drop=True)
    decided = decided[(decided["last"] < begin.tz_localize(None)) & decided["level"].notna()]
    links = links[links["pair"].isin(decided.index)].astype({"level": "int64"})
    new = links.groupby("pair")["level"].mean()
    level = decided.loc[new.index, "level"].to_numpy("int64")
    query = pd.factorize(table["query_id"].iloc[new.index])[0].astype(np.int64)
    population = np.bincount(decided["level"].to_numpy("int64"), minlength=LEVELS)
    apart = (new - decided.loc[new.index, "old"]).to_numpy("float64")
    drift, low, high = map(number, estimate_drift(apart, level, query, population))
    both = links.merge(votes, on="pair")
    couples = np.bincount(both["level"] * LEVELS + both["old"], minlength=LEVELS**2)
    return {
        "pairs": len(new),
        "votes": len(links),
        "people": links["annotator"].nunique(),
        "drift": drift,
        "low": low,
        "high": high,
        "unasked": np.setdiff1d(population.nonzero(), level).tolist(),
        "kappa_quadratic": number(
            kappa(couples.reshape(1, LEVELS, LEVELS), WEIGHTS["quadratic"])[0]
        ),
    }
