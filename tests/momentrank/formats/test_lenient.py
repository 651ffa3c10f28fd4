"""Results that are not as they should be: told in one line each, or counted as not relevant."""

import json

import pytest
from formats_cases import file_of, rows_of
from hypothesis import given
from hypothesis import strategies as st

from momentrank import calc_aggregate, nDCG
from momentrank.cli.main import main
from momentrank.formats import FormatError, load_run
from momentrank.measures import AxIoU, P, R
from momentrank.segments import build_qrels

GOOD = ["v", 0, 10, 0.5]
NEXT = ["v", 10, 20, 0.4]
BAD = [
    ["v", 10, 0, 0.5],
    ["v", None, 10, 0.5],
    ["v", "0", 10, 0.5],
    ["v", float("nan"), 10, 0.5],
    ["v", 0, float("inf"), 0.5],
    ["v", 0],
    ["", 0, 10, 0.5],
    [None, 0, 10, 0.5],
    None,
    "v 0 10",
    {"video": "v"},
    ["v", 0, 10, 0.5, 7],
]


def predictions(rows):
    return json.dumps([{"query_id": "q", "predictions": rows}])


@pytest.mark.parametrize("bad", BAD)
def test_a_malformed_result_is_an_error_or_keeps_its_rank_and_meets_nothing(tmp_path, bad):
    path = file_of(tmp_path, predictions([bad, GOOD]))
    with pytest.raises(FormatError, match=r"file: \[0\]\.predictions\[0\]"):
        load_run(path)
    messages = []
    run = load_run(path, lenient=True, warn=messages.append)
    assert rows_of(run) == [("q", "", 0, 0, 0.5), ("q", "v", 0, 10, 0.5)]
    assert run.rank.tolist() == [1, 2]
    [line] = messages
    assert line.startswith(f"{path}: [0].predictions[0]")
    assert line.endswith("(malformed results, counted as not relevant: 1)")


@pytest.mark.parametrize("score", [None, float("nan"), float("inf")])
def test_a_result_of_which_only_the_score_is_malformed_keeps_its_times(tmp_path, score):
    path = file_of(tmp_path, predictions([["v", 0, 9, score], GOOD]))
    with pytest.raises(FormatError, match=r"file: \[0\]\.predictions\[0\]"):
        load_run(path)
    messages = []
    run = load_run(path, lenient=True, warn=messages.append)
    assert rows_of(run) == [("q", "v", 0, 9, 0.5), ("q", "v", 0, 10, 0.5)]
    assert [line.split(": ")[-1] for line in messages] == [
        "the order of the list counts (1 such result)"
    ]


@given(st.lists(st.sampled_from([*BAD, *[GOOD] * 6]), min_size=1, max_size=40))
def test_scores_are_those_with_a_result_elsewhere(tmp_path, rows):
    rows = [row if row is not GOOD else ["v", 0, 10 + n, 0.5] for n, row in enumerate(rows)]
    messages = []
    run = load_run(file_of(tmp_path, predictions(rows)), lenient=True, warn=messages.append)
    number = sum(row in BAD for row in rows)
    assert len(messages) == bool(number)
    assert all(line.endswith(f": {number})") for line in messages)
    clean = [["elsewhere", n, 99, 0.5] if row in BAD else row for n, row in enumerate(rows)]
    expected = load_run(file_of(tmp_path, predictions(clean), "clean"), warn=pytest.fail)
    qrels = build_qrels(["q", "q"], ["v", "w"], [0, 0], [9, 9], [2, 1])
    models = [P(match=match) @ 5 for match in ("overlap", "bin", "tol")]
    measures = [nDCG(iou=0.5) @ 10, R(iou=0.5) @ 1, AxIoU @ 5, *models]
    assert calc_aggregate(measures, qrels, run) == calc_aggregate(measures, qrels, expected)


LINES = ["q Q0 v 9 5 2 0.4 t", "q Q0 v x 5 2 0.4 t", "q Q0 v%f 0 5 2 0.4 t", "q Q0 v 0 5 2 - t"]


