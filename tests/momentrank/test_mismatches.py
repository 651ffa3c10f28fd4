"""Ids and times that do not meet: told with an example, and refused where nothing meets."""

import pytest

from momentrank import conventions
from momentrank.formats import Truth
from momentrank.mismatches import NoOverlapError, check_lists, plain
from momentrank.segments import build_qrels, build_run

TIMES = [10.0, 20.0, 30.0]


def segments(make, queries, videos, ends=TIMES):
    return make(queries, videos, [0.0] * 3, ends, [1.0] * 3)


def check(qrels, run, name, warn, durations=dict):
    truth = Truth(qrels, read_durations=durations)
    check_lists(conventions.get("paper"), truth, {"": run}, name, warn)


def collect_warnings(run_queries=("1", "2", "3"), run_videos=("a", "b", "c"), ends=TIMES):
    warnings = []
    qrels = segments(build_qrels, ["1", "2", "3"], ["a", "b", "c"])
    check(qrels, segments(build_run, run_queries, run_videos, ends), "a.run", warnings.append)
    return warnings


def test_nothing_is_told_of_what_meets():
    assert collect_warnings() == []
    assert collect_warnings(run_videos=["a", "y", "z"]) == []


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (["x", "y", "z"], "no query in common: '1' in the qrels, 'x' in the run"),
        (["1.0", "2.0", "3.0"], r"no query in common: '1' in the qrels, '1.0' in the run \(3 such"),
        (["01", "y", "z"], "no query in common: '1' in the qrels, '01' in the run$"),
    ],
)
def test_no_query_in_common_is_an_error(queries, message):
    with pytest.raises(NoOverlapError, match=f"^a.run: the qrels and the run have {message}"):
        collect_warnings(run_queries=queries)


@pytest.mark.parametrize(
    ("videos", "message"),
    [
        (["a.mp4", "b.mp4", "c.mp4"], r"'a' in the qrels, 'a\.mp4' in the run \(3 such\)"),
        (["videos/a.mkv", "x", "y"], r"'a' in the qrels, 'videos/a\.mkv' in the run$"),
        (["v_a", "x", "y"], "'a' in the qrels, 'v_a' in the run$"),
        (["x", "y", "z"], "'a' in the qrels, 'x' in the run$"),
    ],
)
def test_no_video_in_common_is_an_error(videos, message):
    with pytest.raises(NoOverlapError, match=f"have no video in common: {message}"):
        collect_warnings(run_videos=videos)


def test_some_that_do_not_meet_are_told_with_an_example():
    assert collect_warnings(run_queries=["1", "2.0", "x"]) == [
        "a.run: queries in the qrels but not in the run: 2 (2, 3)",
        "a.run: queries in the run but not in the qrels: 2 (2.0, x)",
        "a.run: query ids that differ only in spelling: '2' in the qrels, '2.0' in the run",
    ]
    [message] = collect_warnings(run_videos=["a", "B", "z"])
    assert message.startswith("a.run: results in videos whose ids differ only in spelling")
    assert message.endswith("meet nothing: 1 of 3; 'b' in the qrels, 'B' in the run")


@pytest.mark.parametrize(
    ("factor", "unit"),
    [(1000, "run in milliseconds"), (0.001, "qrels in milliseconds"), (1 / 60, "qrels in minutes"),
     (25, "run in frames")],
)  # fmt: skip
def test_times_on_another_scale_are_told(factor, unit):
    [message] = collect_warnings(ends=[time * factor for time in TIMES])
    assert f"({unit}?)" in message
    assert f"the qrels end at 20, the run's results at {20 * factor:g}" in message


@pytest.mark.parametrize("factor", [0.1, 0.5, 3, 10])
def test_longer_results_are_no_other_unit(factor):
    assert collect_warnings(ends=[time * factor for time in TIMES]) == []


def test_no_results_and_no_moments():
    warnings = []
    some = segments(build_qrels, ["1", "2", "3"], ["a", "b", "c"])
    none = build_run([], [], [], [], [], queries=["1", "2", "3"])
    check(some, none, "a.run", warnings.append)
    check(none, some, "b.run", warnings.append)
    assert warnings == ["a.run: the run has no results", "b.run: the qrels have no moments"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("v_x.mp4", "X"), ("0012", "12.0"), ("a/b.c.webm", "b.c"), (" q ", "q"), ("D:\\a.avi", "a")],
)
def test_forms_of_one_id(first, second):
    assert plain(first) == plain(second)


@pytest.mark.parametrize(("first", "second"), [("1.5", "1"), ("a.b", "a"), ("10", "1"), ("v", "")])
def test_two_ids(first, second):
    assert plain(first) != plain(second)
