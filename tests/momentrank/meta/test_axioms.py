"""The axioms and the choice of a system, against slow definitions of both."""

import numpy as np
import pytest
from oracle import Judged, Result, iou

from momentrank.errors import UsageError
from momentrank.formats import Lists
from momentrank.measures import AP, DCG, AxIoU, MeanP, NCxIoU, R, mIoU, nDCG
from momentrank.meta.axioms import BETTER, DEPTH, REDUNDANT, measure_axioms
from momentrank.meta.selection import measure_selection
from momentrank.meta.systems import Systems
from momentrank.meta.values import Values
from momentrank.scoring import Evaluator
from momentrank.segments import build_qrels, build_run


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


@pytest.mark.parametrize(
    ("measure", "inv", "mon"),
    [
        (R(iou=0.5) @ 5, "never", "sometimes"),  # properties 1 and 2 of the supplement
        (R(iou=0.5) @ 1, "no case", "sometimes"),
        (MeanP(iou=0.3) @ 5, "sometimes", "sometimes"),  # 3 and 4
        (DCG(match="maxiou") @ 5, "always", "never"),  # 5 and 6
        (DCG(match="maxiou"), "always", "never"),
        (AxIoU @ 5, "never", "never"),  # 7 and 8
        (AxIoU @ 2, "never", "never"),
        (mIoU, "no case", "never"),
        (NCxIoU(stop="uniform") @ 3, "never", "never"),  # as AxIoU, whatever the fixed weights
        (NCxIoU(stop="rbp") @ 5, "never", "never"),
        (NCxIoU(stop="rbp", p=0.1) @ 10, "never", "never"),
        (NCxIoU(stop="err") @ 5, "sometimes", "sometimes"),  # here IoUs decide who stops
        (nDCG(iou=0.3) @ 5, "sometimes", "sometimes"),
        (AP(iou=0.3), "sometimes", "sometimes"),
        (AxIoU(rel=3) @ 5, "never", "never"),
        (DCG(match="maxiou", rel=3) @ 5, "always", "never"),
    ],
)
def test_measures_break_what_the_papers_proofs_say(measure, inv, mon):
    beside = [AxIoU @ 3, DCG(match="maxiou", rel=2)]  # of another `rel`
    rows = measure_axioms(random_systems([measure, *beside]))
    for expected, row in zip((inv, mon), rows[::3], strict=True):
        assert row.measure.startswith(measure.NAME)
        assert (row.cases == 0) == (expected == "no case")
        assert (row.broken > 0) == (expected in {"sometimes", "always"})
        assert (row.broken == row.cases) == (expected in {"always", "no case"})
        assert (row.before is None) == (not row.broken)


def test_an_example_meets_the_conditions_of_its_axiom():
    rows = measure_axioms(random_systems([MeanP(iou=0.3) @ 5, AP(iou=0.3)]))
    for row in rows[:2]:
        assert max(row.old_iou, row.new_iou) <= row.best_above
        assert abs(row.new_iou - row.old_iou) > 1e-6
        assert abs(row.after - row.before) > 1e-9
    for row in rows[2:]:
        assert row.new_iou > max(row.old_iou, row.best_above)
        assert row.after <= row.before + 1e-12


def test_the_cases_are_those_of_the_definition():
    """Count, list by list, the new results that meet the conditions, with brute-force IoUs."""
    systems = random_systems([AxIoU @ 4, MeanP(iou=0.3) @ 6])
    inv, mon = np.split(np.array([row.cases for row in measure_axioms(systems)]), 2)
    redundant, better = np.zeros((2, 2), np.int64)
    qrels = systems.evaluator.qrels
    for lists in systems.runs.values():
        run = lists[""]
        for number, name in enumerate(qrels.queries):
            truth = [
                Judged(qrels.video[row], qrels.start[row], qrels.end[row], 1)
                for row in np.flatnonzero((qrels.query == number) & (qrels.value >= 1))
            ]

            def rate(moment, truth=truth):
                return max((iou(Result(*moment), wanted) for wanted in truth), default=0.0)

            rows = np.flatnonzero(run.query == run.queries.index(name))[:DEPTH]
            ious = [rate((run.video[row], run.start[row], run.end[row])) for row in rows]
            for k, old in enumerate(ious[:6] if truth else [], 1):
                above, best = max(ious[: k - 1], default=0.0), max(ious[:k])
                counts = np.array([k <= 4, True])
                for number_of, share in enumerate(REDUNDANT):
                    video, start, end, _ = truth[number_of % len(truth)]
                    new = rate((video, end - share * above * (end - start), end)) if share else 0.0
                    redundant += counts * (max(new, old) <= above and abs(new - old) > 1e-6)
                for number_of, share in enumerate(BETTER):
                    video, start, end, _ = truth[number_of % len(truth)]
                    wanted = best + share * (1 - best)
                    new = rate((video, end - wanted * (end - start), end))
                    better += counts * (new > best + 1e-6)
    assert inv.tolist() == redundant.tolist()
    assert mon.tolist() == better.tolist()


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
    assert not row.new_iou, "what meets nothing came in its place"
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
    validation = values([[[1, 0], [1, 1], [0, 0]], *[[[9, 0], [0, 0], [0, 0]]] * 2])
    test = values([[[3, 3], [1, 1], [2, 2]], *[[[5, 5], [5, 5], [5, 5]]] * 2], runs="xyz")
    rows = list(measure_selection(validation, test))
    all_runs, selected = np.array([3, 1, 2]), np.array([1, 3, 3])  # by m0, m1 and m2
    for row, value in zip(rows[::3], selected.tolist(), strict=True):
        assert row.value == value
        assert row.z == pytest.approx((value - all_runs.mean()) / all_runs.std())
        assert row.z_selected == pytest.approx((value - selected.mean()) / selected.std())
    assert rows[0][:3] == ("m0", "y", "m0")
    assert rows[1] == ("m0", "y", "m1", 5.0, None, None), "all runs have one value"
    assert sum(row.z_selected for row in rows[::3]) == pytest.approx(0)
    with pytest.raises(UsageError, match="3 runs on validation and 2 on test"):
        list(measure_selection(validation, values([[[1], [2]]], runs="ab")))


def test_of_equal_runs_the_first_is_selected():
    tied = values([[[0, 0], [1, 1], [1, 1]]])
    [row] = measure_selection(tied, tied)
    assert (row.run, row.z_selected) == ("b", None), "one selected run has no spread"
