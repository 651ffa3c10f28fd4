"""Qrels and runs in JSON: each shape as array and as lines, and what is wrong in them."""

import gc
import json

import pytest
from formats_cases import file_of, refusal, rows_of

from momentrank.formats import FormatError, load_qrels, load_run, read_qrels, read_run
from momentrank.formats.source import pause_collector

pytestmark = pytest.mark.filterwarnings("ignore:.*the order of the list counts")


RELEASE = """\
[
  {"query_id": 7, "query": "a man sits", "relevant_moment": [
    {"pair_id": 1, "video_name": "v 1", "timestamp": [0, 5.5], "duration": 60.0,
     "caption": "a man \\"sits\\": he", "similarity": 0.5, "relevance": 4},
    {"pair_id": 2, "video_name": "v2", "timestamp": [3.25, 9], "duration": 60.0,
     "caption": "a dog", "similarity": 0.25, "relevance": 0}]},
  {"query_id": 8, "query": "nobody", "relevant_moment": []},
  {"query_id": 9, "query": "a door", "relevant_moment": [
    {"pair_id": 3, "video_name": "v 1", "timestamp": [10, 20], "duration": 60.0,
     "caption": "a door", "similarity": 0.125, "relevance": 1}]}
]
"""
JUDGED = [("7", "v 1", 0, 5.5, 4), ("7", "v2", 3.25, 9, 0), ("9", "v 1", 10, 20, 1)]
FLAT = """\
{"query_id": "b", "query": "x", "video_name": "v", "timestamp": [0, 1], "relevance": 2}

{"query_id": "a", "query": "x", "video_name": "v", "timestamp": [0, 1], "relevance": 3}
{"query_id": "b", "query": "x", "video_name": "w", "timestamp": [0, 1], "relevance": 0}
"""
WINDOWS = """\
{"qid": 3, "query": "x", "vid": "v_60.0_210.0", "relevant_windows": [[0, 2], [10, 12.5]]}
{"qid": 1, "query": "y", "vid": "w", "relevant_windows": [[4, 4]]}
"""

PREDICTIONS = """\
[{"query_id": 7, "predictions": [["v", 0, 1.5, 0.25], ["w", 2, 3, 0.75]]},
 {"query_id": 8, "predictions": []},
 {"query_id": 9, "predictions": [["v", 4, 5, -1]]}]
"""
SCORES = """\
{"7": [{"video_name": "v", "timestamp": [0, 1.5], "model_scores": [0.25, 9]},
       {"video_name": "w", "timestamp": [2, 3], "model_scores": 0.75}],
 "8": [],
 "9": [{"video_name": "v", "timestamp": [4, 5], "model_scores": [-1]}]}
"""
VCMR = """\
{"video2idx": {"v": 11, "w": 4, "unused": 0}, "VR": [], "VCMR": [
  {"desc_id": 7, "desc": "a man", "predictions": [[11, 0, 1.5, 0.25], [4, 2, 3, 0.75]]},
  {"desc_id": 8, "desc": "nobody", "predictions": []},
  {"desc_id": 9, "desc": "a door", "predictions": [[11, 4, 5, -1]]}]}
"""
SPOTS = """\
{"qid": 7, "query": "a man", "vid": "v", "pred_relevant_windows": [[0, 1.5, 0.25], [2, 3, 0.75]]}
{"qid": 8, "query": "nobody", "vid": "w", "pred_relevant_windows": []}
{"qid": 9, "vid": "v", "pred_relevant_windows": [[4, 5, -1]], "pred_saliency_scores": [0.5]}
"""
CORPUS = '{"w": [60.5, 1], "v": [9, 0], "unused": [3, 2]}'
RANKED = [("7", "v", 0, 1.5, 0.25), ("7", "w", 2, 3, 0.75), ("9", "v", 4, 5, -1)]
ONE_VIDEO = [("7", "v", 0, 1.5, 0.25), ("7", "v", 2, 3, 0.75), ("9", "v", 4, 5, -1)]


def as_lines(text):
    """Return a document as JSON lines: an array's values, or an object's fields."""
    document = json.loads(text)
    if isinstance(document, dict):
        document = [{name: value} for name, value in document.items()]
    return "".join(f"{json.dumps(record)}\n" for record in document)


def as_array(text):
    return json.dumps([json.loads(line) for line in text.split("\n") if line])


