"""What the tests of the formats share: files from strings, and random segments."""

import gzip

import numpy as np
import pytest
from hypothesis import strategies as st

from momentrank.formats import FormatError
from momentrank.segments import build_qrels, build_run

# A document of two records in each format of qrels and runs

PAIR = {"video_name": "v", "timestamp": [0, 1], "relevance": 1}
CLIP = {
    "clip_uid": "c",
    "annotations": [
        {"annotation_uid": "a", "language_queries": [{"clip_start_sec": 0, "clip_end_sec": 1}]}
    ],
}
SUBMITTED = {"clip_uid": "c", "annotation_uid": "a", "query_idx": 0}


def submission(task):
    entries = [{"desc_id": n, "predictions": [[0, 0, 1, 0.5]]} for n in (1, 2)]
    return {"video2idx": {"v": 0, "w": 1}, task: entries}


QRELS = {
    "tvr-ranking": [{"query_id": n, "query": "x", "relevant_moment": [PAIR]} for n in (1, 2)],
    "flat": [{"query_id": n, **PAIR} for n in (1, 2)],
    "qvhighlights": [{"qid": n, "vid": "v", "relevant_windows": [[0, 1], [2, 3]]} for n in (1, 2)],
    "tvr": [{"desc_id": n, "vid_name": "v", "ts": [0, 1]} for n in (1, 2)],
    "activitynet-captions": {
        name: {"timestamps": [[0, 1]], "sentences": ["x"]} for name in ("v", "w")
    },
    "didemo": [{"annotation_id": n, "video": "v", "times": [[0, 1]]} for n in (1, 2)],
    "ego4d-nlq": {"videos": [{"clips": [CLIP, {**CLIP, "clip_uid": "d"}]}]},
}
RUNS = {
    "tvr-ranking": [{"query_id": n, "predictions": [["v", 0, 1, 0.5]]} for n in (1, 2)],
    "scores": {
        n: [{"video_name": "v", "timestamp": [0, 1], "model_scores": [0.5]}] for n in ("1", "2")
    },
    "qvhighlights": [
        {"qid": n, "vid": "v", "pred_relevant_windows": [[0, 1, 0.5], [2, 3, 0.4]]} for n in (1, 2)
    ],
    "ego4d-nlq": {
        "results": [{**SUBMITTED, "query_idx": n, "predicted_times": [[0, 1]]} for n in (0, 1)]
    },
    "vcmr": submission("VCMR"),
    "svmr": submission("SVMR"),
    "vr": submission("VR"),
}
CORPUS = {"v": [9.5, 0], "w": [3, 1]}

ids = st.text(min_size=1, max_size=6)
times = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6)
spans = st.tuples(times, times).map(sorted)
scores = st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(
    st.tuples(ids, ids, spans, scores),
    min_size=1, max_size=12, unique_by=lambda row: (row[0], *row[2]),
)  # fmt: skip


@st.composite
def qrels(draw, highest=4, one_video=False):
    """Draw judged segments, none of which appears twice."""
    levels = {}
    for query, video, (start, end), _ in draw(rows):
        name = f"of {query}" if one_video else video
        levels[query, name, start, end] = draw(st.integers(1 if highest == 1 else 0, highest))
    columns = zip(*levels, strict=True)
    return build_qrels(*map(list, columns), list(levels.values()))


@st.composite
def runs(draw, one_video=False):
    """Draw results, the best score first."""
    query, video, span, score = map(list, zip(*draw(rows), strict=True))
    video = [f"of {name}" for name in query] if one_video else video
    starts, ends = zip(*span, strict=True)
    return build_run(query, video, starts, ends, score, ranks=np.negative(score))


def same(first, second):
    """Tell whether segments are the same to the last bit."""
    texts = (first.queries, first.video) == (second.queries, second.video)
    columns = [(first.query, second.query)]
    columns += [(getattr(first, name), getattr(second, name)) for name in ("start", "end", "value")]
    return texts and all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in columns)


def rows_of(segments):
    """Return segments as tuples, to compare with what a test says."""
    names = [segments.queries[query] for query in segments.query]
    columns = (segments.start.tolist(), segments.end.tolist(), segments.value.tolist())
    return list(zip(names, segments.video, *columns, strict=True))


def file_of(folder, text, name="file"):
    """Write a test's text, in gzip if the name says so."""
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def refusal(read, path, **options):
    """Return why a file is refused."""
    with pytest.raises(FormatError) as caught:
        read(path, **options)
    return str(caught.value)
