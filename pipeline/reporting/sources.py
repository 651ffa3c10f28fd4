"""All that the report reads, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline import csv_files, files, pool, stage, tables
from pipeline.params import Params

CAMPAIGN_FILE = tables.CAMPAIGN / "campaign.yaml"
STATE = tables.WORK / "campaign_state.json"
REPLACEMENTS = tables.WORK / "replacements.csv"
REWRITE_REVIEW = tables.WORK / "rewrite_review.csv"
REJECTED_MOMENTS = tables.WORK / "rejected_moments.csv"
LEAD = tables.WORK / "lead"
STAGES = ("ingest", "rewrite", "agreement", "reference_runs")
PAIR = ["query_id", "moment_id"]

Figures = Mapping[str, Any]


class ReportError(MomentRankError):
    """A file that does not say what the report needs of it."""


@dataclass(frozen=True)
class Campaign:
    """What the report says of a campaign; `name` is None before one is opened."""

    name: str | None = None
    guideline: str | None = None
    rehearsal: bool = False
    closed: bool = False


@dataclass(frozen=True)
class Sources:
    """Tables and metrics as the stages left them.

    `moments` are those of the pool that take part (`pool.described`); `shown` is the newest
    row of each pair in the ledger; `state` is the plan's, where a campaign is open.
    """

    campaign: Campaign
    moments: pd.DataFrame
    videos: pd.DataFrame
    queries: pd.DataFrame
    shown: pd.DataFrame
    judgments: pd.DataFrame
    consensus: pd.DataFrame
    clips: pd.DataFrame
    failed_clips: pd.DataFrame
    rejected_judgments: pd.DataFrame
    rejected_moments: pd.DataFrame
    rewrite_review: pd.DataFrame
    replacements: pd.DataFrame
    annotators: pd.DataFrame
    annotator_pairs: pd.DataFrame
    state: Figures
    metrics: Mapping[str, Figures]

    @property
    def levels(self) -> pd.DataFrame:
        """The pairs with a final level: the ledger's columns with `split, level, mean`."""
        kept = self.consensus[self.consensus["level"].notna()]
        pairs = self.shown.merge(kept[[*PAIR, "level", "mean"]], on=PAIR)
        pairs = pairs.merge(self.queries[["query_id", "split"]], on="query_id")
        return pairs.astype({"level": "int64"}).sort_values("pair_id", ignore_index=True)


def read(params: Params) -> Sources:
    """Read everything in the current folder.

    Raises:
        MomentRankError: a file is missing or wrong.
    """
    modalities = params.ingest.pool_modalities
    ledger = tables.PAIRS.read().sort_values("pair_id")
    return Sources(
        campaign=campaign_of(files.read_yaml(CAMPAIGN_FILE)),
        moments=pool.described(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities),
        videos=tables.VIDEOS.read(),
        queries=tables.QUERIES.read(),
        shown=ledger.drop_duplicates(PAIR, keep="last").reset_index(drop=True),
        judgments=tables.JUDGMENTS.read(),
        consensus=tables.CONSENSUS.read(),
        clips=tables.CLIPS.read(),
        failed_clips=tables.FAILED_CLIPS.read(),
        rejected_judgments=tables.REJECTED_JUDGMENTS.read(),
        rejected_moments=csv_files.read_csv(REJECTED_MOMENTS, ["line", "reason"]),
        rewrite_review=csv_files.read_csv(REWRITE_REVIEW, ["moment_id", "status", "check"]),
        replacements=numbers(csv_files.read_csv(REPLACEMENTS, ["word", "gender", "count"])),
        annotators=numbers(csv_files.read_csv(LEAD / "annotators.csv", ["annotator", "flags"])),
        annotator_pairs=numbers(csv_files.read_csv(LEAD / "annotator_pairs.csv", ["annotator"])),
        state=_mapping(STATE),
        metrics={name: _mapping(stage.METRICS / f"{name}.json") for name in STAGES},
    )


def campaign_of(value: object) -> Campaign:
    """Return what `campaign.yaml` says; it holds nothing before a campaign is opened.

    Raises:
        ReportError: it is no campaign.
    """
    if value is None:
        return Campaign()
    found = value if isinstance(value, dict) else {}
    name, rehearsal = found.get("name"), found.get("rehearsal")
    if not isinstance(name, str) or not isinstance(rehearsal, bool) or "closed_at" not in found:
        raise ReportError(f"{CAMPAIGN_FILE}: no campaign; `git restore {CAMPAIGN_FILE}`")
    return Campaign(name, str(found.get("guideline")), rehearsal, found["closed_at"] is not None)


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table that was read as text with its columns of numbers as numbers."""
    read = {str(name): pd.to_numeric(frame[name], errors="coerce") for name in frame}
    whole = {name: column for name, column in read.items() if _lossless(frame[name], column)}
    return frame.assign(**whole)


def _lossless(text: pd.Series, read: pd.Series) -> bool:
    return bool(text.notna().any()) and bool((read.notna() == text.notna()).all())


def _mapping(path: Path) -> Figures:
    value = files.read_json(path)
    if not isinstance(value, dict):
        raise ReportError(f"{path}: no figures; `dvc repro` makes it anew")
    return value
