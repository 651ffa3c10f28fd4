"""How an audit was drawn: `datasets/campaign/audit.json`, beside the pairs themselves.

The pairs alone do not tell how many queries and moments they were drawn from.
"""

from pathlib import Path

from momentrank.errors import MomentRankError
from pipeline.core import files, tables
from pipeline.core.validation import Natural, Positive, Section, validate

PATH = tables.CAMPAIGN / "audit.json"
LEAST_QUERIES = 2
"""Drawn at least: what differs between queries is not to be had from one."""


class AuditError(MomentRankError):
    """An audit that can't be drawn or read."""


class Design(Section):
    """`drawn` of `queries` queries; of a pool of `pool` moments the `top` best, `random` others.

    `pool` counts places: moments of the same video, start and end are one. `machine` is the model
    by whose levels the random others were drawn (`tables.AUDIT_STRATA`); None: without.
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
        FileError: there is none, or it is not JSON.
        AuditError: a field is missing, unknown or impossible.
    """
    if not path.is_file():
        raise files.FileError(f"{path}: no such file; `python -m annotation.audit plan` draws one")
    return validate(Design, files.read_json(path), path, AuditError)


def write(design: Design, path: Path = PATH) -> None:
    """Write the design."""
    files.write_json(path, design.model_dump(exclude_none=True))
