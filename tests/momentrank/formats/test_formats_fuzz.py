"""Whatever a file holds: it is read, or its error is one that a user can understand."""

import contextlib
import json

import pytest
from formats_cases import CLIP, CORPUS, QRELS, RUNS, file_of
from hypothesis import example, given
from hypothesis import strategies as st

from momentrank.errors import MomentRankError
from momentrank.formats import QRELS_FORMATS, RUN_FORMATS, Truth, load_qrels, load_run, load_truth
from momentrank.formats.validation import describe
from momentrank.segments import build_qrels

pytestmark = pytest.mark.filterwarnings("ignore")  # what is told is not looked at here

PAIR = {"video_name": "v", "timestamp": [0, 1], "relevance": 1, "model_scores": [1, 2]}
BY_INDEX = [{"query_id": 1, "predictions": [["v", 0, 1, 1], [0, 0, 1, 1]]}]
SPLITS = {"val": {"v": [1.5, 0]}, "train": {"w": [2, 1]}}
SHAPES = [
    *(*QRELS.values(), *RUNS.values(), CORPUS, SPLITS, BY_INDEX),
    [{"query_id": 1, "query": "x", "relevant_moment": [PAIR, {**PAIR, "pair_id": 3}]}],
    [{"desc_id": 1, "vid_name": "v", "ts": [0, 1], "duration": 9, "desc": "x"}],
    {"v": {"duration": 9, "timestamps": [[0, 1]], "sentences": ["x"]}},
    [{"annotation_id": 1, "video": "v", "times": [[0, 1]], "num_segments": 6}],
    {"videos": [{"clips": [{**CLIP, "video_end_sec": 9}]}]},
    {"results": {"v": [{"sentence": "x", "timestamp": [0, 1], "score": 1}]}},
    [[[0, 1, 0.5]], [[1, 2]]],
]
TRUTHS = (
    None,
    Truth(build_qrels(["1"], ["v"], [0], [1], [1]), "didemo"),
    Truth(
        build_qrels(["v#0", "b"], ["v", "w"], [0, 0], [1, 1], [1, 1]),
        read_texts=lambda: {"v#0": "x"},
    ),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*PAIR, "qid", "x"]), inner)
    ),
    max_leaves=6,
)


@st.composite
def damaged_values(draw, value):
    """Draw a JSON value that differs from a good one in some place, or not at all."""
    if not draw(st.integers(0, 9)):
        return draw(values)
    if isinstance(value, list):
        return [draw(damaged_values(item)) for item in value]
    if isinstance(value, dict):
        return {
            name: draw(damaged_values(item))
            for name, item in value.items()
            if draw(st.integers(0, 30))
        }
    return value


def try_all(path, corpus, fmt):
    for load, formats in ((load_qrels, QRELS_FORMATS), (load_run, RUN_FORMATS)):
        with contextlib.suppress(MomentRankError):
            segments = load(path, fmt=fmt if fmt in formats else None)
            assert segments.queries, "something was read"
    for truth in TRUTHS:
        with contextlib.suppress(MomentRankError):
            load_run(path, corpus=corpus, depth=1, truth=truth)
        with contextlib.suppress(MomentRankError):
            load_run(path, corpus=corpus, lenient=True, truth=truth)
    with contextlib.suppress(MomentRankError):
        truth = load_truth(path)
        assert truth.durations is not None
        assert truth.texts is not None
        assert truth.videos is not None
    with contextlib.suppress(MomentRankError):
        describe(path, corpus=corpus)


formats = st.sampled_from([None, *QRELS_FORMATS, *RUN_FORMATS])


@given(st.sampled_from(SHAPES).flatmap(damaged_values), st.booleans(), formats)
def test_any_json(tmp_path, value, in_lines, fmt):
    lines = value if in_lines and isinstance(value, list) else [value]
    path = file_of(tmp_path, "\n".join(map(json.dumps, lines)))
    try_all(path, file_of(tmp_path, '{"v": [1, 0]}', "corpus"), fmt)


@given(damaged_values(CORPUS))
def test_any_video_corpus(tmp_path, value):
    path = file_of(tmp_path, json.dumps(BY_INDEX))
    with contextlib.suppress(MomentRankError):
        load_run(path, corpus=file_of(tmp_path, json.dumps(value), "corpus"))


fields = st.sampled_from(["q", "Q0", "0", "1", "2.5", "nan", "%41", "%", "#", "[", "-1", "{}", '"'])
lines = st.lists(fields, max_size=10).map(" ".join)


@given(st.lists(lines, max_size=4).map("\n".join), formats)
@example("[", None)
def test_any_text(tmp_path, text, fmt):
    try_all(file_of(tmp_path, text), None, fmt)


@given(
    st.binary(max_size=30), formats, st.sampled_from([b"", b"\x1f\x8b", b"\xef\xbb\xbf", b"q Q "])
)
@example(b"[]", "vcmr", b"")
def test_any_bytes(tmp_path, data, fmt, start):
    try_all(file_of(tmp_path, start + data), None, fmt)
