"""All that a plan is made from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from annotation.planning.people import Annotator
from pipeline import tables


@dataclass(frozen=True)
class Campaign:
    """What is to be judged, what was, and by whom.

    `queries` holds `query_id, query`: equal texts are judged once, as the query of the smallest
    id. `clips` are the moments that have one. `shown` holds the hashes of what was last shown
    of each pair (`votes.last_shown` of the ledger): judgments of anything else don't count.
    `open_tasks` are given out and not answered. `extend` holds the lead's decisions by query_id,
    `batch` is the number of candidates in batch 1. `extra` (as `tables.WANTED`) are the pairs
    of audit and top-up: wanted at once, whatever their rank, and never asked by the extension.
    """

    queries: pd.DataFrame
    candidates: pd.DataFrame
    clips: Collection[str]
    shown: pd.DataFrame
    judgments: pd.DataFrame
    open_tasks: pd.DataFrame
    annotators: Sequence[Annotator]
    extend: Mapping[str, bool]
    batch: int = 20
    extra: pd.DataFrame = field(default_factory=tables.WANTED.empty)
