"""Make the HTML pages: the report (with the paper's Tables 1, 3 and 4), and the lead's own page.

reads   what the other stages wrote: their tables, rejected rows and metrics
writes  datasets/report/index.html, datasets/report/figures/*.csv, datasets/work/plots/*.csv,
        datasets/work/lead/index.html (about individuals: git ignores it, no cache stores it)

The report is one self-contained file: no script, and no request to any host. It shows
*incomplete* with numbers while pairs wait, and *rehearsal: simulated answers* on every page
if campaign.yaml says so. Without a campaign it shows what exists so far.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from pipeline.campaign import negatives
from pipeline.campaign.leave_one_out import leave_one_out
from pipeline.campaign.next_step import Situation, Step, next_steps
from pipeline.core import cli, csv_files, files
from pipeline.core.params import Params, load
from pipeline.pages import collection_section as collection
from pipeline.pages import lead, losses, pool_section, relevance, scores, strata_section
from pipeline.pages.audited import draw_audited
from pipeline.pages.collection_section import lengths, table_1, table_4
from pipeline.pages.cost import cost
from pipeline.pages.exports import exports
from pipeline.pages.figures import Figure, draw_figures
from pipeline.pages.html import render
from pipeline.pages.html_tables import Grid
from pipeline.pages.machine import calibration, second_looks
from pipeline.pages.report_inputs import LEAD, Sources, read_sources
from pipeline.pages.soundness import Check, Progress, check_collection, measure_progress

REPORT, PLOTS = Path("datasets/report"), Path("datasets/work/plots")
LEAD_PAGE = LEAD / "index.html"
PLOTTED = (
    "moment_seconds",
    "query_words",
    "relevance_by_rank",
    "relevance_by_similarity",
    "relevant_per_query",
)
"""The tables that `dvc plots` draws, outside the report, because the report's folder is one out."""


class ReportData(NamedTuple):
    """What pages, tables and metrics share: the progress of judging, the checks, the figures.

    `collection` has the figures of Tables 1 and 4; `tables` has, by name, what the figures draw.
    """

    progress: Progress
    checks: list[Check]
    collection: dict[str, Any]
    tables: dict[str, pd.DataFrame]


def compute(sources: Sources, params: Params) -> ReportData:
    """Compute what the pages, tables and metrics share."""
    progress = measure_progress(sources)
    checks = check_collection(sources, progress, params.report)
    statistics, tables = collection.collect_statistics(sources), relevance.tables(sources)
    return ReportData(progress, checks, statistics, tables)


class Page(NamedTuple):
    """What the report's page shows: its figures by name, and its tables by subject."""

    figures: dict[str, Figure]
    grids: dict[str, list[Grid]]


def build_page(sources: Sources, data: ReportData, params: Params) -> Page:
    """Return the figures and tables of the page."""
    agreement, judged = sources.metrics["agreement"], sources.collection.judged
    examples = relevance.examples(judged, sources.collection.frozen)
    decided = pool_section.decided_pairs(sources.collection, sources.batch)
    plots = [
        *draw_figures(data.tables, agreement, examples),
        *draw_audited(sources),
        pool_section.yield_figure(decided),
    ]
    return Page(
        {plot.name: plot for plot in plots},
        {
            "tables": [make(data.collection) for make in (table_1, table_4, lengths)],
            "strata": strata_section.strata_grids(sources.collection),
            "pool": [
                pool_section.yield_grid(decided, sources.collection),
                *pool_section.learned_grids(sources.collection),
                *pool_section.late_grids(sources.metrics["calibration"].get("late", [])),
                pool_section.leave_one_out_grid(leave_one_out(sources.collection)),
                *pool_section.strata_grids(sources.collection),
                *strata_section.missed_grids(sources.metrics["calibration"].get("missed")),
            ],
            "agreement": scores.agreement_grids(agreement, params.agreement.confidence),
            "rewriting": [losses.rounds_grid(sources), losses.statuses_grid(sources)],
            "table_3": [losses.table_3(sources)],
            "rejected": [losses.rejections_grid(losses.list_rejected(sources))],
            **calibration.grids(sources.metrics["calibration"]),
            **scores.score_grids(sources.metrics["reference_runs"]),
            "cost": [cost(sources)],
        },
    )


