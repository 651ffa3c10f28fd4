"""Why a number differs from a published one: what scripts do differently, tried on the same files.

A combination is a measure by a convention (by `paper` also with another gain or comparison of IoU),
the queries that count, and at most one change of the files: non-maximum suppression (NMS), joined
moments, or another unit of time.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from momentrank import conventions
from momentrank.conventions.base import Convention
from momentrank.conventions.paper import Paper
from momentrank.conventions.suppression import DROPPED, Suppressed, rank_kept
from momentrank.errors import UsageError
from momentrank.formats import Truth, official_convention
from momentrank.matching.aligned import Results
from momentrank.matching.timeline import build_timeline
from momentrank.measures import AP, VR, Measure, R, mIoU
from momentrank.measures.params import Choice
from momentrank.mismatches import middle
from momentrank.scoring import Evaluator
from momentrank.segments import Floats, Numbers, Segments, distinct, find_null

NMS, LIMITS = "NMS", (0.4, 0.45, 0.49, 0.5, 0.7)
"""The IoUs above which scripts in use drop a result."""
UNITS = {"clips of 2 s": 2.0, "frames, 25 a second": 1 / 25, "frames, 30 a second": 1 / 30}
ROUNDED = {"clips of 2 s": 2.0, "whole seconds": 1.0}
NOT_MISSING = "without the queries that the run lacks"
COUNTS_NULL = "queries without a relevant moment count as 0"
WORDS: dict[tuple[str, object], str] = {
    ("strict", True): "IoU > threshold",
    ("strict", False): "IoU >= threshold",
    ("dcg", "log2"): "gain: the level",
    ("dcg", "exp-log2"): "gain: 2^level - 1",
}
STEPS, LIKELY = 10, 0.5
"""Steps of the last published digit, on either side, in which values are counted to estimate how
many match by chance; and from how many on a match may be one of them."""
DECIMALS, CLOSE = 9, 1e-9
Words = tuple[str, ...]
Run = Mapping[str, Segments]


class Published(NamedTuple):
    """A published number, and the unit of its last digit."""

    value: float
    step: float


class Combination(NamedTuple):
    """What gives a value, and its distance from the published number.

    `varied` says in words what differs from the measure by the convention.
    """

    measure: str
    convention: str
    varied: Words
    value: float
    distance: float


class Reconciliation(NamedTuple):
    """The combinations that give the published number, the simplest first; or all, by distance.

    `tried` counts all, `values` the different values, `matching` those that round to the published
    number, and `by_chance` how many would if there, values were as dense as close by.
    """

    combinations: list[Combination]
    tried: int
    values: int
    matching: int
    by_chance: float

    @property
    def is_doubtful(self) -> bool:
        """Whether a match may be a coincidence: different values match, or many come close."""
        return self.matching > 1 or (self.matching == 1 and self.by_chance >= LIKELY)


class CountingNull(Paper):
    """`paper`, with the value 0 for queries without a relevant moment."""

    select_counted = Convention.select_counted


class Change(NamedTuple):
    """What is done to the files, in words, and their content after that."""

    words: Words
    qrels: Segments
    run: Run


def reconcile(
    truth: Truth,
    run: Run,
    measures: Sequence[Measure],
    published: Published,
    begin: Callable[[str, int], Callable[[int], object]] = lambda *_: int,
) -> Reconciliation:
    """Compare all combinations with a published number, in percent and as a fraction.

    Args:
        truth: the judged segments.
        run: the whole lists, by task.
        measures: those that the number may be; none: those that the qrels allow, and the table of
            the benchmark whose format they have.
        published: the number.
        begin: begins a bar with a number of steps.
    """
    defined = define(measures or default_measures(truth.segments, run), truth, run)
    official = "" if measures else official_convention(truth)
    changes = list(list_changes(truth, run))
    done = begin("combinations", len(changes))
    unchanged: dict[Key, float] = {}
    found: list[tuple[Key, float]] = []
    tried = 0
    for change in changes:
        for key, value in _score(defined, official, truth, change):
            tried += 1
            if not math.isnan(value) and value != unchanged.get(key):  # else, it changes nothing
                found.append(((*key[:2], (*key[2], *change.words)), value))
            if not change.words:
                unchanged[key] = value
        done(1)
    return _compare(found, tried, published)


def default_measures(qrels: Segments, run: Run) -> list[Measure]:
    """Return R, mIoU and, if the files allow them, AP (several moments), nDCG (levels), and VR."""
    measures: list[Measure] = [R(iou=iou) @ k for k in (1, 5, 10) for iou in (0.3, 0.5, 0.7)]
    measures.append(mIoU)
    if (np.diff(qrels.query[qrels.value >= 1]) == 0).any():
        measures += [AP(iou=iou) for iou in (0.5, 0.75, "0.5:0.95")]
    if (qrels.value > 1).any():
        measures += Paper().defaults()
    [first, *_] = run.values()
    if len(set(zip(first.query.tolist(), first.video, strict=True))) > len(first.queries):
        measures += [VR @ k for k in (1, 5, 10, 100)]
    return measures


Defined = dict[Convention, dict[Measure, Words]]
"""The measures that conventions define, and what is varied in each."""


def define(asked: Sequence[Measure], truth: Truth, run: Run) -> Defined:
    """Return what each convention defines of the measures; one that refuses the qrels, nothing."""
    listed = [conventions.get(name) for name in conventions.CONVENTIONS]
    listed += [CountingNull()] if find_null(truth.segments) else []
    defined: Defined = {each: {} for each in listed if not (each.distinct and truth.conflict)}
    for convention, measures in defined.items():
        for measure in asked:
            for variant, words in _vary(measure, convention):
                if _is_defined(convention, variant, run):
                    measures.setdefault(convention.resolve(variant), words)
    return defined


def _vary(measure: Measure, convention: Convention) -> Iterator[tuple[Measure, Words]]:
    """Yield a measure as the convention has it; by `paper`, with each gain and comparison."""
    varying = {name: param for name, param in measure.PARAMS.items() if param.varies}
    fixed = {name: value for name, value in measure.params.items() if name not in varying}
    if not isinstance(convention, Paper) or convention.changes:
        yield type(measure)(**fixed), ()
        return
    null = (COUNTS_NULL,) if isinstance(convention, CountingNull) else ()
    choices = [param.choices for param in varying.values() if isinstance(param, Choice)]
    for values in product(*choices):
        chosen = dict(zip(varying, values, strict=True))
        words = [WORDS[each] for each in chosen.items() if each not in measure.settings().items()]
        other = {name: value for name, value in chosen.items() if value != varying[name].default}
        yield type(measure)(**fixed, **other), (*words, *null)


def _is_defined(convention: Convention, measure: Measure, run: Run) -> bool:
    try:
        measure.validate_params()
        convention.check(measure)
        convention.list_of(measure, run)
    except UsageError:
        return False
    return True


def list_changes(truth: Truth, run: Run) -> Iterator[Change]:
    """Yield the files as they are, and each change that does change something.

    A unit of time is tried if it brings the ends of results nearer to those of judged moments.
    """
    qrels = truth.segments

    def alter(words: str, how: Callable[[Segments], Segments]) -> Change:
        return Change((words,), qrels, {task: how(each) for task, each in run.items()})

    def stretch(each: Segments) -> Segments:
        whole = [truth.durations[video] for video in each.video]
        return _scale(each, np.array(whole, np.float64) / 100)

    units = []
    if all(set(each.video) <= truth.durations.keys() for each in run.values()):
        units.append(alter("results in percent of their video", stretch))
    for unit, seconds in UNITS.items():
        units.append(alter(f"results in {unit}", partial(_scale, factor=seconds)))
        units.append(Change((f"judged moments in {unit}",), _scale(qrels, seconds), run))
    apart = _compare_ends(qrels, run)
    changes = [
        Change(("moments that touch merged",), _join(qrels, whole=False), run),
        Change(("from the first start to the last end",), _join(qrels, whole=True), run),
        Change(("each query's first moment only",), _take_first(qrels), run),
        *(alter(f"{NMS} at {limit:g}", partial(suppress, limit=limit)) for limit in LIMITS),
        *(alter(f"rounded to {unit}", partial(_round, step=s)) for unit, s in ROUNDED.items()),
        *(each for each in units if _compare_ends(each.qrels, each.run) < apart),
    ]
    yield Change((), qrels, run)
    for change in changes:
        if _differ(qrels, change.qrels) or any(_differ(run[t], change.run[t]) for t in run):
            yield change


def _differ(one: Segments, other: Segments) -> bool:
    return not all(np.array_equal(*pair) for pair in zip(one[3:5], other[3:5], strict=True))


def _join(qrels: Segments, *, whole: bool) -> Segments:
    """Return one relevant moment for those of a query and video that touch; `whole`: for all."""
    numbers = Numbers().encode(qrels.video)
    query_video = qrels.query * (1 + numbers.max(initial=0)) + numbers
    line = build_timeline(query_video, qrels.start, qrels.end, qrels.value >= 1)
    rows = line.rows
    is_first = np.diff(query_video[rows], prepend=-1) > 0
    if not whole:
        is_first[1:] = line.start[1:] > line.latest[:-1]
    first = np.flatnonzero(is_first)
    return qrels._replace(
        query=qrels.query[rows[first]],
        video=[qrels.video[row] for row in rows[first].tolist()],
        start=qrels.start[rows[first]],
        end=np.maximum.reduceat(qrels.end[rows], first),
        value=np.maximum.reduceat(qrels.value[rows], first),
    )


def _take_first(qrels: Segments) -> Segments:
    relevant = np.flatnonzero(qrels.value >= 1)
    _, first = np.unique(qrels.query[relevant], return_index=True)
    return qrels.select(np.isin(np.arange(len(qrels.query)), relevant[first]))


def suppress(run: Segments, limit: float) -> Segments:
    """Return what NMS keeps of each list, in its order: results with an IoU of at most `limit`."""
    videos = Numbers().encode(run.video)
    results = Results(run.query, run.rank, videos, run.start, run.end, run.value)
    depth = int(run.rank.max(initial=0))
    return run.select(rank_kept(results, np.arange(len(videos)), limit, depth) < DROPPED)


def _round(segments: Segments, step: float) -> Segments:
    start, end = (np.round(times / step) * step for times in (segments.start, segments.end))
    return segments._replace(start=start, end=end)


def _scale(segments: Segments, factor: float | Floats) -> Segments:
    return segments._replace(start=segments.start * factor, end=segments.end * factor)


def _compare_ends(qrels: Segments, run: Run) -> float:
    """Return how far apart the ends of results and of judged moments are, as the log of a ratio."""
    ends = np.concatenate([each.end for each in run.values()])
    if not len(ends) or not len(qrels.end) or min(middle(ends), middle(qrels.end)) <= 0:
        return math.inf
    return abs(math.log(middle(ends) / middle(qrels.end)))


Key = tuple[str, str, Words]
"""The name of a measure or a cell of a benchmark's table, a convention, and what is varied."""


