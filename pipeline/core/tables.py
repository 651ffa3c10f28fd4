"""The tables that stages pass to each other: one schema each, checked on read and write.

A table is Parquet under `datasets/work/`, or CSV if people edit, commit or read it. Times are in
seconds; a moment is the half-open interval [start, end).
"""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from pipeline.core import table
from pipeline.core.sections import Modality
from pipeline.core.table import Column, Table
from pipeline.core.validation import RowRule

INSTANT = "datetime64[us, UTC]"
MODALITIES = get_args(Modality)
VOTING = ("first", "escalated")
LINK = "link"
"""The kind of judged pairs that new people judge again after a reopening."""
REPORTED = "reported"
"""The origin of a second look that readers of a release asked for."""
CHECKS = ("gold", "repeat", LINK)
KINDS = (*VOTING, *CHECKS)
"""Why a person judges a pair of the campaign; the hidden checks are never votes."""
TASK_KINDS = (*VOTING, "gold", "repeat", "exam", "feedback", "adjudication", LINK)
"""All kinds of tasks. A task's key stores its place here: add new ones at the end."""
REJECTIONS = (
    "bad-key not-the-annotator imported changed-by-another not-what-was-shown skipped draft"
    " empty malformed foreign twice bad-level bad-reason no-reason reason-alone both left"
    " prefilled not-as-configured unreleased"
)
"""Why an answer is not a judgment, separated by spaces."""
MACHINE_REASONS = (
    *("refused", "malformed", "cut", "cant-judge", "broken-clip", "failed"),
    "no-judgments",
)
"""Why a machine gave no level: it refused, its answer was malformed or cut, it answered that it
can't judge, its clip is broken, the server failed; or there are no judgments to learn from."""
JUDGED_SPLITS = ("val", "test")
SPLITS = (*JUDGED_SPLITS, "train")
ORIGINS = ("corpus", "person", "model")
"""Who worded a query: the corpus (its rewritten caption), a person, or a model."""
CAPTION = "caption"
"""The stratum of the paper's queries: each is the caption of a moment."""
LEVELS = range(5)
"""The levels of relevance, 0 to 4."""
OUTCOMES = ("two", "four", "adjudicated", "discarded", "unjudgeable", "waiting")
"""The outcome of the votes on a pair."""
WORK = table.WORK
CAMPAIGN = Path("datasets/campaign")
RELEASE = Path("datasets/release")
STATE = WORK / "campaign_state.json"
"""The state of the campaign, if one is open."""
TODAY = WORK / "today.json"
"""The day of the last pull, UTC, while a campaign is open: pace and absence depend on it."""
PRIVATE = CAMPAIGN / "annotators.private.yaml"
"""Identities of the annotators: never committed, never released."""


def _id() -> Column:
    return Column("str", lambda texts: texts != "", "an id")


def _text() -> Column:
    return Column("str", lambda texts: pd.Series(texts).str.strip() != "", "text")


def _choice(*values: str, nullable: bool = False) -> Column:
    expected = f"one of {', '.join(values)}"
    return Column("str", lambda cells: cells.isin(list(values)), expected, nullable)


def _time(nullable: bool = False) -> Column:
    last, expected = np.finfo("float64").max, "a time of 0 s or more"
    return Column("float64", lambda cells: (cells >= 0) & (cells <= last), expected, nullable)


def _number(dtype: str, low: float, high: float | None = None, nullable: bool = False) -> Column:
    if high is None:
        return Column(dtype, lambda cells: cells >= low, f"{low} or more", nullable)
    expected = f"between {low} and {high}"
    return Column(dtype, lambda cells: (cells >= low) & (cells <= high), expected, nullable)


