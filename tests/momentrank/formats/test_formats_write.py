"""What is written is what is read back, and a file appears whole or not at all."""

import copy
import gzip
import json

import numpy as np
import pytest
from formats_cases import file_of, qrels, rows_of, runs, same
from hypothesis import given
from hypothesis import strategies as st

from momentrank.errors import UsageError
from momentrank.formats import FormatError, load_qrels, load_run, write
from momentrank.formats.registry import QRELS, RUNS
from momentrank.formats.write import write_qrels, write_run
from momentrank.segments import build_qrels, build_run

RUN = build_run(["7", "7", "8"], ["v 1", "w", "v 1"], [0, 2, 4], [1.5, 3, 5], [0.25, 0.75, -1])
JUDGED = build_qrels(["7", "7", "8"], ["v 1", "w", "v 1"], [0, 2, 4], [1.5, 3, 5], [4, 0, 1])
names = st.sampled_from(["file", "file.gz"])


@given(qrels(), names, st.sampled_from(["segments", "flat"]))
def test_qrels_come_back(tmp_path, segments, name, fmt):
    before = copy.deepcopy(segments)
    write_qrels(tmp_path / name, segments, fmt)
    assert same(segments, before), "inputs are never changed"
    assert same(load_qrels(tmp_path / name), segments)
    assert same(load_qrels(tmp_path / name, fmt=fmt), segments)


@given(runs(), names, st.sampled_from(["segments", "tvr-ranking"]))
def test_runs_come_back(tmp_path, segments, name, fmt):
    before = copy.deepcopy(segments)
    write_run(tmp_path / name, segments, fmt, tag="a-tag")
    assert same(segments, before), "inputs are never changed"
    assert same(load_run(tmp_path / name, warn=pytest.fail), segments)
    assert same(load_run(tmp_path / name, fmt=fmt), segments)


@given(qrels(highest=1, one_video=True), runs(one_video=True), names)
def test_segments_of_one_video_a_query_come_back(tmp_path, segments, run, name):
    write_qrels(tmp_path / name, segments, "qvhighlights")
    assert same(load_qrels(tmp_path / name), segments)
    write_run(tmp_path / name, run, "qvhighlights")
    assert same(load_run(tmp_path / name), run)


@given(runs())
def test_reading_does_not_hang_on_the_shape(tmp_path, run):
    records = [
        {
            "query_id": query,
            "predictions": [list(row[1:]) for row in rows_of(run) if row[0] == query],
        }
        for query in run.queries
    ]
    corpus = {name: [1.5, index] for index, name in enumerate(dict.fromkeys(run.video))}
    index = {name: number for name, (_, number) in corpus.items()}
    numbered = [
        {**record, "predictions": [[index[row[0]], *row[1:]] for row in record["predictions"]]}
        for record in records
    ]
    scores = {
        record["query_id"]: [
            {"video_name": video, "timestamp": times, "model_scores": [score, 0]}
            for video, *times, score in record["predictions"]
        ]
        for record in records
    }
    tasks = [
        {"desc_id": record["query_id"], "predictions": record["predictions"]} for record in numbered
    ]
    shapes = [records, scores, {"video2idx": index, "VCMR": tasks}, numbered]
    path = file_of(tmp_path, json.dumps(corpus), "corpus")
    for shape in shapes:
        assert same(load_run(file_of(tmp_path, json.dumps(shape)), corpus=path), run)
        lines = shape if isinstance(shape, list) else [shape]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        assert same(load_run(file_of(tmp_path, text), corpus=path), run)


def test_a_run_in_text(tmp_path):
    write_run(tmp_path / "run", RUN)
    assert (tmp_path / "run").read_text() == (
        "7 Q0 v%201 0.0 1.5 1 0.25 momentrank\n"
        "7 Q0 w 2.0 3.0 2 0.75 momentrank\n"
        "8 Q0 v%201 4.0 5.0 1 -1.0 momentrank\n"
    )


def test_qrels_in_text(tmp_path):
    write_qrels(tmp_path / "qrels", JUDGED)
    assert (tmp_path / "qrels").read_text() == (
        "7 Q0 v%201 0.0 1.5 4\n7 Q0 w 2.0 3.0 0\n8 Q0 v%201 4.0 5.0 1\n"
    )


def test_an_id_that_would_be_a_comment(tmp_path):
    segments = build_run(["#q", "a"], ["#v", "#w"], [0, 0], [1, 1], [1, 1])
    write_run(tmp_path / "run", segments)
    assert same(load_run(tmp_path / "run"), segments)


def without_first(segments):
    return segments.select(np.array([False] * 2 + [True]))


def test_a_query_without_results_is_kept_or_refused(tmp_path):
    run = without_first(RUN)
    write_run(tmp_path / "run.json", run, "tvr-ranking")
    assert same(load_run(tmp_path / "run.json"), run)
    for fmt in ("segments", "qvhighlights"):
        with pytest.raises(FormatError, match="the query '7' has no segments"):
            write_run(tmp_path / "run", run, fmt)
    for fmt in ("segments", "flat", "qvhighlights"):
        with pytest.raises(FormatError, match="the query '7' has no segments"):
            write_qrels(tmp_path / "qrels", without_first(JUDGED), fmt)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("segments", "fmt", "message"),
    [
        (JUDGED, "qvhighlights", "qvhighlights allows level 1 only"),
        (JUDGED._replace(value=np.ones(3)), "qvhighlights", "'7' has several"),
        (JUDGED._replace(video=["", "v", "v"]), "segments", "an id is empty"),
        (JUDGED._replace(video=["", "v", "v"]), "flat", "an id is empty"),
        (JUDGED._replace(video=["\ud800", "v", "v"]), "segments", "can't be written as UTF-8"),
        (JUDGED._replace(video=["\ud800", "v", "v"]), "flat", "can't be written as UTF-8"),
        (build_qrels([], [], [], [], []), "flat", "there are no queries to write"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path, segments, fmt, message):
    with pytest.raises(FormatError, match=message):
        write_qrels(tmp_path / "qrels", segments, fmt)
    assert not list(tmp_path.iterdir())


def test_what_is_not_written(tmp_path):
    with pytest.raises(UsageError, match="'tvr-ranking' is not a valid format, must be one of seg"):
        write_qrels(tmp_path / "qrels", JUDGED, "tvr-ranking")
    with pytest.raises(UsageError, match="'vcmr' is not a valid format, must be one of segments"):
        write_run(tmp_path / "run", RUN, "vcmr")
    for tag in ("", "my tag", " tag", "a\u3000b"):
        with pytest.raises(UsageError, match="must be one word"):
            write_run(tmp_path / "run", RUN, tag=tag)
    with pytest.raises(FormatError, match="no such file or directory"):
        write_run(tmp_path / "none" / "run", RUN)


def test_what_is_written_is_a_format_that_is_read():
    assert set(write.QRELS_WRITTEN) - {"segments"} <= {fmt.name for fmt in QRELS}
    assert set(write.RUNS_WRITTEN) - {"segments"} <= {fmt.name for fmt in RUNS}


def test_a_file_that_cannot_be_finished_leaves_the_former_one(tmp_path, monkeypatch):
    path = tmp_path / "run"
    write_run(path, RUN)
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.os, "fsync", full)
    with pytest.raises(FormatError, match="no space left on device"):
        write_run(path, without_first(RUN), "tvr-ranking")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_content_is_the_same_file(tmp_path):
    for name in ("one.gz", "two.gz"):
        write_run(tmp_path / name, RUN)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()).startswith(b"7 Q0")
    assert (tmp_path / "one.gz").stat().st_mode & 0o400