def indent(text):
    return json.dumps(json.loads(text), indent=1)


def by_index(text):
    return text.replace('"w", 2', "1, 2").replace('"v"', "0")


@pytest.mark.parametrize("text", [RELEASE, as_lines(RELEASE), indent(RELEASE), f"\ufeff {RELEASE}"])
@pytest.mark.parametrize("name", ["val.json", "val.json.gz"])
@pytest.mark.parametrize("fmt", [None, "tvr-ranking"])
def test_released_qrels(tmp_path, text, name, fmt):
    qrels = load_qrels(file_of(tmp_path, text, name), fmt=fmt)
    assert rows_of(qrels) == JUDGED
    assert qrels.queries == ["7", "8", "9"], "a query without moments is a query"


@pytest.mark.parametrize("text", [FLAT, as_array(FLAT)])
@pytest.mark.parametrize("fmt", [None, "flat"])
def test_flat_records(tmp_path, text, fmt):
    qrels = load_qrels(file_of(tmp_path, text), fmt=fmt)
    assert rows_of(qrels) == [("b", "v", 0, 1, 2), ("b", "w", 0, 1, 0), ("a", "v", 0, 1, 3)]


@pytest.mark.parametrize("text", [WINDOWS, as_array(WINDOWS)])
@pytest.mark.parametrize("fmt", [None, "qvhighlights"])
def test_windows(tmp_path, text, fmt):
    video = "v_60.0_210.0"
    qrels = load_qrels(file_of(tmp_path, text), fmt=fmt)
    assert rows_of(qrels) == [("3", video, 0, 2, 1), ("3", video, 10, 12.5, 1), ("1", "w", 4, 4, 1)]


@pytest.mark.parametrize(
    ("text", "fmt", "rows"),
    [
        (PREDICTIONS, "tvr-ranking", RANKED),
        (PREDICTIONS.replace("query_id", "desc_id"), "tvr-ranking", RANKED),
        (as_lines(PREDICTIONS), "tvr-ranking", RANKED),
        (SCORES, "scores", RANKED),
        (as_lines(SCORES), "scores", RANKED),
        (f"[{SCORES}]", "scores", RANKED),
        (VCMR, "vcmr", RANKED),
        (json.dumps(json.loads(VCMR)), "vcmr", RANKED),
        (SPOTS, "qvhighlights", ONE_VIDEO),
        (as_array(SPOTS), "qvhighlights", ONE_VIDEO),
    ],
)
@pytest.mark.parametrize("name", ["run", "run.gz"])
def test_a_run_keeps_the_order_of_its_lists(tmp_path, text, fmt, rows, name):
    path = file_of(tmp_path, text, name)
    messages = []
    run = load_run(path, warn=messages.append)
    assert rows_of(run) == rows_of(load_run(path, fmt=fmt, warn=messages.append)) == rows
    assert len(messages) == 2
    assert all("the order of the list counts (1 such result)" in line for line in messages)
    assert run.queries == ["7", "8", "9"]
    cut = load_run(path, depth=1)
    assert rows_of(cut) == [rows[0], rows[2]]
    assert cut.queries == run.queries


def test_a_list_of_one_line(tmp_path):
    assert rows_of(load_run(file_of(tmp_path, SPOTS.partition("\n")[0]))) == ONE_VIDEO[:2]
    assert rows_of(load_qrels(file_of(tmp_path, FLAT.partition("\n")[0]))) == [("b", "v", 0, 1, 2)]


def test_a_query_may_be_called_as_a_key_of_another_format(tmp_path):
    text = SCORES.replace('"7"', '"VCMR"')
    assert load_run(file_of(tmp_path, text)).queries == ["VCMR", "8", "9"]
    text = '{"VCMR": [{"desc_id": 1, "predictions": []}]}'
    with pytest.raises(FormatError, match="the key 'video2idx' is missing"):
        load_run(file_of(tmp_path, text))