_COLUMNS = {
    **{
        name: _id() for name in ("moment_id", "query_id", "video_id", "clip", "origin", "guideline")
    },
    **{name: _id() for name in ("query_sha", "clip_sha")},
    **{name: _text() for name in ("description", "caption", "query", "name")},
    **{name: _time() for name in ("start", "end", "duration", "seconds")},
    **{name: _number("int64", 0) for name in ("pair_id", "annotator", "rounds")},
    **{name: Column(INSTANT) for name in ("submitted_at", "updated_at", "opened_at")},
    **{name: Column("str", nullable=True) for name in ("path", "model", "prompt")},
    "modality": _choice(*MODALITIES),
    "source": _choice("llm", "rules", "none", "review"),
    "similarity": _number("float64", -1, 1),
    "name_score": _number("float32", 0, 1, nullable=True),
    "status": _choice("passed", "repaired", "reviewed", "failed", "dropped"),
    "gender": _choice("female", "male", "no name", nullable=True),
    "split": _choice(*SPLITS),
    "rank": _number("int64", 1),
    "batch": _number("int64", 1, 2),
    "kind": _choice(*KINDS),
    **{
        name: _number("Int64", LEVELS[0], LEVELS[-1], nullable=True)
        for name in ("level", "voted_level")
    },
    "mean": _number("float64", LEVELS[0], LEVELS[-1], nullable=True),
    "reason": _choice("broken-clip", "senseless-query", nullable=True),
    "state": _choice("stands", "replaced", "rejected", "lost", "tampered", "trusted"),
    "extend": _choice("yes", "no"),
    "scores": Column("object"),
    "outcome": _choice(*OUTCOMES),
    "voted_outcome": _choice(*(outcome for outcome in OUTCOMES if outcome != "adjudicated")),
    "attempt": _number("int64", 1),
    "since": Column(INSTANT),
    "note": Column("str", nullable=True),
}
"""Each column's definition, by its name, unless a table overrides it."""


def _table(path: Path, key: str, columns: str, /, **others: Column) -> Table:
    """Return a table of these columns, in order; `others` override `_COLUMNS`."""
    definitions = _COLUMNS | others
    return Table(
        path, tuple((name, definitions[name]) for name in columns.split()), tuple(key.split())
    )


_PAIR = "query_id moment_id"
_RANKED = f"{_PAIR} rank similarity"
_ASSIGNED = f"{_PAIR} annotator kind"
_SHOWN = "query_sha clip_sha"
_JUDGED = f"{_PAIR} annotator level reason submitted_at seconds origin guideline kind {_SHOWN}"

