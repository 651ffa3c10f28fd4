"""The moments that only a machine judges: the neighbours of a query just below its candidates."""

import pandas as pd

from pipeline.core import tables
from pipeline.core.params import Params


def read_machine_pool(params: Params) -> pd.DataFrame:
    """Return `judge.pool_top` moments of each query (`tables.NEIGHBOURS`): no person sees them."""
    top, more = params.candidates.top, params.judge.pool_top
    if not more:  # the table may be large
        return tables.NEIGHBOURS.empty()
    neighbours = tables.NEIGHBOURS.read()
    below = neighbours["rank"].between(top + 1, top + more)
    return neighbours[below].reset_index(drop=True)
