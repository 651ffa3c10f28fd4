"""A video corpus, `{video name: [duration, index]}`: it resolves video indices in runs."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from momentrank.formats.column import Column
from momentrank.formats.json_text import read_records
from momentrank.formats.source import read_source


def read_corpus(path: Path) -> dict[int, str]:
    """Return the name of each video by its index.

    Raises:
        FormatError: the file is malformed, or the indices are not 0, 1, ..., each once.
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
        reason = "not a video corpus {video_name: [duration, index]}"
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
        FormatError: there is an index but no corpus, or the corpus lacks it.
    """
    if set(map(type, videos.values)) <= {str}:
        return videos.ids()
    is_index = [type(video) is int for video in videos.require(str, int).values]
    if corpus is None:
        reason = "the video is an index: pass --corpus video_corpus.json"
        raise videos.place(is_index.index(True)).error(reason)
    pairs = list(zip(videos.values, is_index, strict=True))
    missing = (numbered and video not in corpus for video, numbered in pairs)
    videos.refuse(missing, "must be an index of the video corpus")
    names = [corpus[video] if numbered else video for video, numbered in pairs]
    return Column(names, videos.place).ids()
