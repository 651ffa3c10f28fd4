"""The benchmarks' own files: annotations, and submissions in their formats."""

import json
import re

import pytest
from formats_cases import file_of, refusal, rows_of

from momentrank.conventions import CONVENTIONS
from momentrank.formats import (
    QRELS_FORMATS,
    RUN_FORMATS,
    FormatError,
    load_qrels,
    load_run,
    load_truth,
    registry,
)
from momentrank.formats.validation import describe
from momentrank.submission import RULES

TVR = """\
{"vid_name": "s_clip_19", "duration": 61.46, "ts": [16.48, 33.87], "desc": "A", "desc_id": 90200}
{"vid_name": "s_clip_18", "duration": 57.35, "ts": [0, 2.29], "desc": "B", "desc_id": 94603}
"""
CHARADES = """\
3MSZA 24.3 30.4##person turn a light on.

3MSZA 1.0 9##another ## mark.
0A8CF 0 4.5##a dog
"""
ACTIVITYNET = json.dumps(
    {
        "v_a": {
            "duration": 82.5,
            "timestamps": [[0.5, 10], [10, 82.5]],
            "sentences": ["One.", " Two."],
        },
        "v_b": {"duration": 9, "timestamps": [[0, 9]], "sentences": ["One."]},
    }
)
DIDEMO = json.dumps(
    [
        {
            "annotation_id": 12,
            "description": "a cat",
            "video": "x.mov",
            "times": [[1, 4], [0, 0], [1, 4], [5, 5]],
            "num_segments": 6,
        },
        {"annotation_id": 5, "description": "b", "video": "y.avi", "times": [[2, 3]]},
    ]
)


def query(start, end, text="x"):
    return {"clip_start_sec": start, "clip_end_sec": end, "query": text, "video_start_sec": 99}


def clip(uid, *annotations):
    records = [
        {"annotation_uid": name, "language_queries": queries} for name, queries in annotations
    ]
    return {
        "clip_uid": uid,
        "video_start_sec": 30.0,
        "video_end_sec": 510.0,
        "annotations": records,
    }


NLQ = json.dumps(
    {
        "version": "1",
        "videos": [
            {"video_uid": "V", "clips": [clip("c", ("a", [query(1, 2), query(3, 4, "y")]))]},
            {"video_uid": "W", "clips": [clip("d", ("a", [query(5, 6)]), ("b", []))]},
        ],
    }
)


@pytest.mark.parametrize(
    ("text", "fmt", "rows"),
    [
        (TVR, "tvr", [("90200", "s_clip_19", 16.48, 33.87, 1), ("94603", "s_clip_18", 0, 2.29, 1)]),
        (
            CHARADES,
            "charades-sta",
            [
                ("3MSZA#0", "3MSZA", 24.3, 30.4, 1),
                ("3MSZA#1", "3MSZA", 1, 9, 1),
                ("0A8CF#0", "0A8CF", 0, 4.5, 1),
            ],
        ),
        (
            ACTIVITYNET,
            "activitynet-captions",
            [
                ("v_a#0", "v_a", 0.5, 10, 1),
                ("v_a#1", "v_a", 10, 82.5, 1),
                ("v_b#0", "v_b", 0, 9, 1),
            ],
        ),
        (
            DIDEMO,
            "didemo",
            [
                ("12", "x.mov", 5, 25, 1),
                ("12", "x.mov", 0, 5, 1),
                ("12", "x.mov", 5, 25, 1),
                ("12", "x.mov", 25, 30, 1),
                ("5", "y.avi", 10, 20, 1),
            ],
        ),
        (
            NLQ,
            "ego4d-nlq",
            [("c#a#0", "c", 1, 2, 1), ("c#a#1", "c", 3, 4, 1), ("d#a#0", "d", 5, 6, 1)],
        ),
    ],
)
@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_annotations(tmp_path, text, fmt, rows, name):
    path = file_of(tmp_path, text, name)
    told = []
    truth = load_truth(path, warn=told.append)
    assert len(told) == (len(set(rows)) < len(rows)), "only a repeated moment is told"
    assert truth.format == fmt
    assert rows_of(truth.segments) == rows_of(load_qrels(path, fmt=fmt)) == rows
    assert describe(path)[:4] == ("qrels", fmt, len({row[0] for row in rows}), len(rows))
    assert all(truth.videos[row[0]] == row[1] for row in rows)
    with pytest.raises(FormatError, match=r"file(\.gz)?: qrels \(.*\), not a run|no known format"):
        load_run(path)


