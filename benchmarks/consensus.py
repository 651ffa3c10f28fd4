"""Consensus and agreement at the paper's size, compared with the definition.

    python -m benchmarks.consensus [--raw raw_annotation.csv] [--repeat 5] [--pairs 96483]

Without --raw, judgments are drawn at random: two per pair, four if these differ. `groupby.apply`
applies the rule pair by pair. Times are CPU times, the best of the repeats, without imports. The
figures for the paper's file are 96,483 pairs, 94,442 kept.
"""

from collections.abc import Callable
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TypeVar

import numpy as np
import pandas as pd

from annotation import agreement
from annotation.votes import raw, raw_consensus
from annotation.votes.figures import print_figures
from annotation.votes.rule import decide
from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE, NO_LEVEL
from benchmarks.script import assert_size, parse_arguments, run, time_call
from pipeline.campaign.pairs import ALL_VOTES
from pipeline.core.params import load_defaults

T = TypeVar("T")
PEOPLE = 21


def draw_judgments(pairs: int) -> pd.DataFrame:
    """Return random judgments: two levels per pair, four if these differ."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 5, pairs)
    levels = np.clip(truth[:, None] + random.normal(0, 0.9, (pairs, ALL_VOTES)).round(), 0, 4)
    apart = abs(levels[:, 0] - levels[:, 1]) > MAX_DIFFERENCE
    people = random.permuted(np.tile(np.arange(PEOPLE), (pairs, 1)), axis=1)[:, :ALL_VOTES]
    number = np.where(apart, ALL_VOTES, FIRST_VOTES)
    is_cast = np.arange(ALL_VOTES) < number[:, None]
    return pd.DataFrame(
        {
            "pair_id": np.repeat(np.arange(pairs), number),
            "worker": people[is_cast],
            "relevance": levels[is_cast].astype("int64"),
        }
    )


def by_definition(levels: pd.Series) -> int:
    """Return the level of one pair, or NO_LEVEL."""
    middle: list[int] = sorted(levels.tolist())
    if len(middle) == ALL_VOTES:
        middle = middle[1:-1]
    if len(middle) == FIRST_VOTES and middle[1] - middle[0] <= MAX_DIFFERENCE:
        return ceil((middle[0] + middle[1]) / FIRST_VOTES)
    return NO_LEVEL


def best(name: str, work: Callable[[], T], repeat: int) -> tuple[float, T]:
    """Print and return the shortest time of some calls, and the last result."""
    seconds, result = time_call(work, repeat, process_time)
    print(f"{name:34} {seconds * 1e3:9,.1f} ms")
    return seconds, result


def measure(source: Path, out: Path, repeat: int, pairs: int) -> None:
    """Print times and figures."""
    judgments = raw.read(source)
    votes = judgments.pair, judgments.level, len(judgments.pairs)
    assert_size("pairs", len(judgments.pairs), pairs)
    print(f"{len(judgments.pair):,} judgments of {len(judgments.pairs):,} pairs")
    rule, verdicts = best("the rule", lambda: decide(*votes, closed=True), repeat)
    frame = pd.DataFrame({"pair": judgments.pair, "level": judgments.level})
    slow, levels = best(
        "groupby.apply", lambda: frame.groupby("pair")["level"].apply(by_definition), 1
    )
    print(f"{'':34} {slow / rule:9,.0f} times the rule")
    if not np.array_equal(levels.to_numpy(), verdicts.level):
        raise SystemExit("the rule and its definition differ")
    options = raw_consensus.Options(source, out)
    _, consensus = best("consensus, file to file", lambda: raw_consensus.run(options), repeat)
    _, agreed = best(
        "agreement, from a file",
        lambda: agreement.measure_raw(raw.read(source), load_defaults()),
        repeat,
    )
    print_figures({"consensus": consensus, "agreement": agreed.metrics}, as_json=False)


def main() -> None:
    """Measure with a file or with random judgments."""
    options = parse_arguments(__doc__, raw=Path, repeat=5, pairs=96_483)
    with TemporaryDirectory() as folder:
        source = options.raw or Path(folder) / "raw.csv"
        if options.raw is None:
            draw_judgments(options.pairs).to_csv(source, index=False)
        measure(source, Path(folder) / "levels.csv", options.repeat, options.pairs)


if __name__ == "__main__":
    run(main)