def test_videos_by_index(tmp_path):
    path, corpus = file_of(tmp_path, by_index(PREDICTIONS)), file_of(tmp_path, CORPUS, "corpus")
    assert rows_of(load_run(path, corpus=corpus)) == RANKED
    with pytest.raises(FormatError, match=r"file: \[0\]\.predictions\[0\]\[0\]: .*--corpus"):
        load_run(path)
    path = file_of(tmp_path, PREDICTIONS.replace('["v", 4', "[3, 4"))
    with pytest.raises(
        FormatError, match=r"\[2\]\.predictions\[0\]\[0\]: must be an index of the video"
    ):
        load_run(path, corpus=corpus)
    mixed = file_of(tmp_path, PREDICTIONS.replace('["v", 4', "[0, 4"))
    assert rows_of(load_run(mixed, corpus=corpus)) == RANKED


@pytest.mark.parametrize(
    "corpus",
    [
        '{"v": [9, 2179], "w": [9.5, 21792], "x": [1, 0]}',
        '{"v": [9, 2179.0], "w": [9.5, 21792]}',
        '{"train": {"v": [9, 2179]}, "val": {"w": [9.5, 21792]}, "test": {}}',
    ],
    ids=["gaps", "float", "splits"],
)
@pytest.mark.parametrize("number_type", [int, float])
def test_a_corpus_may_be_a_part_of_another_and_number_its_videos_so(tmp_path, corpus, number_type):
    index = {"v": number_type(2179), "w": number_type(21792)}
    predictions = json.loads(PREDICTIONS)
    for record in predictions:
        record["predictions"] = [[index[row[0]], *row[1:]] for row in record["predictions"]]
    path = file_of(tmp_path, json.dumps(predictions))
    assert rows_of(load_run(path, corpus=file_of(tmp_path, corpus, "corpus"))) == RANKED


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ('{"v": [9, 0], "w": [9, 0]}', "w\\[1\\]: '0' appears twice"),
        ('{"v": [9, 0], "w": [9, -1]}', "w\\[1\\]: must be an index, 0 or more, not -1"),
        ('{"a": {"v": [9, 0]}, "b": {"w": [9, 0]}}', "b.w\\[1\\]: '0' appears twice"),
        ('{"a": {"v": [9, 0]}, "b": {"v": [9, 1]}}', "b.v: 'v' appears twice"),
        ('{"v": [9, 0], "w": [9]}', r"w: must be \[duration, index\], not \[9\]"),
        ('{"v": [9, 0], "w": [-9, 1]}', "w\\[0\\]: must be a number of seconds, not -9"),
        ('{"v": [9, 0], "w": [9, 1.5]}', "w\\[1\\]: must be an integer, not 1.5"),
        ('{"v": [9, 0], "w w": 7}', '\\["w w"\\]: must be a list, not 7'),
        ('{"v": [9, 0], "v": [9, 1]}', "the key 'v' appears twice in one object"),
        ("[]", "not a video corpus"),
    ],
)
def test_a_malformed_video_corpus(tmp_path, corpus, message):
    path = file_of(tmp_path, by_index(PREDICTIONS))
    corpus = file_of(tmp_path, corpus, "corpus.json")
    with pytest.raises(FormatError, match=f"^{corpus}(, line 1)?: {message}"):
        load_run(path, corpus=corpus)


def qrels_with(**changes):
    """Return released qrels of one query and two moments, the second changed."""
    moment = {"pair_id": 1, "video_name": "v", "timestamp": [0, 1], "relevance": 1}
    changed = {name: value for name, value in {**moment, **changes}.items() if value != "missing"}
    return {
        "query_id": 1,
        "query": "x",
        "relevant_moment": [{**moment, "timestamp": [5, 6]}, changed],
    }


