"""The channels of this checkout: what was decided about each, and the rankings that are kept."""

from pathlib import Path

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import files, tables


class ChannelError(MomentRankError):
    """A run that can't be a channel, or a channel that is not what was admitted."""


def locate(name: str) -> Path:
    """Return where a channel's ranking is kept."""
    return tables.CHANNEL.path.with_stem(name)


def read_admitted() -> dict[str, pd.DataFrame]:
    """Return the rankings (`tables.CHANNEL`) of the admitted channels, in the order of decisions.

    Raises:
        ChannelError: one is not the file that people judged a sample of.
    """
    known = tables.CHANNELS.read_or_empty()
    admitted = known[known["decision"] == "admitted"]
    for row in admitted.itertuples():
        path = locate(str(row.channel))
        if not path.is_file() or files.file_sha256(path) != row.sha256:
            raise ChannelError(f"{path}: not as it was admitted; `git restore {path}`")
    return {name: tables.CHANNEL.read(locate(name)) for name in admitted["channel"].tolist()}
