"""The JSON files of a release, ours or TVR-Ranking's own: videos, queries and training pairs.

`video_corpus.json` is `{video: [seconds, number]}` or `{video: seconds}`; `val.json`, `test.json`
and `train_topNN.json` are lists of queries with their moments, as in docs/formats.md. Nothing
else in a release is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.core import files
from momentrank.errors import MomentRankError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SPLITS = ("val", "test")


class ReleaseError(MomentRankError):
    """A release with malformed files."""


class Query(NamedTuple):
    """A query: its id as in the JSON (features are keyed by it), and its text."""

    query_id: str
    text: str


@dataclass(frozen=True)
class Pairs:
    """Training pairs, a row each: P pairs of `queries` and `videos`."""

    queries: Sequence[Query]
    query: Ints
    """(P,): the index into `queries`."""
    video: Ints
    """(P,): the index into the release's videos."""
    start: Floats
    end: Floats
    """(P,): seconds, half-open."""
    similarity: Floats
    """(P,): between the query and the moment's caption."""


@dataclass(frozen=True)
class Release:
    """A release's folder and the videos of its corpus, with their seconds."""

    folder: Path
    videos: Mapping[str, float]

    def read_queries(self, split: str) -> list[Query]:
        """Read the queries of `val` or `test`."""
        path = self.folder / f"{split}.json"
        return [query for query, _ in _records(path)]

    def read_pairs(self, top: int) -> Pairs:
        """Read the training pairs of the N most similar moments of each query.

        Raises:
            FileError: there is no such training set, or it is not JSON.
            ReleaseError: a moment lacks a field, ends before it starts, or its video is not in
                the corpus.
        """
        path = self.folder / f"train_top{top:02d}.json"
        queries: list[Query] = []
        rows: list[int] = []
        moments: list[dict[str, Any]] = []
        for query, listed in _records(path):
            rows.extend([len(queries)] * len(listed))
            moments.extend(listed)
            queries.append(query)
        if not moments:
            raise ReleaseError(f"{path}: no training pairs; raise `split` for more queries")
        index_of = {name: number for number, name in enumerate(self.videos)}

        def refuse(wrong: Sequence[bool] | npt.NDArray[np.bool_], reason: str) -> None:
            if np.any(wrong):
                query = queries[rows[int(np.argmax(wrong))]]
                raise ReleaseError(f"{path}, query {query.query_id}: {reason}")

        keys = ("video_name", "timestamp", "similarity")
        for key in keys:
            refuse([key not in moment for moment in moments], f"a moment has no {key!r}")
        names = [moment["video_name"] for moment in moments]
        refuse([name not in index_of for name in names], "a moment's video is not in the corpus")
        stamps = [moment["timestamp"] for moment in moments]
        refuse([not _is_interval(stamp) for stamp in stamps], "a timestamp is not [start, end]")
        start, end = np.array(stamps, dtype=np.float64).T
        numbers = [moment["similarity"] for moment in moments]
        refuse(
            [not isinstance(number, int | float) for number in numbers],
            "a similarity is not numeric",
        )
        similarity = np.array(numbers, dtype=np.float64)
        refuse(~(np.isfinite(similarity) & (similarity >= 0)), "a similarity is below 0 or NaN")
        video = np.array([index_of[name] for name in names], dtype=np.int64)
        return Pairs(queries, np.array(rows, dtype=np.int64), video, start, end, similarity)

    def hashes(self, tops: Iterable[int]) -> dict[str, str]:
        """Return the SHA-256 of each file that is read, by its name."""
        names = ["video_corpus.json", *(f"{split}.json" for split in SPLITS)]
        names += [f"train_top{top:02d}.json" for top in tops if top]
        return {name: files.hash_file(self.folder / name) for name in names}

    def described_videos(self) -> dict[str, str]:
        """Return what each video's features are made from, as feature files record it."""
        return {name: f"{seconds:g} s" for name, seconds in self.videos.items()}

    def all_queries(self, tops: Iterable[int]) -> list[Query]:
        """Return the queries of `val`, `test` and the training sets, each once.

        Training set 0 has none: it stands for a model before training.
        """
        queries = [query for split in SPLITS for query in self.read_queries(split)]
        for top in filter(None, tops):
            queries.extend(query for query, _ in _records(self.folder / f"train_top{top:02d}.json"))
        texts: dict[str, str] = {}
        for query in queries:
            if texts.setdefault(query.query_id, query.text) != query.text:
                raise ReleaseError(f"{self.folder}: query {query.query_id} has two different texts")
        return [Query(*item) for item in texts.items()]


def read_release(folder: Path) -> Release:
    """Read a release's videos.

    Raises:
        FileError: `video_corpus.json` is missing or not JSON.
        ReleaseError: it is not a video corpus.
    """
    path = folder / "video_corpus.json"
    corpus = files.read_json(path)
    if not isinstance(corpus, dict) or not corpus:
        raise ReleaseError(f"{path}: must be {{video: [seconds, number]}}, with at least one video")
    videos = {}
    for name, value in corpus.items():
        seconds = value[0] if isinstance(value, list) and value else value
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
            raise ReleaseError(f"{path}: video {name!r}: the duration must be a number above 0")
        videos[name] = float(seconds)
    return Release(folder, videos)


def _records(path: Path) -> Iterable[tuple[Query, list[dict[str, Any]]]]:
    """Yield each query of a file, with its moments."""
    listed = files.read_json(path)
    if not isinstance(listed, list):
        raise ReleaseError(f"{path}: must be a list of queries")
    for number, record in enumerate(listed, start=1):
        where = f"{path}, query {number}"
        if not isinstance(record, dict):
            raise ReleaseError(f"{where}: must be an object")
        query_id, text = record.get("query_id"), record.get("query")
        if isinstance(query_id, bool) or not isinstance(query_id, int | str):
            raise ReleaseError(f"{where}: 'query_id' must be an integer or a string")
        if not isinstance(text, str) or not text.strip():
            raise ReleaseError(f"{where}: 'query' must be a string")
        moments = record.get("relevant_moment")
        if not isinstance(moments, list) or not all(isinstance(moment, dict) for moment in moments):
            raise ReleaseError(f"{where}: 'relevant_moment' must be a list of objects")
        yield Query(str(query_id), text), moments


def _is_interval(value: object) -> bool:
    match value:
        case [int() | float() as start, int() | float() as end]:
            return not isinstance(start, bool) and not isinstance(end, bool) and 0 <= start < end
    return False