BAD_MOMENTS = [
    ({"timestamp": [2, 1]}, ": the end is before the start"),
    ({"timestamp": [float("nan"), 1]}, ": start and end must be numbers"),
    ({"timestamp": ["0", 1]}, ".timestamp[0]: must be a number, not '0'"),
    ({"timestamp": [0, 10**400]}, ".timestamp[1]: must be a number below 1e308"),
    ({"timestamp": [0]}, ".timestamp: must be [start, end], not [0]"),
    ({"timestamp": "0-1"}, ".timestamp: must be a list, not '0-1'"),
    ({"timestamp": "missing"}, ": the key 'timestamp' is missing (found: ['pair_id', "),
    ({"relevance": -1}, ": the level must be 0, 1, 2, ..."),
    ({"relevance": "missing"}, ": the key 'relevance' is missing"),
    ({"video_name": 3}, ".video_name: must be a string, not 3"),
    ({"video_name": ""}, ".video_name: an id must be a non-empty string, not ''"),
    ({"video_name": "\ud800"}, ".video_name: an id must be UTF-8, not '\\ud800'"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_MOMENTS)
def test_a_malformed_moment_is_an_error_with_its_place(tmp_path, changes, message):
    good = {"query_id": 0, "query": "x", "relevant_moment": []}
    records = [good, qrels_with(**changes)]
    path = file_of(tmp_path, json.dumps(records))
    assert refusal(load_qrels, path).startswith(f"{path}: [1].relevant_moment[1]{message}")
    path = file_of(tmp_path, "\n".join(map(json.dumps, records)))
    assert refusal(load_qrels, path).startswith(f"{path}, line 2: relevant_moment[1]{message}")


def test_a_whole_float_is_the_integer_that_it_stands_for(tmp_path):
    records = [qrels_with() | {"query_id": 7.0}]
    assert load_qrels(file_of(tmp_path, json.dumps(records))).queries == ["7"]


BAD_RECORDS = [
    ({"query_id": 1.5}, "].query_id: must be an integer or a string, not 1.5"),
    ({"query_id": ""}, "].query_id: an id must be a non-empty string, not ''"),
    ({"query_id": "0"}, "].query_id: '0' appears twice (first: [0].query_id)"),
    ({"relevant_moment": {}}, "].relevant_moment: must be a list, not {}"),
    ({"relevant_moment": [3]}, "].relevant_moment[0]: must be an object, not 3"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_RECORDS)
def test_a_malformed_query_is_an_error_with_its_place(tmp_path, changes, message):
    good = {"query_id": 0, "query": "x", "relevant_moment": []}
    path = file_of(tmp_path, json.dumps([good, {**qrels_with(), **changes}]))
    assert refusal(load_qrels, path) == f"{path}: [1{message}"


def test_a_record_that_is_none(tmp_path):
    path = file_of(tmp_path, f"{FLAT}[1]\n")
    with pytest.raises(FormatError, match="file, line 5: must be an object, not \\[1\\]"):
        load_qrels(path)
    path = file_of(tmp_path, RELEASE.replace('{"query_id": 8,', '{"id": 8,'))
    with pytest.raises(FormatError, match=r"file: \[1\]: the key 'query_id' is missing"):
        load_qrels(path)


BAD_RUNS = [
    (PREDICTIONS, "4, 5, -1", "5, 4, -1", ": [2].predictions[0]: the end is before the start"),
    (PREDICTIONS, "5, -1", "5, NaN", ": [2].predictions[0]: the score must be a number"),
    (PREDICTIONS, "5, -1", '5, "1"', ": [2].predictions[0][3]: must be a number, not '1'"),
    (PREDICTIONS, "4, 5, -1", "4", ": [2].predictions[0]: must be [video, start, end, score], not"),
    (PREDICTIONS, '["v", 4', "[null, 4", ": [2].predictions[0][0]: must be a string or an integer"),
    (PREDICTIONS, "9", "7", ": [2].query_id: '7' appears twice (first: [0].query_id)"),
    (SCORES, "[-1]", "[]", ': ["9"][0].model_scores: must be a number or a non-empty list, not []'),
    (SCORES, '"9"', '"7"', ", line 4: the key '7' appears twice in one object"),
    (VCMR, "[11, 4, 5", "[5, 4, 5", ": VCMR[2].predictions[0][0]: must be an index of the video"),
    (VCMR, '"w": 4', '"w": 11', ": video2idx.w: '11' appears twice (first: video2idx.v)"),
    (VCMR.replace('"VR": [], ', ""), '"VCMR"', '"VCM"', ": the key 'VCMR' is missing"),
    (
        SPOTS,
        "[4, 5, -1]",
        "[4]",
        ", line 3: pred_relevant_windows[0]: must be [start, end, score]",
    ),
    (SPOTS, '"qid": 9', '"qid": 7', ", line 3: qid: '7' appears twice (first: line 1)"),
    (SPOTS, '"qid": 9', f'"qid": {"9" * 5000}', ", line 3: a number has too many digits"),
    (
        SPOTS,
        '"qid": 9',
        '"qid": 9, "qid": 9',
        ", line 3: the key 'qid' appears twice in one object",
    ),
    (SPOTS, '9, "vid": "v", ', "9, ", ", line 3: the key 'vid' is missing"),
]


@pytest.mark.parametrize(("text", "old", "new", "message"), BAD_RUNS)
def test_a_malformed_run_is_an_error_with_its_place(tmp_path, text, old, new, message):
    assert text.count(old) >= 1, "the case says nothing"
    start = text.rindex(old)
    path = file_of(tmp_path, text[:start] + new + text[start + len(old) :])
    corpus = file_of(tmp_path, CORPUS, "corpus")
    assert refusal(load_run, path, corpus=corpus).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"query_id": 1 2}]', ", line 1, column 17: not JSON"),
        ('[\n{"query_id": 1}\n', ", line 3, column 1: not JSON: Expecting"),
        (FLAT.replace('"a",', '"a"'), ", line 3, column 18: not JSON: Expecting ',' delimiter"),
        (f"{FLAT}{{", ", line 5, column 2: not JSON"),
        (f"{FLAT}{{}} {{}}", ", line 5, column 4: not JSON: Extra data"),
        ("[1] [2]", ", line 1, column 5: not JSON: Extra data"),
        ("[\n1]\n[2]", ", line 3, column 1: not JSON: Extra data"),
        ("[" * 100_000, ": nested too deep"),
        (f"[{'9' * 5000}]", ": a number has too many digits"),
        (b'["\xff"]', ", line 1: not UTF-8 (byte 0xff)"),
    ],
)
def test_what_is_no_json_is_an_error_with_line_and_column(tmp_path, text, message):
    path = file_of(tmp_path, text)
    for load in (load_qrels, load_run):
        assert refusal(load, path).startswith(f"{path}{message}")


