"""Read a corpus of described moments in its own format: moments, videos, and rejected rows.

reads   the corpus at ingest.source (a file or a folder), in the format ingest.corpus
writes  datasets/work/moments.parquet, videos.parquet, rejected_moments.csv

If the corpus needs more than engine.table_memory, it is read in engine.shards, and DuckDB makes
the tables.

A row that can't be used goes to rejected_moments.csv with its place and reason. The run stops if
their share exceeds ingest.max_rejected. Nothing is dropped silently.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline import corpora
from pipeline.core import cli, csv_files, tables
from pipeline.core.engine.shards import clear_parts
from pipeline.core.parallel import cores
from pipeline.core.params import Params, load
from pipeline.core.progress import progress
from pipeline.core.sections import Ingest
from pipeline.core.storage.database import fits, open_database
from pipeline.corpora import rejected, rules
from pipeline.corpora.large import PathOf, Probe, ingest_large
from pipeline.corpora.rows import Row
from pipeline.corpora.sharded_corpus import STAGE, read_in_shards
from pipeline.corpora.sources import list_unread
from pipeline.language import detection, support
from pipeline.names.evidence import advice
from pipeline.video.corpus_videos import durations, missing_remark, video_path

REJECTED = tables.WORK / "rejected_moments.csv"
DURATIONS = Path(".cache/ingest/durations.json")


class CorpusError(MomentRankError):
    """The corpus can't be used."""


class Corpus(Protocol):
    """What a corpus yields, in memory or in a database; `metrics` counts every row, used or not."""

    @property
    def metrics(self) -> dict[str, Any]:
        """The counts."""

    def write_rejected(self, path: Path) -> None:
        """Write the rejected rows as CSV."""

    def write_tables(self) -> None:
        """Write moments and videos."""

    def first_rejected(self) -> pd.DataFrame:
        """Return the first rejected row of each reason."""

    def list_needed(self) -> pd.DataFrame:
        """Return how many rejected rows would need which limits, by reason (`rules.settle`)."""

    def paths(self) -> list[str]:
        """Return the paths of the videos that have one."""

    def texts_by_hash(self, most: int, /) -> list[str]:
        """Return all distinct descriptions, or only the `most` that `rng.draw` puts first."""

    def texts_in_steps(self, most: int, /) -> list[str]:
        """Return all distinct descriptions in order, or at most `most` at equal steps."""


class Ingested(NamedTuple):
    """A corpus in memory."""

    moments: pd.DataFrame
    videos: pd.DataFrame
    rejected: pd.DataFrame
    metrics: dict[str, Any]
    needed: pd.DataFrame

    def write_rejected(self, path: Path) -> None:
        """Write the rejected rows as CSV."""
        csv_files.write_csv(path, self.rejected)

    def write_tables(self) -> None:
        """Write moments and videos."""
        tables.MOMENTS.write(self.moments)
        tables.VIDEOS.write(self.videos)

    def first_rejected(self) -> pd.DataFrame:
        """Return the first rejected row of each reason."""
        return self.rejected.drop_duplicates("reason")

    def list_needed(self) -> pd.DataFrame:
        """Return how many rejected rows would need which limits, by reason."""
        return self.needed

    def paths(self) -> list[str]:
        """Return the paths of the videos that have one."""
        return list(self.videos["path"].dropna())

    def texts_by_hash(self, _: int, /) -> list[str]:
        """Return all distinct descriptions."""
        return self.texts_in_steps(0)

    def texts_in_steps(self, _: int, /) -> list[str]:
        """Return all distinct descriptions in order."""
        return list(self.moments["description"].drop_duplicates())


def ingest(rows: Iterable[Row], params: Ingest, probe: Probe | None = None) -> Ingested:
    """Sort the rows of a corpus into moments, videos and rejected rows.

    Every row is in `moments`, in `rejected`, or of a modality that neither queries nor
    pool use (counted as `other_modality`). `probe` reads the durations of videos for which
    no row gives one.
    """
    raw = rules.as_frame(rows)
    frame = rules.convert(raw)
    frame["usual"] = frame["video_id"].map(_usual_durations(frame)).astype("float64")
    probed = _probe(frame, partial(video_path, params.videos), probe)
    settled = rules.settle(frame.assign(probed=probed), params)
    reason = settled["reason"]
    repeated = settled["moment_id"].where(reason == "").duplicated() & (reason == "")
    reason = reason.mask(repeated, "duplicate-id").astype("str")
    good = settled[reason == ""]
    wanted = good["modality"].isin(params.query_modalities + params.pool_modalities)
    videos = _videos(good, params.videos)
    refused = rejected.as_text(raw[reason != ""]).assign(reason=reason[reason != ""])
    return Ingested(
        moments=tables.MOMENTS.check(good[wanted][tables.MOMENTS.columns]),
        videos=tables.VIDEOS.check(videos[tables.VIDEOS.columns]),
        rejected=refused[rejected.COLUMNS],
        metrics={
            "rows": len(raw),
            "moments": int(wanted.sum()),
            "videos": len(videos),
            "videos_without_path": int(videos["path"].isna().sum()),
            "videos_with_several_durations": int(videos["several"].sum()),
            "by_modality": _counts(good[wanted]["modality"]),
            "other_modality": int((~wanted).sum()),
            "ends_clipped": int((good["clipped"] & wanted).sum()),
            "texts_cleaned": int((good["cleaned"] & wanted).sum()),
            "durations_of_moments": int(settled["of_moment"].sum()),
            "rejected": len(refused),
            "rejected_by_reason": _counts(refused["reason"]),
        },
        needed=settled.groupby(["reason", "needed"]).size().rename("rows").reset_index(),
    )


