"""What is told of a run before it is sent to a benchmark."""

import json
from pathlib import Path

import pytest

from momentrank.cli.main import main

TRUTH = [
    {"qid": 1, "query": "x", "vid": "v", "duration": 150, "relevant_windows": [[0, 10]]},
    {"qid": 2, "query": "y", "vid": "w", "duration": 120, "relevant_windows": [[5, 60], [70, 80]]},
]
RUN = [
    {"qid": 1, "query": "x", "vid": "v", "pred_relevant_windows": [[0, 10, 0.9], [20, 30, 0.1]]},
    {"qid": 2, "query": "y", "vid": "w", "pred_relevant_windows": [[0, 60, 0.8]]},
]


def change_row(row, **changes):
    return [{**record, **changes} if at == row else record for at, record in enumerate(RUN)]


@pytest.fixture
def validator(tmp_path, monkeypatch, capsys):
    """Return what `validate --like` prints of a run: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def validate(run, *options, convention="qvhighlights", qrels=True):
        for name, records in (("val.jsonl", TRUTH), ("a.jsonl", run)):
            (tmp_path / name).write_text("".join(f"{json.dumps(record)}\n" for record in records))
        qrels_options = ["--qrels", "val.jsonl"] if qrels else []
        code = main(["validate", "--like", convention, "a.jsonl", *qrels_options, *options])
        return code, *capsys.readouterr()

    return validate


def test_a_run_that_is_right(validator):
    code, out, err = validator(RUN)
    assert (code, err) == (0, "")
    assert out.startswith("a.jsonl: run (qvhighlights): 2 queries, 3 segments\n  momentrank")


def test_without_qrels_what_is_not_compared_is_said(validator):
    code, out, err = validator(RUN, qrels=False)
    assert (code, err) == (0, "")
    assert "no qrels given" in out
    assert "no durations are known" in out


WRONG = [
    (change_row(0, qid=3), "queries of the qrels that the run lacks: 1 (1)"),
    (change_row(0, qid=3), "queries that are not in the qrels: 1 (3)"),
    (change_row(0, qid="x1"), "queries that are not in the qrels: 1 (x1)"),
    (RUN[:1], "queries of the qrels that the run lacks: 1 (2)"),
    ([{**record, "qid": record["qid"] + 7} for record in RUN],
     "have no query in common: '1' in the qrels"),
    (change_row(1, pred_relevant_windows=[]), "queries without results: 1 (2)"),
    (change_row(1, pred_relevant_windows=[[0, 60]]), "results without a score: 1"),
    (change_row(1, vid="w.mp4"), "not in their query's video: 1 (query '2': 'w.mp4'"),
    (change_row(1, vid="v"), "not in their query's video: 1 (query '2': 'v', not 'w')"),
    (change_row(1, pred_relevant_windows=[[0, 125, 1]]),
     "results that end after their video: 1 (query '2': 0 to 125 s of 'w')"),
    (change_row(1, pred_relevant_windows=[[-1, 12, 1]]), "results that start before 0: 1"),
    (change_row(0, pred_relevant_windows=[[0, 9, 0.1], [0, 8, 0.9]]),
     "results with a higher score than the one before them: 1 of 1; higher scores must be better"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "message"), WRONG)
def test_what_would_be_misread_is_told(validator, run, message):
    code, _, err = validator(run)
    assert code == 1
    assert message in err
    assert all(line.startswith("momentrank: a.jsonl: ") for line in err.splitlines())


def test_results_that_are_not_read_are_no_problem(validator):
    windows = [[0, 1 + k, 1 - k / 20] for k in range(12)]
    code, out, err = validator(change_row(0, pred_relevant_windows=windows))
    assert (code, err) == (0, "")
    assert "queries with more than the 10 results that are read: 1" in out


def test_another_format_than_the_benchmarks(validator):
    code, _, err = validator(RUN, convention="nlq")
    assert code == 1
    assert "the format is qvhighlights, but nlq reads ego4d-nlq" in err


def test_a_malformed_run_is_one_line_with_its_place(validator):
    code, out, err = validator(change_row(1, pred_relevant_windows=[[5, 2, 1]]))
    assert (code, out) == (1, "")
    assert (
        err
        == "momentrank: a.jsonl, line 2: pred_relevant_windows[0]: the end is before the start\n"
    )
    code, out, err = validator(change_row(1, pred_relevant_windows=[[5, 2, 1]]), "--lenient")
    assert code == 0
    assert "(malformed results, counted as not relevant: 1)" in out


TVR = [
    {"desc_id": number, "vid_name": "v", "ts": [0, 10], "desc": "?", "duration": 60}
    for number in (1, 2)
]
LIST = [{"desc_id": number, "predictions": [[7, 0, 10, 0.9]]} for number in (1, 2)]


@pytest.mark.parametrize("task", ["VCMR", "SVMR", "VR"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (LIST[:1], "queries of the qrels that the run lacks: 1 (2)"),
        ([LIST[0], {**LIST[1], "predictions": []}], "queries without results: 1 (2)"),
        ([LIST[0], {**LIST[1], "predictions": [[7, 0, 90, 1]]}], "end after their video: 1 (query"),
        ([LIST[0], {**LIST[1], "desc_id": 3}], "queries that are not in the qrels: 1 (3)"),
    ],
)
def test_the_list_of_each_task_is_checked(tmp_path, capsys, task, wrong, message):
    gt, run = tmp_path / "gt.jsonl", tmp_path / "run.json"
    gt.write_text("".join(f"{json.dumps(record)}\n" for record in TVR))
    lists = {**dict.fromkeys(("VCMR", "SVMR", "VR"), LIST), task: wrong}
    run.write_text(json.dumps({"video2idx": {"v": 7}, **lists}))
    assert main(["validate", "--like", "vcmr", "--qrels", str(gt), str(run)]) == 1
    err = capsys.readouterr().err
    assert f"momentrank: {run}: {task}: " in err
    assert message in err
    assert {line.split(": ")[2] for line in err.splitlines()} == {task}
    assert main(["evaluate", str(gt), str(run), "--convention", "vcmr"]) == 0
    mismatch = f"{run}: {task}: queries in the "
    assert (mismatch in capsys.readouterr().err) == ("qrels" in message)


@pytest.mark.parametrize("convention", ["nlq", "sh-eval", "tvr-ranking", "spr"])
def test_queries_that_are_not_answered_are_told_where_the_script_does_not_need_them(
    validator, convention
):
    _, out, _ = validator(RUN[:1], convention=convention)
    assert "  queries of the qrels that the run lacks: 1 (2)\n" in out


def test_what_is_malformed_is_told_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("1 Q0 v 0 20 1\n")
    bad = ["1 Q0 v 20 10 2 0.8 t", "1 Q0 v x 9 3 0.7 t", "1 Q0 v 0 x 4 0.6 t"]
    (tmp_path / "a.run").write_text("\n".join(["1 Q0 v 0 20 1 0.9 t", *bad]))
    assert main(["evaluate", "q", "a.run", "P(iou=0.5)@2", "--lenient", "--check"]) == 0
    assert capsys.readouterr().err == (
        "momentrank: a.run, line 2: the end is before the start (malformed results, counted as not"
        " relevant: 3)\n"
        "momentrank: a.run: no durations are known: times are not compared with them\n"
    )


@pytest.mark.parametrize("verb", ["evaluate", "compare"])
def test_check_validates_and_scores_in_one(validator, tmp_path, capsys, monkeypatch, verb):
    validator(RUN)
    original = Path.read_bytes
    (tmp_path / "b.jsonl").write_text((tmp_path / "a.jsonl").read_text())
    arguments = ["val.jsonl", "a.jsonl", "b.jsonl", "--convention", "qvhighlights", "R(iou=0.5)@1"]
    names = []
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda path: names.append(path.name) or original(path))
        assert main([verb, *arguments, "--check"]) == 0
    assert names == ["val.jsonl", "a.jsonl", "b.jsonl"], "each file is read once"
    assert "R(" in capsys.readouterr().out
    (tmp_path / "b.jsonl").write_text(
        (tmp_path / "a.jsonl").read_text().replace("60, 0.8", "600, 0.8")
    )
    assert main([verb, *arguments]) == 0
    capsys.readouterr()
    assert main([verb, *arguments, "--check"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "b.jsonl: results that end after their video: 1" in err
