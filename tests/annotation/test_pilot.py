"""What a pilot says: its shares, and what the guideline should settle first."""

from types import SimpleNamespace

import pandas as pd
import pytest

from annotation.pilot import describe_confused, measure_shares
from annotation.votes.rule import LEVELS
from annotation.workforce.costs import estimate
from pipeline.campaign.pool_steps import AUDIT, CANDIDATES, LEARNED
from pipeline.core.params import load

NAMES = {level: f"L{level}" for level in range(LEVELS)}


def confuse(*rows):
    keys = ("min", "max", "pairs")
    return list(describe_confused([dict(zip(keys, row, strict=True)) for row in rows], NAMES))


@pytest.mark.parametrize(
    ("further", "share"),
    [
        ([(rank, CANDIDATES) for rank in (3, 4, 5, 6)], 4 / 8),
        ([(3, LEARNED), (70, LEARNED)], 2 / 8),
        ([(3, LEARNED), (4, AUDIT), (9, "splade")], 1 / 8),
        ([], 0),
    ],
)
def test_a_campaign_like_the_pilot_has_as_many_pairs(repository, further, share):
    """Two queries with first batches of 2 and at most 6 pairs; one of them goes on."""
    rows = [*[(rank, CANDIDATES) for rank in (1, 2)] * 2, *further]
    sources = SimpleNamespace(
        collection=SimpleNamespace(pairs=pd.DataFrame(rows, columns=["rank", "origin"])),
        consensus=pd.DataFrame({"scores": [[1, 1], [0, 2, 3, 1], [4]]}),
        state={"queries": {"all": 2}, "pairs": {"escalated": 1}},
        batch=2,
        deepest=6,
    )
    shares = measure_shares(sources)
    assert shares == (share, 1 / 2)
    params = load(repository / "params.paper.yaml")
    sizes = {
        "split": params.split.model_copy(update={"val": 0, "test": 2}),
        "candidates": params.candidates.model_copy(update={"batch": 2, "top": 6}),
    }
    pairs, _ = estimate(params.model_copy(update=sizes), *shares)
    assert pairs == sum(origin in {CANDIDATES, LEARNED} for _, origin in rows)


def test_only_levels_that_are_far_apart_are_confused_the_most_frequent_first():
    lines = confuse((0, 0, 9), (0, 1, 9), (0, 2, 1), (1, 4, 3), (2, 4, 0))
    assert lines == ["      3  1 (L1) and 4 (L4)", "      1  0 (L0) and 2 (L2)"]
