"""Everything that a model reads: a release and its features, checked before any work begins."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from baselines.collection.release import Floats, Ints, Query, Release, read_release
from baselines.core.sections import Mode, Params
from baselines.features.lengths import check_clips, check_streams
from baselines.features.store import FeatureFile, Rows

CACHED = 2**31
"""Bytes of features kept in memory."""


def is_file(name: str | None) -> bool:
    """Return whether features are a file, their own or another stream's (null)."""
    return name is None or Path(name).suffix in {".h5", ".hdf5"}


def path_of(params: Params, kind: str) -> Path:
    """Return the file of `video`, `sub` or `queries`: a published one, or the extractor's."""
    name = getattr(params.features, kind)
    if name is None:
        return path_of(params, "video")
    if is_file(name):
        return Path(name)
    return Path(params.features.folder) / f"{kind}.h5"


@dataclass(frozen=True)
class Widths:
    """Widths of features, and the longest sequences."""

    tokens: int
    streams: tuple[int, ...]
    max_tokens: int
    max_rows: int


@dataclass
class Inputs:
    """A release and its features."""

    release: Release
    names: list[str]
    """Videos, in the release's order."""
    streams: tuple[FeatureFile, FeatureFile]
    tokens: FeatureFile
    lengths: Ints
    """(V,): the rows of each video, of its shorter stream."""
    clip_seconds: float
    mode: Mode
    _cache: OrderedDict[int, tuple[Rows, ...]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    @property
    def widths(self) -> Widths:
        """Widths of the features and the longest sequences."""
        first, second = self.streams
        streams = (first.width, second.width)
        return Widths(self.tokens.width, streams, self.tokens.limit, first.limit)

    def video(self, number: int) -> tuple[Rows, ...]:
        """Return the rows of each stream of a video, the same number of each."""
        if (cached := self._cache.get(number)) is not None:
            return cached
        name, length = self.names[number], int(self.lengths[number])
        rows = tuple(stream.read(name, length) for stream in self.streams)
        size = sum(stream.nbytes for stream in rows)
        if self._bytes + size <= CACHED:
            self._cache[number] = rows
            self._bytes += size
        return rows

    def row_counts(self) -> Ints:
        """Return the number of rows of each video, (V,)."""
        return np.minimum(self.lengths, self.streams[0].limit)

    def row_seconds(self) -> Floats:
        """Return how many seconds a row of each video covers, (V,).

        Rows of a video that was averaged to `max_rows` cover more than a clip. In
        `as_published` they do not.
        """
        stretch = np.maximum(self.lengths / self.streams[0].limit, 1.0)
        return self.clip_seconds * (stretch if self.mode == "as_paper" else np.ones(len(stretch)))


def open_inputs(params: Params, queries: Iterable[Query]) -> Inputs:
    """Open a release and its features, and check that every video and query has features.

    Raises:
        FeatureError: features are missing, have other widths, belong to another release, or their
            rows are not of `features.clip_seconds`.
        ReleaseError: the release is malformed.
    """
    release = read_release(Path(params.train.release))
    settings = params.features
    video, sub = (
        FeatureFile(path_of(params, kind), settings.max_rows, normalize=normalize, averaged=True)
        for kind, normalize in (
            ("video", settings.normalize_video),
            ("sub", settings.normalize_sub),
        )
    )
    path = path_of(params, "queries")
    tokens = FeatureFile(
        path, settings.max_tokens, normalize=settings.normalize_queries, averaged=False
    )
    names = list(release.videos)
    for stream in (video, sub):
        stream.check(release.described_videos(), "video")
    tokens.check({query.query_id: query.text for query in queries}, "query")
    rows = tuple(np.array([s.length(name) for name in names]) for s in (video, sub))
    check_streams((video.path, sub.path), names, (rows[0], rows[1]))
    longer, seconds = np.maximum(*rows), np.array([*release.videos.values()])
    check_clips(video.path, names, longer, seconds, settings.clip_seconds)
    lengths, mode = np.minimum(*rows), params.train.mode
    return Inputs(release, names, (video, sub), tokens, lengths, settings.clip_seconds, mode)
