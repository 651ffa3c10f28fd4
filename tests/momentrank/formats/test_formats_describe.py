"""What `momentrank validate` says of a file: any kind, any format, all of it checked."""

import json

import pytest
from formats_cases import file_of, refusal

from momentrank.cli.main import main
from momentrank.formats import FormatError
from momentrank.formats.validation import Description, describe

MOMENT = {"video_name": "v", "timestamp": [0, 1], "duration": 9, "caption": "x", "similarity": 0.5}
JUDGED = {**MOMENT, "pair_id": 1, "relevance": 3}


def document(*moments):
    return json.dumps([{"query_id": 1, "query": "x", "relevant_moment": list(moments)}])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q Q0 v 0 1 3\nq Q0 v 0 2 0\nr Q0 v 0 2 0\n", ("qrels", "segments", 2, 3, {0: 2, 3: 1})),
        ("q 0 m 3\nq%201 0 m 0\nq 0 n 3\n", ("qrels", "trec", 2, 3, {0: 1, 3: 2})),
        ("q Q0 v 0 1 1 1 t\n", ("run", "segments", 1, 1, {})),
        (document(JUDGED), ("qrels", "tvr-ranking", 1, 1, {3: 1})),
        (document(MOMENT), ("training set", "tvr-ranking", 1, 1, {})),
        ('[{"query_id": 1, "predictions": [["v", 0, 1, 1]]}]', ("run", "tvr-ranking", 1, 1, {})),
        (
            '{"1": [{"video_name": "v", "timestamp": [0, 1], "model_scores": 1}]}',
            ("run", "scores", 1, 1, {}),
        ),
        (
            '{"qid": 1, "vid": "v", "relevant_windows": [[0, 1]]}',
            ("qrels", "qvhighlights", 1, 1, {1: 1}),
        ),
        ('{"v": [9.5, 0], "w": [1, 1]}', ("video corpus", "tvr-ranking", 0, 2, {})),
    ],
)
@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_what_a_file_holds(tmp_path, text, expected, name):
    assert describe(file_of(tmp_path, text, name)) == Description(*expected, [])


def test_remarks(tmp_path):
    run = "q Q0 v 0 1 1 1\nq Q0 v 0 1 1 1\nq Q0 v 5 5 2 1\nq Q0 v -1 5 3 1\n"
    path = file_of(tmp_path, run)
    alike = "1 such line; ties keep the file's order"
    repeated = "`paper` counts a segment once, scripts each time"
    assert describe(path).remarks == [
        f"{path}, line 2: the rank appears twice in its query ({alike})",
        f"{path}, line 2: the same segment as in line 1 (1 such row); {repeated}",
        "results that start before 0: 1 (query 'q': -1 to 5 s of 'v')",
        "results that end where they start: 1 (query 'q': 5 to 5 s of 'v')",
    ]
    assert describe(file_of(tmp_path, '[{"query_id": 1, "predictions": []}]')).remarks == [
        "queries without segments: 1"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 m 1\nq 0 m 2\n", "line 2: the moment 'm' appears twice in its query"),
        ("q 0 m 1\n\nq 0 n 1.5\n", "line 3: the level must be 0, 1, 2, ... 1000"),
        ("q 0 m x\n", "line 1: the level must be a number, not 'x'"),
        ("q 0 m 1\nq 0 m\n", "line 2: 3 columns, but the first line has 4"),
        ("q 0 m%ff 1\n", "line 1: the moment_id 'm%ff' is not percent-encoded UTF-8"),
    ],
)
def test_qrels_of_whole_moments_are_checked(tmp_path, text, message):
    assert message in refusal(describe, file_of(tmp_path, text))


def test_times_and_video_indices(tmp_path):
    path = file_of(tmp_path, "q Q0 v 0.00 1.59 1\n")
    assert describe(path, time="mm.ss").segments == 1
    path = file_of(tmp_path, '[{"query_id": 1, "predictions": [[0, 0, 1, 1]]}]')
    assert describe(path, corpus=file_of(tmp_path, '{"v": [1, 0]}', "corpus")).segments == 1
    with pytest.raises(FormatError, match="--corpus"):
        describe(path)


MALFORMED = [
    (JUDGED, {"similarity": "high"}, ".similarity: must be a number, not 'high'"),
    (JUDGED, {"duration": float("nan")}, ".duration: must be a number, not nan"),
    (JUDGED, {"caption": None}, ".caption: must be a string, not None"),
    (JUDGED, {"pair_id": 2}, ".pair_id: '2' appears twice (first: [0].relevant_moment[0].pair_id)"),
    (JUDGED, {"pair_id": "2"}, ".pair_id: must be an integer, not '2'"),
    (MOMENT, {"similarity": float("inf")}, ".similarity: must be a number, not inf"),
    (MOMENT, {"timestamp": [1, "2"]}, ".timestamp[1]: must be a number, not '2'"),
]


@pytest.mark.parametrize(("moment", "changes", "message"), MALFORMED)
def test_all_is_checked(tmp_path, moment, changes, message):
    first = {**moment, "pair_id": 2} if "pair_id" in moment else moment
    path = file_of(tmp_path, document(first, {**moment, "timestamp": [3, 4], **changes}))
    assert refusal(describe, path) == f"{path}: [0].relevant_moment[1]{message}"


def test_queries_without_moments_before_those_of_a_training_set(tmp_path):
    records = [{"query_id": n, "query": "x", "relevant_moment": [MOMENT] * n} for n in range(3)]
    description = describe(file_of(tmp_path, json.dumps(records)))
    assert description == Description("training set", "tvr-ranking", 3, 3, {}, [])


def test_a_training_set_names_its_queries_once(tmp_path):
    record = {"query_id": 1, "query": "x", "relevant_moment": [MOMENT]}
    with pytest.raises(FormatError, match=r"\[1\]\.query_id: '1' appears twice"):
        describe(file_of(tmp_path, json.dumps([record, record])))
    with pytest.raises(FormatError, match=r"\[1\]\.query: must be a string, not 3"):
        describe(file_of(tmp_path, json.dumps([record, {**record, "query_id": 2, "query": 3}])))


def test_a_file_is_described_in_the_format_that_is_named(tmp_path, capsys):
    lists = {task: [{"desc_id": 1, "predictions": [[0, 0, n, 1]] * n}] for n, task in
             enumerate(("VCMR", "SVMR"), start=1)}  # fmt: skip
    path = file_of(tmp_path, json.dumps({"video2idx": {"v": 0}, **lists}))
    assert describe(path)[:4] == ("run", "vcmr", 1, 1)
    assert "only VCMR of VCMR, SVMR is read" in describe(path).remarks[0]
    assert describe(path, run_format="svmr")[:4] == ("run", "svmr", 1, 2)
    assert main(["validate", str(path), "--run-format", "svmr"]) == 0
    assert "run (svmr): 1 query, 2 segments" in capsys.readouterr().out
    assert main(["validate", str(path), "--qrels-format", "tvr"]) == 1
    assert "the key 'desc_id' is missing" in capsys.readouterr().err
