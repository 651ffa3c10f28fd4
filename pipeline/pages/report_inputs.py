"""Everything that the report reads, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.campaign import collection as release
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.collection import Collection
from pipeline.campaign.next_step import is_released
from pipeline.campaign.voided import drop_voided
from pipeline.core import captions, cli, csv_files, files, tables
from pipeline.core.params import Params

REPLACEMENTS = tables.WORK / "replacements.csv"
REWRITE_REVIEW = tables.WORK / "rewrite_review.csv"
REJECTED_MOMENTS = tables.WORK / "rejected_moments.csv"
LEAD = tables.WORK / "lead"
STAGES = ("ingest", "rewrite", "consensus", "agreement", "reference_runs", "calibration")

Metrics = Mapping[str, Any]


class ReportError(MomentRankError):
    """A file does not contain what the report needs."""


@dataclass(frozen=True)
class Sources:
    """Tables and metrics as the stages left them.

    `collection` is what the release is made of: the campaign, and the pairs that were shown, with
    their levels. `moments` are those of the pool that are in use (`captions.join_captions`);
    `state` is the plan's, if a campaign is open. Candidates have ranks up to `batch`, and up to
    `deepest` in their second batch. A judgment counts for at most `pause` minutes. `judgments` are
    all that were made, `voided` says which of them are withdrawn. `released` says whether the
    campaign was released in its present state.
    """

    collection: Collection
    moments: pd.DataFrame
    videos: pd.DataFrame
    queries: pd.DataFrame
    judgments: pd.DataFrame
    voided: pd.DataFrame
    consensus: pd.DataFrame
    clips: pd.DataFrame
    failed_clips: pd.DataFrame
    rejected_judgments: pd.DataFrame
    rejected_moments: pd.DataFrame
    rewrite_review: pd.DataFrame
    replacements: pd.DataFrame
    annotators: pd.DataFrame
    annotator_pairs: pd.DataFrame
    hidden_checks: pd.DataFrame
    second_looks: pd.DataFrame
    beside_machine: pd.DataFrame
    state: Metrics
    metrics: Mapping[str, Metrics]
    batch: int
    deepest: int
    pause: float
    released: bool

    @property
    def valid(self) -> pd.DataFrame:
        """The judgments of any kind that are not voided."""
        return drop_voided(self.judgments, self.voided)

    @property
    def votes(self) -> pd.DataFrame:
        """The valid judgments that are not hidden checks."""
        return self.valid[self.valid["kind"].isin(tables.VOTING)]


def read_sources(params: Params) -> Sources:
    """Read everything in the current folder.

    Raises:
        MomentRankError: a file is missing or wrong.
    """
    modalities = params.ingest.pool_modalities
    campaign, source = load_campaign(), release.CollectionTables.read(params.candidates)
    return Sources(
        collection=release.collect(campaign, source),
        moments=captions.join_captions(tables.CAPTIONS.read(), tables.MOMENTS.read(), modalities),
        videos=tables.VIDEOS.read(),
        queries=tables.QUERIES.read(),
        judgments=source.judgments,
        voided=source.voided,
        consensus=source.consensus,
        clips=tables.CLIPS.read(),
        failed_clips=tables.FAILED_CLIPS.read(),
        rejected_judgments=tables.REJECTED_JUDGMENTS.read(),
        rejected_moments=csv_files.read_csv(REJECTED_MOMENTS, ["line", "reason"]),
        rewrite_review=csv_files.read_csv(REWRITE_REVIEW, ["moment_id", "status", "check"]),
        replacements=numbers(csv_files.read_csv(REPLACEMENTS, ["word", "gender", "count"])),
        annotators=numbers(csv_files.read_csv(LEAD / "annotators.csv", ["annotator", "flags"])),
        annotator_pairs=numbers(csv_files.read_csv(LEAD / "annotator_pairs.csv", ["annotator"])),
        hidden_checks=numbers(csv_files.read_csv(LEAD / "checks.csv", ["annotator"])),
        second_looks=csv_files.read_csv(LEAD / "second_looks.csv", ["query_id", "decided"]),
        beside_machine=numbers(csv_files.read_csv(LEAD / "calibration.csv", ["annotator"])),
        state=_mapping(tables.STATE),
        metrics={name: _mapping(cli.METRICS / f"{name}.json") for name in STAGES},
        batch=params.candidates.batch,
        deepest=params.candidates.top,
        pause=params.plan.pause,
        released=campaign is not None and is_released(campaign),
    )


def numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table that was read as text, with its numeric columns converted to numbers."""
    read = {str(name): pd.to_numeric(frame[name], errors="coerce") for name in frame}
    whole = {name: column for name, column in read.items() if _lossless(frame[name], column)}
    return frame.assign(**whole)


def _lossless(text: pd.Series, read: pd.Series) -> bool:
    return bool(text.notna().any()) and bool((read.notna() == text.notna()).all())


def _mapping(path: Path) -> Metrics:
    value = files.read_json(path)
    if not isinstance(value, dict):
        raise ReportError(f"{path}: not a JSON object; run `dvc repro` to rewrite it")
    return value
