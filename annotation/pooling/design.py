"""How an audit was drawn: `datasets/campaign/audit.json`, beside the pairs themselves.

The pairs alone do not tell how many queries and moments they were drawn from.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from momentrank.errors import MomentRankError
from pipeline.core import files, tables

PATH = tables.CAMPAIGN / "audit.json"

Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class AuditError(MomentRankError):
    """An audit that can't be drawn or read."""


class Design(BaseModel):
    """`drawn` of `queries` queries; of a pool of `pool` moments the `top` best, `random` others.

    `pool` counts places: moments of the same video, start and end are one.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    seed: Natural
    queries: Positive
    drawn: Positive
    pool: Positive
    top: Positive
    random: Natural


def read(path: Path = PATH) -> Design:
    """Read the design.

    Raises:
        FileError: there is none, or it is not JSON.
        AuditError: a field is missing, unknown or impossible.
    """
    if not path.is_file():
        raise files.FileError(f"{path}: no such file; `python -m annotation.audit plan` draws one")
    try:
        return Design.model_validate(files.read_json(path))
    except ValidationError as exc:
        problems = (
            f"{path}: {'.'.join(map(str, error['loc'])) or 'the file'}: {error['msg'].lower()}"
            for error in exc.errors()
        )
        raise AuditError("\n".join(problems)) from exc


def write(design: Design, path: Path = PATH) -> None:
    """Write the design."""
    files.write_json(path, design.model_dump())
