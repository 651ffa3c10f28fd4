"""What a board says of its entries: values, intervals, groups, bounds, strata, telling queries."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from momentrank.board.rows import Board, Entry, Row, Telling, Values
from momentrank.errors import UsageError
from momentrank.explanation import explain
from momentrank.formats import Lists
from momentrank.measures import Measure
from momentrank.meta.band import Noise, measure_gaps
from momentrank.meta.systems import Systems, check_measures
from momentrank.query_groups import Groups, select_queries
from momentrank.scoring import Evaluator, PerQuery
from momentrank.segments import Bools, Floats, Ints
from momentrank.significance import (
    CONFIDENCE,
    ROUNDS,
    SEED,
    TESTS,
    check_queries,
    compare_all,
    iterate_letters,
    mean_intervals,
)
from momentrank.unjudged import BOUNDS

SHOWN = 10


@dataclass(frozen=True)
class Settings:
    """How runs are told apart, and what else is shown."""

    test: str = TESTS[0]
    rounds: int = ROUNDS
    confidence: float = CONFIDENCE
    seed: int = SEED
    noise: Noise | None = None
    telling: bool = True

    @property
    def alpha(self) -> float:
        """The corrected p below which runs are told apart."""
        return round(1 - self.confidence, 12)


class _Scored:
    """One entry's lists and values."""

    def __init__(self, entry: Entry, lists: Lists, evaluator: Evaluator, *, bounds: bool) -> None:
        self.entry, self.lists = entry, lists
        finds = [None, evaluator.assume(BOUNDS)] if bounds else [None]
        self.per_query, *upper = evaluator.per_query_of_each(lists, finds)
        self.upper: PerQuery = upper[0] if upper else {}
        run = lists[evaluator.convention.list_of(evaluator.measures[0], lists)]
        number: Ints = np.bincount(run.query, minlength=len(run.queries))
        results = dict(zip(run.queries, number.tolist(), strict=True))
        self.results = [results.get(query, 0) for query in evaluator.queries]


def build_board(
    entries: Sequence[Entry],
    read: Callable[[Entry], Lists],
    evaluator: Evaluator,
    measures: Sequence[Measure],
    settings: Settings,
    groups: Groups,
    source: Mapping[str, str],
) -> Board:
    """Score all entries and compare them.

    Args:
        entries: whose runs are scored.
        read: returns the lists of an entry's run.
        evaluator: of the measures and, where wanted, Judged.
        measures: those that say which run is better; the first one orders them.
        settings: of tests, intervals and noise.
        groups: of queries; values by group are shown if there are several.
        source: what the page says about where its numbers come from.

    Raises:
        UsageError: a measure does not order runs, or runs are scored on different queries.
    """
    check_measures(measures)
    notes = []
    try:
        evaluator.assume(BOUNDS)
        bounds = True
    except UsageError as exc:
        notes.append(f"No bounds for unjudged results: {exc}.")
        bounds = False
    scored = [_Scored(entry, read(entry), evaluator, bounds=bounds) for entry in entries]
    main = measures[0]
    for measure in measures:
        check_queries(measure, [each.per_query[measure][0] for each in scored])
    rows = [_build_row(each, evaluator, groups if len(groups) > 1 else {}) for each in scored]
    rows = _add_intervals(rows, scored, measures, settings)
    tables = np.array([each.per_query[main][1] for each in scored])
    order = sorted(
        range(len(rows)), key=lambda at: (-rows[at].values[repr(main)], rows[at].entry.name)
    )
    for at, letters in zip(order, _group(tables, order, settings), strict=True):
        rows[at] = replace(rows[at], letters=letters)
    if settings.noise:
        rows = _add_noise(rows, scored, evaluator, main, settings, rows[order[0]].entry)
    if settings.telling:
        spread = tables.std(axis=0)
        rows = [
            replace(row, telling=_tell(each, middle, spread, evaluator, main, alone=len(rows) == 1))
            for row, each, middle in zip(rows, scored, compute_medians(tables), strict=True)
        ]
    pairs = len(rows) * (len(rows) - 1) // 2
    return Board(
        rows=tuple(rows[at] for at in order),
        measures=tuple(map(repr, evaluator.measures)),
        queries=tables.shape[1],
        test=f"paired {settings.test} test over {tables.shape[1]} queries by {main!r},"
        f" p < {settings.alpha:g} after Holm's correction over all pairs of runs ({pairs})",
        source=source,
        strata={
            name: len(set(queries) & set(scored[0].per_query[main][0]))
            for name, queries in (groups.items() if len(groups) > 1 else ())
        },
        notes=tuple(notes),
    )


def _build_row(each: _Scored, evaluator: Evaluator, groups: Groups) -> Row:
    return Row(
        each.entry,
        _by_name(evaluator.totals(each.per_query)),
        answered=sum(number > 0 for number in each.results),
        shortest=min(each.results),
        upper=_by_name(evaluator.totals(each.upper)),
        strata={name: evaluate_group(evaluator, each.per_query, queries)
                for name, queries in groups.items()},
    )  # fmt: skip


def _by_name(totals: Mapping[Measure, float]) -> Values:
    return {repr(measure): value for measure, value in totals.items()}


def evaluate_group(evaluator: Evaluator, scored: PerQuery, queries: Sequence[str]) -> Values:
    """Return each measure over those of some queries that count; NaN if none does."""
    chosen = set(queries)
    values = {}
    for measure, (names, each) in scored.items():
        some = each[np.array([name in chosen for name in names], dtype=bool)]
        values[repr(measure)] = evaluator.aggregate(measure, some) if len(some) else float("nan")
    return values


