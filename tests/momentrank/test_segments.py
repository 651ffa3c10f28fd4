"""Segments: the order of lists, and what can't be a segment."""

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentrank import segments
from momentrank.data import as_lists, as_truth
from momentrank.errors import UsageError
from momentrank.segments import SegmentError, build_qrels, build_run, iou


def run_of(rows):
    return as_lists(rows, "the run", warn=lambda _: None)[""]


def qrels_of(rows):
    return as_truth(rows, "seconds", lambda _: None).segments


ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("vw"), st.integers(1, 4), st.integers(0, 3))
)


@given(ROWS)
def test_by_rank_and_stable(rows):
    run = build_run(
        [row[0] for row in rows],
        [row[1] for row in rows],
        [0] * len(rows),
        list(range(len(rows))),
        ranks=[row[2] for row in rows],
    )
    for number, query in enumerate(run.queries):
        listed = [(rank, at) for at, (name, _, rank, _) in enumerate(rows) if name == query]
        of_query = run.query == number
        assert run.end[of_query].tolist() == [at for _, at in sorted(listed)]
        assert run.rank[of_query].tolist() == list(range(1, len(listed) + 1))
    assert list(run.queries) == list(dict.fromkeys(row[0] for row in rows))
    assert [run.video[at] for at in range(len(rows))] == [rows[int(end)][1] for end in run.end]


def test_by_descending_score_and_stable():
    rows = zip(["q"] * 4, list("abcd"), [0] * 4, [1] * 4, [0.5, 0.9, 0.5, -1], strict=True)
    run = run_of(list(rows))
    assert run.video == ["b", "a", "c", "d"]
    assert run.value.tolist() == [0.9, 0.5, 0.5, -1]


def test_judged_segments_keep_their_order_and_empty_queries_stay():
    qrels = build_qrels(
        ["b", "a", "b"], list("xyz"), [0] * 3, [1] * 3, [1, 2, 3], queries=["n", "b"]
    )
    assert qrels.queries == ["n", "b", "a"]
    assert qrels.video == ["x", "z", "y"]
    assert qrels.query.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("columns", "row", "reason"),
    [
        (([5, 0], [1, 1], [0, 0]), 0, "the end is before the start"),
        (([0, np.nan], [1, 1], [0, 0]), 1, "start and end must be numbers"),
        (([0, "1"], [1, 1], [0, 0]), 1, "the start must be a number, not '1'"),
        (([0, 0], [1, None], [0, 0]), 1, "the end must be a number, not None"),
        (([0, 0], [1, 1], [0, -1]), 1, "the level must be 0, 1, 2, ... 1000"),
        (([0, 0], [1, 1], [0, 1001]), 1, "the level must be 0, 1, 2, ... 1000"),
        (([0, 10**400], [1, 1], [0, 0]), 1, "the start is too large"),
        (([0, 0], [1, 1], [0]), 1, "the columns differ in length"),
    ],
)
def test_what_cannot_be_a_segment_is_named_by_its_row(columns, row, reason):
    with pytest.raises(SegmentError) as caught:
        build_qrels(["q", "p"], ["v", "v"], *columns)
    assert (caught.value.row, caught.value.reason) == (row, reason)


def test_a_rank_is_a_number():
    with pytest.raises(SegmentError, match="row 1: the rank must be a number"):
        build_run(["q", "q"], ["v", "w"], [0, 0], [1, 1], ranks=[1, np.nan])


def test_the_row_is_that_of_the_file_though_lists_are_ordered():
    with pytest.raises(SegmentError) as caught:
        build_run(["q"] * 3, list("abc"), [0, 9, 0], [1, 1, 1], ranks=[3, 2, 1])
    assert caught.value.row == 1


def test_frames_in_frames_out_and_neither_changed():
    frame = pd.DataFrame(
        {
            "query_id": [2, 1, 2],
            "video_id": ["v", "w", "v"],
            "start": [0, 1, 2],
            "end": [1.5, 2.5, 3.5],
            "rank": [2, 1, 1],
            "score": [0.1, 0.2, 0.3],
        },
        index=[7, 7, 7],
    )
    before = frame.copy(deep=True)
    run = segments.run_frame(run_of(frame))
    pd.testing.assert_frame_equal(frame, before)
    assert run.to_dict("list") == {
        "query_id": ["2", "2", "1"],
        "video_id": ["v", "v", "w"],
        "start": [2.0, 0.0, 1.0],
        "end": [3.5, 1.5, 2.5],
        "rank": [1, 2, 1],
        "score": [0.3, 0.1, 0.2],
    }
    qrels = frame.assign(level=[0, 4, 1]).drop(columns=["rank", "score"])
    again = segments.qrels_frame(qrels_of(qrels))
    assert again["level"].tolist() == [0, 1, 4]


@pytest.mark.parametrize("missing", ["query_id", "video_id", "start", "end"])
def test_a_frame_without_a_column_is_a_clear_error(missing):
    columns = {"query_id": ["q"], "video_id": ["v"], "start": [0], "end": [1], "rank": [1]}
    del columns[missing]
    with pytest.raises(UsageError, match=f"^run: the frame has no column '{missing}'; it has '"):
        run_of(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("column", "ids"),
    [
        (pd.Series([1.0, 2.0]), ["1", "2"]),
        (pd.Series([1, 2]), ["1", "2"]),
        (pd.Series([1, "b"], dtype=object), ["1", "b"]),
        (pd.Series(["1.0", "2"]), ["1.0", "2"]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([1, 2], dtype="Int64"), ["1", "2"]),
    ],
)
def test_whole_numbers_are_integers_as_ids(column, ids):
    frame = pd.DataFrame({"query_id": column, "video_id": "v", "start": 0, "end": 1, "rank": 1})
    assert run_of(frame).queries == ids


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None]),
        pd.Series([1.0, np.nan]),
        pd.Series([1, 2.5]),
        pd.Series(["a", ""]),
        pd.Series([True, False]),
    ],
)
@pytest.mark.parametrize("name", ["query_id", "video_id"])
def test_a_null_is_no_id(column, name):
    row = int(column.dtype != bool)
    frame = pd.DataFrame({"query_id": "q", "video_id": "v", "start": 0, "end": [1, 1], "rank": 1})
    with pytest.raises(SegmentError, match=f"row {row}: the {name} must be a string or an integer"):
        run_of(frame.assign(**{name: column}))


def test_a_run_needs_a_rank_or_a_score():
    frame = pd.DataFrame({"query_id": ["q"], "video_id": ["v"], "start": [0], "end": [1]})
    with pytest.raises(UsageError, match="neither a column 'rank' nor 'score'"):
        run_of(frame)


TIMES = st.lists(
    st.tuples(*[st.tuples(*[st.floats(0, 9, width=16)] * 2).map(sorted)] * 2), min_size=1
)


@given(TIMES)
def test_the_iou_of_columns_is_that_of_each_two(pairs):
    ious = iou(*np.array([[*first, *second] for first, second in pairs]).T).tolist()
    expected = [
        oracle.iou(oracle.Result("v", *first), oracle.Judged("v", *second, 1))
        for first, second in pairs
    ]
    assert ious == expected
