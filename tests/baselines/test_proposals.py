"""SPR's proposals: against the rule in loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from baselines.inference.proposals import merge, number_segments


def by_loop(best, gap):
    """Merge one query's segments one by one."""
    merged = []
    for number in sorted(best):
        rank = list(best).index(number)
        if merged and number - merged[-1][1] - 1 <= gap:
            merged[-1][1] = number
            merged[-1][2] = min(merged[-1][2], rank)
        else:
            merged.append([number, number, rank])
    return sorted(merged, key=lambda span: span[2])


@given(
    st.lists(st.permutations(range(20)), min_size=1, max_size=4),
    st.integers(1, 12),
    st.integers(0, 3),
)
def test_neighbours_are_merged_and_have_the_best_rank(orders, count, gap):
    best = np.array([order[:count] for order in orders])
    proposals = merge(best, gap)
    for query, row in enumerate(best):
        mine = proposals.query == query
        columns = (proposals.first[mine], proposals.last[mine], proposals.rank[mine])
        ours = np.stack(columns, axis=1).tolist()
        assert ours == by_loop(row.tolist(), gap)
        assert ours[0][2] == 0


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.integers(0, 3))
def test_no_proposal_leads_from_one_video_to_the_next(counts, gap):
    first = number_segments(np.array(counts), gap)
    every = np.concatenate([np.arange(n) + f for n, f in zip(counts, first, strict=True)])
    proposals = merge(every[None], gap)
    assert proposals.first.tolist() == first.tolist()
    assert (proposals.last - proposals.first + 1).tolist() == counts
