"""Hidden checks in the campaign's state: the gold available, and who is stopped."""

from typing import Any

from annotation.assignment.hidden_checks import Checks
from annotation.assignment.inputs import PlanInputs


def summarize(campaign: PlanInputs, checked: Checks | None = None) -> dict[str, Any]:
    """Return the metrics for JSON; without `checked`, as in a closed campaign, only who is stopped.

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
        "stopped": {
            str(annotator): {
                "reason": stop.reason,
                "since": stop.since.isoformat(),
                "last": stop.last.isoformat(),
            }
            for annotator, stop in sorted(checks.stopped.items())
        },
    }