MOMENTS = _table(
    WORK / "moments.parquet", "moment_id", "moment_id video_id start end description modality"
)
VIDEOS = _table(WORK / "videos.parquet", "video_id", "video_id duration path")
CAPTIONS = _table(
    WORK / "captions.parquet",
    "moment_id",
    "moment_id caption source model prompt rounds similarity name_score status",
    similarity=_number("float32", -1, 1, nullable=True),
)
REVIEW = _table(CAMPAIGN / "review.csv", "moment_id", "moment_id caption")
CAST = _table(CAMPAIGN / "cast.csv", "name", "name gender")
_QUERY = "query_id query split moment_id stratum origin"
_ASKED = {
    "stratum": _id()._replace(default=CAPTION),
    "origin": _choice(*ORIGINS)._replace(default=ORIGINS[0]),
}
_MADE_FROM = _id()._replace(nullable=True)
QUERIES = _table(WORK / "queries.parquet", "query_id", _QUERY, moment_id=_MADE_FROM, **_ASKED)
"""`moment_id` is the moment whose caption the query is, or a vaguer version of it; empty where
there is none. `stratum` is the kind of the query, by which results are reported."""
FROZEN_QUERIES = _table(
    CAMPAIGN / "queries.csv",
    "query_id",
    _QUERY,
    moment_id=_MADE_FROM,
    split=_choice(*JUDGED_SPLITS),
    **_ASKED,
)
WRITTEN_QUERIES = _table(
    CAMPAIGN / "written_queries.csv",
    "query",
    "query split stratum origin note",
    split=_choice(*JUDGED_SPLITS),
    **_ASKED,
)
"""Queries that were not made from captions, and that the lead has accepted."""
ASKED_QUERIES = _table(
    CAMPAIGN / "asked_queries.csv",
    "source query",
    "source query writer split stratum origin moment_id submitted_at faults doubts decision note",
    source=_text(),
    writer=_number("Int64", 1, nullable=True),
    split=_choice(*JUDGED_SPLITS),
    moment_id=_MADE_FROM,
    **_ASKED,
    **{name: Column("str", nullable=True) for name in ("faults", "doubts")},
    decision=_choice("open", "accepted", "refused"),
)
"""What people wrote, as typed: on which page of which writer, or in which file (`source`), and what
the lead decided. `moment_id` is the clip that a writer remembered. A query with `faults` can't be
accepted; one with `doubts` can."""
VARIANTS = _table(
    WORK / "variants.parquet",
    "moment_id stratum",
    "moment_id stratum query caption source model prompt similarity detail status note",
    stratum=_choice("vague", "gist", "changed"),
    source=_choice("llm", "rules"),
    similarity=_number("float32", -1, 1, nullable=True),
    detail=_number("float32", 0, 1, nullable=True),
    status=_choice("passed", "failed"),
)
"""Captions that a model has made vaguer at two degrees, or `changed` in one thing, and how each
fared in the checks. `similarity` is to the caption, `detail` the share of its details that is
kept, `note` what was changed, or why it failed. A changed one no longer has a source moment."""
CANDIDATES = _table(WORK / "candidates.parquet", _PAIR, f"{_RANKED} batch")
POOL = _table(
    CAMPAIGN / "pool.csv",
    _PAIR,
    f"{_RANKED} batch channel expected basis",
    batch=_number("int64", 1),
    channel=_choice("similarity", "learned", "asked"),
    expected=_number("float64", LEVELS[0], LEVELS[-1], nullable=True),
    basis=Column("str", nullable=True),
)
"""The moments that people judge, in batches. `channel` is what chose a moment: its similarity, or
what the levels of others have taught, also where the lead `asked` for a batch. Then `expected` is
its level, as it was expected, and `basis` the instant of the newest judgment that was used, and a
hash of the levels."""
CLIPS = _table(WORK / "clips.csv", "moment_id", "moment_id clip clip_sha seconds")
FAILED_CLIPS = _table(
    WORK / "failed_clips.csv",
    "moment_id",
    "moment_id video_id reason",
    reason=_choice("no-videos", "missing", "unreadable", "too-short", "no-frame", "wrong-length"),
)
AUDIT = _table(
    CAMPAIGN / "audit.csv",
    _PAIR,
    f"{_RANKED} origin",
    origin=_choice("near", "deep", "replaced"),
)
"""The pairs of an audit, from outside the pool: among a query's neighbours, or deeper; and
those of an audit that was replaced."""
AUDIT_STRATA = _table(
    CAMPAIGN / "audit_strata.csv",
    _PAIR,
    f"{_PAIR} stratum size",
    stratum=_choice("unjudged", "zero", "low", "high"),
    size=_number("int64", 1),
)
"""For each pair of an audit: its stratum by a machine's levels (`unjudged` without one), and how
many of the query's moments that are as near, or as deep, are in it."""
TOPUP = _table(CAMPAIGN / "topup.csv", _PAIR, f"{_RANKED} origin")
NEIGHBOURS = _table(WORK / "neighbours.parquet", _PAIR, _RANKED)
"""The `candidates.depth` best moments of each judged query: those that the candidates are taken
from, and that an audit asks about. Below the candidates, a machine judges `judge.pool_top`."""
POOLED_RUNS = _table(
    CAMPAIGN / "pooled_runs.csv",
    "origin query_id rank",
    "origin query_id rank video_id start end pooled_start pooled_end",
    **{name: Column("float64") for name in ("start", "end")},
    **{name: _time(nullable=True) for name in ("pooled_start", "pooled_end")},
)
"""The first results of the runs of top-ups. `pooled_*` are the times of the moment that a result
put into the pool; empty for one that is too deep, or in no moment of the pool."""
CHANNEL = _table(CAMPAIGN / "channels/NAME.parquet", _PAIR, _RANKED)
"""The ranking of a channel NAME, as moments of the pool; `similarity` is that of the captions."""
LATE_RUNS = _table(
    CAMPAIGN / "late_runs.csv",
    "levels run",
    "levels run split depth judged value low high asked at",
    run=_id(),
    **{name: _number("int64", 0) for name in ("levels", "asked")},
    depth=_number("Int64", 1, nullable=True),
    judged=_number("float64", 0, 1, nullable=True),
    **{name: _number("float64", 0, 1) for name in ("value", "low", "high")},
    at=Column(INSTANT),
)
"""Where each known run stood when a top-up began, by so many `levels`, and the bounds of its value
once the `asked` pairs are judged. Runs of the top-up have its `depth`, and Judged@depth."""
CHANNELS = _table(
    CAMPAIGN / "channels.csv",
    "channel",
    "channel run_sha256 sha256 results matched decision queries pairs found captions low high",
    channel=_id(),
    run_sha256=_id(),
    sha256=_id(),
    results=_number("int64", 0),
    matched=_number("float64", 0, 1),
    decision=_choice("asked", "admitted", "refused"),
    **{name: _number("Int64", 0, nullable=True) for name in ("queries", "pairs")},
    **{name: _number("Int64", 0, nullable=True) for name in ("found", "captions")},
    **{name: _number("float64", -1, 1, nullable=True) for name in ("low", "high")},
)
"""The channels: the hashes of the run and of the file that keeps its ranking, the share of the
run's `results` that are moments of the pool, and what was decided by a judged sample: how many
moments of level 2 or higher are among `pairs` of the channel's and of captions', and the 95 %
interval of the difference of both yields."""
CHANNEL_SAMPLE = _table(
    CAMPAIGN / "channel_sample.csv",
    f"channel {_PAIR} by",
    f"channel {_PAIR} rank similarity by",
    channel=_id(),
    by=_choice("channel", "captions"),
)
"""What people are asked about a channel: its next moments, and captions'; some are both."""
MACHINE_JUDGMENTS = replace(
    _table(
        WORK / "machine_judgments.parquet",
        f"{_PAIR} repeat",
        f"{_PAIR} level expected reason remark model prompt guideline frames repeat {_SHOWN}",
        **{name: _number("int64", 0) for name in ("frames", "repeat")},
        expected=_number("float64", LEVELS[0], LEVELS[-1], nullable=True),
        reason=_choice(*MACHINE_REASONS, nullable=True),
        remark=Column("str", nullable=True),
        model=_text(),
        guideline=Column("str", nullable=True),
    ),
    rule=RowRule(
        lambda rows: rows["level"].isna() == rows["reason"].notna(),
        "must have a level or a reason why it has none, and not both",
    ),
)
"""A machine's judgments; no stage that makes people's levels reads them. `remark` is the machine's
own words; `reason` is why there is no level."""
WANTED = _table(WORK / "wanted.parquet", _PAIR, f"{_RANKED} batch", batch=_number("int64", 2))
PAIRS = _table(
    CAMPAIGN / "pairs.csv",
    "pair_id",
    f"pair_id {_PAIR} video_id start end duration caption similarity rank {_SHOWN}",
)
JUDGMENTS = _table(
    CAMPAIGN / "judgments.csv", f"{_ASSIGNED} {_SHOWN}", _JUDGED, seconds=_time(nullable=True)
)
JUDGMENT_HISTORY = _table(
    CAMPAIGN / "judgment_history.csv",
    "origin updated_at",
    f"{_JUDGED} updated_at state",
    seconds=_time(nullable=True),
)
REJECTED_JUDGMENTS = _table(
    WORK / "rejected_judgments.csv",
    "origin reason",
    f"{_PAIR} annotator reason origin submitted_at seconds sent_by",
    seconds=_time(nullable=True),
    sent_by=Column("str", nullable=True),
    query_id=Column("str", nullable=True),
    moment_id=Column("str", nullable=True),
    reason=_choice(*REJECTIONS.split()),
)
ASSIGNMENTS = _table(WORK / "assignments.parquet", _ASSIGNED, _ASSIGNED)
OPEN_TASKS = _table(
    WORK / "open_tasks.parquet", f"{_ASSIGNED} {_SHOWN}", f"{_ASSIGNED} {_SHOWN} opened_at"
)
"""The tasks that wait for their annotator; `opened_at` is when the server last changed one."""
EXTEND = _table(CAMPAIGN / "extend.csv", "query_id", "query_id extend")
CONSENSUS = _table(
    WORK / "consensus.parquet",
    _PAIR,
    f"{_PAIR} level mean scores outcome voted_level voted_outcome",
)
"""`voted_*` is the result of the votes, before adjudication."""
COUNTED_VOTES = _table(
    WORK / "counted_votes.parquet", "pair_id annotator", "pair_id annotator level reason"
)
GOLD = _table(CAMPAIGN / "gold.csv", _PAIR, f"{_PAIR} level note", level=_number("int64", 0, 4))
"""The lead's own levels of pairs: the exam's truth where it has them, and hidden checks."""
EXAM = _table(
    CAMPAIGN / "exam.csv",
    _PAIR,
    f"{_PAIR} level origin clip {_SHOWN}",
    origin=_choice("gold", "median", nullable=True),
)
"""The pairs of the exam, the same for all; `level` is empty until the truth is frozen."""
EXAM_ANSWERS = _table(
    CAMPAIGN / "exam_answers.csv",
    f"annotator attempt {_PAIR}",
    f"annotator attempt {_PAIR} level reason submitted_at seconds origin guideline",
    seconds=_time(nullable=True),
)
QUALIFICATIONS = _table(
    CAMPAIGN / "qualifications.csv",
    "annotator attempt",
    "annotator attempt answered failed plain quadratic passed",
    **{name: _number("int64", 0) for name in ("answered", "failed")},
    **{name: _number("float64", -1, 1, nullable=True) for name in ("plain", "quadratic")},
    passed=_choice("yes", "no"),
)
"""Each finished attempt at the exam: how many answers failed, and kappa with the truth."""
VOIDED = _table(
    CAMPAIGN / "voided.csv",
    "annotator since",
    "annotator since until note",
    until=Column(INSTANT, nullable=True),
)
"""Whose judgments no longer count, and since when (UTC); an empty `until` means no end."""
DEPARTURES = _table(
    CAMPAIGN / "departures.csv",
    "annotator since",
    "annotator since returned",
    returned=Column(INSTANT, nullable=True),
)
"""When `pull` first saw an annotator inactive, and when active again (UTC)."""
DEVIATIONS = _table(
    CAMPAIGN / "deviations.csv",
    "annotator purpose since",
    "annotator purpose since until what taken",
    purpose=_choice("campaign", "exam", "feedback", "adjudication"),
    until=Column(INSTANT, nullable=True),
    what=Column("str"),
    taken=_choice("yes", "no"),
)
"""When a project was not as push made it (UTC), what differed, and whether the lead took what was
answered then."""
SECOND_LOOK = _table(
    CAMPAIGN / "second_look.csv",
    f"{_PAIR} origin",
    f"{_PAIR} note origin",
    origin=_choice("lead", REPORTED)._replace(default="lead"),
)
"""Pairs to be decided although votes settled them, why, and who wants it: the lead, or readers of a
release, whose remarks are the lines of `note`."""
ADJUDICATIONS = _table(
    CAMPAIGN / "adjudications.csv",
    f"{_PAIR} {_SHOWN}",
    f"{_PAIR} annotator level reason submitted_at seconds origin guideline {_SHOWN}",
    seconds=_time(nullable=True),
)
"""What the lead or an expert decided on a pair that votes could not settle."""