def steps(sources: Sources) -> list[Step]:
    """Return the lead's next steps, as far as the tables show them; none after a release."""
    if sources.released:
        return []
    shown, missed = not sources.collection.pairs.empty, sources.metrics["calibration"].get("missed")
    audit = "" if missed is None else missed.get("plan")
    campaign, state = sources.collection.campaign, sources.state
    return next_steps(Situation(campaign, state, shown=shown, audit=audit))


def report_page(sources: Sources, data: ReportData, page: Page) -> str:
    """Return the report."""
    return render(
        "report.html.j2",
        campaign=sources.collection.campaign,
        progress=data.progress,
        steps=steps(sources),
        checks=data.checks,
        figures=page.figures,
        grids=page.grids,
        alike_text=scores.alike_text(sources.metrics["agreement"]["similarity_1"]),
        boundaries_text=scores.describe_boundary_noise(sources.metrics["reference_runs"]),
        prospects=pool_section.describe_prospects(sources.state),
        strata_text=strata_section.strata_text(sources.collection),
        negatives_text=strata_section.negatives_text(
            negatives.describe(sources.collection, sources.batch)
        ),
        machine_verdicts=calibration.list_verdicts(sources.metrics["calibration"]),
        machine_texts=calibration.describe(sources.metrics["calibration"]),
    )


def lead_page(sources: Sources, progress: Progress) -> str:
    """Return the lead's page."""
    disputed = lead.list_disputed(sources)
    decided = pool_section.decided_pairs(sources.collection, sources.batch)
    looks = second_looks.list_second_looks(sources)
    return render(
        "lead.html.j2",
        campaign=sources.collection.campaign,
        progress=progress,
        steps=steps(sources),
        flags=[
            *lead.stopped(sources.state),
            *lead.flags(sources.annotators),
            *lead.absent(sources.state),
        ],
        as_of=lead.format_plan_time(sources.state),
        forecast=lead.forecast(sources.state),
        pace=lead.pace(sources.state),
        workload=lead.workload(sources.state),
        yields=pool_section.yield_grid(decided, sources.collection),
        yield_curve=pool_section.yield_figure(decided).chart,
        prospects=pool_section.describe_prospects(sources.state),
        refused=lead.count_refused(sources.rejected_judgments),
        withdrawn=lead.list_withdrawn(sources),
        people=lead.people(sources.annotators),
        checks=lead.hidden_checks(sources.hidden_checks),
        annotator_pairs=lead.annotator_pairs(sources.annotator_pairs),
        disputed=disputed[: lead.SHOWN],
        number=len(disputed),
        beside_machine=calibration.beside_machine(sources.beside_machine),
        looks=looks[: second_looks.SHOWN],
        looks_number=len(looks),
        looks_text=calibration.describe_second_looks(sources.metrics["calibration"]),
    )


def main() -> None:
    """Write both pages, their figures and tables as files, and the collection's metrics."""
    params = load()
    sources = read_sources(params)
    data = compute(sources, params)
    page = build_page(sources, data, params)
    _write(REPORT / "index.html", report_page(sources, data, page))
    _write(LEAD_PAGE, lead_page(sources, data.progress))
    grids = [grid for group in page.grids.values() for grid in group if grid.rows]
    for path, text in exports(page.figures.values(), grids):
        _write(REPORT / path, text)
    for name in PLOTTED:
        csv_files.write_csv(PLOTS / f"{name}.csv", data.tables[name])
    verdicts = {check.name: check.verdict for check in data.checks}
    cli.write_metrics("report", {"checks": verdicts, "collection": data.collection})
    passed = list(verdicts.values()).count("pass")
    state = data.progress.text.lower()
    cli.log(f"report: {passed} of {len(verdicts)} checks pass; {state} See {REPORT / 'index.html'}")


def _write(path: Path, text: str) -> None:
    with files.unfinished(path) as stream:
        stream.write(text)


if __name__ == "__main__":
    cli.run_stage(main)
