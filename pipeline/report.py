"""Make the pages that one looks at: the report, and the lead's own (paper, Tables 1, 3 and 4).

reads   what the other stages wrote: their tables, rejected rows and metrics
writes  datasets/report/index.html, datasets/report/figures/*.csv,
        datasets/work/lead/index.html (of single people: git ignores it, no cache takes it)

The report is one self-contained file: no script, and no request to any host. It says
*incomplete* with numbers while pairs wait, and *rehearsal: simulated answers* on every page
where campaign.yaml says so. Without a campaign it shows what there is.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from pipeline import csv_files, files, stage
from pipeline.params import Report, load
from pipeline.reporting import collection, lead, losses, relevance, scores, sources
from pipeline.reporting.checks import MOST, checks, standing
from pipeline.reporting.cost import cost
from pipeline.reporting.figures import figures
from pipeline.reporting.page import render
from pipeline.reporting.sources import Sources

REPORT = Path("datasets/report")
LEAD_PAGE = sources.LEAD / "index.html"


def data(found: Sources) -> dict[str, pd.DataFrame]:
    """Return the figures as tables by name: what `dvc plots` draws, and a person opens."""
    rejected = losses.rejected(found)
    return {
        **relevance.tables(found),
        "reference_scores": scores.table(found.metrics["reference_runs"]),
        "rejected": pd.DataFrame(rejected, columns=losses.Rejected._fields),
    }


def report_page(found: Sources, own: dict[str, Any], params: Report) -> str:
    """Return the report; `own` are the figures of `collection`."""
    agreement, runs = found.metrics["agreement"], found.metrics["reference_runs"]
    shown = figures(relevance.tables(found), agreement)
    return render(
        "report.html.j2",
        campaign=found.campaign,
        standing=standing(found),
        checks=checks(found, params)[:MOST],
        tables=[collection.table_1(own), *collection.table_4(own)],
        figures={figure.name: figure for figure in shown},
        agreement=scores.agreement_grids(agreement),
        alike_text=scores.alike_text(agreement["similarity_1"]),
        rewriting=[losses.rounds_grid(found), losses.statuses_grid(found)],
        table_3=losses.table_3(found),
        rejected=losses.rejected_grid(losses.rejected(found)),
        scores=scores.score_grids(runs),
        cost=cost(found),
    )


def lead_page(found: Sources) -> str:
    """Return the lead's page."""
    disputed = lead.disputed(found)
    return render(
        "lead.html.j2",
        campaign=found.campaign,
        standing=standing(found),
        flags=lead.flags(found.annotators),
        people=lead.people(found.annotators),
        couples=lead.couples(found.annotator_pairs),
        disputed=disputed[: lead.SHOWN],
        number=len(disputed),
    )


def main() -> None:
    """Write both pages, the data of the figures, and the collection's figures as metrics."""
    params = load()
    found = sources.read(params)
    own = collection.figures(found)
    _write(REPORT / "index.html", report_page(found, own, params.report))
    _write(LEAD_PAGE, lead_page(found))
    for name, table in data(found).items():
        csv_files.write_csv(REPORT / "figures" / f"{name}.csv", table)
    made = checks(found, params.report)
    verdicts = {check.name: check.verdict for check in made}
    stage.write_metrics("report", {"checks": verdicts, "collection": own})
    passed = sum(check.verdict == "pass" for check in made)
    text = standing(found).text.lower()
    stage.say(f"report: {passed} of {len(made)} checks pass; {text} See {REPORT / 'index.html'}")


def _write(path: Path, text: str) -> None:
    with files.atomic(path) as stream:
        stream.write(text)


if __name__ == "__main__":
    stage.run(main)
