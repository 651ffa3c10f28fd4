"""Make the pages that one looks at: the report, and the lead's own (paper, Tables 1, 3 and 4).

reads   what the other stages wrote: their tables, rejected rows and metrics
writes  datasets/report/index.html, datasets/report/figures/*.csv, datasets/work/plots/*.csv,
        datasets/work/lead/index.html (of single people: git ignores it, no cache takes it)

The report is one self-contained file: no script, and no request to any host. It says
*incomplete* with numbers while pairs wait, and *rehearsal: simulated answers* on every page
where campaign.yaml says so. Without a campaign it shows what there is.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from pipeline.campaign.next_step import Situation, Step, next_steps
from pipeline.core import cli, csv_files, files
from pipeline.core.params import Params, load
from pipeline.pages import collection, lead, losses, relevance, scores, sources
from pipeline.pages.checks import Check, Standing, checks, standing
from pipeline.pages.collection import lengths, table_1, table_4
from pipeline.pages.cost import cost
from pipeline.pages.exports import Export, exports
from pipeline.pages.figures import Figure, figures
from pipeline.pages.html import render
from pipeline.pages.sources import Sources
from pipeline.pages.tables import Grid

REPORT, PLOTS = Path("datasets/report"), Path("datasets/work/plots")
LEAD_PAGE = sources.LEAD / "index.html"
PLOTTED = (
    "moment_seconds",
    "query_words",
    "relevance_by_rank",
    "relevance_by_similarity",
    "relevant_per_query",
)
"""The tables that `dvc plots` draws: it reads them outside the report, whose folder is one out."""


class Made(NamedTuple):
    """What pages, tables and metrics tell alike: how far judging is, the checks, the figures.

    `collection` are the figures of Tables 1 and 4; `tables` are what `dvc plots` draws, and a
    person opens, by name.
    """

    standing: Standing
    checks: list[Check]
    collection: dict[str, Any]
    rejected: list[losses.Rejected]
    tables: dict[str, pd.DataFrame]


def made(found: Sources, params: Params) -> Made:
    """Return all that is made of the sources, once."""
    now, rejected = standing(found), losses.rejected(found)
    tables = {
        **relevance.tables(found),
        "judged_besides": relevance.extra_pairs(found),
        "reference_scores": scores.table(found.metrics["reference_runs"]),
        "rejected": pd.DataFrame(rejected, columns=losses.Rejected._fields),
    }
    told = checks(found, now, params.report)
    return Made(now, told, collection.figures(found), rejected, tables)


class Shown(NamedTuple):
    """What the report's page shows: its figures by name, and its tables by what they are about."""

    figures: dict[str, Figure]
    grids: dict[str, list[Grid]]

    @property
    def files(self) -> Iterator[Export]:
        """The files that people take out of it."""
        grids = [grid for group in self.grids.values() for grid in group if grid.rows]
        return exports(self.figures.values(), grids)


def shown(found: Sources, own: Made, params: Params) -> Shown:
    """Return the figures and tables of the page."""
    agreement, judged = found.metrics["agreement"], found.collection.judged
    examples = relevance.examples(judged, found.collection.frozen)
    runs = scores.score_grids(found.metrics["reference_runs"])
    return Shown(
        {figure.name: figure for figure in figures(own.tables, agreement, examples)},
        {
            "tables": [make(own.collection) for make in (table_1, table_4, lengths)],
            "besides": [relevance.extra_pairs_grid(own.tables["judged_besides"])],
            "agreement": scores.agreement_grids(agreement, params.agreement.confidence),
            "rewriting": [losses.rounds_grid(found), losses.statuses_grid(found)],
            "table_3": [losses.table_3(found)],
            "rejected": [losses.rejected_grid(own.rejected)],
            "wide": runs.wide,
            "narrow": runs.narrow,
            "cost": [cost(found)],
        },
    )


def steps(found: Sources) -> list[Step]:
    """Return what the lead does next, as far as tables tell; of a finished campaign nothing."""
    situation = Situation(
        found.collection.campaign,
        found.state,
        shown=not found.collection.pairs.empty,
        released=found.released,
    )
    return [] if found.released else next_steps(situation)


def report_page(found: Sources, own: Made, page: Shown) -> str:
    """Return the report."""
    return render(
        "report.html.j2",
        campaign=found.collection.campaign,
        standing=own.standing,
        steps=steps(found),
        checks=own.checks,
        figures=page.figures,
        grids=page.grids,
        alike_text=scores.alike_text(found.metrics["agreement"]["similarity_1"]),
    )


def lead_page(found: Sources, now: Standing) -> str:
    """Return the lead's page."""
    disputed = lead.disputed(found)
    return render(
        "lead.html.j2",
        campaign=found.collection.campaign,
        standing=now,
        steps=steps(found),
        flags=[*lead.flags(found.annotators), *lead.absent(found.state)],
        as_of=lead.as_of(found.state),
        forecast=lead.forecast(found.state),
        pace=lead.pace(found.state),
        workload=lead.workload(found.state),
        refused=lead.refused(found.rejected_judgments),
        people=lead.people(found.annotators),
        couples=lead.couples(found.annotator_pairs),
        disputed=disputed[: lead.SHOWN],
        number=len(disputed),
    )


def main() -> None:
    """Write both pages, their figures and tables as files, and the collection's metrics."""
    params = load()
    found = sources.read(params)
    own = made(found, params)
    page = shown(found, own, params)
    _write(REPORT / "index.html", report_page(found, own, page))
    _write(LEAD_PAGE, lead_page(found, own.standing))
    for export in page.files:
        _write(REPORT / export.path, export.text)
    for name in PLOTTED:
        csv_files.write_csv(PLOTS / f"{name}.csv", own.tables[name])
    verdicts = {check.name: check.verdict for check in own.checks}
    cli.write_metrics("report", {"checks": verdicts, "collection": own.collection})
    passed = list(verdicts.values()).count("pass")
    text = own.standing.text.lower()
    cli.log(f"report: {passed} of {len(verdicts)} checks pass; {text} See {REPORT / 'index.html'}")


def _write(path: Path, text: str) -> None:
    with files.unfinished(path) as stream:
        stream.write(text)


if __name__ == "__main__":
    cli.run_stage(main)
