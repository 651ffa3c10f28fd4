"""What every relevance model and measure means, by brute force: the fast package must agree.

Written straight from the papers, as slow loops over one query's judged segments and results,
and sharing no code with the package:

* TVR-Ranking (Liang et al., 2024), section 4: the greedy IoU matching, nDCG;
* AxIoU (Togashi et al., CVPR 2022): maxiou, AxIoU, R, MeanP, DCG over IoU, NCxIoU;
* Aly et al., 2013, section 2: overlap, bins, tolerance to irrelevance;
* temporal grounding's mIoU, TVR's video retrieval, MRR, recall, and MAiSP (Eskevich et al., 2012);
* MediaEval's script sh_eval, as its behaviour is described (`convention="sh-eval"`).

Times are seconds, segments are half-open. `score` and `mean` are the way in, `cases` makes random
small cases, `SETTINGS` lists names and parameters that are worth comparing.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Judged(NamedTuple):
    """A segment with its relevance level (0: judged, not relevant)."""

    video: str
    start: float
    end: float
    level: int


class Result(NamedTuple):
    """A retrieved moment; its rank is its place in the list."""

    video: str
    start: float
    end: float


Params = dict[str, Any]
Qrels = dict[str, list[Judged]]
Run = dict[str, list[Result]]
Rates = list[dict[int, float]]
Verdicts = list[tuple[bool, bool]]
"""Whether each result is relevant, and judged."""


# ------------------------------------------------------------------------------ two segments


def iou(result: Result, judged: Judged) -> float:
    """Return intersection over union, in the order of operations that the issue fixes."""
    if result.video != judged.video:
        return 0.0
    i = max(0.0, min(result.end, judged.end) - max(result.start, judged.start))
    union = (result.end - result.start) + (judged.end - judged.start) - i
    return 0.0 if union == 0 else i / union


def meets(start: float, end: float, other_start: float, other_end: float) -> bool:
    """Say whether two half-open intervals share a point; an empty one meets nothing."""
    return max(start, other_start) < min(end, other_end)


def relevant_of(params: Params, qrels: list[Judged]) -> list[Judged]:
    """Return the segments of level `rel` or higher."""
    return [segment for segment in qrels if segment.level >= params.get("rel", 1)]


# ----------------------------------------------------------------- relevance models: the paper
# Each gives (relevant, judged), one truth value each per result, for a whole list.


def greedy(params: Params, qrels: list[Judged], results: list[Result]) -> list[Judged | None]:
    """Return what each result takes (TVR-Ranking, section 4): the best-IoU segment still free.

    Level 0 takes part. IoU ties go to the higher level, then to file order. The IoU must reach
    the threshold, or pass it if `strict`.
    """
    used: set[int] = set()
    matches: list[Judged | None] = []
    for result in results:
        best: tuple[float, int] | None = None  # IoU and level
        best_n = -1
        for n, segment in enumerate(qrels):
            if n in used or segment.video != result.video:
                continue
            value = iou(result, segment)
            if value < params["iou"] or (params.get("strict", False) and value == params["iou"]):
                continue
            if best is None or (value, segment.level) > best:
                best, best_n = (value, segment.level), n
        if best is None:
            matches.append(None)
        else:
            used.add(best_n)
            matches.append(qrels[best_n])
    return matches


def by_iou(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Relevant: took a segment of level >= rel; judged: took any (TVR-Ranking, section 4)."""
    verdicts = []
    for match in greedy(params, qrels, results):
        relevant = match is not None and match.level >= params.get("rel", 1)
        verdicts.append((relevant, match is not None))
    return verdicts