def _score(
    defined: Defined, official: str, truth: Truth, change: Change
) -> Iterator[tuple[Key, float]]:
    for convention, measures in defined.items():
        twice = isinstance(convention, Suppressed) and any(NMS in each for each in change.words)
        if twice or not measures:
            continue
        run = change.run
        if convention.distinct:
            run = {task: distinct(each) for task, each in run.items()}
        evaluator = Evaluator(measures, replace(truth, segments=change.qrels), convention)
        in_run = {query for each in run.values() for query in each.queries}
        for measure, (names, values) in evaluator.per_query(run).items():
            key = repr(measure), convention.name, measures[measure]
            yield key, evaluator.aggregate(measure, values)
            rows = np.array([name in in_run for name in names], dtype=bool)
            if rows.any() and not rows.all() and not measure.COLLECTIVE:
                value = evaluator.aggregate(measure, values[rows])
                yield (*key[:2], (*key[2], NOT_MISSING)), value
    if official:
        convention = conventions.get(official)
        cells = convention.table_of(change.qrels, change.run)
        yield from (((name, official, ()), cells[name]) for name in convention.brief)


def _compare(
    found: Sequence[tuple[Key, float]], tried: int, published: Published
) -> Reconciliation:
    combinations = []
    for (measure, convention, varied), share in found:
        for factor, unit in ((100, "in percent"), (1, "as a fraction")):
            value = share * factor
            unusual = (unit,) if (factor == 1) == (published.value > 1) else ()
            distance = abs(value - published.value)
            combinations.append(
                Combination(measure, convention, (*varied, *unusual), value, distance)
            )
    values = np.unique(np.round([each.value for each in combinations], DECIMALS))
    distances = np.abs(values - published.value)
    half = published.step / 2 + CLOSE
    matching = int((distances <= half).sum())
    near = int((distances <= half + STEPS * published.step).sum()) - matching
    if matching:
        combinations = [each for each in combinations if each.distance <= half]
        combinations.sort(key=lambda each: len(each.varied))
    else:
        combinations.sort(key=lambda each: (each.distance, len(each.varied)))
    return Reconciliation(combinations, tried, len(values), matching, near / (2 * STEPS))
