"""What the benchmarks' own scripts compute, by brute force: the fast conventions must agree.

Written from the benchmarks' descriptions as slow loops over plain lists; shares no code with the
package. Truth maps a query to its judged moments (video, start, end, level) in file order; lists
map a query to its results (video, start, end, score) in file order. All values are shares.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from oracle import discounted

Moment = tuple[str, float, float, float]
Lists = dict[str, list[Moment]]
Cells = dict[str, float]


def by_union(first: Moment, second: Moment) -> float:
    """Return shared time over the sum of both lengths less the shared time."""
    shared = max(0.0, min(first[2], second[2]) - max(first[1], second[1]))
    union = (first[2] - first[1]) + (second[2] - second[1]) - shared
    return shared / union if union else 0.0


def by_hull(first: Moment, second: Moment, number: Any = float) -> Any:
    """Return shared time over the time from the first start to the last end."""
    start, end, second_start, second_end = map(number, (first[1], first[2], second[1], second[2]))
    shared = max(number(0), min(end, second_end) - max(start, second_start))
    hull = max(end, second_end) - min(start, second_start)
    return shared / hull if hull else number(0)


def relevant(truth: Lists, query: str) -> list[Moment]:
    return [moment for moment in truth[query] if moment[3] >= 1]


def share_of(values: list[bool]) -> float:
    return mean([float(value) for value in values])


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


# ------------------------------------------------------------------------------- QVHighlights

LENGTHS = {"full": (None, None), "short": (0, 10), "middle": (10, 30), "long": (30, 150)}
TENTHS = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


def qvhighlights(truth: Lists, lists: Lists) -> Cells:
    """R1 and interpolated mAP of the first ten windows, over windows of a range of lengths."""
    cells = {}
    for name, (low, high) in LENGTHS.items():
        windows = {}
        for query in truth:
            moments = relevant(truth, query)
            if low is not None:
                moments = [moment for moment in moments if low < moment[2] - moment[1] <= high]
            if moments or low is None:
                windows[query] = moments
        results = {query: lists.get(query, [])[:10] for query in windows}
        overlaps = {query: table_of(results[query], windows[query]) for query in windows}
        averages = []
        for threshold in TENTHS:
            hits, precisions = [], []
            for query, wanted in windows.items():
                hits.append(
                    first_window_reaches(results[query], wanted, overlaps[query], threshold)
                )
                precisions.append(
                    interpolated_precision(results[query], overlaps[query], threshold)
                )
            cells[f"MR-{name}-R1@{threshold}"] = share_of(hits)
            averages.append(mean(precisions))
            cells[f"MR-{name}-mAP@{threshold}"] = averages[-1]
        cells[f"MR-{name}-mAP"] = mean(averages)
    return cells


def table_of(results: list[Moment], windows: list[Moment]) -> list[list[float]]:
    """Return a row for each result: its IoU with each window."""
    return [[by_union(result, window) for window in windows] for result in results]


def first_window_reaches(
    results: list[Moment], windows: list[Moment], overlaps: list[list[float]], threshold: float
) -> bool:
    """The window that the first one overlaps best (the first of equals) is reached."""
    if not results or not windows:
        return False
    best = overlaps[0].index(max(overlaps[0]))
    return by_hull(results[0], windows[best]) >= threshold


def interpolated_precision(
    results: list[Moment], overlaps: list[list[float]], threshold: float
) -> float:
    """ActivityNet's AP: precision at each recall is the highest at that or a higher recall."""
    free = list(range(len(overlaps[0]))) if results else []
    windows = len(free)
    hits = []
    for number in sorted(range(len(results)), key=lambda number: -results[number][3]):
        best = None
        for window in free:  # of equal ones, the last
            value = overlaps[number][window]
            if value >= threshold and (best is None or value >= overlaps[number][best]):
                best = window
        hits.append(best is not None)
        if best is not None:
            free.remove(best)
    precision = [sum(hits[:k]) / k for k in range(1, len(hits) + 1)]
    return sum(max(precision[k:]) / windows for k, hit in enumerate(hits) if hit)


