"""Hidden checks in the campaign's state: gold available, people's results, who is stopped."""

from typing import Any

from annotation.assignment.hidden_checks import Checks
from annotation.assignment.inputs import PlanInputs
from annotation.quality.checks import measure_checks
from pipeline.core.tables import VOTING


def summarize(campaign: PlanInputs, checked: Checks | None = None) -> dict[str, Any]:
    """Return the metrics for JSON; without `checked`, as in a closed campaign, only people's.

    `gold` counts the pairs that can be asked as gold, `unusable` the known ones that can't (they
    are not candidates, or have no clip); `without_gold` are people who have had too few of them.
    `link` has the counts of links (`Links.counts`), after a reopening.
    """
    checks = campaign.checks
    pool = (
        {}
        if checked is None
        else {
            "gold": checked.gold,
            "unusable": checked.unusable,
            "without_gold": checked.without_gold,
            **({"link": checked.links} if campaign.reopenings else {}),
        }
    )
    return pool | {
        "shares": {"gold": checks.gold, "repeats": checks.repeats},
        "people": _people_figures(campaign),
        "stopped": {
            str(annotator): {
                "reason": stop.reason,
                "since": stop.since.isoformat(),
                "last": stop.last.isoformat(),
            }
            for annotator, stop in sorted(checks.stopped.items())
        },
    }


def _people_figures(campaign: PlanInputs) -> dict[str, Any]:
    if campaign.valid["kind"].isin(VOTING).all():  # as in a campaign without checks
        return {}
    table = measure_checks(campaign.valid, campaign.checks.known)
    table = table.set_index("annotator")
    rows = table.astype(object).where(table.notna(), None)
    return {str(annotator): row for annotator, row in rows.to_dict("index").items()}