TRAINING = RELEASE.replace('"pair_id": 1, ', "").replace('"pair_id": 2, ', "")
TRAINING = TRAINING.replace(', "relevance": 4', "").replace(', "relevance": 0', "")


@pytest.mark.parametrize(
    ("load", "text", "message"),
    [
        (load_run, RELEASE, r"qrels \(tvr-ranking\), not a run"),
        (load_run, FLAT, r"qrels \(flat\), not a run"),
        (load_run, CORPUS, "a video corpus, not a run"),
        (load_qrels, PREDICTIONS, r"a run \(tvr-ranking\), not qrels"),
        (load_qrels, SCORES, r"a run \(scores\), not qrels"),
        (load_qrels, VCMR, r"a run \(vcmr\), not qrels"),
        (load_qrels, TRAINING, r"a training set \(its moments have no relevance\), not qrels"),
        (load_qrels, CORPUS, "a video corpus, not qrels"),
        (load_run, "[]", "the file contains no queries"),
        (load_qrels, "{}", "no known format of qrels; the formats are:\n  segments query_id Q0"),
        (load_run, "[3]", "no known format of a run; the formats are:\n  segments query_id Q0"),
    ],
)
def test_what_a_file_is_instead(tmp_path, load, text, message):
    with pytest.raises(FormatError, match=f"^{tmp_path}/file: {message}"):
        load(file_of(tmp_path, text))


def test_a_format_insisted_on_is_the_one_read(tmp_path):
    with pytest.raises(FormatError, match=r"\[0\]: the key 'qid' is missing"):
        load_qrels(file_of(tmp_path, RELEASE), fmt="qvhighlights")
    with pytest.raises(FormatError, match="line 1, column 1: not JSON"):
        load_qrels(file_of(tmp_path, "q Q0 v 0 1 1\n"), fmt="flat")
    with pytest.raises(FormatError, match="line 1: 11 columns are not qrels"):
        load_qrels(file_of(tmp_path, FLAT), fmt="segments")


def test_frames(tmp_path):
    frame = read_qrels(file_of(tmp_path, RELEASE))
    assert list(frame) == ["query_id", "video_id", "start", "end", "level"]
    assert [*map(tuple, frame.to_numpy().tolist())] == JUDGED
    frame = read_run(file_of(tmp_path, PREDICTIONS))
    assert list(frame) == ["query_id", "video_id", "start", "end", "rank", "score"]
    assert frame["rank"].tolist() == [1, 2, 1]


def test_the_garbage_collector_is_left_as_it_was(tmp_path):
    with pause_collector():
        assert not gc.isenabled()
        load_qrels(file_of(tmp_path, RELEASE))
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(FormatError):
        load_qrels(file_of(tmp_path, "["))
    assert gc.isenabled()