# ----------------------------------------------------------------------------------------- TVR


def vcmr(truth: Lists, lists: Lists) -> Cells:
    """VCMR, SVMR and VR of one list of at most 100 results, in 32-bit floats."""
    cells: dict[str, list[bool]] = {}
    for query in truth:
        wanted = relevant(truth, query)
        results = lists.get(query, [])[:100]
        videos = {moment[0] for moment in wanted}
        inside = [result for result in results if result[0] in videos]
        tasks = {"VR": [result[0] in videos for result in results]}
        for threshold in (0.5, 0.7):
            for task, listed in (("VCMR", results), ("SVMR", inside)):
                hits = [right_moment(result, wanted, threshold) for result in listed]
                tasks[f"{task}-{threshold}"] = hits
        for name, hits in tasks.items():
            for k in (1, 5, 10, 100):
                cells.setdefault(f"{name}-r{k}", []).append(any(hits[:k]))
    return {name: share_of(values) for name, values in cells.items()}


def right_moment(result: Moment, wanted: list[Moment], threshold: float) -> bool:
    reached = [
        moment[0] == result[0] and by_hull(result, moment, np.float32) >= np.float32(threshold)
        for moment in wanted
    ]
    return sum(reached) >= (2 if len(wanted) >= 4 else 1)


# ------------------------------------------------------------------- Charades-STA and Ego4D NLQ


def hull_ious(truth: Lists, lists: Lists, query: str) -> list[float]:
    """Return the best IoU of each result with a moment of its video."""
    return [
        max(
            [
                by_hull(result, moment)
                for moment in relevant(truth, query)
                if moment[0] == result[0]
            ],
            default=0.0,
        )
        for result in lists.get(query, [])
    ]


def recalls(
    name: str,
    ious: list[list[float]],
    ranks: tuple[int, ...],
    thresholds: tuple[float, ...],
    reaches: Callable[[float, float], bool],
) -> Cells:
    """Return the share of queries of which one of the first k results reaches a threshold."""
    return {
        name.format(k, threshold): share_of(
            [any(reaches(value, threshold) for value in values[:k]) for values in ious]
        )
        for k in ranks
        for threshold in thresholds
    }


def first_ious(ious: list[list[float]]) -> Cells:
    return {"mIoU": mean([values[0] if values else 0.0 for values in ious])}


def charades(truth: Lists, lists: Lists) -> Cells:
    """R@1 and R@5 with >=, and the mean IoU of the first result, over every query."""
    ious = [hull_ious(truth, lists, query) for query in truth]
    return recalls("R@{},IoU={}", ious, (1, 5), (0.3, 0.5, 0.7), operator.ge) | first_ious(ious)


def nlq(truth: Lists, lists: Lists) -> Cells:
    """R@1 and R@5 with >, and the mean IoU of the first result, over the queries of the run."""
    ious = [hull_ious(truth, lists, query) for query in truth if query in lists]
    return recalls("Rank@{} mIoU@{}", ious, (1, 5), (0.3, 0.5), operator.gt) | first_ious(ious)


# ------------------------------------------------------------------------- TALL, 2D-TAN, DiDeMo


def kept(results: list[Moment], limit: float) -> list[Moment]:
    """Non-maximum suppression: drop what overlaps one that is kept by more than the limit."""
    left: list[Moment] = []
    for result in results:
        inside = [other for other in left if other[0] == result[0]]
        empty = result[1] == result[2]
        if not any(
            by_union(other, result) > limit or (empty and other[1] == other[2]) for other in inside
        ):
            left.append(result)
    return left


def tall(truth: Lists, lists: Lists) -> Cells:
    """R@1, 5 and 10 with >=, after NMS at 0.05 less than the threshold, in order of score."""
    cells = {}
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7):
        ious = []
        for query in truth:
            results = lists.get(query, [])
            if len({result[3] for result in results}) > 1:  # of equal scores, the last is first
                order = sorted(enumerate(results), key=lambda item: (-item[1][3], -item[0]))
                results = [result for _, result in order]
            ious.append(hull_ious(truth, {query: kept(results, threshold - 0.05)}, query))
        cells |= recalls("IoU={1}, R@{0}", ious, (1, 5, 10), (threshold,), operator.ge)
    return cells


