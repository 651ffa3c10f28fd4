"""A machine's levels beside people's on the sample: judges of known kind, good and not."""

import numpy as np
import pandas as pd
from support.rehearsed import rehearsed

from annotation.machine.leave_one_out import Panel
from annotation.reliability.scores import campaign_scores
from annotation.votes.campaign_votes import consensus
from annotation.votes.votes import NO_LEVEL
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.core import tables
from pipeline.core.params import load_defaults

PARAMS = load_defaults().calibration.model_copy(update={"resamples": 500})
NOISE, TOO_HIGH, REFUSED = 0.5, 0.8, 0.1


def people(seed: int = 1) -> tuple[Panel, np.ndarray]:
    """Return a judged sample without a machine yet, and the true level of each pair."""
    campaign = rehearsed.__wrapped__(seed=seed) if seed > 1 else rehearsed()
    newest, voided = select_newest(campaign.ledger), tables.VOIDED.empty()
    table = consensus(campaign.judgments, campaign.ledger, voided, closed=True)
    pairs = table[PAIR_KEY].merge(newest, on=PAIR_KEY, validate="one_to_one")
    query, names = pd.factorize(pairs["query_id"])
    truth = [
        campaign.truth(*pair) for pair in zip(pairs["query_id"], pairs["moment_id"], strict=True)
    ]
    panel = Panel(
        campaign_scores(campaign.judgments, newest, voided, table),
        query,
        len(names),
        np.full(len(pairs), NO_LEVEL),
        table["level"].fillna(NO_LEVEL).to_numpy("int64"),
        pairs["similarity"].to_numpy(),
        pairs["rank"].to_numpy(),
        seconds=(pairs["end"] - pairs["start"]).to_numpy(),
    )
    return panel, np.array(truth)


def judges(panel: Panel, truth: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return the levels of five judges, by the verdict that each of them deserves."""
    random = np.random.default_rng(seed)

    def draw_levels(levels: np.ndarray, noise: float) -> np.ndarray:
        return np.clip(np.rint(levels + random.normal(0, noise, len(levels))), 0, 4).astype(int)

    good = draw_levels(truth, NOISE)
    order = pd.Series(panel.similarity).rank(pct=True).to_numpy()
    refused = random.random(len(truth)) < REFUSED
    return {
        "good": good,
        "lenient": draw_levels(truth + TOO_HIGH, NOISE),
        "similarity": draw_levels(5 * order - 0.5, 0.3),
        "constant": np.full(len(truth), 3),
        "fails": np.where(refused, NO_LEVEL, good),
    }


def count_answers(level: np.ndarray) -> dict:
    """Return what was asked of a judge, and how many levels it gave."""
    with_level = int((level != NO_LEVEL).sum())
    return {"asked": len(level), "with_level": with_level, "reasons": {}, "stale": 0}
