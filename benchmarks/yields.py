"""Coverage of the interval of what the next batch would bring, over simulated campaigns.

    python -m benchmarks.yields [--campaigns 2000] [--seed 1]

A query's batch has 20 pairs, and a share of them that differs by query is relevant: evenly
distributed, low for most, or high for few. It prints how often the interval covers what the
open queries bring, and its mean width per query, by the number of queries done and open.
"""

import numpy as np

from benchmarks.script import parse_arguments, run
from pipeline.campaign.yields import predict_sum

BATCH = 20
DONE, OPEN = (5, 20, 100), (1, 30, 300)
KINDS = ("even", "low for most", "high for few")


def draw(kind: str, queries: int, random: np.random.Generator) -> list[int]:
    """Return how many pairs of each query's batch are relevant."""
    shares = {
        "even": random.beta(2, 2, queries),
        "low for most": random.beta(0.3, 3, queries),
        "high for few": random.choice([0.9, 0.02], queries, p=[0.15, 0.85]),
    }
    numbers: list[int] = random.binomial(BATCH, shares[kind]).tolist()
    return numbers


def main() -> None:
    """Print the coverage for each kind of campaign."""
    options = parse_arguments(__doc__, campaigns=2000, seed=1)
    random = np.random.default_rng(options.seed)
    print(f"{'relevant share':16}{'done':>6}{'open':>6}{'covers':>9}{'width per query':>17}")
    for kind in KINDS:
        for done, to_come in ((done, to_come) for done in DONE for to_come in OPEN):
            covered, width = 0, 0
            for _ in range(options.campaigns):
                _, low, high = predict_sum(draw(kind, done, random), to_come, BATCH)
                covered += low <= sum(draw(kind, to_come, random)) <= high
                width += high - low
            share, each = covered / options.campaigns, width / options.campaigns / to_come
            print(f"{kind:16}{done:6}{to_come:6}{100 * share:7.1f} %{each:17.1f}")


if __name__ == "__main__":
    run(main)
