"""The axioms and the choice of a system, against slow definitions of both."""

import numpy as np
import pytest

from momentrank.errors import UsageError
from momentrank.formats import Lists
from momentrank.measures import AP, DCG, AxIoU, MeanP, NCxIoU, R, mIoU, nDCG
from momentrank.meta.axioms import DEPTH, measure_axioms
from momentrank.meta.selection import measure_selection
from momentrank.meta.systems import Systems
from momentrank.meta.values import Values
from momentrank.scoring import Evaluator
from momentrank.segments import build_qrels, build_run

KEEPING = [AxIoU @ 5, mIoU, AxIoU @ 2, NCxIoU(stop="rbp") @ 5, NCxIoU(stop="uniform") @ 3]
"""Measures that keep both axioms."""


def random_systems(measures, seed=3, queries=12, convention="paper"):
    rng = np.random.default_rng(seed)
    names = [f"q{n}" for n in range(queries)]
    truth = [
        (q, "v", s := rng.uniform(0, 50), s + rng.uniform(2, 9)) for q in names for _ in range(2)
    ]
    qrels = build_qrels(*zip(*truth, strict=True), rng.integers(0, 4, len(truth)).astype(float))
    runs: dict[str, Lists] = {}
    for name in "ab":
        rows = [
            (q, "vw"[rng.random() < 0.2], max(0, start + rng.uniform(-6, 6)), end + 6)
            for q, _, start, end in truth for _ in range(3)
        ]  # fmt: skip
        runs[name] = {"": build_run(*zip(*rows, strict=True))}
    return Systems(Evaluator(measures, qrels, convention), runs)


def select_rows(axioms, axiom):
    return {row.measure: row for row in axioms if row.axiom == axiom}


def test_axiou_keeps_both_and_r_the_first_only():
    axioms = measure_axioms(random_systems([*KEEPING, R(iou=0.5) @ 5]))
    inv, mon = select_rows(axioms, "INV"), select_rows(axioms, "MON")
    for measure in KEEPING:
        assert (inv[repr(measure)].cases > 0) == (measure != mIoU), "mIoU looks at rank 1 alone"
        assert mon[repr(measure)].cases > 0
        assert inv[repr(measure)].broken == mon[repr(measure)].broken == 0
        assert inv[repr(measure)].before is None
    hit = "R(iou=0.5,strict=True)@5"
    assert inv[hit].broken == 0
    assert mon[hit].broken > 0
    assert mon[hit].after == mon[hit].before
    assert mon[hit].new_iou > mon[hit].best_above


@pytest.mark.parametrize(
    "measure",
    [
        MeanP(iou=0.3) @ 5,
        DCG(match="maxiou") @ 5,
        nDCG(iou=0.3) @ 5,
        AP(iou=0.3),
        NCxIoU(stop="err") @ 5,
    ],
)
def test_measures_that_reward_more_than_the_best_moment_break_invariance(measure):
    rows = select_rows(measure_axioms(random_systems([measure])), "INV")
    [row] = rows.values()
    assert row.broken > 0
    assert row.old_iou <= row.best_above
    assert row.new_iou <= row.best_above + 1e-9
    assert abs(row.after - row.before) > 1e-9


def iou(a, b):
    shared = max(0.0, min(a[2], b[2]) - max(a[1], b[1])) if a[0] == b[0] else 0.0
    return shared / (a[2] - a[1] + b[2] - b[1] - shared)


def test_the_cases_are_those_of_the_definition():
    """Count, list by list, the ranks at which a result is redundant or can be surpassed."""
    systems = random_systems([AxIoU @ 4, MeanP(iou=0.3) @ 6])
    axioms = measure_axioms(systems)
    qrels = systems.evaluator.qrels
    redundant = {4: 0, 6: 0}
    better = {4: 0, 6: 0}
    for lists in systems.runs.values():
        run = lists[""]
        for number, name in enumerate(qrels.queries):
            truth = [
                (qrels.video[row], qrels.start[row], qrels.end[row])
                for row in np.flatnonzero((qrels.query == number) & (qrels.value >= 1))
            ]
            rows = np.flatnonzero(run.query == run.queries.index(name))[:DEPTH]
            ious = [
                max(
                    (iou((run.video[r], run.start[r], run.end[r]), moment) for moment in truth),
                    default=0,
                )
                for r in rows
            ]
            for cutoff in (4, 6):
                for k in range(1, min(cutoff, len(ious)) + 1):
                    redundant[cutoff] += 2 * (k > 1 and ious[k - 1] <= max(ious[: k - 1]))
                    better[cutoff] += bool(truth) and max(ious[:k]) < 0.999
    inv, mon = select_rows(axioms, "INV"), select_rows(axioms, "MON")
    assert [row.cases for row in inv.values()] == [redundant[4], redundant[6]]
    assert [row.cases for row in mon.values()] == [better[4], better[6]]


def test_an_example_can_be_made_again_by_hand():
    """Put a result of the told IoU at the told rank: the measure says what the example says."""
    systems = random_systems([MeanP(iou=0.3) @ 6])
    row = select_rows(measure_axioms(systems), "INV")["MeanP(iou=0.3,strict=True)@6"]
    lists = systems.runs[row.run]
    names, values = systems.evaluator.per_query(lists)[systems.evaluator.measures[0]]
    assert values[names.index(row.query)] == pytest.approx(row.before)
    run = lists[""]
    at = int(np.flatnonzero(run.query == run.queries.index(row.query))[row.rank - 1])
    video = [name if place != at else "nowhere" for place, name in enumerate(run.video)]
    assert not row.new_iou, "what meets nothing came in its place, not the best result above"
    names, values = systems.evaluator.per_query({"": run._replace(video=video)})[
        systems.evaluator.measures[0]
    ]
    assert values[names.index(row.query)] == pytest.approx(row.after)


def test_conventions_that_ignore_videos_are_tried_too():
    axioms = measure_axioms(
        random_systems([R(iou=0.5) @ 1, AP(iou=0.5)], convention="qvhighlights")
    )
    assert {row.axiom for row in axioms} == {"INV", "MON"}
    assert all(row.cases for row in axioms if row.measure.startswith("AP"))


def test_lists_of_several_tasks_are_refused():
    systems = random_systems([AxIoU @ 1])
    systems.runs["a"]["VR"] = systems.runs["a"][""]
    with pytest.raises(UsageError, match="a list for each task"):
        measure_axioms(systems)


def values(table, runs="abc"):
    measures = [f"m{n}" for n in range(len(table))]
    queries = [f"q{n}" for n in range(len(table[0][0]))]
    return Values(measures, list(runs), queries, np.array(table, dtype=float))


def test_selection_is_the_best_on_validation_as_z_scores_on_test():
    validation = values([[[1, 0], [1, 1], [0, 0]], [[0, 0], [0, 0], [0, 0]]])
    test = values([[[3, 3], [1, 1], [2, 2]], [[5, 5], [5, 5], [5, 5]]], runs="xyz")
    rows = list(measure_selection(validation, test))
    z = (1 - 2) / np.std([3, 1, 2])
    assert rows[0] == ("m0", "y", "m0", 1.0, pytest.approx(z))
    assert rows[1] == ("m0", "y", "m1", 5.0, None), "all runs have one value"
    assert rows[2][:2] == ("m1", "x"), "of equal runs the first"
    assert rows[2].z == pytest.approx(-z)
    with pytest.raises(UsageError, match="3 runs on validation and 2 on test"):
        list(measure_selection(validation, values([[[1], [2]]], runs="ab")))
