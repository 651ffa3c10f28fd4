"""MAiSP: mean average interpolated segment precision (Racca and Jones, 2015), as in sh_eval.

A user plays each result from its start. Where relevant content begins, it is watched to its end,
and never again. Whenever the relevant seconds watched reach a recall point, precision is their
share of all seconds played; it is interpolated, and the mean is over the recall points. These are
a hundredth of the relevant seconds apart, in whole seconds, or one second where there are fewer
than a hundred.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from momentrank.matching.spans import Spans

POINTS = 100


class Watched(NamedTuple):
    """What a user saw of a list: the value and its seconds."""

    value: float
    relevant: float
    """Relevant seconds that exist."""
    retrieved: float
    """Seconds played."""
    found: float
    """Relevant seconds that were watched."""


def watch(results: Iterable[tuple[int, int, int]], relevant: Mapping[int, Spans]) -> Watched:
    """Return what a user sees of results (video, start, end), in whole seconds.

    `relevant` has what is relevant of each video.
    """
    left = {video: list(spans) for video, spans in relevant.items()}
    total = sum(end - start for windows in left.values() for start, end in windows)
    points = recall_points(int(total))
    precisions: list[float] = []
    retrieved = found = 0.0
    for video, start, end in results:
        played, at = 0.0, float(start)
        rest = []
        for first, last in left.get(video, []):
            if not (first <= at <= last or at <= first <= end):
                rest.append((first, last))
                continue
            begin = max(first, at)
            played += last - at
            found += last - begin
            while len(precisions) + 1 < len(points) and points[len(precisions) + 1] <= found:
                point = points[len(precisions) + 1]
                precisions.append(point / (retrieved + played - (found - point)))
            if begin - 1 > first:
                rest.append((first, begin - 1))
            at += played  # sh_eval adds what was played in all, not of this window alone
        left[video] = rest
        retrieved += max(played, end - start)
    best = [max(precisions[row:]) for row in range(len(precisions))]
    return Watched(sum([1.0, *best]) / len(points) if best else 0.0, total, retrieved, found)


def recall_points(total: int) -> list[int]:
    """Return the recall points in seconds, from 0.

    As sh_eval has them: of more than a hundred seconds the last point lies off the others.
    """
    if total <= POINTS:
        return list(range(total + 1))
    step, rest = divmod(total, POINTS)
    points = list(range(0, total, step if 2 * rest <= POINTS else step + 1))
    return [*points[:-1], points[-1] + rest]
