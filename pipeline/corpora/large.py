"""A corpus larger than memory: its rows in files, and DuckDB for what involves several rows."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyarrow import parquet

from pipeline.core import csv_files, tables
from pipeline.core.sections import Ingest
from pipeline.core.storage.database import ROW, Database
from pipeline.corpora import rejected, rules
from pipeline.corpora.sharded_corpus import CONVERTED, RAW

PathOf = Callable[[str], str | None]
"""Returns a video's path by its id."""
Probe = Callable[[Collection[str]], Mapping[str, float]]
"""Returns the seconds of videos by their paths, without videos that do not exist."""


@dataclass(frozen=True)
class LargeCorpus:
    """A corpus in a database: the views `moments` and `refused`, and the table `videos`.

    `parts` are files of its rows.
    """

    database: Database
    parts: Sequence[Path]
    metrics: dict[str, Any]

    def write_rejected(self, path: Path) -> None:
        """Write the rejected rows as CSV."""
        csv_files.write_csv_batches(path, lambda: self._rejected("from refused"))

    def write_tables(self) -> None:
        """Write the moments in the order of the corpus, and the videos in that of their ids."""
        for table, name, order in (
            (tables.MOMENTS, "moments", ROW),
            (tables.VIDEOS, "videos", "video_id"),
        ):
            frames = self.database.frames(f"from {name} order by {order}")
            table.write_batches(frame[table.columns] for frame in frames)

    def first_rejected(self) -> pd.DataFrame:
        """Return the first rejected row of each reason."""
        first = "select min(row) as row, reason from refused group by reason"
        return pd.concat(self._rejected(first))

    def list_needed(self) -> pd.DataFrame:
        """Return how many rejected rows would need which limits, by reason."""
        return self.database.frame(
            "select reason, needed, count(*) as rows from reasoned where needed is not null"
            " group by reason, needed order by reason, needed"
        )

    def paths(self) -> list[str]:
        """Return the paths of the videos that have one."""
        frame = self.database.frame(
            "select path from videos where path is not null order by video_id"
        )
        return list(frame["path"])

    def texts_by_hash(self, most: int) -> list[str]:
        """Return at most `most` distinct descriptions, the first by their hash (`rng.draw`)."""
        return self._texts(
            "select description from (select distinct description from moments)"
            " order by sha256(description) limit $most",
            most=most,
        )

    def texts_in_steps(self, most: int) -> list[str]:
        """Return at most `most` distinct descriptions, at equal steps in the corpus's order."""
        distinct = self.database.value(
            "select count(*) from (select distinct description from moments)"
        )
        return self._texts(
            "select description from (select description, row_number() over (order by first) as n"
            " from (select description, min(row) as first from moments group by description))"
            " where (n - 1) % $step = 0 order by n",
            step=-(-distinct // most) or 1,
        )

    def _texts(self, sql: str, **parameters: object) -> list[str]:
        return list(self.database.frame(sql, **parameters)["description"])

    def _rejected(self, rows: str) -> Iterator[pd.DataFrame]:
        """Yield the rows that the query `rows` names, as text, with their `reason`."""
        self.database.run(f"create or replace table asked as {rows}")
        yield pd.DataFrame(columns=rejected.COLUMNS, dtype=object)
        first = 0
        for source in map(parquet.ParquetFile, self.parts):
            with source:
                for group in range(source.num_row_groups):
                    number = source.metadata.row_group(group).num_rows
                    reasons = self.database.frame(
                        "select row, reason from asked"
                        " where row >= $low and row < $high order by row",
                        low=first,
                        high=first + number,
                    ).set_index(ROW)["reason"]
                    if len(reasons):
                        texts = source.read_row_group(group, [RAW])[RAW]
                        texts = texts.take(reasons.index.to_numpy() - first)
                        raw = rules.as_frame(map(json.loads, texts.to_pylist()))
                        raw = raw.set_axis(reasons.index)
                        yield rejected.as_text(raw).assign(reason=reasons)[rejected.COLUMNS]
                    first += number


def ingest_large(
    parts: Sequence[Path],
    params: Ingest,
    path_of: PathOf,
    probe: Probe | None,
    database: Database,
) -> LargeCorpus:
    """Do what `pipeline.ingest.ingest` does, in a database, with what `read_in_shards` returns."""
    database.load_files("converted", parts, CONVERTED)
    _find_durations(database)
    database.load("probed", [_probe(database, path_of, probe)])
    frames = database.frames(
        "select converted.*, usual.usual, probed.probed from converted"
        " left join usual using (video_id) left join probed using (video_id)"
    )
    settled = (rules.settle(frame.set_index(ROW), params) for frame in frames)
    database.load("settled", (frame.drop(columns="problem") for frame in settled))
    database.run("drop table converted")
    _make_views(database, [*params.query_modalities, *params.pool_modalities])
    videos = database.frames(
        "select video_id, any_value(duration) as duration, bool_or(several) as several"
        " from good group by video_id"
    )
    database.load("videos", (_add_paths(frame, path_of) for frame in videos))
    return LargeCorpus(database, parts, _metrics(database))


def _find_durations(database: Database) -> None:
    """Make `usual`: each video's duration as most of its rows give it, the longest in a tie."""
    database.run(
        "create table usual as select video_id, duration as usual from ("
        " select video_id, duration, count(*) as number from converted"
        " where duration > 0 and video_id is not null group by video_id, duration)"
        " qualify 1 = row_number() over (partition by video_id order by number desc, duration desc)"
    )


def _probe(database: Database, path_of: PathOf, probe: Probe | None) -> pd.DataFrame:
    """Read the durations that no row gives from the videos themselves."""
    lacking = database.frame(
        "select video_id from converted anti join usual using (video_id)"
        " where video_id is not null group by video_id order by min(row)"
    )["video_id"]
    paths = {name: path for name in lacking if (path := path_of(name))}
    by_path = probe(list(paths.values())) if probe and paths else {}
    seconds = {name: by_path[path] for name, path in paths.items() if path in by_path}
    columns = {"video_id": "str", "probed": "float64"}
    return pd.DataFrame(seconds.items(), columns=list(columns)).astype(columns)


def _make_views(database: Database, modalities: list[str]) -> None:
    """Make the views of rows that are `refused`, and of `good` ones, some of which are `moments`.

    The first of the usable rows with the same id is used.
    """
    database.run(
        "create table repeated as select moment_id, min(row) as first from settled"
        " where reason = '' group by moment_id having count(*) > 1"
    )
    database.run(
        "create view reasoned as select settled.* exclude (reason),"
        " case when reason = '' and row > first then 'duplicate-id' else reason end as reason"
        " from settled left join repeated using (moment_id)"
    )
    database.run("create view refused as select row, reason from reasoned where reason <> ''")
    database.load("wanted", [pd.DataFrame({"modality": modalities}, dtype="str")])
    database.run(
        "create view good as select *, modality in (select modality from wanted) as is_wanted"
        " from reasoned where reason = ''"
    )
    database.run("create view moments as from good where is_wanted")


def _add_paths(videos: pd.DataFrame, path_of: PathOf) -> pd.DataFrame:
    paths = [path_of(name) for name in videos["video_id"]]
    return videos.assign(path=pd.Series(paths, dtype="str"))


def _metrics(database: Database) -> dict[str, Any]:
    count = database.value

    def counts(column: str, rows: str) -> dict[str, int]:
        frame = database.frame(
            f"select {column}, count(*) from {rows} group by 1 order by 1"  # noqa: S608  (ours)
        )
        return {name: int(number) for name, number in frame.itertuples(index=False, name=None)}

    return {
        "rows": count("select count(*) from settled"),
        "moments": count("select count(*) from moments"),
        "videos": count("select count(*) from videos"),
        "videos_without_path": count("select count(*) from videos where path is null"),
        "videos_with_several_durations": count("select count(*) from videos where several"),
        "by_modality": counts("modality", "moments"),
        "other_modality": count("select count(*) from good where not is_wanted"),
        "ends_clipped": count("select count(*) from moments where clipped"),
        "texts_cleaned": count("select count(*) from moments where cleaned"),
        "durations_of_moments": count("select count(*) from settled where of_moment"),
        "rejected": count("select count(*) from refused"),
        "rejected_by_reason": counts("reason", "refused"),
    }
