"""What each relevance level means: the head of the guideline that people judged by."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pipeline import files
from pipeline.opened import Opened
from pipeline.releasing.collection import ReleaseError

GUIDELINE = Path("annotation/guideline.md")
LEVELS = range(5)
_HEAD = re.compile(rb"---\n(.*?)^---\n", re.DOTALL | re.MULTILINE)


def meanings(campaign: Opened | None, path: Path = GUIDELINE) -> dict[str, Any]:
    """Return `guideline` (its version) and `levels`: name and meaning by number, as text.

    Raises:
        FileError: the guideline is missing.
        ReleaseError: it has no head with five levels, or people judged by another version.
    """
    with files.open_source(path) as stream:
        head = _HEAD.match(stream.read())
    try:
        content = YAML(typ="safe", pure=True).load(head[1] if head else b"")
        version, levels = str(content["version"]), content["levels"]
        found = {
            str(level): {key: str(levels[level][key]) for key in ("name", "meaning")}
            for level in LEVELS
        }
    except (YAMLError, LookupError, TypeError) as exc:
        raise ReleaseError(f"{path}: its head must say a version and the levels 0 to 4") from exc
    if campaign is not None and campaign.guideline != version:
        raise ReleaseError(
            f"{path}: is version {version}, but people judged by {campaign.guideline}, and the"
            " levels' meanings are released: get that version of the file from git"
        )
    return {"guideline": version, "levels": found}