def test_durations_and_texts(tmp_path):
    def read(text):
        truth = load_truth(file_of(tmp_path, text))
        return dict(truth.durations), dict(truth.texts)

    assert read(TVR) == ({"s_clip_19": 61.46, "s_clip_18": 57.35}, {"90200": "A", "94603": "B"})
    texts = {
        "3MSZA#0": "person turn a light on.",
        "3MSZA#1": "another ## mark.",
        "0A8CF#0": "a dog",
    }
    assert read(CHARADES) == ({}, texts)
    texts = {"v_a#0": "One.", "v_a#1": " Two.", "v_b#0": "One."}
    assert read(ACTIVITYNET) == ({"v_a": 82.5, "v_b": 9}, texts)
    assert read(DIDEMO) == ({"x.mov": 30}, {"12": "a cat", "5": "b"})
    assert read(NLQ) == ({"c": 480, "d": 480}, {"c#a#0": "x", "c#a#1": "y", "d#a#0": "x"})


def with_truth(tmp_path, truth, run, **options):
    truth = load_truth(file_of(tmp_path, truth, "truth"))
    return load_run(file_of(tmp_path, run, "run"), truth=truth, **options)


SUBMITTED = {
    "clip_uid": "c",
    "annotation_uid": "a",
    "query_idx": 1,
    "predicted_times": [[1, 2], [3, 5]],
}


@pytest.mark.parametrize("whole", [True, False])
def test_a_submission_to_ego4d(tmp_path, whole):
    results = [SUBMITTED, {**SUBMITTED, "query_idx": 0, "predicted_times": [[0, 9]]}]
    document = {"version": "1.0", "challenge": "ego4d_nlq_challenge", "results": results}
    text = json.dumps(document if whole else results)
    run = load_run(file_of(tmp_path, text), warn=pytest.fail)
    assert [row[:4] for row in rows_of(run)] == [
        ("c#a#1", "c", 1, 2),
        ("c#a#1", "c", 3, 5),
        ("c#a#0", "c", 0, 9),
    ]


def test_a_submission_of_segments_to_didemo(tmp_path):
    run = json.dumps([[[0, 0], [1, 4]], [[5, 5]]])
    segments = with_truth(tmp_path, DIDEMO, run, warn=pytest.fail)
    assert [row[:4] for row in rows_of(segments)] == [
        ("12", "x.mov", 0, 5),
        ("12", "x.mov", 5, 25),
        ("5", "y.avi", 25, 30),
    ]
    with pytest.raises(FormatError, match=r"run: \[1\]\[0\]\[0\]: must be an integer, not 0.5"):
        with_truth(tmp_path, DIDEMO, "[[], [[0.5, 2]]]")
    with pytest.raises(FormatError, match="run: 1 list, where the qrels have 2 queries"):
        with_truth(tmp_path, DIDEMO, "[[]]")
    with pytest.raises(FormatError, match="it can only be read with its qrels"):
        load_run(file_of(tmp_path, run))


def test_lists_in_the_order_of_the_annotations(tmp_path):
    run = json.dumps([[[1, 2, 0.5], [3, 4, 0.25]], [], [[0, 4.5, 1]]])
    segments = with_truth(tmp_path, CHARADES, run, warn=pytest.fail)
    assert rows_of(segments) == [
        ("3MSZA#0", "3MSZA", 1, 2, 0.5),
        ("3MSZA#0", "3MSZA", 3, 4, 0.25),
        ("0A8CF#0", "0A8CF", 0, 4.5, 1),
    ]
    assert segments.queries == ["3MSZA#0", "3MSZA#1", "0A8CF#0"]