def _probe(frame: pd.DataFrame, path_of: PathOf, probe: Probe | None) -> pd.Series:
    """Read the durations that no row gives from the videos themselves."""
    lacking = frame.loc[frame["usual"].isna(), "video_id"].dropna().unique()
    paths = {name: path for name in lacking if (path := path_of(name))}
    by_path = probe(list(paths.values())) if probe and paths else {}
    seconds = {name: by_path.get(path, np.nan) for name, path in paths.items()}
    return frame["video_id"].map(seconds).astype("float64")


def _usual_durations(frame: pd.DataFrame) -> pd.Series:
    """Return each video's duration: the one most of its rows give, the longest in a tie."""
    rows = frame[frame["duration"] > 0].groupby(["video_id", "duration"]).size()
    counts = rows.rename("rows").reset_index().sort_values(["rows", "duration"])
    return counts.drop_duplicates("video_id", keep="last").set_index("video_id")["duration"]


def _videos(good: pd.DataFrame, template: str | None) -> pd.DataFrame:
    by_video = good.groupby("video_id", sort=True)
    videos = by_video.agg(duration=("duration", "first"), several=("several", "any")).reset_index()
    paths = [video_path(template, name) for name in videos["video_id"]]
    return videos.assign(path=pd.Series(paths, dtype="str"))


def _counts(values: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in values.value_counts().sort_index().items()}


def refuse_useless(result: Corpus, params: Ingest) -> None:
    """Stop if a corpus is not what the parameters say.

    Raises:
        CorpusError: no row can be used, none has a requested modality, the durations are not
            those of videos, or the share of rejected rows exceeds `max_rejected`.
    """
    rows, unusable = result.metrics["rows"], result.metrics["rejected"]
    limit = params.max_rejected
    if not rows:
        raise CorpusError(f"{params.source}: contains no {params.corpus} rows")
    if result.metrics["durations_of_moments"] > rows / 2:
        raise CorpusError(
            f"{params.source}: the durations are those of the moments, not of their videos."
            f" {rejected.DURATIONS.get(params.corpus, rejected.REMOVE_DURATIONS)}"
        )
    if unusable / rows > limit or unusable == rows:
        problem, remedy = f"none of the {rows} rows can be used", "check ingest.corpus"
        if unusable < rows:
            problem = f"{unusable} of {rows} rows can't be used, more than ingest.max_rejected"
            problem, remedy = f"{problem} ({limit:.2%})", rejected.REMEDY
        raise CorpusError(
            f"{params.source}: {problem}:\n{_summary(result, params)}\n"
            f"{REJECTED} lists each of these rows with its place and reason; {remedy}"
        )
    if not result.metrics["moments"]:
        raise CorpusError(
            f"{params.source}: no row has one of ingest.query_modalities"
            f" {params.query_modalities} or ingest.pool_modalities {params.pool_modalities}"
        )


def _summary(result: Corpus, params: Ingest) -> str:
    counts, needed = result.metrics["rejected_by_reason"], result.list_needed()
    return rejected.summarize(result.first_rejected(), counts, needed, params)


def remarks(result: Corpus, params: Ingest) -> list[str]:
    """Return how many rows were read, and how many were rejected for which reasons."""
    counts = result.metrics
    lines = [f"{counts['moments']:,} moments of {counts['videos']:,} videos"]
    if counts["texts_cleaned"]:
        lines.append(f"{counts['texts_cleaned']:,} descriptions had invisible characters: removed")
    if counts["rejected"]:
        listed = f"listed in {REJECTED}:\n{_summary(result, params)}"
        lines.append(f"{counts['rejected']:,} rows were rejected, {listed}")
    return [*lines, *filter(None, [missing_remark(result.paths())])]


def write(result: Corpus, settings: Params) -> None:
    """Write what a corpus yields, and log what the lead should know.

    Raises:
        CorpusError: the corpus is not what the parameters say; its rejected rows are still written.
    """
    params = settings.ingest
    result.write_rejected(REJECTED)
    spoken = detection.determine_language(result.texts_by_hash(detection.SAMPLE), params.language)
    shares = {code: round(share, 4) for code, share in spoken.shares.items()}
    language = {"language": spoken.code, "language_shares": shares}
    cli.write_metrics("ingest", result.metrics | language | {"texts_recognized": spoken.texts})
    refuse_useless(result, params)
    result.write_tables()
    fitting = advice.advise(result.texts_in_steps(advice.ENOUGH), settings.rewrite.backend)
    lines = [*remarks(result, params), *support.list_remarks(spoken), fitting]
    if left := list_unread(Path(params.source)):
        lines.append(f"not read: {', '.join(left)}; unpack archives; save spreadsheets as CSV")
    for line in filter(None, lines):
        cli.log(f"ingest: {line}")


def main() -> None:
    """Read the corpus, write the tables; stop if too many rows are rejected."""
    settings = load()
    params, engine, source = settings.ingest, settings.engine, Path(settings.ingest.source)
    probe = partial(durations, memory=DURATIONS, workers=cores())
    if fits(engine.table_memory, corpora.count_roughly(params.corpus, source)):
        rows = corpora.read(params.corpus, source, params.columns)
        write(ingest(progress(STAGE, rows, unit="rows"), params, probe), settings)
        return
    parts = read_in_shards(params, engine)
    with open_database(engine.table_memory) as database:
        path_of = partial(video_path, params.videos)
        write(ingest_large(parts, params, path_of, probe, database), settings)
    clear_parts(STAGE, engine)


if __name__ == "__main__":
    cli.run_stage(main)
