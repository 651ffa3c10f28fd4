"""How an audit was drawn: `datasets/campaign/audit.json`, next to the pairs themselves.

The pairs alone do not show how many queries and moments they were drawn from.
"""

from pathlib import Path

from momentrank.errors import MomentRankError
from pipeline.core import files, tables
from pipeline.core.validation import Natural, Positive, Section, validate

PATH = tables.CAMPAIGN / "audit.json"
LEAST_QUERIES = 2
"""Minimum to draw: one query does not show how queries differ."""


class AuditError(MomentRankError):
    """An audit that can't be drawn or read."""


class Design(Section):
    """`drawn` of `queries` queries; of a pool of `pool` moments the `top` best, `random` others.

    `pool` counts places: moments of the same video, start and end are one. `machine` is the model
    whose levels guided the draw of the random others (`tables.AUDIT_STRATA`); None without one.
    """

    seed: Natural
    queries: Positive
    drawn: Positive
    pool: Positive
    top: Positive
    random: Natural
    machine: str | None = None


def read(path: Path = PATH) -> Design:
    """Read the design.

    Raises:
        FileError: the file is missing or not JSON.
        AuditError: a field is missing, unknown or not valid.
    """
    if not path.is_file():
        raise files.FileError(f"{path}: no such file; `python -m annotation.audit plan` draws one")
    return validate(Design, files.read_json(path), path, AuditError)


def write(design: Design, path: Path = PATH) -> None:
    """Write the design."""
    files.write_json(path, design.model_dump(exclude_none=True))