def by_overlap(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Relevant: overlaps any relevant segment (Aly et al., section 2).

    With `once`, one that no earlier result overlapped; all that a result overlaps are then used.
    """
    used: set[int] = set()
    verdicts = []
    for result in results:
        relevant = judged = False
        met = []
        for n, segment in enumerate(qrels):
            if segment.video != result.video:
                continue
            if not meets(result.start, result.end, segment.start, segment.end):
                continue
            judged = True
            if segment.level < params.get("rel", 1):
                continue
            met.append(n)
            if not params.get("once", False) or n not in used:
                relevant = True
        used.update(met)
        verdicts.append((relevant, judged))
    return verdicts


def bin_of(params: Params, segment: Judged | Result) -> tuple[str, int]:
    """Return the bin of a segment's start (Aly et al., section 2)."""
    return segment.video, math.floor(segment.start / params.get("bin", 300))


def relevant_bins(params: Params, qrels: list[Judged]) -> set[tuple[str, int]]:
    """Return the distinct bins in which a relevant segment starts (Aly et al., section 2)."""
    return {bin_of(params, segment) for segment in relevant_of(params, qrels)}


def by_bin(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Verdicts on *bins*, those of the results without repeats (Aly et al., section 2)."""
    relevant = relevant_bins(params, qrels)
    judged = {bin_of(params, segment) for segment in qrels}
    done = set()
    verdicts = []
    for result in results:
        place = bin_of(params, result)
        if place in done:
            continue
        done.add(place)
        verdicts.append((place in relevant, place in judged))
    return verdicts


def by_tol(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Relevant: [s, s + tol) meets a relevant segment, and nothing seen (Aly et al., section 2).

    Seen is [s', s' + tol) of every earlier result, or, with seen='relevant' (Figure 3), of every
    relevant segment that such a window met, what lies from s' to the segment's end.
    """
    tol = params.get("tol", 15)
    seen: list[tuple[str, float, float]] = []
    verdicts = []
    for result in results:
        start, stop = result.start, result.start + tol
        met = []
        judged = False
        for segment in qrels:
            if segment.video != result.video:
                continue
            if not meets(start, stop, segment.start, segment.end):
                continue
            judged = True
            if segment.level >= params.get("rel", 1):
                met.append(segment)
        old = False
        for video, seen_start, seen_stop in seen:
            if video == result.video and meets(start, stop, seen_start, seen_stop):
                old = True
        verdicts.append((bool(met) and not old, judged))
        if params.get("seen") == "relevant":
            seen += [(result.video, max(start, segment.start), segment.end) for segment in met]
        else:
            seen.append((result.video, start, stop))
    return verdicts


BINARY: dict[str, Callable[..., Verdicts]] = {
    "iou": by_iou,
    "overlap": by_overlap,
    "bin": by_bin,
    "tol": by_tol,
}


def best_ious(params: Params, qrels: list[Judged], results: list[Result]) -> list[float]:
    """Return each result's highest IoU with any relevant segment (AxIoU paper)."""
    relevant = relevant_of(params, qrels)
    return [max([0.0, *(iou(result, segment) for segment in relevant)]) for result in results]


def top_ious(params: Params, qrels: list[Judged], results: list[Result]) -> list[float]:
    """Return the highest IoUs of the ranks 1 to K; where the list has ended, 0."""
    values = best_ious(params, qrels, results)[: params["cutoff"]]
    while len(values) < params["cutoff"]:
        values.append(0.0)
    return values


# -------------------------------------------------------------------- measures: the papers'


def discounted(gains: list[float]) -> float:
    """Return the sum of gain k over log2(k + 1)."""
    total = 0.0
    for k, gain in enumerate(gains, start=1):
        total += gain / math.log2(k + 1)
    return total


def gain_of(params: Params, level: int) -> float:
    """Return the level itself, or 2^level - 1 for dcg='exp-log2' (TVR-Ranking, section 4)."""
    return float(2**level - 1) if params.get("dcg", "log2") == "exp-log2" else float(level)


def dcg(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """DCG: over the levels taken (TVR-Ranking, section 4), or over IoU (AxIoU paper)."""
    if params.get("match", "iou") == "maxiou":
        return discounted(best_ious(params, qrels, results)[: params.get("cutoff")])
    matches = greedy(params, qrels, results)[: params.get("cutoff")]
    return discounted([0.0 if match is None else gain_of(params, match.level) for match in matches])


def ndcg(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """NDCG: TVR-Ranking, section 4. The ideal list is the query's K highest levels."""
    levels = sorted((segment.level for segment in qrels), reverse=True)
    ideal = [gain_of(params, level) for level in levels[: params.get("cutoff")]]
    if not levels or levels[0] <= 0:
        return 0.0
    return dcg(params, qrels, results) / discounted(ideal)


def recall(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """R@K,theta of video moment retrieval (AxIoU paper): any IoU of the top K passes."""
    for value in best_ious(params, qrels, results)[: params.get("cutoff")]:
        if passes_theta(params, value):
            return 1.0
    return 0.0


def passes_theta(params: Params, value: float) -> bool:
    """Compare an IoU with theta: greater, or at least as great for strict=False (AxIoU paper)."""
    return value > params["iou"] if params.get("strict", True) else value >= params["iou"]


def mean_precision(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """MeanP, the AxIoU paper's "AP@K,theta" (appendix, equation 12): mean precision at 1 to K."""
    values = top_ious(params, qrels, results)
    total = 0.0
    for k in range(1, params["cutoff"] + 1):
        hits = 0
        for value in values[:k]:
            hits += passes_theta(params, value)
        total += hits / k
    return total / params["cutoff"]


def axiou(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """AxIoU paper, equation 5: the mean over k = 1 to K of the best IoU within the first k."""
    values = top_ious(params, qrels, results)
    total = 0.0
    for k in range(1, params["cutoff"] + 1):
        total += max(values[:k])
    return total / params["cutoff"]


def ncxiou(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """NCxIoU: equation 4 of the AxIoU paper, its users stopping by another distribution.

    Who has stopped at none of the ranks 1 to K - 1 stops at K.
    """
    cutoff = params["cutoff"]
    values = top_ious(params, qrels, results)
    stop, p = params.get("stop", "uniform"), params.get("p", 0.8)
    total = 0.0
    remaining = 1.0
    for k in range(1, cutoff + 1):
        if k == cutoff:
            mass = remaining
        elif stop == "uniform":
            mass = 1 / cutoff
        elif stop == "rbp":
            mass = p ** (k - 1) * (1 - p)
        elif stop == "err":
            mass = values[k - 1]
            for value in values[: k - 1]:
                mass *= 1 - value
        else:
            raise ValueError(stop)
        remaining -= mass
        total += mass * max(values[:k])
    return total


def verdicts_of(
    params: Params, qrels: list[Judged], results: list[Result], default: str = "iou"
) -> Verdicts:
    """Return (relevant, judged) of each result of the whole list, under `match`."""
    models = SH_MODELS if is_sh_eval(params) else BINARY
    return models[params.get("match", default)](params, qrels, results)


SH: Params = {"convention": "sh-eval"}
"""What a measure's parameters have in addition where sh_eval's models and counts apply."""


def is_sh_eval(params: Params) -> bool:
    return params.items() >= SH.items()


def hits_of(params: Params, qrels: list[Judged], results: list[Result]) -> list[bool]:
    """Return whether each of the top K results is relevant."""
    verdicts = verdicts_of(params, qrels, results)[: params.get("cutoff")]
    return [relevant for relevant, _ in verdicts]


def precision(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """P@K: relevant results among the top K, divided by K (Aly et al., section 2; sh_eval)."""
    return sum(hits_of(params, qrels, results)) / params["cutoff"]


def average_precision(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """AP: the sum of precision at the hits, divided by what there is to find.

    That is NumRel (Aly et al., section 2); by sh_eval, AP can pass 1.
    """
    wanted = num_rel(params, qrels, results)
    if wanted == 0:
        return 0.0
    total = 0.0
    hit_count = 0
    for k, hit in enumerate(hits_of(params, qrels, results), start=1):
        if hit:
            hit_count += 1
            total += hit_count / k
    return total / wanted


def judged_share(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """Judged@K: judged results among the top K, divided by K (the issue; as P@K)."""
    verdicts = verdicts_of(params, qrels, results)[: params["cutoff"]]
    return sum(judged for _, judged in verdicts) / params["cutoff"]


def recall_of_all(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """Recall@K: relevant results among the top K, divided by the relevant segments, or bins."""
    wanted = num_rel(params, qrels, results)
    return 0.0 if wanted == 0 else sum(hits_of(params, qrels, results)) / wanted


def reciprocal_rank(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """RR: one over the rank of the first relevant result of the top K."""
    for rank, relevant in enumerate(hits_of(params, qrels, results), start=1):
        if relevant:
            return 1 / rank
    return 0.0


def first_iou(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """mIoU: the best IoU of the first result."""
    return top_ious(params | {"cutoff": 1}, qrels, results)[0]


def video_recall(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """VR@K: whether one of the first K distinct videos has a relevant segment."""
    good = {segment.video for segment in relevant_of(params, qrels)}
    videos = list(dict.fromkeys(result.video for result in results))
    return float(any(video in good for video in videos[: params["cutoff"]]))


def seconds_of(parts: list[tuple[str, Fraction, Fraction]]) -> Fraction:
    """Return the time that parts of videos cover, each instant once."""
    total = Fraction(0)
    for video in {part[0] for part in parts}:
        spans = [part[1:] for part in parts if part[0] == video]
        borders = sorted({border for span in spans for border in span})
        for a, b in itertools.pairwise(borders):
            if any(start <= a and b <= end for start, end in spans):
                total += b - a
    return total


def maisp(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """MAiSP: mean over 101 points of recall of the best precision from there on, in seconds.

    Exact: a tenth of a second is its nearest float, to the last bit. `sh_played` is sh_eval's.
    """
    if is_sh_eval(params):
        return sh_played(params, qrels, results)["value"]
    wanted = [
        (segment.video, Fraction(segment.start), Fraction(segment.end))
        for segment in relevant_of(params, qrels)
    ]
    whole = seconds_of(wanted)
    if whole == 0:
        return 0.0
    points = []  # recall, precision after each result
    parts: list[tuple[str, Fraction, Fraction]] = []
    duration = Fraction(0)
    for result in results:
        start, end = Fraction(result.start), Fraction(result.end)
        duration += end - start
        for video, left, right in wanted:
            if video == result.video and max(start, left) < min(end, right):
                parts.append((video, max(start, left), min(end, right)))
        relevant = seconds_of(parts)
        points.append((relevant / whole, relevant / duration if duration else Fraction(0)))
    total = Fraction(0)
    for n in range(101):
        reached = [p for recall, p in points if recall >= Fraction(n, 100) - Fraction(1, 10**9)]
        total += max(reached, default=Fraction(0))
    return float(total / 101)


# ------------------------------------------------------------------ counts (Aly et al.'s script)


def num_q(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """NumQ (sh_eval): one per query."""
    return 1.0


def num_rel(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """NumRel: relevant segments, which sh_eval merges, or distinct relevant bins."""
    relevant = relevant_of(params, qrels)
    if params.get("match") == "bin":
        bins = touched_by(params, relevant) if is_sh_eval(params) else relevant_bins(params, qrels)
        return float(len(bins))
    return float(len(merge(relevant) if is_sh_eval(params) else relevant))


def num_ret(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """NumRet (sh_eval): results."""
    return float(len(results))


def num_rel_ret(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """NumRelRet (sh_eval): relevant results under `match`, over the whole list."""
    verdicts = verdicts_of(params, qrels, results, default="overlap")
    return float(sum(relevant for relevant, _ in verdicts))


def videos_ret(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """VideosRet (sh_eval): distinct videos among the results."""
    return float(len({result.video for result in results}))


def videos_rel(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """VideosRel (sh_eval): distinct videos among the relevant segments."""
    return float(len({segment.video for segment in relevant_of(params, qrels)}))


def length_ret(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """LengthRet: summed lengths of the results, in seconds; by sh_eval, their mean."""
    return length_of(params, results)


def length_rel(params: Params, qrels: list[Judged], results: list[Result]) -> float:
    """LengthRel: summed lengths of the relevant segments; by sh_eval, the mean of merged ones."""
    relevant = relevant_of(params, qrels)
    return length_of(params, merge(relevant) if is_sh_eval(params) else relevant)


def length_of(params: Params, segments: Sequence[Judged | Result]) -> float:
    """Return summed lengths, in seconds; by sh_eval, their mean."""
    total = 0.0
    for segment in segments:
        total += segment.end - segment.start
    return total / max(1, len(segments)) if is_sh_eval(params) else total


# --------------------------------------------------------------------- the sh-eval convention

RELEVANT, SEEN, NOT_RELEVANT, UNJUDGED = (True, True), (False, True), (False, True), (False, False)
"""What a result can be: its verdict, relevant and judged."""


def merge(segments: list[Judged]) -> list[Judged]:
    """Join segments that overlap or touch, sorted by (video, start, end) (sh_eval)."""
    joined: list[Judged] = []
    for segment in sorted(segments, key=lambda s: (s.video, s.start, s.end)):
        last = joined[-1] if joined else None
        if last is not None and last.video == segment.video and segment.start <= last.end:
            joined[-1] = last._replace(end=max(last.end, segment.end))
        else:
            joined.append(segment)
    return joined


def apart(params: Params, qrels: list[Judged]) -> tuple[list[Judged], list[Judged]]:
    """Return the relevant and the non-relevant segments."""
    relevant = relevant_of(params, qrels)
    return relevant, [segment for segment in qrels if segment not in relevant]


def touched_bins(params: Params, segment: Judged | Result) -> list[tuple[str, int]]:
    """Return every bin that [s, e) touches: s // bin to (e - 1) // bin (sh_eval)."""
    size = params.get("bin", 300)
    first, last = int(segment.start // size), int((segment.end - 1) // size)
    return [(segment.video, n) for n in range(first, last + 1)]


def touched_by(params: Params, segments: Sequence[Judged | Result]) -> dict[tuple[str, int], None]:
    """Return the distinct bins that segments touch, in their order."""
    return dict.fromkeys(place for segment in segments for place in touched_bins(params, segment))


def sh_bin(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Return the verdict on each bin of the run, first occurrences in rank, then time order."""
    relevant, judged = touched_by(params, relevant_of(params, qrels)), touched_by(params, qrels)
    return [(place in relevant, place in judged) for place in touched_by(params, results)]


def sh_overlap(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Return each result's verdict by closed intervals; nothing is consumed (sh_eval)."""
    relevant, irrelevant = map(merge, apart(params, qrels))
    verdicts = []
    for result in results:
        verdict = UNJUDGED
        for name, segments in ((NOT_RELEVANT, irrelevant), (RELEVANT, relevant)):
            for s in segments:
                if s.video == result.video and s.start <= result.end and result.start <= s.end:
                    verdict = name
        verdicts.append(verdict)
    return verdicts


def sh_tol(params: Params, qrels: list[Judged], results: list[Result]) -> Verdicts:
    """Return each result's verdict by tolerance, with sh_eval's own set of what was seen."""
    tol = params.get("tol", 15)
    relevant, irrelevant = map(merge, apart(params, qrels))
    seen: list[tuple[str, float, float]] = []
    verdicts = []
    for video, start, given in results:
        end = given or start + 1  # [0, 0] is the second 0
        met = met_by(video, start, start + tol, relevant)
        old = any(v == video and meets(start, end, left, right) for v, left, right in seen)
        if met and not old:
            seen.append((video, start, max([start + tol] + [segment.end for segment in met])))
            verdicts.append(RELEVANT)
        elif met:
            verdicts.append(SEEN)
        elif met_by(video, start, end, irrelevant):
            verdicts.append(NOT_RELEVANT)
        else:
            verdicts.append(UNJUDGED)
    return verdicts


def met_by(video: str, start: float, end: float, segments: list[Judged]) -> list[Judged]:
    """Return the segments of the video that share a point with [start, end)."""
    return [s for s in segments if s.video == video and meets(start, end, s.start, s.end)]


SH_MODELS = {"overlap": sh_overlap, "bin": sh_bin, "tol": sh_tol}


def sh_recall_points(seconds: int) -> list[int]:
    """Return the seconds of relevant content at which sh_eval takes precision.

    Every second of up to a hundred; of more, every hundredth part of them, rounded to a second,
    the last such point moved on by what is left over of whole hundreds.
    """
    points = list(range(seconds + 1))
    if seconds > 100:
        points = list(range(0, seconds, round(seconds / 100 - 1e-6)))
        points[-1] += seconds % 100
    return points


def sh_played(params: Params, qrels: list[Judged], results: list[Result]) -> dict[str, float]:
    """Return MAiSP (sh_eval), its seconds (of relevant content, played, both), its precisions.

    A result is played from its start. Each relevant part that its closed interval meets, in order,
    is played to the part's end and never again; what lies before is left, less a second. After
    each part the interval begins later by all that was played of the result so far.
    """
    unplayed = [(s.video, s.start, s.end) for s in merge(apart(params, qrels)[0])]
    seconds = int(sum(end - start for _, start, end in unplayed))
    points = sh_recall_points(seconds)
    precisions: list[float] = []
    played = relevant = 0.0
    for result in results:
        here, start = 0.0, result.start
        remaining = []
        for video, first, last in unplayed:
            inside = first <= start <= last or start <= first <= result.end
            if video != result.video or not inside:
                remaining.append((video, first, last))
                continue
            entry = max(first, start)
            here += last - start
            relevant += last - entry
            reached = [point for point in points[len(precisions) + 1 :] if point <= relevant]
            precisions += [point / (played + here - relevant + point) for point in reached]
            if entry - 1 - first > 0:
                remaining.append((video, first, entry - 1))
            start += here
        unplayed = remaining
        played += max(here, result.end - result.start)
    best = [max(precisions[n:]) for n in range(len(precisions))]
    value = (1 + sum(best)) / len(points) if best else 0.0
    at = {str(n): best[n] if n < len(best) else 0.0 for n in (5, 10, 20)}  # a point too far
    return at | {"value": value, "relevant": seconds, "played": played, "found": relevant}


def sh_table(qrels: Qrels, run: Run) -> dict[str, float]:
    """Return what sh_eval prints over all queries, by its own names; %d cuts means of counts."""
    queries = scored_queries("", qrels, run, "sh-eval")
    cells = {}

    def total(name: str, measure: Measure, params: Params, end: str = "") -> None:
        values = [measure(params | SH, qrels[query], run[query]) for query in queries]
        value = math.fsum(values)
        if not name.startswith("num"):
            value = value / len(values) if values else 0.0
        whole = name.startswith(("num", "videos", "avglength"))
        cells[name + end] = float(math.floor(value)) if whole else value

    total("num_q", num_q, {})
    total("videos_ret", videos_ret, {})
    total("videos_rel", videos_rel, {})
    total("avglength_ret", length_ret, {})
    total("avglength_rel", length_rel, {})
    for match, end in (("overlap", ""), ("bin", "_bin"), ("tol", "_tol")):
        model = {"match": match}
        total("num_rel", num_rel, model, end)
        total("num_ret", lambda *arguments: float(len(verdicts_of(*arguments))), model, end)
        total("num_rel_ret", num_rel_ret, model, end)
        total("map", average_precision, model, end)
        for k in (5, 10, 20):
            total(f"P_{k}", precision, model | {"cutoff": k}, end)
        for k in (10, 20, 30):
            total(f"Judged_{k}", judged_share, model | {"cutoff": k}, end)
    total("num_rel_secs", lambda *arguments: sh_played(*arguments)["relevant"], {})
    total("num_ret_secs", lambda *arguments: sh_played(*arguments)["played"], {})
    total("num_rel_ret_secs", lambda *arguments: sh_played(*arguments)["found"], {})
    total("maisp", maisp, {})
    for point in (5, 10, 20):
        total(f"maisp_0.{point:02}", lambda *args, at=str(point): sh_played(*args)[at], {})
    return cells


# -------------------------------------------------------------------------------- the way in

Measure = Callable[[Params, list[Judged], list[Result]], float]
COUNTS: dict[str, Measure] = {
    "NumQ": num_q,
    "NumRel": num_rel,
    "NumRet": num_ret,
    "NumRelRet": num_rel_ret,
    "VideosRet": videos_ret,
    "VideosRel": videos_rel,
    "LengthRet": length_ret,
    "LengthRel": length_rel,
}
MEASURES: dict[str, Measure] = COUNTS | {
    "nDCG": ndcg,
    "DCG": dcg,
    "R": recall,
    "P": precision,
    "AP": average_precision,
    "MeanP": mean_precision,
    "AxIoU": axiou,
    "NCxIoU": ncxiou,
    "Judged": judged_share,
    "Recall": recall_of_all,
    "RR": reciprocal_rank,
    "mIoU": first_iou,
    "VR": video_recall,
    "MAiSP": maisp,
}
MAXIOU = ("R", "MeanP", "AxIoU", "NCxIoU", "mIoU")
MODELS = {  # the relevance models that a measure is defined for; the first is its default
    **dict.fromkeys(COUNTS, ("overlap", "bin", "tol", "iou")),
    **dict.fromkeys(MAXIOU, ("maxiou",)),
    **dict.fromkeys(("P", "AP", "Judged", "RR"), ("iou", "overlap", "bin", "tol")),
    **dict.fromkeys(("VR", "MAiSP"), ("",)),
    "Recall": ("iou", "bin"),
    "nDCG": ("iou",),
    "DCG": ("iou", "maxiou"),
}


RANGES = {
    "0.5:0.95": [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95],
    "0.1:0.7:0.2": [0.1, 0.3, 0.5, 0.7],
}
"""Thresholds to average over."""


def condense(
    match: str, params: Params, qrels: list[Judged], results: list[Result]
) -> list[Result]:
    """Return the results without those that the model calls unjudged (judged_only)."""
    judged = judged_of(match, params, qrels, results)
    return [result for result, is_judged in zip(results, judged, strict=True) if is_judged]


def judged_of(match: str, params: Params, qrels: list[Judged], results: list[Result]) -> list[bool]:
    """Return whether each result is judged; of a bin, every one."""
    if match == "bin":
        bins = {bin_of(params, segment) for segment in qrels}
        return [bin_of(params, result) in bins for result in results]
    if match == "maxiou":
        return [any(iou(result, segment) > 0 for segment in qrels) for result in results]
    return [is_judged for _, is_judged in BINARY[match](params, qrels, results)]


def scored_queries(name: str, qrels: Qrels, run: Run, convention: str) -> list[str]:
    """Return the queries that count: those that the run has; in the paper's, whatever it has.

    There a measure of relevance counts queries with a relevant moment, of level 1 or more.
    """
    if convention == "paper":
        everyone = name in COUNTS or name == "Judged"
        return [q for q in qrels if everyone or any(segment.level >= 1 for segment in qrels[q])]
    return [query for query in qrels if query in run]


def score(
    name: str, params: Params, qrels: Qrels, run: Run, convention: str = "paper"
) -> dict[str, float]:
    """Return the measure's value of every query that counts under the convention."""
    if convention not in {"paper", "tvr-ranking", "sh-eval"}:
        raise ValueError(convention)
    match = params.get("match", MODELS[name][0])
    if match not in MODELS[name]:
        raise ValueError(f"{name} is not defined for match={match!r}")
    if convention == "tvr-ranking" and match == "iou":
        params = {"dcg": "exp-log2", "strict": True} | params
    if convention == "sh-eval":
        params = params | SH
    values = {}
    for query in scored_queries(name, qrels, run, convention):
        results = run.get(query, [])
        each = []
        for threshold in RANGES.get(params.get("iou"), [params.get("iou")]):
            own = params if "iou" not in params else params | {"iou": threshold}
            ranking = results
            if params.get("judged_only", False) and convention != "sh-eval":
                ranking = condense(match, own, qrels[query], results)
            each.append(MEASURES[name](own, qrels[query], ranking))
        values[query] = math.fsum(each) / len(each)
    return values


def mean(name: str, params: Params, qrels: Qrels, run: Run, convention: str = "paper") -> float:
    """Return the mean over the queries that count, the sum for counts.

    If there are none, 0, and in the paper's convention NaN for a mean.
    """
    values = list(score(name, params, qrels, run, convention).values())
    total = 0.0
    for value in values:
        total += value
    is_sum = name.startswith("Num") or (name in COUNTS and convention != "sh-eval")
    if convention == "paper" and not values and not is_sum:
        return math.nan
    return total if is_sum or not values else total / len(values)


# ------------------------------------------------------------------------- unjudged results

BOUNDED = set(MEASURES) - set(COUNTS) - {"Judged", "MAiSP"} | {"NumRelRet"}


def assignable(match: str, params: Params, qrels: list[Judged], results: list[Result]) -> list[int]:
    """Return the unjudged results that could be relevant; of a bin or a video, the first one.

    By tolerance with seen='all', a window that meets an earlier one is never relevant.
    """
    if match in {"bin", "video"}:
        places: list[Any] = [item_of(match, params, result) for result in results]
        known = {item_of(match, params, segment) for segment in qrels}
        return [n for n, at in enumerate(places) if at not in known and at not in places[:n]]
    judged = judged_of(match, params, qrels, results)
    rows = []
    for n, result in enumerate(results):
        able = result.start < result.end or (match == "iou" and params["iou"] == 0)
        if match == "tol":
            tol = params.get("tol", 15)
            able = params.get("seen") == "relevant" or not any(
                meets(result.start, result.start + tol, other.start, other.start + tol)
                for other in results[:n]
                if other.video == result.video
            )
        if able and not judged[n]:
            rows.append(n)
    return rows


def item_of(match: str, params: Params, segment: Judged | Result) -> Any:
    """Return the bin or the video of a segment."""
    return bin_of(params, segment) if match == "bin" else segment.video


def with_levels(
    match: str,
    params: Params,
    qrels: list[Judged],
    results: list[Result],
    levels: dict[int, int],
) -> tuple[list[Judged], list[Result]]:
    """Return qrels with a segment for each result of `levels`, which no other result meets.

    It gets a video of its own, with its result; where others of the video count (a bin, windows
    seen, the video itself), they stay there.
    """
    judged, ranking = list(qrels), list(results)
    for n, level in levels.items():
        video, start, end = results[n]
        if match in {"iou", "maxiou", "overlap"} or params.get("seen") == "relevant":
            video = f"unjudged {n}"
            ranking[n] = Result(video, start, end)
        if match == "tol":
            end = start + params.get("tol", 15)
        judged.append(Judged(video, start, end, level))
    return judged, ranking


def assignable_to(
    depth: float, match: str, params: Params, qrels: list[Judged], results: list[Result]
) -> list[int]:
    """Return `assignable` without those after so many results, bins or videos."""
    rows = assignable(match, params, qrels, results)
    if match not in {"bin", "video"}:
        return [n for n in rows if n < depth]
    places = [item_of(match, params, result) for result in results]
    return [n for n in rows if len(set(places[:n])) < depth]


def differences(
    name: str, params: Params, qrels: list[Judged], lists: Sequence[list[Result]], top: int
) -> Iterator[float]:
    """Yield the second list's value minus the first one's for all levels of unjudged results.

    A result of both lists has one level; what only one has is a segment that the other never meets.
    """
    match = "video" if name == "VR" else params.get("match", MODELS[name][0])
    depth = 1 if name == "mIoU" else params.get("cutoff", math.inf)
    rows_of: list[dict[Any, int]] = []
    for results in lists:
        rows_of.append({})
        for n in assignable_to(depth, match, params, qrels, results):
            item = item_of(match, params, results[n]) if match in {"bin", "video"} else results[n]
            rows_of[-1][item, results[:n].count(item)] = n
    items = list(dict.fromkeys([*rows_of[0], *rows_of[1]]))
    for assignment in itertools.product(range(top + 1), repeat=len(items)):
        found = {item: level for item, level in zip(items, assignment, strict=True) if level}
        values = []
        for results, rows in zip(lists, rows_of, strict=True):
            own = {rows[item]: level for item, level in found.items() if item in rows}
            judged, ranking = with_levels(match, params, qrels, results, own)
            judged += [
                Judged(f"only {n}", 0, 1, level)
                for n, (item, level) in enumerate(found.items())
                if item not in rows
            ]
            values.append(MEASURES[name](params, judged, ranking))
        yield values[1] - values[0]


def each_assignment(
    name: str,
    params: Params,
    qrels: list[Judged],
    results: list[Result],
    levels: Sequence[int],
    depth: float = math.inf,
) -> Iterator[tuple[dict[int, int], float]]:
    """Yield all assignments of levels to unjudged results, each with the measure recomputed.

    `depth` leaves out those after so many results, bins or videos.
    """
    match = "video" if name == "VR" else params.get("match", MODELS[name][0])
    rows = assignable_to(depth, match, params, qrels, results)
    for assignment in itertools.product(levels, repeat=len(rows)):
        chosen = dict(zip(rows, assignment, strict=True))
        found = {n: level for n, level in chosen.items() if level}
        yield chosen, MEASURES[name](params, *with_levels(match, params, qrels, results, found))


def score_unjudged(
    name: str, params: Params, qrels: Qrels, run: Run, convention: str, rates: Rates | None = None
) -> dict[str, float]:
    """Return each query's highest value over all assignments or, with `rates`, the expected one.

    Rates are the probability of each level at each rank from 1; what is below the cutoff stays.
    """
    top = max([params.get("rel", 1), *(s.level for rows in qrels.values() for s in rows)])
    levels = range(1 + (max(max(rate) for rate in rates) if rates else top))
    if convention == "tvr-ranking" and params.get("match", MODELS[name][0]) == "iou":
        params = {"dcg": "exp-log2", "strict": True} | params
    values = {}
    for query in scored_queries(name, qrels, run, convention):
        each = []
        for threshold in RANGES.get(params.get("iou"), [params.get("iou")]):
            own = params if "iou" not in params else params | {"iou": threshold}
            listed = qrels[query], run.get(query, []), levels
            if rates is None:
                each.append(max(value for _, value in each_assignment(name, own, *listed)))
            else:
                depth = 1 if name == "mIoU" else params.get("cutoff", math.inf)
                found = each_assignment(name, own, *listed, depth)
                chances = (
                    (math.prod(rates[n].get(level, 0.0) for n, level in chosen.items()), value)
                    for chosen, value in found
                )
                each.append(sum(chance * value for chance, value in chances))
        values[query] = sum(each) / len(each)
    return values


# ------------------------------------------------------------------------------ random cases


class Case(NamedTuple):
    """A random small test collection; `seed` makes it again."""

    seed: str
    qrels: Qrels
    run: Run


# Times by grid: thirds and halves as IoU, all of them touching; floating point's tenths, near 0
# and late in a long video; the borders of bins and tolerances, which are also integer seconds.
GRIDS: dict[str, list[float]] = {
    "integers": [float(n) for n in range(7)],
    "tenths": [n / 10 for n in range(31)],
    "late": [3600 + n / 10 for n in range(31)],
    "minute": [float(n) for n in range(61)],
    "bins": sorted(
        {
            float(max(0, border + step))
            for border in (0, 15, 300, 315, 600, 900)
            for step in (-16, -15, -14, -1, 0, 1, 14, 15, 16)
        }
    ),
}
INTEGER_GRIDS = ("integers", "minute", "bins")
VIDEOS = ("a", "b")


def case(seed: int | str, *, integer: bool = False, empty_lists: bool = True) -> Case:
    """Make one case. `integer`: integer seconds alone (what sh-eval reads).

    Without `empty_lists`, a query without segments or results is no key (what tables can say).
    """
    rng = random.Random(f"{seed}")
    grid = GRIDS[rng.choice(INTEGER_GRIDS if integer else tuple(GRIDS))]
    qrels: Qrels = {}
    run: Run = {}
    for n in range(rng.randint(1, 4)):
        query = f"q{n}"
        segments = random_segments(rng.random, grid)
        fate = rng.random()
        if fate < 0.9:
            qrels[query] = segments
        if fate < 0.8 or fate >= 0.9:  # else missing in the run; from 0.9 on only in the run
            run[query] = random_results(rng.random, grid, segments)
    if not qrels:
        qrels["q"] = random_segments(rng.random, grid)
    if not empty_lists:
        qrels = {query: segments for query, segments in qrels.items() if segments}
        run = {query: results for query, results in run.items() if results}
    return Case(f"{seed}", qrels, run)


def cases(seed: int, *, integer: bool = False, empty_lists: bool = True) -> Iterator[Case]:
    """Make random small cases without end: overlaps, ties, duplicates, nothing at all."""
    for n in itertools.count():
        yield case(f"{seed}-{n}", integer=integer, empty_lists=empty_lists)


Draw = Callable[[], float]
"""`random` of a generator: uniform numbers below 1. To call nothing else draws in half the time."""


def pick(draw: Draw, values: Sequence[T]) -> T:
    """Draw one of some values."""
    return values[int(draw() * len(values))]


WIDTHS = (0, 1, 1, 2, 3, 3, 6, 99)
"""Between the two times of an interval, in steps of the grid, which may end before."""


def random_interval(draw: Draw, grid: list[float]) -> tuple[float, float]:
    """Draw two times of the grid, often close, sometimes the same."""
    first = int(draw() * len(grid))
    last = first + WIDTHS[int(draw() * 8)]
    return grid[first], grid[last] if last < len(grid) else grid[-1]


def random_segments(draw: Draw, grid: list[float]) -> list[Judged]:
    """Draw up to eight judged segments: duplicates, neighbours, all of level 0, none."""
    segments: list[Judged] = []
    levels = 1 + pick(draw, (0, 1, 1, 2, 4, 4, 4))
    for _ in range(pick(draw, (0, 1, 2, 3, 4, 5, 6, 8))):
        trick = draw() if segments else 1.0
        if trick < 0.15:  # the same once more, perhaps of another level
            video, start, end, _ = pick(draw, segments)
        else:
            video, (start, end) = pick(draw, VIDEOS), random_interval(draw, grid)
            if trick < 0.3:  # one that begins where another ends
                video, _, start, _ = pick(draw, segments)
                end = max(start, end)
        segments.append(Judged(video, start, end, int(draw() * levels)))
    return segments


FOUND_IN = (*VIDEOS, *VIDEOS, "c")
"""Videos of results: one of five is in a video that nobody judged."""


def random_results(draw: Draw, grid: list[float], segments: list[Judged]) -> list[Result]:
    """Draw up to twelve results: exact hits, neighbours, repeats, a video nobody judged, none."""
    results: list[Result] = []
    for _ in range(pick(draw, (0, 1, 2, 3, 5, 8, 12))):
        trick = draw()
        if segments and trick < 0.2:
            video, start, end, _ = pick(draw, segments)
        elif segments and trick < 0.35:  # touches a judged segment
            video, before, after, _ = pick(draw, segments)
            start, end = random_interval(draw, grid)
            if trick < 0.3:
                start, end = after, max(after, end)
            else:
                start, end = min(start, before), before
        elif results and trick < 0.5:
            video, start, end = pick(draw, results)
        else:
            video, (start, end) = pick(draw, FOUND_IN), random_interval(draw, grid)
        results.append(Result(video, start, end))
    return results


def settings_of_iou() -> Iterator[tuple[str, Params, str]]:
    """List names, parameters and conventions worth comparing: measures with a threshold."""
    for k, mu in itertools.product((1, 2, 3, 10), (0.3, 1 / 3, 0.5, 2 / 3, 0.7, 1.0)):
        at = {"iou": mu, "cutoff": k}
        yield from (("nDCG", at | {"dcg": gain}, "paper") for gain in ("log2", "exp-log2"))
        yield from ((name, at, "tvr-ranking") for name in ("nDCG", "Judged"))
        for name, strict in itertools.product(("R", "MeanP", "P", "AP"), (True, False)):
            yield name, at | {"strict": strict}, "paper"
        for name, more in itertools.product(
            ("nDCG", "DCG", "R", "MeanP", "P", "AP", "Judged", "RR", "Recall"),
            ({}, {"judged_only": True}),
        ):
            yield name, at | more, "paper"
        yield from (
            (name, at | {"rel": 2}, "paper") for name in ("R", "MeanP", "P", "AP", "Recall")
        )


def settings_of_ranges() -> Iterator[tuple[str, Params, str]]:
    """List the same for averages over thresholds, and for one result, videos and seconds."""
    names = ("AP", "nDCG", "R", "RR", "P", "Recall", "Judged", "MeanP", "DCG")
    for name, iou_range in itertools.product(names, RANGES):
        for more in ({}, {"strict": True}, {"judged_only": True}):
            if not (name == "Judged" and "judged_only" in more):
                yield name, {"iou": iou_range, "cutoff": 3} | more, "paper"
        yield name, {"iou": iou_range, "cutoff": 3}, "tvr-ranking"
    for more, convention in itertools.product(
        ({}, {"rel": 2}, {"judged_only": True}), ("paper", "tvr-ranking")
    ):
        yield "mIoU", more, convention
        if "judged_only" not in more:
            yield from (("VR", {"cutoff": k} | more, convention) for k in (1, 2, 5))
            yield "MAiSP", more, convention


def settings_of_maxiou() -> Iterator[tuple[str, Params, str]]:
    """List the same for the measures of IoU itself."""
    for k, more in itertools.product(
        (1, 2, 3, 10), ({}, {"rel": 2}, {"judged_only": True}, {"rel": 2, "judged_only": True})
    ):
        yield "AxIoU", {"cutoff": k} | more, "paper"
        yield "DCG", {"match": "maxiou", "cutoff": k} | more, "paper"
        for stop in ({"stop": "uniform"}, {"stop": "rbp"}, {"stop": "rbp", "p": 0.5}):
            yield "NCxIoU", {"cutoff": k} | stop | more, "paper"
        yield "NCxIoU", {"cutoff": k, "stop": "err"} | more, "paper"


def settings_of_binary() -> Iterator[tuple[str, Params, str]]:
    """List the same for Aly et al.'s models and the counts, in both conventions."""
    models: list[Params] = [{"match": "overlap"}, {"match": "overlap", "once": True}]
    models += [{"match": "bin"}, {"match": "bin", "bin": 2}]
    for tol in (15, 2, 0.3):
        models += [{"match": "tol", "tol": tol}, {"match": "tol", "tol": tol, "seen": "relevant"}]
    for model, more in itertools.product(models, ({}, {"rel": 2}, {"judged_only": True})):
        for k in (1, 3):
            yield from ((n, model | more | {"cutoff": k}, "paper") for n in ("P", "AP", "RR"))
            if model["match"] == "bin":
                yield "Recall", model | more | {"cutoff": k}, "paper"
        yield from ((name, model | more, "paper") for name in ("AP", "RR"))
        yield "NumRelRet", model | more, "paper"
        yield from (("Judged", model | more | {"cutoff": k}, "paper") for k in (1, 3, 10))
    for match, convention in itertools.product(("overlap", "bin", "tol"), ("paper", "sh-eval")):
        yield from ((name, {"match": match}, convention) for name in COUNTS)
    yield "MAiSP", {}, "sh-eval"
    for match in ("overlap", "bin", "tol"):
        yield "AP", {"match": match}, "sh-eval"
        for name, k in itertools.product(("P", "Judged"), (1, 3, 10)):
            yield name, {"match": match, "cutoff": k}, "sh-eval"


SETTINGS = [
    *settings_of_iou(),
    *settings_of_ranges(),
    *settings_of_maxiou(),
    *settings_of_binary(),
]
