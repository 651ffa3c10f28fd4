"""A published number is found, and what gives it is named; each by a brute-force definition."""

import json
import random
from dataclasses import replace

import oracle
import pytest
from benchmark_oracle import kept
from scorer import segments

from momentrank import FormatError, parse_measure
from momentrank.cli.main import main
from momentrank.formats import Truth
from momentrank.reconciliation import Published, reconcile
from momentrank.segments import build_qrels, build_run

LENGTHS = {"u": 50.0, "v": 60.0}


def recall(qrels, run, *, k=1, iou=0.5, strict=True, queries=None):
    """R@K in percent, over some queries; of whole lists (video, start, end)."""
    params = {"cutoff": k, "iou": iou, "strict": strict}
    hits = [
        oracle.recall(
            params,
            [oracle.Judged(*moment) for moment in qrels[query]],
            [oracle.Result(*result) for result in run.get(query, [])],
        )
        for query in queries or qrels
    ]
    return 100 * sum(hits) / len(hits)


def merge(moments):
    return oracle.merge([oracle.Judged(*moment) for moment in moments])


def span(moments):
    videos = {video for video, *_ in moments}
    times = {
        v: [time for video, *both, _ in moments if video == v for time in both] for v in videos
    }
    return [(video, min(each), max(each), 1) for video, each in times.items()]


def times(listed, change):
    return {q: [(v, change(a, v), change(b, v)) for v, a, b in rows] for q, rows in listed.items()}


def round_to_clips(time, _):
    return 2 * round(time / 2)


def data(seed):
    """Return qrels (video, start, end, level) and a run of 41 queries in whole seconds."""
    draw = random.Random(seed)

    def segment():
        start = draw.randrange(1, 30)
        return draw.choice("uv"), start, start + draw.choice([4, 6, 8, 10, 12, 20])

    qrels = {f"q{n}": [(*segment(), 1) for _ in range(draw.randint(1, 4))] for n in range(41)}
    run = {
        query: [(v, a + draw.randint(0, 3), b + draw.randint(1, 5)) for v, a, b, _ in moments]
        + [segment() for _ in range(6)]
        for query, moments in qrels.items()
    }
    for rows in run.values():
        draw.shuffle(rows)
    return qrels, {query: list(dict.fromkeys(rows)) for query, rows in run.items()}


def read(qrels, run):
    truth = Truth(segments(qrels, build_qrels, value=True), read_durations=lambda: LENGTHS)
    return truth, {"": segments(run, build_run, value=False)}


def find(qrels, run, number, measure, digits=6):
    asked = [parse_measure(measure)] if measure else []
    published = Published(float(f"{number:.{digits}f}"), 10.0**-digits)
    return reconcile(*read(qrels, run), asked, published)