@pytest.mark.parametrize("line", LINES)
def test_malformed_lines(tmp_path, line):
    path = file_of(tmp_path, f"q Q0 v 0 5 1 0.5 t\n{line}\nq Q0 v 5 9 3 0.3 t\n")
    with pytest.raises(FormatError, match="file, line 2: "):
        load_run(path)
    messages = []
    run = load_run(path, lenient=True, warn=messages.append)
    assert run.video == ["v", "", "v"]
    assert run.value.tolist()[::2] == [0.5, 0.3]
    [message] = messages
    assert message.startswith(f"{path}, line 2: ")
    assert message.endswith("(malformed results, counted as not relevant: 1)")


@pytest.mark.parametrize("line", ["q Q0 v 0 5 x 0.4 t", "q Q0 v 0 5 2 0.4", "q% Q0 v 0 5 2 0.4 t"])
def test_what_has_no_place_in_a_list_stays_an_error(tmp_path, line):
    path = file_of(tmp_path, f"q Q0 v 0 5 1 0.5 t\n{line}\n")
    with pytest.raises(FormatError, match="file, line 2: "):
        load_run(path, lenient=True)


def test_windows_without_scores_are_in_the_order_of_the_list(tmp_path):
    messages = []
    path = file_of(tmp_path, predictions([["v", 0, 1], ["v", 1, 2], ["v", 2, 3]]))
    assert [row[2] for row in rows_of(load_run(path, warn=messages.append))] == [0, 1, 2]
    assert messages == [
        f"{path}: [0].predictions[0]: no score: the order of the list counts (3 such results)"
    ]
    rows = [["v", 0, 1], ["v", 1, 2, 0.7], ["v", 2, 3], ["v", 3, 4, 0.2]]
    run = load_run(file_of(tmp_path, predictions(rows)), warn=messages.append)
    assert run.value.tolist() == [0.7, 0.7, 0.7, 0.2]
    moment = {"video_name": "v", "timestamp": [0, 1]}
    path = file_of(
        tmp_path,
        json.dumps({"q": [moment, {**moment, "timestamp": [0, 2], "model_scores": [0.1]}]}),
    )
    assert load_run(path, warn=messages.append).value.tolist() == [0.1, 0.1]
    assert len(messages) == 3


def test_what_is_malformed_below_the_cutoff_is_told_and_not_scored(tmp_path):
    for rows in ([GOOD, NEXT, BAD[1], BAD[0]], [GOOD, NEXT, ["v", 0, 10, "x"]]):
        messages = []
        path = file_of(tmp_path, predictions(rows))
        assert len(load_run(path, depth=2, warn=messages.append).query) == 2
        [line] = messages
        assert line.startswith(f"{path}: [0].predictions[2]")
        assert line.endswith("(not among the first 2 results, so not scored)")
    messages = []
    path = file_of(tmp_path, "q Q0 v 0 1 1 0.5 t\nq Q0 v 0 x 2 0.4 t\n")
    assert len(load_run(path, depth=1, warn=messages.append).query) == 1
    [line] = messages
    assert line.startswith(f"{path}, line 2: the end must be a number, not 'x' (not among")
    assert load_run(
        file_of(tmp_path, predictions([["v", n, 20, 0.5] for n in range(5)])),
        depth=2,
        warn=pytest.fail,
    )


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
def test_the_command_says_how_many(tmp_path, monkeypatch, capsys, verb):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.qrels").write_text("q Q0 v 0 10 1\n")
    (tmp_path / "a.json").write_text(predictions([GOOD, BAD[1], BAD[0]]))
    (tmp_path / "b.json").write_text(predictions([GOOD]))
    arguments = [verb, "test.qrels", "b.json", "a.json", "nDCG(iou=0.5)@10"]
    assert main(arguments) == 1
    assert capsys.readouterr().err == (
        "momentrank: a.json: [0].predictions[1][1]: must be a number, not None\n"
    )
    assert main([*arguments, "--lenient"]) == 0
    assert "counted as not relevant: 2)" in capsys.readouterr().err
