"""Judgments, ledgers and candidates for the tests of what people do, in few words."""

import pandas as pd

from pipeline.core import tables

START = pd.Timestamp("2024-05-01T08:00:00Z")
NONE_VOIDED = tables.VOIDED.empty()


def judgments_of(rows) -> pd.DataFrame:
    """Return judgments of `(query_id, moment_id, annotator, level or None)`, a second apart."""
    return make_judgments(
        {"query_id": query, "moment_id": moment, "annotator": annotator, "level": level}
        for query, moment, annotator, level in rows
    )


def make_judgments(rows) -> pd.DataFrame:
    """Return judgments of dicts: what a dict does not say is as usual."""
    full = [usual(second) | row for second, row in enumerate(rows)]
    if not full:
        return tables.JUDGMENTS.empty()
    frame = pd.DataFrame(full).astype({"level": "Int64"})
    broken = frame["level"].isna().map({True: "broken-clip", False: None})
    return tables.JUDGMENTS.check(frame.assign(reason=broken))


def usual(second: int) -> dict:
    return {
        "submitted_at": START + pd.Timedelta(seconds=second),
        "seconds": 4.0,
        "origin": f"a{second}",
        "guideline": "1",
        "kind": "first",
        "query_sha": "text",
        "clip_sha": "clip",
        "reason": None,
    }


def shown_of(rows) -> pd.DataFrame:
    """Return rows with what the ledger says of every pair besides."""
    rest = {"video_id": "v", "start": 0.0, "end": 5.0, "duration": 60.0, "caption": "Words."}
    return rows.assign(**rest, similarity=0.5, rank=1)


def ledger_of(pairs, sha="clip") -> pd.DataFrame:
    """Return the ledger of `(query_id, moment_id)`, each shown once."""
    rows = pd.DataFrame(list(pairs), columns=["query_id", "moment_id"], dtype="str")
    columns = {"pair_id": range(len(rows)), "query_sha": "text", "clip_sha": sha}
    return rows.assign(**columns)
