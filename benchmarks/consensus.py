"""Consensus and agreement at the paper's size.

    python -m benchmarks.consensus [--raw raw_annotation.csv] [--repeat 5] [--pairs 96483]

Without --raw, judgments are drawn at random: two per pair, four if these differ. Times are CPU
times, the best of the repeats, without imports. The figures for the paper's file are 96,483 pairs,
94,442 kept.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TypeVar

import numpy as np
import pandas as pd

from annotation import agreement
from annotation.reliability.agreement_text import text
from annotation.votes import raw, raw_consensus
from annotation.votes.rule import decide
from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE
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


def best(name: str, work: Callable[[], T], repeat: int) -> T:
    """Print the shortest time of some calls; return the last result."""
    seconds, result = time_call(work, repeat, process_time)
    print(f"{name:34} {seconds * 1e3:9,.1f} ms")
    return result


def measure(source: Path, out: Path, repeat: int, pairs: int) -> None:
    """Print times and figures."""
    judgments = raw.read(source)
    votes = judgments.pair, judgments.level, len(judgments.pairs)
    assert_size("pairs", len(judgments.pairs), pairs)
    print(f"{len(judgments.pair):,} judgments of {len(judgments.pairs):,} pairs")
    best("the rule", lambda: decide(*votes, closed=True), repeat)
    options = raw_consensus.Options(source, out)
    consensus = best("consensus, file to file", lambda: raw_consensus.run(options), repeat)
    agreed = best(
        "agreement, from a file",
        lambda: agreement.measure_raw(raw.read(source), load_defaults()),
        repeat,
    )
    print(raw_consensus.text(consensus), text(agreed.metrics), sep="\n")


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
