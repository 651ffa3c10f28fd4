"""A run that is made of a machine's levels: it must not choose what people judge."""

from pathlib import Path

import numpy as np
import pandas as pd

from annotation.votes.votes import Floats
from momentrank.errors import MomentRankError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import cli, files, tables

SHARE, LEAST = 0.99, 200
"""A ranking is a machine's if this share of so many pairs of moments or more is in its order."""


class CopiedError(MomentRankError):
    """A run that is made of a machine's levels."""


def refuse_outs(run: Path) -> None:
    """Refuse a file that the stage `judge` wrote, under whatever name.

    Raises:
        CopiedError: it is one.
    """
    outs = files.read_yaml(cli.DAG)["stages"]["judge"]["outs"]
    paths = [Path(out if isinstance(out, str) else next(iter(out))) for out in outs]
    sha256 = files.file_sha256(run) if run.is_file() else ""  # reading it says that it is missing
    for path in paths:
        if path.is_file() and files.file_sha256(path) == sha256:
            raise CopiedError(f"{run}: is {path}: a machine must not choose what people judge")


def refuse_copied(run: Path, channel: pd.DataFrame) -> None:
    """Refuse a ranking (`tables.CHANNEL`) in the order of this checkout's machine.

    Raises:
        CopiedError: it is one.
    """
    path = tables.MACHINE_JUDGMENTS.path
    if path.is_file() and (name := find_copied(channel, tables.MACHINE_JUDGMENTS.read())):
        raise CopiedError(
            f"{run}: practically never contradicts the {name} that a machine gave ({path}): a"
            " machine must not choose what people judge"
        )


def find_copied(channel: pd.DataFrame, machine: pd.DataFrame) -> str | None:
    """Return which number of a machine's a ranking follows, `level` or `expected`; None if none.

    `machine` is `tables.MACHINE_JUDGMENTS`. Within each query, the pairs of moments with different
    numbers are looked at; what the ranking doesn't list comes after what it lists.
    """
    numbers = {"level": ("level", "median"), "expected": ("expected", "mean")}
    settled = machine.groupby(PAIR_KEY, as_index=False).agg(**numbers)
    both = settled.merge(channel[[*PAIR_KEY, "rank"]], on=PAIR_KEY, how="left")
    both = both[both["query_id"].isin(channel["query_id"])].fillna({"rank": np.inf})
    for name in numbers:
        known = both[both[name].notna()].astype({name: "float64"})
        counts = [
            _count_ordered(rows["rank"].to_numpy("float64"), rows[name].to_numpy())
            for _, rows in known.groupby("query_id")
        ]
        agree, ordered = np.sum(counts, axis=0) if counts else (0, 0)
        if ordered >= LEAST and agree >= SHARE * ordered:
            return name
    return None


def _count_ordered(ranks: Floats, values: Floats) -> tuple[int, int]:
    """Count the pairs of different ranks and values: those in the same order, and all."""
    before, above = ranks[:, None] < ranks, values[:, None] > values
    return int((before & above).sum()), int((before & (above | above.T)).sum())
