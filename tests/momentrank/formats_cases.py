"""What the tests of the formats share: files from strings, and random segments."""

import gzip

import numpy as np
from hypothesis import strategies as st

from momentrank.segments import build_qrels, build_run

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
