"""Pairs that were shown to people: their keys, and the newest row of each pair.

A pair whose query or clip has changed is shown again, as a new row.
"""

import hashlib

import pandas as pd

PAIR_KEY = ["query_id", "moment_id"]
"""The columns that identify a pair."""
SHOWN_KEY = [*PAIR_KEY, "query_sha", "clip_sha"]
"""The columns that identify a pair as it was shown."""
ALL_VOTES = 4
"""The most levels that people give a pair."""
HASH_DIGITS = 32


def query_sha(query: str) -> str:
    """Return the hash of a query's text."""
    return hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def select_newest(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return each pair as it was last shown: the row of its highest pair_id, in their order."""
    return pairs.sort_values("pair_id").drop_duplicates(PAIR_KEY, keep="last")
