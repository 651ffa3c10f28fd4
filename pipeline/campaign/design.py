"""How an audit was drawn: `datasets/campaign/audit.json`, next to the pairs themselves.

The pairs alone do not show how many queries and moments they were drawn from.
"""

from pathlib import Path

import pandas as pd
from pydantic import Field

from momentrank.errors import MomentRankError
from pipeline.core import files, tables
from pipeline.core.validation import Natural, Positive, Section, validate

PATH = tables.CAMPAIGN / "audit.json"
REPLACED = "replaced"
"""The origin of what people were shown of an audit that was replaced."""


class AuditError(MomentRankError):
    """An audit that can't be drawn or read."""


class Design(Section):
    """`drawn` of `queries` queries; for each, `near` of the `depth` best moments and `deep` others.

    `pool` counts all moments: those of the same video, start and end are one. All are drawn from
    outside the judged pool. `whole` are the drawn queries of which every moment was judged already.
    `machine` is the model whose levels guided the draw; None without one.
    """

    seed: Natural
    queries: Positive
    drawn: Positive
    pool: Positive
    depth: Positive
    near: Natural
    deep: Natural
    whole: list[str] = Field(default_factory=list)
    machine: str | None = None

    def select(self, queries: set[str], drawn: int) -> "Design":
        """Return the design of a part of the `queries`, of which `drawn` are audited."""
        whole = sorted(queries.intersection(self.whole))
        return self.model_copy(update={"queries": len(queries), "drawn": drawn, "whole": whole})

    @property
    def options(self) -> str:
        """The options of `audit plan` that continue this audit."""
        return f"--queries {self.drawn} --seed {self.seed}{' --machine' * bool(self.machine)}"


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


def read_drawn() -> pd.DataFrame:
    """Return the pairs of the audit, without those of one that it replaced."""
    audit = tables.AUDIT.read()
    return audit[audit["origin"] != REPLACED].reset_index(drop=True)


def list_drawn(design: Design) -> set[str]:
    """Return the queries that are drawn so far."""
    return {*read_drawn()["query_id"], *design.whole}


def find() -> Design | None:
    """Return the design; None without an audit."""
    return read() if PATH.is_file() else None


def find_left() -> str | None:
    """Return the options of `audit plan` that draw what is left (`next_step.Situation.audit`)."""
    if (design := find()) is None:
        return ""
    return design.options if len(list_drawn(design)) < design.drawn else None
