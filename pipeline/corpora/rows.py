"""What every corpus reader yields: one described moment as the file has it, unchecked."""

import hashlib
import json
import reprlib
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """A described moment, raw: any value may be missing (None) or of the wrong type.

    `start`, `end` and `duration` are in seconds. `item` is the place in a format
    without lines; `problem` says why a line could not be read at all.
    """

    file: str
    line: int | None = None
    item: str = ""
    moment_id: object = None
    video_id: object = None
    start: object = None
    end: object = None
    duration: object = None
    description: object = None
    modality: object = "v"
    problem: str = ""


def unreadable(path: Path, line: int, problem: str) -> Row:
    """Return the row of a line that is not an annotation."""
    return Row(file=path.name, line=line, problem=problem)


def interval(value: object) -> tuple[object, object]:
    """Return `(start, end)` of a two-element list; `(None, None)` of anything else."""
    if isinstance(value, list) and len(value) == 2:  # noqa: PLR2004  (start and end)
        return value[0], value[1]
    return None, None


def stable_id(*fields: object) -> str:
    """Return an id for a corpus without ids: it depends only on the content of the moment.

    Parts are video, start, end and text as the file has them, so that neither another
    order of rows nor a change of parameters gives a moment another id.
    """
    plain = [reprlib.repr(value) if isinstance(value, list | dict) else value for value in fields]
    text = json.dumps(plain, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
