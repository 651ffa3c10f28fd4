"""This checkout's audit as far as it is judged, and its gain from a machine's levels."""

from typing import Any

from annotation.pooling import design
from annotation.pooling.design import Design
from annotation.pooling.report import Report, report
from pipeline.core import tables
from pipeline.core.sections import Candidates


def read_report(params: Candidates) -> tuple[Report, Design]:
    """Return the audit's results beyond the ranks of batches 1 and 2, and how it was drawn.

    Raises:
        FileError: there is no audit, or no consensus yet.
        AuditError: its files don't belong together.
    """
    drawn = design.read()
    strata = tables.AUDIT_STRATA.read() if drawn.machine else None
    depths = [params.batch, params.top]
    return report(tables.AUDIT.read(), tables.CONSENSUS.read(), drawn, depths, strata), drawn


def measure_gain(params: Candidates) -> dict[str, Any] | None:
    """Return the width of the audit's intervals relative to those without a machine, for JSON.

    `widths` are ratios by level and rank, null where they can't be estimated. None without an
    audit, or if no machine was used.
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
