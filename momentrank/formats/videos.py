"""A video corpus, `{video name: [duration, index]}`, flat or by split, as TVR's own.

It resolves video indices in runs, and has the videos' durations. Indices may start anywhere and
have gaps: those published with TVR-Ranking are a part of TVR's.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.records import Column, read_records
from momentrank.formats.source import Location, read_source


class VideoCorpus(NamedTuple):
    """The name of each video by its index, and its duration in seconds by its name."""

    names: dict[int, str]
    durations: dict[str, float]


def read_corpus(path: Path) -> VideoCorpus:
    """Return the names and durations of videos."""
    return parse_corpus(read_records(read_source(path)))


def parse_corpus(records: Column) -> VideoCorpus:
    """Return the names and durations of videos, from the one record of such a file."""
    corpus = records.require(dict).values[0] if len(records.values) == 1 else {}
    if not corpus:
        reason = "not a video corpus {video_name: [duration, index]}"
        raise records.location(0)._replace(line=None, trail="").error(reason)
    locations, entries = _entries(records.location(0), corpus)
    names = Column([name for name, _ in entries], locations.__getitem__).distinct_ids()
    values = Column([entry for _, entry in entries], locations.__getitem__)
    duration, index = values.split_as("duration index")
    lengths = duration.numbers()
    duration.refuse((~np.isfinite(lengths) | (lengths < 0)).tolist(), "must be a number of seconds")
    numbers = whole_numbers(index)
    index.refuse((number < 0 for number in numbers), "must be an index, 0 or more")
    index._replace(values=numbers).distinct_ids()
    return VideoCorpus(
        dict(zip(numbers, names, strict=True)), dict(zip(names, lengths.tolist(), strict=True))
    )


def _entries(
    location: Location, corpus: Mapping[str, Any]
) -> tuple[list[Location], list[tuple[str, object]]]:
    splits = {name: videos for name, videos in corpus.items() if isinstance(videos, dict)}
    if len(splits) < len(corpus):
        return [location.key(name) for name in corpus], list(corpus.items())
    locations = [
        location.key(split).key(name) for split, videos in splits.items() for name in videos
    ]
    return locations, [entry for videos in splits.values() for entry in videos.items()]


def is_corpus(record: Mapping[str, Any]) -> bool:
    """Tell a video corpus by its first value, `[duration, index]`."""
    first = next(iter(record.values()), None)
    if isinstance(first, dict):
        first = next(iter(first.values()), None)
    return isinstance(first, list) and len(first) == 2 and type(first[1]) is int  # noqa: PLR2004  (two)


def whole_numbers(column: Column) -> list[int]:
    """Return integers, including those that a model wrote as floats."""
    wrong = (type(value) not in {int, float} or value % 1 != 0 for value in column.values)
    column.refuse(wrong, "must be an integer")
    return list(map(int, column.values))


def name_videos(videos: Column, names: Mapping[int, str] | None) -> list[str]:
    """Return the videos of a column of names, or of indices in a corpus."""
    if set(map(type, videos.values)) <= {str}:
        return videos.names()
    is_index = [type(video) is not str for video in videos.require(str, int, float).values]
    if names is None:
        reason = "the video is an index: pass --corpus video_corpus.json"
        raise videos.location(is_index.index(True)).error(reason)
    pairs = list(zip(videos.values, is_index, strict=True))
    missing = (numbered and video not in names for video, numbered in pairs)
    videos.refuse(missing, "must be an index of the video corpus")
    named = [names[video] if numbered else video for video, numbered in pairs]
    return Column(named, videos.location).ids()
