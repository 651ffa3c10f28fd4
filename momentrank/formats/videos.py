"""A video corpus, `{video name: [duration, index]}`: what the indices of a run mean."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from momentrank.formats.column import Column
from momentrank.formats.json_text import read_records
from momentrank.formats.source import read_source


def read_corpus(path: Path) -> dict[int, str]:
    """Return the name of each video by its index.

    Raises:
        FormatError: the file is malformed, or the indices are not 0, 1, ... each once.
    """
    return parse_corpus(read_records(read_source(path)))


def parse_corpus(records: Column) -> dict[int, str]:
    """Return the name of each video by its index, from the one record of such a file.

    Raises:
        FormatError: a duration is not in seconds, or the indices are not 0, 1, ..., each once.
    """
    corpus = records.require(dict).values[0] if len(records.values) == 1 else {}
    names = list(corpus)
    if not names:
        reason = "no video corpus {video_name: [duration, index]}"
        raise records.place(0)._replace(line=None, trail="").error(reason)
    column = Column(list(corpus.values()), lambda row: records.place(0).key(names[row]))
    Column(names, column.place).ids()
    duration, index = column.parts("duration index")
    lengths = duration.numbers()
    duration.refuse((~np.isfinite(lengths) | (lengths < 0)).tolist(), "must be a number of seconds")
    _refuse_gaps(index)
    return dict(zip(index.values, names, strict=True))


def _refuse_gaps(index: Column) -> None:
    indices = index.require(int).values
    count = len(indices)
    index.refuse((not 0 <= i < count for i in indices), f"must be an index from 0 to {count - 1}")
    index.distinct_ids()


def name_videos(videos: Column, corpus: Mapping[int, str] | None) -> list[str]:
    """Return the videos of a column of names, or of indices in a corpus.

    Raises:
        FormatError: an index without a corpus, or one that the corpus lacks.
    """
    if set(map(type, videos.values)) <= {str}:
        return videos.ids()
    is_index = [type(video) is int for video in videos.require(str, int).values]
    if corpus is None:
        reason = "the video is an index: say --corpus video_corpus.json for its name"
        raise videos.place(is_index.index(True)).error(reason)
    known = [
        not wrong or video in corpus for video, wrong in zip(videos.values, is_index, strict=True)
    ]
    videos.refuse((not ok for ok in known), "must be an index of the video corpus")
    names = [corpus[v] if wrong else v for v, wrong in zip(videos.values, is_index, strict=True)]
    return Column(names, videos.place).ids()
