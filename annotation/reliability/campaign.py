"""The scores of a campaign: of the votes that count, over the pairs of the consensus."""

from typing import Any

import pandas as pd

from annotation.reliability import kappa
from annotation.reliability.alpha import Bootstrap, alphas
from annotation.reliability.scores import Scores, couples, in_order, nearness, of_two_people
from annotation.votes.votes import NO_LEVEL, fresh, votes
from pipeline.campaign.pairs import PAIR

NO_INTERVAL = Bootstrap(resamples=0, confidence=0.95, seed=0)


def campaign_scores(judgments: pd.DataFrame, shown: pd.DataFrame, pairs: pd.DataFrame) -> Scores:
    """Return the votes with a level; `shown` are the pairs as they were last shown."""
    usable = fresh(judgments, shown)
    found = votes(usable, pairs[PAIR])
    found = found.of(found.level != NO_LEVEL)
    annotator, annotators = pd.factorize(found.annotator, sort=True)
    times, seconds = (usable[name].to_numpy()[found.row] for name in ("submitted_at", "seconds"))
    return in_order(
        Scores(
            found.pair,
            annotator,
            found.level,
            len(pairs),
            pd.Index(annotators),
            pd.to_datetime(times, utc=True).tz_localize(None).to_numpy(),
            seconds,
        )
    )


def in_brief(scores: Scores) -> dict[str, Any]:
    """Return the agreement of the first two votes of every pair, for a release's card.

    Which pairs got four votes depends on the first two: these alone are free of that selection.
    What is not defined is null.
    """
    opening = scores.first
    first = scores if opening is None else scores.of(opening)
    between = of_two_people(couples(first))
    whole = kappa.summary(between)["all_couples"]
    return {
        "pairs": int((first.per_pair > 1).sum()),
        **nearness(between),
        "alpha": alphas(first.counts, NO_INTERVAL)["ordinal"]["alpha"],
        "kappa": whole["plain"],
        "kappa_quadratic": whole["quadratic"],
    }
