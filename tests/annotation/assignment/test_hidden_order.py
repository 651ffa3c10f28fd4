"""Whether the order of tasks tells gold: over whole campaigns, no better than by chance."""

import pandas as pd
import pytest
from support import pushes

pytestmark = pytest.mark.slow
CAMPAIGNS, SIGMAS = 3, 3.3


@pytest.mark.parametrize(
    ("times", "known", "ranks", "queue"),
    [(1, 0.05, 40, 200), (3, 0.12, 40, 200), (1, 0.08, 20, 200)],
    ids=["defaults", "three times", "first batches"],
)
def test_nothing_but_a_pair_seen_before_tells_a_check(times, known, ranks, queue):
    """Gold among what a person has not seen; that an answer is a repeat can't be hidden."""
    parts = []
    for seed in range(CAMPAIGNS):
        tasks = pushes.run_campaign(seed, times, known, ranks, queue)
        part = pushes.describe(tasks)
        assert part["gold"].mean() > 0.8 * times * pushes.DEFAULTS["gold"], "it is asked"
        parts.append(part.assign(group=part["annotator"] + 100 * seed))
    table = pd.concat(parts, ignore_index=True)
    for area in pushes.classify(table).values():
        assert area.area < 0.5 + SIGMAS * area.error
    leak = table.assign(together=table["together"].where(~table["gold"], 1))
    assert all(a.area > 0.5 + SIGMAS * a.error for a in pushes.classify(leak).values())
