"""The audit of this checkout as far as it is judged, and what a machine's levels brought it."""

from typing import Any

from annotation.pooling import design
from annotation.pooling.design import Design
from annotation.pooling.report import Report, report
from pipeline.core import tables
from pipeline.core.sections import Candidates


def read_report(params: Candidates) -> tuple[Report, Design]:
    """Return what the audit comes to beyond the ranks of batch 1 and 2, and how it was drawn.

    Raises:
        FileError: there is no audit, or no consensus yet.
        AuditError: its files don't belong together.
    """
    drawn = design.read()
    strata = tables.AUDIT_STRATA.read() if drawn.machine else None
    depths = [params.batch, params.top]
    return report(tables.AUDIT.read(), tables.CONSENSUS.read(), drawn, depths, strata), drawn


def measure_gain(params: Candidates) -> dict[str, Any] | None:
    """Return how wide the audit's intervals are beside those without a machine's levels, for JSON.

    `widths` are ratios by level and rank, null where nothing can be said. None where there is no
    audit, or the machine was not asked.
    """
    if tables.AUDIT.read().empty:
        return None
    result, drawn = read_report(params)
    if drawn.machine is None:
        return None
    ratios = result.beyond[["level", "rank", "width_ratio"]].astype(object)
    return {
        "machine": drawn.machine,
        "queries": result.progress["queries_used"],
        "widths": ratios.where(ratios.notna(), None).to_dict("records"),
    }
