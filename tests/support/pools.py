"""The pool of a campaign: its candidates, as they are without learning."""

import pandas as pd

from annotation.pooling.growth import begin
from pipeline.core import tables


def write_candidates(candidates: pd.DataFrame) -> None:
    """Write candidates, and the pool that begins with them."""
    tables.CANDIDATES.write(candidates)
    tables.POOL.write(begin(tables.CANDIDATES.read(), "similarity"))
