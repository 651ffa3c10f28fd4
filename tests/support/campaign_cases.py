"""Judgments, ledgers, decisions and empty tables for the tests of what people do, in few words."""

import pandas as pd

from annotation.pooling.growth import begin
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY
from pipeline.core import tables
from pipeline.core.table import Table

SEAT = [*PAIR_KEY, "annotator"]
START = pd.Timestamp("2024-05-01T08:00:00Z")
NONE_VOIDED = tables.VOIDED.empty()
IN_GIT = [
    table
    for table in vars(tables).values()
    if isinstance(table, Table) and table.path.parent == tables.CAMPAIGN
]
"""The tables in datasets/campaign/."""


def write_empty(*more) -> None:
    """Write without rows what is not there of the tables in git, and these of datasets/work/."""
    for table in (*IN_GIT, *more):
        if not table.path.exists():
            table.write(table.empty())


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


def vote(annotator, level, **rest) -> dict:
    """Return a judgment of the pair `q`, `m`, for `make_judgments`."""
    return {"query_id": "q", "moment_id": "m", "annotator": annotator, "level": level} | rest


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


def write_candidates(candidates) -> None:
    """Write candidates, and the pool that begins with them."""
    tables.CANDIDATES.write(candidates)
    tables.POOL.write(begin(tables.CANDIDATES.read(), "similarity"))


def voided_of(*periods) -> pd.DataFrame:
    """Return voided periods of `(annotator, since, until, note)`."""
    return tables.VOIDED.check(pd.DataFrame(periods, columns=tables.VOIDED.columns))


def decisions_of(shown, level, at=START, **rest) -> pd.DataFrame:
    """Return an expert's decisions on pairs as they were shown, with their levels."""
    rows = shown[SHOWN_KEY].assign(annotator=9, level=level, submitted_at=at, seconds=3.0)
    rows = rows.assign(origin=[f"d{row}" for row in range(len(rows))], guideline="1").assign(**rest)
    reason = rows["level"].isna().map({True: "broken-clip", False: None})
    return tables.ADJUDICATIONS.check(rows.assign(reason=reason)[tables.ADJUDICATIONS.columns])


def shown_of(rows) -> pd.DataFrame:
    """Return rows with what the ledger says of every pair besides."""
    rest = {"video_id": "v", "start": 0.0, "end": 5.0, "duration": 60.0, "caption": "Words."}
    return rows.assign(**rest, similarity=0.5, rank=1)


def ledger_of(pairs, sha="clip") -> pd.DataFrame:
    """Return the ledger of `(query_id, moment_id)`, each shown once."""
    rows = pd.DataFrame(list(pairs), columns=["query_id", "moment_id"], dtype="str")
    columns = {"pair_id": range(len(rows)), "query_sha": "text", "clip_sha": sha}
    return rows.assign(**columns)
