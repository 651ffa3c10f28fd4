"""Whether the order of tasks tells gold, over whole campaigns.

Three campaigns can't show areas below about 0.53 (0.55 at the default rates): docs/quality.md has
more of them.
"""

import pytest
from support import pushes

pytestmark = pytest.mark.slow
CAMPAIGNS, SIGMAS = 3, 3.3


@pytest.mark.parametrize(("times", "known"), [(1, 1), (1, 2), (3, 3)])
def test_a_new_pair_does_not_show_by_its_order_that_it_is_gold(times, known):
    """Gold among what a person has not seen; that an answer is a repeat can't be hidden."""
    table = pushes.run_campaigns(pushes.Setting(times, known), range(CAMPAIGNS))
    for _, campaign in table.groupby(table["group"] // 1000):
        assert campaign["gold"].mean() > 0.9 * times * pushes.DEFAULTS["gold"], "it is asked"
    for measured in pushes.classify(table).values():
        assert measured.area < 0.5 + SIGMAS * measured.error
    leak = table.assign(together=table["together"].where(~table["gold"], 1))
    for measured in pushes.classify(leak).values():
        assert measured.area > 0.5 + SIGMAS * measured.error, "it would have been found"
