"""The tables that stages hand to each other: one schema each, checked on read and write.

A table is Parquet under `datasets/work/`, or CSV where people edit,
commit or read it. Times are seconds; a moment is the half-open interval [start, end).
"""

from pathlib import Path
from typing import get_args

import numpy as np
import pandera.pandas as pa

from pipeline.core import table
from pipeline.core.sections import Modality
from pipeline.core.table import INSTANT, Table

MODALITIES = get_args(Modality)
ANSWER_PROBLEMS = ("empty", "malformed", "foreign", "twice", "bad-level", "bad-reason",
                   "no-reason", "reason-alone", "both")  # fmt: skip
JUDGED_SPLITS = ("val", "test")
SPLITS = (*JUDGED_SPLITS, "train")
LEVELS = range(5)
"""The levels of relevance, 0 to 4."""
OUTCOMES = ("two", "four", "adjudicated", "discarded", "unjudgeable", "waiting")
"""What the votes on a pair come to."""
WORK = table.WORK
CAMPAIGN = Path("datasets/campaign")
RELEASE = Path("datasets/release")
STATE = WORK / "campaign_state.json"
"""How far the campaign is, where one is open."""
TODAY = WORK / "today.json"
"""The day of the last pull, UTC, while a campaign is open: pace and absence depend on it."""
PRIVATE = CAMPAIGN / "annotators.private.yaml"
"""Who the annotators are: never committed, never released."""


def _column(dtype: str, *checks: pa.Check, nullable: bool = False) -> pa.Column:
    return pa.Column(dtype, list(checks), nullable=nullable, coerce=True)


def _table(path: Path, key: list[str], /, **columns: pa.Column) -> Table:
    return Table(path, pa.DataFrameSchema(columns), tuple(key))


def _id() -> pa.Column:
    return _column("str", pa.Check.str_length(min_value=1, error="an id"))


def _text() -> pa.Column:
    return _column("str", pa.Check(lambda texts: texts.str.strip() != "", error="text"))


def _choice(*values: str, nullable: bool = False) -> pa.Column:
    allowed = pa.Check.isin(values, error=f"one of {', '.join(values)}")
    return _column("str", allowed, nullable=nullable)


def _time(nullable: bool = False) -> pa.Column:
    finite = pa.Check.in_range(0, np.finfo("float64").max, error="a time of 0 s or more")
    return _column("float64", finite, nullable=nullable)


def _instant() -> pa.Column:
    return _column(INSTANT)


def _number(dtype: str, low: float, high: float | None = None, nullable: bool = False) -> pa.Column:
    if high is None:
        check = pa.Check.ge(low, error=f"{low} or more")
    else:
        check = pa.Check.in_range(low, high, error=f"between {low} and {high}")
    return _column(dtype, check, nullable=nullable)


def _similarity(dtype: str = "float32", nullable: bool = False) -> pa.Column:
    return _number(dtype, -1, 1, nullable=nullable)


def _level(dtype: str) -> pa.Column:
    return _number(dtype, LEVELS[0], LEVELS[-1], nullable=True)


