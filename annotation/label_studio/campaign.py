"""The campaign of this checkout, and whether people are asked in it."""

import json
from pathlib import Path

from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import FILE, Opened, current
from pipeline.core import files

__all__ = ["FILE", "CampaignError", "Opened", "current", "running", "write"]


class CampaignError(MomentRankError):
    """Something that can't be done in the campaign as it stands."""


def running(path: Path = FILE) -> Opened | None:
    """Return the campaign if people are asked in it: it is open and not closed."""
    found = current(path)
    return None if found is None or found.closed else found


def write(opened: Opened, path: Path = FILE) -> None:
    """Write the campaign's file."""
    lines = (f"{name}: {json.dumps(value)}\n" for name, value in opened.model_dump().items())
    with files.unfinished(path) as stream:
        stream.write("# Written by `python -m annotation.campaign`; commit it.\n" + "".join(lines))