def _add_intervals(
    rows: Sequence[Row], scored: Sequence[_Scored], measures: Sequence[Measure], settings: Settings
) -> list[Row]:
    tables = {measure: np.array([each.per_query[measure][1] for each in scored])
              for measure in measures}  # fmt: skip
    by_measure = {}
    for size in {table.shape[1] for table in tables.values()}:  # which share the bootstrap's draws
        alike = [measure for measure in tables if tables[measure].shape[1] == size]
        each = mean_intervals(
            np.concatenate([tables[measure] for measure in alike]),
            settings.rounds,
            settings.confidence,
            settings.seed,
        )
        for at, measure in enumerate(alike):
            by_measure[repr(measure)] = each[at * len(scored) : (at + 1) * len(scored)]
    return [
        replace(row, intervals={name: each[at] for name, each in by_measure.items()})
        for at, row in enumerate(rows)
    ]


def _group(values: Floats, order: Sequence[int], settings: Settings) -> list[str]:
    """Return the letters of each run in order, shape of `values` (runs, queries)."""
    corrected = compare_all(values[list(order)], settings.test, settings.rounds, settings.seed)
    apart = np.zeros((len(order), len(order)), dtype=bool)
    rows, columns = np.triu_indices(len(order), 1)
    apart[rows, columns] = [p is not None and p < settings.alpha for p in corrected]
    groups = cover(~(apart | apart.T))
    named = list(zip(iterate_letters(), groups, strict=False))
    return [",".join(letter for letter, group in named if group[at]) for at in range(len(order))]


def cover(alike: Bools) -> list[Bools]:
    """Return groups such that two runs share one if and only if they are alike.

    `alike` is symmetric, shape (runs, runs), and true for a run with itself. Each pair that no
    group has yet begins one, to which every run is added that is like all in it; a compact letter
    display needs no more (Piepho, 2004), though fewer groups may do.
    """
    groups: list[Bools] = []
    covered = np.zeros_like(alike)
    for first, second in zip(*np.nonzero(np.triu(alike)), strict=True):
        is_alone = first == second and alike[first].sum() > 1
        if covered[first, second] or is_alone:
            continue
        group = np.zeros(len(alike), dtype=bool)
        group[[first, second]] = True
        possible = alike[first] & alike[second] & ~group
        while possible.any():
            run = int(np.argmax(possible))
            group[run] = True
            possible &= alike[run] & ~group
        covered |= np.outer(group, group)
        groups.append(group)
    return groups


def _add_noise(
    rows: Sequence[Row],
    scored: Sequence[_Scored],
    evaluator: Evaluator,
    main: Measure,
    settings: Settings,
    best: Entry,
) -> list[Row]:
    assert settings.noise  # noqa: S101  (for mypy)
    scorer = Evaluator([main], evaluator.truth, evaluator.convention)
    systems = Systems(scorer, {each.entry.name: each.lists for each in scored})
    gaps = measure_gaps(systems, settings.noise, settings.confidence, best.name)
    return [replace(row, noise=gaps.get(row.entry.name)) for row in rows]


def compute_medians(values: Floats) -> Floats:
    """Return the median of the other runs for each run and query; a run alone: its own mean.

    Shape (runs, queries), as `values`.
    """
    runs = len(values)
    if runs == 1:
        return np.full_like(values, values.mean())
    order = np.argsort(values, axis=0)
    place, ordered = np.argsort(order, axis=0), np.take_along_axis(values, order, axis=0)
    others = [  # the one or two in the middle once a run is taken out of the order
        np.where(place <= at, ordered[at + 1], ordered[at])
        for at in ((runs - 2) // 2, (runs - 1) // 2)
    ]
    medians: Floats = (others[0] + others[1]) / 2
    return medians


def choose_telling(own: Floats, middle: Floats, spread: Floats) -> list[tuple[str, int]]:
    """Return why, and the number, of a run's telling queries, at most three.

    They are the query with the greatest gain over `middle`, the median of the other runs, that with
    the greatest loss and, of the rest, that on which runs vary most. The first query decides ties.
    All have shape (queries,).
    """
    gain, spread = own - middle, spread.copy()
    best, worst = int(gain.argmax()), int(gain.argmin())
    chosen = [("greatest gain", best)] if gain[best] > 0 else []
    chosen += [("greatest loss", worst)] if gain[worst] < 0 else []
    spread[[query for _, query in chosen]] = -1.0
    if spread.max() > 0:
        chosen.append(("most contested", int(spread.argmax())))
    return chosen


def _tell(
    each: _Scored,
    middle: Floats,
    spread: Floats,
    evaluator: Evaluator,
    main: Measure,
    *,
    alone: bool,
) -> tuple[Telling, ...]:
    (names, own), texts = each.per_query[main], evaluator.truth.texts
    chosen = choose_telling(own, middle, spread)
    # Bounds need the highest level of all queries; the others' segments only cost time.
    highest = evaluator.qrels.queries[evaluator.qrels.query[evaluator.qrels.value.argmax()]]
    some = [names[query] for _, query in chosen]
    qrels = select_queries(evaluator.qrels, [*some, highest])
    listed = each.lists[evaluator.convention.list_of(main, each.lists)]
    run = select_queries(listed, some)
    shown = main.params.get("cutoff") or SHOWN
    telling: list[Telling] = []
    for why, query in chosen:
        with suppress(UsageError):  # a measure of several thresholds has no one ranking
            what = explain(qrels, run, names[query], main, evaluator.convention, shown)
            others = None if alone else float(middle[query])
            telling.append(Telling(why, texts.get(names[query], ""), others, what))
    return tuple(telling)
