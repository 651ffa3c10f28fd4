"""The ledger: every pair that was shown, and shown anew once its text or clip had changed."""

import hashlib

import pandas as pd

PAIR = ["query_id", "moment_id"]
SHOWN = [*PAIR, "query_sha", "clip_sha"]
ALL_VOTES = 4
"""How many levels people give a pair at most."""
HASH_DIGITS = 32


def query_sha(query: str) -> str:
    """Return the hash of a query's text."""
    return hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def newest(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return each pair as it was last shown: the row of its highest pair_id, in their order."""
    return ledger.sort_values("pair_id").drop_duplicates(PAIR, keep="last")
