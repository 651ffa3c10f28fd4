"""What each relevance level means: the head of the guideline that people judged by."""

from pathlib import Path
from typing import Any

from pipeline.campaign import guideline
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.collection import ReleaseError
from pipeline.core import files

GUIDELINE = Path("annotation") / guideline.NAME


def meanings(campaign: Campaign | None, path: Path = GUIDELINE) -> dict[str, Any]:
    """Return `guideline` (its version) and `levels`: name and meaning by number, as text.

    Raises:
        FileError: the guideline is missing.
        GuidelineError: its head is missing or wrong.
        ReleaseError: people judged by another version.
    """
    with files.open_source(path) as stream:
        head = guideline.split_guideline(stream.read().decode("utf-8", errors="replace")).head
    if campaign is not None and campaign.guideline != head.version:
        raise ReleaseError(
            f"{path}: is version {head.version}, but people judged by {campaign.guideline}, and the"
            " levels' meanings are released: get that version of the file from git"
        )
    levels = {str(number): level.model_dump() for number, level in sorted(head.levels.items())}
    return {"guideline": head.version, "levels": levels}
