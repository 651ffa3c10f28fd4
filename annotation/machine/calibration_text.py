"""Calibration as text for a terminal: what the report's section shows."""

from collections.abc import Iterator, Mapping
from typing import Any

from momentrank.cli.tables import write
from pipeline.pages.html_tables import Grid
from pipeline.pages.machine.calibration import describe, grids, list_verdicts

DRAWN = (
    "The file does not say which votes came first. The first two of four were drawn among those"
    " that are more than 1 apart, as the rule requires."
)
NO_QUERIES = (
    "The query of each pair is not known: intervals assume that pairs are independent, and are too"
    " narrow. Add pairs.csv (--pairs), or the judged moments of the release (--judged)."
)


def text(metrics: Mapping[str, Any], *, by_query: bool = True) -> str:
    """Return the figures of `calibrate` as paragraphs and tables."""
    return "\n\n".join(_parts(metrics, by_query=by_query)) + "\n"


def _parts(metrics: Mapping[str, Any], *, by_query: bool) -> Iterator[str]:
    yield from list_verdicts(metrics)
    yield from describe(metrics)
    for tables in grids(metrics).values():
        yield from (_write_table(grid) for grid in tables if grid.rows)
    if metrics["pairs"] and metrics["first_votes"] == "drawn":
        yield DRAWN
    if metrics["pairs"] and not by_query:
        yield NO_QUERIES


def _write_table(grid: Grid) -> str:
    return f"{grid.title}\n{''.join(write([grid.head, *grid.rows], 'table'))}{grid.note}".rstrip()
