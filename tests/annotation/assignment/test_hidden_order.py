"""Whether the order of tasks tells gold, over whole campaigns.

Three campaigns can't show areas below about 0.53 (0.55 at the default rates): docs/quality.md has
more of them.
"""

import pandas as pd
import pytest
from support import pushes

pytestmark = pytest.mark.slow
CAMPAIGNS, SIGMAS = 3, 3.3


@pytest.mark.parametrize(("times", "known"), [(1, 1), (1, 2), (3, 3)])
def test_a_new_pair_does_not_show_by_its_order_that_it_is_gold(times, known):
    """Gold among what a person has not seen; that an answer is a repeat can't be hidden."""
    parts = []
    for seed in range(CAMPAIGNS):
        tasks = pushes.run_campaign(seed, times, known)
        part = pushes.describe(tasks)
        assert part["gold"].mean() > 0.9 * times * pushes.DEFAULTS["gold"], "it is asked"
        parts.append(part.assign(group=part["annotator"] + 100 * seed))
    table = pd.concat(parts, ignore_index=True)
    for measured in pushes.classify(table).values():
        assert measured.area < 0.5 + SIGMAS * measured.error
    leak = table.assign(together=table["together"].where(~table["gold"], 1))
    for measured in pushes.classify(leak).values():
        assert measured.area > 0.5 + SIGMAS * measured.error, "it would have been found"