def test_a_submission_that_names_sentences(tmp_path):
    results = {
        "v_a": [
            {"sentence": "two", "timestamp": [1, 2], "score": 0.5},
            {"sentence": "one", "timestamp": [5, 6], "score": 0.5},
            {"sentence": "Two. ", "timestamp": [3, 4], "score": 0.25},
        ],
        "v_b": [{"sentence": "One.", "timestamp": [7, 8], "score": 1}],
    }
    text = json.dumps({"version": "VERSION 1.0", "results": results, "external_data": {}})
    segments = with_truth(tmp_path, ACTIVITYNET, text, warn=pytest.fail)
    assert sorted(rows_of(segments)) == [
        ("v_a#0", "v_a", 5, 6, 0.5),
        ("v_a#1", "v_a", 1, 2, 0.5),
        ("v_a#1", "v_a", 3, 4, 0.25),
        ("v_b#0", "v_b", 7, 8, 1),
    ]
    assert len(with_truth(tmp_path, ACTIVITYNET, text, depth=1).query) == 3
    with pytest.raises(FormatError, match=r"results\.v_b\[0\]\.timestamp: must be \[start, end"):
        with_truth(tmp_path, ACTIVITYNET, text.replace("[7, 8]", "[7]"))


@pytest.mark.parametrize("each", [1, 2])
def test_a_sentence_that_occurs_twice_in_a_video_is_two_queries(tmp_path, each):
    text = ACTIVITYNET.replace(" Two.", " One.")
    times = [[number, 40] for number in range(2 * each)]
    results = {"v_a": [{"sentence": "one", "timestamp": pair} for pair in times]}
    segments = with_truth(
        tmp_path, text, json.dumps({"results": results}), warn=(messages := []).append
    )
    assert [row[0] for row in rows_of(segments)] == ["v_a#0"] * each + ["v_a#1"] * each
    assert [row[2] for row in rows_of(segments)] == list(range(2 * each))
    place = f"{tmp_path}/run: results.v_a[0]: 2 queries have this sentence: its"
    assert [message.startswith(place) for message in messages] == [True] * (each - 1)


@pytest.mark.parametrize(
    "text",
    [
        *(ACTIVITYNET, CHARADES, TVR, NLQ, "1 Q0 v 0 9 1\n1 Q0 v 0 1 1"),
        '{"qid": 1, "vid": "v", "relevant_windows": [[0, 9], [9, 12]]}',
    ],
)
def test_moments_that_end_before_they_start_are_left_out_if_lenient(tmp_path, text):
    whole = rows_of(load_qrels(file_of(tmp_path, text)))
    fields = {"0, 9": "9, 0", "0 9": "9 0", "1.0 9": "9 1", "0, 2.29": "2.29, 0"}
    path = file_of(tmp_path, re.sub("|".join(fields), lambda match: fields[match[0]], text))
    if text == NLQ:
        path.write_text(text.replace('"clip_end_sec": 6', '"clip_end_sec": 4'))
    with pytest.raises(FormatError, match=r"the end is before the start; --lenient .* missed"):
        load_qrels(path)
    messages = []
    segments = load_qrels(path, lenient=True, warn=messages.append)
    assert len(messages) == 1
    lost = len({row[0] for row in whole} - {row[0] for row in rows_of(segments)})
    missed = f"; queries left without one, which count as missed: {lost}" * bool(lost)
    assert messages[0].endswith(f": the end is before the start (moments left out: 1{missed})")
    assert len(segments.query) == len(whole) - 1
    assert set(rows_of(segments)) < set(whole)
    assert segments.queries == list(dict.fromkeys(row[0] for row in whole)), "it counts as missed"
    assert describe(path, lenient=True).remarks[0] == messages[0]


def test_a_query_that_is_left_out_keeps_its_name(tmp_path):
    text = ACTIVITYNET.replace("0, 9", "9, 0")
    truth = load_truth(file_of(tmp_path, text), lenient=True, warn=lambda _: None)
    [lost] = set(truth.texts) - {row[0] for row in rows_of(truth.segments)}
    results = {lost.split("#")[0]: [{"sentence": truth.texts[lost], "timestamp": [0, 9]}]}
    path = file_of(tmp_path, json.dumps({"results": results}), "run")
    assert load_run(path, truth=truth).queries == [lost]