MOMENTS = _table(
    WORK / "moments.parquet",
    ["moment_id"],
    moment_id=_id(),
    video_id=_id(),
    start=_time(),
    end=_time(),
    description=_text(),
    modality=_choice(*MODALITIES),
)
VIDEOS = _table(
    WORK / "videos.parquet",
    ["video_id"],
    video_id=_id(),
    duration=_time(),
    path=_column("str", nullable=True),
)
CAPTIONS = _table(
    WORK / "captions.parquet",
    ["moment_id"],
    moment_id=_id(),
    caption=_text(),
    source=_choice("llm", "rules", "none", "review"),
    model=_column("str", nullable=True),
    prompt=_column("str", nullable=True),
    rounds=_number("int64", 0),
    similarity=_similarity(nullable=True),
    name_score=_number("float32", 0, 1, nullable=True),
    status=_choice("passed", "repaired", "reviewed", "failed", "dropped"),
)
REVIEW = _table(
    CAMPAIGN / "review.csv",
    ["moment_id"],
    moment_id=_id(),
    caption=_text(),
)
CAST = _table(
    CAMPAIGN / "cast.csv",
    ["name"],
    name=_text(),
    gender=_choice("female", "male", "no name", nullable=True),
)
QUERIES = _table(
    WORK / "queries.parquet",
    ["query_id"],
    query_id=_id(),
    query=_text(),
    split=_choice(*SPLITS),
)
FROZEN_QUERIES = _table(
    CAMPAIGN / "queries.csv",
    ["query_id"],
    query_id=_id(),
    query=_text(),
    split=_choice(*JUDGED_SPLITS),
)
_RANKED = {
    "query_id": _id(),
    "moment_id": _id(),
    "rank": _number("int64", 1),
    "similarity": _similarity("float64"),
}
CANDIDATES = _table(
    WORK / "candidates.parquet",
    ["query_id", "moment_id"],
    **_RANKED,
    batch=_number("int64", 1, 2),
)
CLIPS = _table(
    WORK / "clips.csv",
    ["moment_id"],
    moment_id=_id(),
    clip=_id(),
    clip_sha=_id(),
    seconds=_time(),
)
FAILED_CLIPS = _table(
    WORK / "failed_clips.csv",
    ["moment_id"],
    moment_id=_id(),
    video_id=_id(),
    reason=_choice("no-videos", "missing", "unreadable", "too-short", "no-frame"),
)
AUDIT = _table(
    CAMPAIGN / "audit.csv",
    ["query_id", "moment_id"],
    **_RANKED,
    origin=_choice("top", "random"),
)
TOPUP = _table(
    CAMPAIGN / "topup.csv",
    ["query_id", "moment_id"],
    **_RANKED,
    origin=_id(),
)
WANTED = _table(
    WORK / "wanted.parquet",
    ["query_id", "moment_id"],
    **_RANKED,
    batch=_number("int64", 2),
)
PAIRS = _table(
    CAMPAIGN / "pairs.csv",
    ["pair_id"],
    pair_id=_number("int64", 0),
    query_id=_id(),
    moment_id=_id(),
    video_id=_id(),
    start=_time(),
    end=_time(),
    duration=_time(),
    caption=_text(),
    similarity=_similarity("float64"),
    rank=_number("int64", 1),
    query_sha=_id(),
    clip_sha=_id(),
)
KINDS = ("first", "escalated", "gold", "repeat")
_ASSIGNED = {
    "query_id": _id(),
    "moment_id": _id(),
    "annotator": _number("int64", 0),
    "kind": _choice(*KINDS),
}
_JUDGED = {
    "query_id": _id(),
    "moment_id": _id(),
    "annotator": _number("int64", 0),
    "level": _level("Int64"),
    "reason": _choice("broken-clip", "senseless-query", nullable=True),
    "submitted_at": _instant(),
    "seconds": _time(nullable=True),
    "origin": _id(),
    "guideline": _id(),
    "kind": _choice(*KINDS),
    "query_sha": _id(),
    "clip_sha": _id(),
}
JUDGMENTS = _table(
    CAMPAIGN / "judgments.csv",
    ["query_id", "moment_id", "annotator", "kind", "query_sha", "clip_sha"],
    **_JUDGED,
)
JUDGMENT_HISTORY = _table(
    CAMPAIGN / "judgment_history.csv",
    ["origin", "updated_at"],
    **_JUDGED,
    updated_at=_instant(),
    state=_choice("stands", "replaced", "rejected", "lost", "tampered", "trusted"),
)
REJECTED_JUDGMENTS = _table(
    WORK / "rejected_judgments.csv",
    ["origin", "reason"],
    query_id=_column("str", nullable=True),
    moment_id=_column("str", nullable=True),
    annotator=_number("int64", 0),
    reason=_choice(
        "bad-key",
        "not-the-annotator",
        "imported",
        "changed-by-another",
        "not-what-was-shown",
        "skipped",
        "draft",
        *ANSWER_PROBLEMS,
    ),
    origin=_id(),
    submitted_at=_instant(),
)
ASSIGNMENTS = _table(
    WORK / "assignments.parquet",
    ["query_id", "moment_id", "annotator", "kind"],
    **_ASSIGNED,
)
OPEN_TASKS = _table(
    WORK / "open_tasks.parquet",
    ["query_id", "moment_id", "annotator", "kind", "query_sha", "clip_sha"],
    **_ASSIGNED,
    query_sha=_id(),
    clip_sha=_id(),
)
EXTEND = _table(
    CAMPAIGN / "extend.csv",
    ["query_id"],
    query_id=_id(),
    extend=_choice("yes", "no"),
)
CONSENSUS = _table(
    WORK / "consensus.parquet",
    ["query_id", "moment_id"],
    query_id=_id(),
    moment_id=_id(),
    level=_level("Int64"),
    mean=_level("float64"),
    scores=_column("object"),
    outcome=_choice(*OUTCOMES),
)
COUNTED_VOTES = _table(
    WORK / "counted_votes.parquet",
    ["pair_id", "annotator"],
    pair_id=_number("int64", 0),
    annotator=_number("int64", 0),
    level=_level("Int64"),
    reason=_choice("broken-clip", "senseless-query", nullable=True),
)