QRELS, RUN = data(3)
SOME = {query: rows for query, rows in RUN.items() if int(query[1:]) % 3}
DENSE = {
    query: [(v, a + n, b + 2 * n) for v, a, b in rows[:3] for n in range(3)] + rows[3:]
    for query, rows in RUN.items()
}
NULL = QRELS | {f"q{n}": [("u", 1, 5, 0)] for n in (2, 5, 9)}
CASES = {
    "comparison": (QRELS, RUN, "R@1,0.5", recall(QRELS, RUN, strict=False), "IoU >= threshold"),
    "missing": (QRELS, SOME, "R@1,0.5", recall(QRELS, SOME, queries=SOME),
                "without the queries that the run lacks"),
    "null": (NULL, RUN, "R@1,0.5", recall(NULL, RUN),
             "queries without a relevant moment count as 0"),
    "nms": (QRELS, DENSE, "R@5,0.5",
            recall(QRELS, {q: kept(rows, 0.4) for q, rows in DENSE.items()}, k=5),
            "NMS at 0.4"),
    "merged": (QRELS, RUN, "R@1,0.5", recall({q: merge(m) for q, m in QRELS.items()}, RUN),
               "moments that touch merged"),
    "span": (QRELS, RUN, "R@1,0.5", recall({q: span(m) for q, m in QRELS.items()}, RUN),
             "from the first start to the last end"),
    "first": (QRELS, RUN, "R@5,0.5", recall({q: m[:1] for q, m in QRELS.items()}, RUN, k=5),
              "each query's first moment only"),
    "clips": (QRELS, times(RUN, lambda t, _: t / 2), "R@1,0.5", recall(QRELS, RUN),
              "results in clips of 2 s"),
    "frames": (QRELS, times(RUN, lambda t, _: t * 25), "R@1,0.5", recall(QRELS, RUN),
               "results in frames, 25 a second"),
    "frames of moments": (
        {q: [(v, 30 * a, 30 * b, n) for v, a, b, n in m] for q, m in QRELS.items()}, RUN, "R@1,0.5",
        recall(QRELS, RUN), "judged moments in frames, 30 a second"),
    "percent of the video": (QRELS, times(RUN, lambda t, v: 100 * t / LENGTHS[v]), "R@1,0.55",
                             recall(QRELS, RUN, iou=0.55), "results in percent of their video"),
    "rounding": (QRELS, times(RUN, lambda t, v: t + 0.9), "R@1,0.55",
                 recall(QRELS, times(RUN, lambda t, v: round_to_clips(t + 0.9, v)), iou=0.55),
                 "rounded to clips of 2 s"),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_what_was_done_otherwise_is_found_and_named(what):
    qrels, run, measure, number, words = CASES[what]
    relevant = [query for query, moments in qrels.items() if any(level for *_, level in moments)]
    plain = recall(qrels, run, k=int(measure[2]), iou=float(measure[4:]), queries=relevant)
    assert plain != pytest.approx(number)
    found = find(qrels, run, number, measure).combinations
    assert next(each.varied for each in found if each.convention == "paper") == (words,)
    assert all(each.value == pytest.approx(number) for each in found)


@pytest.mark.parametrize("what", ["missing", "nms"])
def test_it_is_found_among_the_usual_measures(what):
    qrels, run, measure, number, words = CASES[what]
    found = find(qrels, run, number, "").combinations
    assert (repr(parse_measure(f"R@{measure[2:]}".replace(",", ",IoU>"))), "paper", (words,)) in [
        each[:3] for each in found
    ]


def test_a_script_is_found_by_its_name():
    qrels, run = data(6)
    listed = {query: kept(rows, 0.45) for query, rows in run.items()}
    number = recall(qrels, listed, k=5)
    found = find(qrels, run, number, "R@5,0.5")
    assert ("2d-tan-0.45", ()) in [each[1:3] for each in found.combinations]


def test_a_gain_is_found_in_percent_and_as_a_fraction():
    graded = {query: [(*moment[:3], 2) for moment in moments] for query, moments in QRELS.items()}
    graded["q0"] = [("u", 10, 20, 1), ("v", 10, 20, 3)]
    run = {"q0": [("u", 10, 20), ("v", 10, 20)]}
    other = 0.6309297535714575  # 1 / log2(3)
    number = (1 + 7 * other) / (7 + other) / len(graded)
    for given in (number, 100 * number):
        found = find(graded, run, given, "nDCG(iou=0.5)@10")
        assert ("paper", ("gain: 2^level - 1",)) in [each[1:3] for each in found.combinations]


def test_qrels_that_paper_refuses_are_tried_by_scripts():
    truth, run = read(QRELS | {"q0": [("u", 0, 9, 1), ("u", 0, 9, 2)]}, RUN)
    conflicting = replace(truth, conflict=FormatError("two levels"))
    found = reconcile(conflicting, run, [parse_measure("R@1,0.5")], Published(50.0, 0.1))
    assert {"charades", "tall"} <= {each.convention for each in found.combinations}
    assert "paper" not in {each.convention for each in found.combinations}


def test_nothing_found_lists_the_nearest_values():
    found = find(QRELS, RUN, 31.2345, "R@1,0.5")
    distances = [each.distance for each in found.combinations]
    assert (found.matching, found.is_doubtful) == (0, False)
    assert distances == sorted(distances)
    assert distances[0] == abs(found.combinations[0].value - 31.2345)


def test_with_few_digits_a_match_may_be_a_coincidence():
    exact = find(QRELS, RUN, recall(QRELS, RUN), "R@1,0.5", digits=4)
    rough = find(QRELS, RUN, recall(QRELS, RUN), "", digits=0)
    assert not exact.is_doubtful
    assert rough.is_doubtful
    assert len({round(each.value, 6) for each in rough.combinations}) == rough.matching > 1
    assert rough.tried > exact.tried


def test_the_command_names_what_gives_the_number_and_says_how_much_it_tried(tmp_path, capsys):
    qrels, run = tmp_path / "a.qrels", tmp_path / "a.run"
    qrels.write_text("q1 Q0 v 0 10 1\nq2 Q0 v 0 10 1\nq3 Q0 v 0 10 1\n")
    run.write_text("q1 Q0 v 0 5 1 1 t\nq2 Q0 v 0 9 1 1 t\n")
    arguments = ["reconcile", str(qrels), str(run), "R@1,0.5", "--published"]
    assert main([*arguments, "100.0"]) == 0
    shown = capsys.readouterr().out
    assert "R(iou=0.5,strict=False)@1" in shown
    assert "IoU >= threshold; without the queries that the run lacks" in shown
    assert main([*arguments, ".67", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    best = content["combinations"][0]
    assert (best["value"], best["varied"]) == (pytest.approx(2 / 3), [])
    with pytest.raises(SystemExit):
        main([*arguments, "5e1"])