def test_several_moments_of_a_query_in_the_format_of_tvr(tmp_path):
    text = TVR.replace("[0, 2.29]", "[[0, 5], [5, 10]]")
    assert rows_of(load_qrels(file_of(tmp_path, text)))[1:] == [
        ("94603", "s_clip_18", 0, 5, 1),
        ("94603", "s_clip_18", 5, 10, 1),
    ]
    with pytest.raises(FormatError, match=r"line 2: ts\[1\]: the end is before the start"):
        load_qrels(file_of(tmp_path, text.replace("[5, 10]", "[5, 1]")))


def test_windows_without_a_video_are_in_that_of_the_qrels(tmp_path):
    truth = '{"qid": 3, "vid": "v", "duration": 150, "relevant_windows": [[0, 2]]}\n'
    run = '{"qid": 3, "pred_relevant_windows": [[0, 2, 1]]}\n'
    assert rows_of(with_truth(tmp_path, truth, run)) == [("3", "v", 0, 2, 1)]
    with pytest.raises(FormatError, match="run, line 1: the key 'vid' is missing"):
        load_run(tmp_path / "run")


def test_the_tasks_of_tvr(tmp_path):
    lists = {"VCMR": [[4, 0, 1, 1.0]], "SVMR": [[4, 2, 3, 1.0]], "VR": [[4, 0, 0, 1.0]]}
    tasks = {task: [{"desc_id": 1, "predictions": rows}] for task, rows in lists.items()}
    path = file_of(tmp_path, json.dumps({"video2idx": {"v": 4}, **tasks}))
    for task, fmt in (("VCMR", None), ("VCMR", "vcmr"), ("SVMR", "svmr"), ("VR", "vr")):
        assert rows_of(load_run(path, fmt=fmt)) == [("1", "v", *map(float, lists[task][0][1:]))]
    path = file_of(tmp_path, json.dumps({"video2idx": {"v": 4}, "SVMR": tasks["SVMR"]}))
    assert rows_of(load_run(path)) == [("1", "v", 2, 3, 1)]


BAD = [
    (TVR, "[0, 2.29]", "[0]", ", line 2: ts: must be [start, end], not [0]"),
    (TVR, "[0, 2.29]", "[3, 2.29]", ", line 2: ts: the end is before the start"),
    (TVR, "94603", "90200", ", line 2: desc_id: '90200' appears twice (first: line 1)"),
    (CHARADES, "0 4.5##", "0 4.5", ", line 4: must be VIDEO START END##sentence"),
    (ACTIVITYNET, ', " Two."', "", ": v_a.sentences: must have as many items as timestamps, not"),
    (DIDEMO, "[2, 3]", "[2, 3.5]", ": [1].times[0][1]: must be an integer, not 3.5"),
    (DIDEMO, "[2, 3]", "[2, 1]", ": [1].times[0][1]: must be the first segment or a later"),
    (DIDEMO, "[2, 3]", "[-1, 1]", ": [1].times[0][0]: must be the index of a segment, from 0"),
    (NLQ, '"clip_end_sec": 6', '"clip_end_sec": null',
     ": videos[1].clips[0].annotations[0].language_queries[0].clip_end_sec: must be a number, not"),
    (NLQ, '"clip_uid": "d"', '"clip_uid": "c"',
     ": videos[1].clips[0].annotations[0].language_queries[0]: 'c#a#0' appears twice"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "message"), BAD)
def test_malformed_annotations_are_an_error_with_its_place(tmp_path, text, old, new, message):
    assert old in text, "the case says nothing"
    path = file_of(tmp_path, text.replace(old, new))
    assert refusal(load_qrels, path).startswith(f"{path}{message}")


def test_every_format_is_in_the_docs(repository):
    page = (repository / "docs/formats.md").read_text()
    tables = page.split("| format | run |")
    formats = [
        [
            name
            for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
            for name in row.strip("`").split("`, `")
        ]
        for table in tables
    ]
    assert [set(names) for names in formats] == [set(QRELS_FORMATS), set(RUN_FORMATS)]


def test_a_formats_convention_exists():
    assert set(registry.CONVENTIONS.values()) <= set(CONVENTIONS)
    assert set(registry.CONVENTIONS) <= set(QRELS_FORMATS)
    assert set(RULES) <= set(CONVENTIONS)
