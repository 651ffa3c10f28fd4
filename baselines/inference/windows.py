"""Search without training: the mean cosine of query and frames in windows of several lengths.

Cosines are whole millionths, so sums are exact: windows of equal rows have equal scores.

Shapes: V videos, W windows, Q queries, D dimensions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from baselines.collection.release import Floats, Ints
from baselines.core.sections import Params
from baselines.features.store import Rows
from baselines.inference.ranked import SPARE, Ranked, join, suppress

UNIT = 1_000_000
CHUNK = 16
"""Queries whose windows are scored together."""


class Windows(NamedTuple):
    """Windows of videos, (W,) each, by video, start and end."""

    video: Ints
    first: Ints
    """The first row in the video."""
    size: Ints
    """In rows."""


def list_windows(counts: Ints, sizes: Sequence[int]) -> Windows:
    """Return all windows of videos of `counts` rows, (V,); one longer than its video is all of it.

    One of each size begins at each row.
    """
    cut = np.minimum(np.unique(sizes), counts[:, None])
    video, column = np.nonzero(np.diff(cut, axis=1, prepend=0))  # sizes that are cut count once
    size = cut[video, column]
    number = counts[video] - size + 1
    first = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    columns = (np.repeat(video, number), first, np.repeat(size, number))
    order = np.lexsort(columns[::-1])
    return Windows(*(column[order] for column in columns))


def score_windows(rows: Sequence[Rows], queries: Rows, windows: Windows) -> Floats:
    """Return each window's mean cosine, (Q, W), of videos' rows, (n, D), and queries, (Q, D)."""
    cosines = _unit(queries) @ _unit(np.concatenate(rows)).T
    sums = np.pad(np.rint(cosines * UNIT).astype(np.int64).cumsum(axis=1), ((0, 0), (1, 0)))
    first = np.cumsum([0, *map(len, rows)])[windows.video] + windows.first
    scores: Floats = (sums[:, first + windows.size] - sums[:, first]) / windows.size / UNIT
    return scores


def search_windows(rows: Sequence[Rows], seconds: Floats, queries: Rows, params: Params) -> Ranked:
    """Return the best windows of each query, (Q, D), ties by video, start and end.

    `seconds` are the videos' lengths, (V,): rows and windows end there.
    """
    settings, clip, moments = params.zero_shot, params.features.clip_seconds, params.predict.moments
    counts = np.minimum([*map(len, rows)], np.ceil(seconds / clip).astype(np.int64))
    rows = [part[:count] for part, count in zip(rows, counts, strict=True)]
    windows = list_windows(counts, [max(1, round(length / clip)) for length in settings.seconds])
    start = windows.first.astype(np.float64) * clip
    end = np.minimum((windows.first + windows.size) * clip, seconds[windows.video])
    blocks = []
    for first in range(0, len(queries), CHUNK):
        scores = score_windows(rows, queries[first : first + CHUNK], windows)
        best = [select_best(line, moments * SPARE) for line in scores]
        at, query = np.concatenate(best), np.repeat(np.arange(len(best)), [*map(len, best)])
        listed = Ranked(query + first, windows.video[at], start[at], end[at], scores[query, at])
        blocks.append(suppress(listed, settings.nms, moments))
    return join(blocks)


def select_best(scores: Floats, count: int) -> Ints:
    """Return the indices of the best scores, best first; equal ones in their order."""
    last = max(0, len(scores) - count)
    found = np.flatnonzero(scores >= np.partition(scores, last)[last])
    best: Ints = found[np.argsort(-scores[found], kind="stable")][:count]
    return best


def _unit(vectors: Rows) -> Floats:
    vectors = vectors.astype(np.float64)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = vectors / np.maximum(length, 1e-12)
    return unit