def two_d_tan(truth: Lists, lists: Lists, limit: float) -> Cells:
    """R@1 and 5 with >, after NMS in the order of the list, and the mean IoU of the first."""
    after = {query: kept(results, limit) for query, results in lists.items()}
    ious = [hull_ious(truth, after, query) for query in truth]
    cells = recalls("Rank@{},mIoU@{}", ious, (1, 5), (0.1, 0.3, 0.5, 0.7), operator.gt)
    return cells | first_ious(ious)


def didemo(truth: Lists, lists: Lists) -> Cells:
    """Mean rank and IoU over the three people who come off best."""
    ranks, ious = [], []
    for query in truth:
        wanted, results = relevant(truth, query), lists.get(query, [])
        segments = [result[:3] for result in results]
        each = [
            segments.index(moment[:3]) + 1 if moment[:3] in segments else float("inf")
            for moment in wanted
        ]
        ranks.append(mean(sorted(each)[:3]) if wanted else float("inf"))
        first = [
            by_hull(result, moment) if result[0] == moment[0] else 0.0
            for moment in wanted
            for result in results[:1]
        ]
        ious.append(mean(sorted(first)[-3:]) if first else 0.0)
    cells = {f"rank@{k}": share_of([rank <= k for rank in ranks]) for k in (1, 5)}
    return cells | {"mIoU": mean(ious)}


# ----------------------------------------------------------------------------------------- SPR


def spr(truth: Lists, lists: Lists, cutoff: int, threshold: float) -> float | None:
    """Return nDCG, or None if no query counts.

    Each result looks at the free relevant moment of its video that it overlaps best, of equal ones
    at that of the highest level, and takes it if their IoU reaches the threshold.
    """
    values = []
    for query, results in lists.items():
        free = sorted(relevant(truth, query), key=lambda moment: -moment[3])
        ideal = [2 ** moment[3] - 1 for moment in free[:cutoff]]
        gains = []
        for result in results:
            inside = [moment for moment in free if moment[0] == result[0]]
            best = max(inside, key=lambda moment: by_union(result, moment), default=None)
            reached = best is not None and by_union(result, best) >= threshold
            gains.append(2 ** best[3] - 1 if reached else 0.0)
            if reached:
                free.remove(best)
        if ideal:
            values.append(discounted(gains[:cutoff]) / discounted(ideal))
    return mean(values) if values else None


# ------------------------------------------------------------------------------------- the cases


@cache
def cases(seed: int, videos: int = 2) -> tuple[Lists, Lists]:
    """Return a small random truth and run, full of ties, duplicates and IoUs at the thresholds."""
    draw = random.Random(seed)
    step, most = draw.choice([1, 1, 0.1, 0.3, 2.5]), draw.choice([8, 30, 80])
    names = [f"v{number}" for number in range(videos)]

    def moment(value: float) -> Moment:
        start = draw.randrange(most)
        return draw.choice(names), start * step, (start + draw.randrange(most)) * step, value

    truth: Lists = {}
    lists: Lists = {}
    queries = [f"q{number}" for number in range(draw.choice([1, 2, 5, 9]))]
    for query in queries:
        truth[query] = [
            moment(draw.choice([1, 1, 1, 2, 4, 0])) for _ in range(draw.choice([1, 1, 2, 5]))
        ]
        if draw.random() < 0.2:
            truth[query].append(truth[query][0])
    for query in draw.sample(queries, len(queries) - (draw.random() < 0.2)):
        lists[query] = []
        for _ in range(draw.choice([1, 3, 8, 12])):
            score = draw.choice([0.0, 0.5, draw.random()])
            near = draw.choice(truth[query])
            shifted = (near[1], near[2] + draw.randrange(5) * step)
            close = draw.random() < 0.6
            lists[query].append((near[0], *shifted, score) if close else moment(score))
    return truth, lists
