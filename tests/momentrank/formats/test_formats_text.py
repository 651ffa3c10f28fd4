"""Segments in lines of fields: columns, times, ids, and the order of a run."""

import re
from pathlib import Path

import numpy as np
import pytest
from formats_cases import file_of, rows_of, runs, same
from hypothesis import given
from hypothesis import strategies as st

from momentrank.errors import UsageError
from momentrank.formats import FormatError, load_qrels, load_run
from momentrank.formats.lines import column, floats, read_lines
from momentrank.formats.source import Source
from momentrank.formats.write import write_run

QRELS = """\
# levels from 0 to 4
q1 Q0 v1 0 5.5 4

q1 Q0 v2 3.25 9 0
q2 0 v1 1e1 20 1
"""
RUN = """\
q1 Q0 v1 0 5 1 0.9 tag
q1 Q0 v2 3 9 2 0.85 tag
q2 Q0 v1 10 20 1 -7 tag
"""


def test_qrels(tmp_path):
    assert rows_of(load_qrels(file_of(tmp_path, QRELS))) == [
        ("q1", "v1", 0, 5.5, 4),
        ("q1", "v2", 3.25, 9, 0),
        ("q2", "v1", 10, 20, 1),
    ]


@pytest.mark.parametrize(
    "run",
    [
        RUN,
        RUN.replace(" tag", ""),
        "".join(
            f"{' '.join([*f[:5], '4.2', *f[5:]])}\n" for f in map(str.split, RUN.split("\n")) if f
        ),
        RUN.replace(" ", "\t"),
        RUN.replace("\n", "\r\n"),
        RUN.replace(" ", "   ").replace("q", "  q"),
        RUN.rstrip("\n"),
        f"\ufeff{RUN}",
        f"\n# a comment\n{RUN}\n# another\n\n",
    ],
    ids=["8", "7", "9", "tabs", "crlf", "wide", "no-end", "bom", "comments"],
)
@pytest.mark.parametrize("name", ["run.txt", "run.txt.gz", "run"])
def test_a_run_of_7_8_or_9_columns(tmp_path, run, name):
    assert rows_of(load_run(file_of(tmp_path, run, name))) == [
        ("q1", "v1", 0, 5, 0.9),
        ("q1", "v2", 3, 9, 0.85),
        ("q2", "v1", 10, 20, -7),
    ]


JUMPS = [
    "q Q0 v 10 20 10 1 0.5\nq Q0 v 30.5 40 30.5 2 0.4\n",
    "q Q0 v 10 20 12.5 2 0.4\nq Q0 v 30 40 33 1 0.5\n",
    "q Q0 v 10 20 10.0 1 5\n",
    "q Q0 v 10 20 12 1 0.5\nq Q0 v 30 40 33 2 0.4\np Q0 v 30 40 33 1 1e-3\n",
    "q Q0 v 10 20 12 0 3\nq Q0 v 30 40 33 1 2\n",
]


@pytest.mark.parametrize("run", JUMPS)
def test_8_columns_without_a_tag_are_known_by_their_content(tmp_path, run):
    messages = []
    segments = load_run(file_of(tmp_path, run), warn=messages.append)
    rows = [line.split() for line in run.splitlines()]
    rows = sorted(rows, key=lambda row: (row[0] != rows[0][0], int(row[6])))
    assert rows_of(segments) == [
        (row[0], row[2], float(row[3]), float(row[4]), float(row[7])) for row in rows
    ]
    layout = "`query_id Q0 video_id start end jump_in rank score`"
    assert messages[0].startswith(f"{tmp_path}/file: read as {layout} in seconds; for MediaEval's")
    messages.clear()
    load_run(file_of(tmp_path, run), time="mm.ss", warn=messages.append)
    assert messages[:1] == [f"{tmp_path}/file: read as {layout}"]


@pytest.mark.parametrize(
    "run",
    [
        "q Q0 v 10 20 1 0.5 7\nq Q0 v 10 21 2 0.25 7\n",
        "q Q0 v 10 20 1 3 2024\nq Q0 v 10 21 2 2 2024\n",
        "q Q0 v 1 20 1 0.5 7\n",
        "q Q0 v 1 20 1 0.5 run\n",
        "q Q0 v 1 20 1.0 5 1e\n",
    ],
)
def test_a_tag_may_be_a_number(tmp_path, run):
    segments = load_run(file_of(tmp_path, run), warn=pytest.fail)
    assert segments.value.tolist() == [float(line.split()[6]) for line in run.splitlines()]


AMBIGUOUS = [
    "q Q0 v 10 20 1 1 1\nq Q0 v 30 40 2 2 1\n",
    "q Q0 v 10 20 12 7 1\nq Q0 v 30 40 33 5 1\n",
    "q Q0 v 10 20 1.5 2.5 1\n",
]


@pytest.mark.parametrize("run", AMBIGUOUS)
def test_what_may_be_both_is_refused_unless_the_columns_are_named(tmp_path, run):
    path = file_of(tmp_path, run)
    with pytest.raises(FormatError, match=r"file, line 1: 8 columns may be .*--columns 'query_id"):
        load_run(path)
    tagged = load_run(path, columns="query_id,Q0,video_id,start,end,rank,score,tag")
    jump = load_run(path, columns="query_id Q0 video_id start end jump_in rank score")
    fields = [line.split() for line in run.splitlines()]
    assert sorted(tagged.value.tolist()) == sorted(float(row[6]) for row in fields)
    assert sorted(jump.value.tolist()) == sorted(float(row[7]) for row in fields)


def test_a_malformed_line_does_not_make_another_layout(tmp_path):
    path = file_of(tmp_path, f"{JUMPS[3]}q Q0 v 1 2 1 3 x\n")
    with pytest.raises(FormatError, match="line 4: the score must be a number, not 'x'"):
        load_run(path)
    path = file_of(tmp_path, f"{JUMPS[0]}q Q0 v 1 2 1.5 x 1\n")
    with pytest.raises(FormatError, match="line 3: the rank must be a number, not 'x'"):
        load_run(path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("query_id Q0 video_id start end jump_in rank", "--columns: 'score' is missing"),
        ("query_id Q0 video start end rank score", "'video' is not one of query_id, video_id"),
        ("query_id video_id start end rank rank score", "'rank' is named twice"),
        ("", "'query_id' is missing"),
    ],
)
def test_columns_that_are_no_run(tmp_path, columns, message):
    with pytest.raises(UsageError, match=message):
        load_run(file_of(tmp_path, RUN), columns=columns)


def test_columns_in_any_order_and_for_qrels(tmp_path):
    path = file_of(tmp_path, "1 q 0.5 x 2 3 v\n")
    columns = "rank query_id score - start end video_id"
    assert rows_of(load_run(path, columns=columns)) == [("q", "v", 2, 3, 0.5)]
    path = file_of(tmp_path, "4 q 2 3 v\n")
    columns = "level query_id start end video_id"
    assert rows_of(load_qrels(path, columns=columns)) == [("q", "v", 2, 3, 4)]
    with pytest.raises(FormatError, match="line 1: 5 columns, but --columns names 6"):
        load_qrels(path, columns=f"{columns} -")
    path = file_of(tmp_path, '{"qid": 1, "vid": "v", "relevant_windows": [[1, 2]]}')
    with pytest.raises(UsageError, match="--columns is only for lines of fields"):
        load_qrels(path, columns=columns)


def test_gzip_is_known_by_its_content(tmp_path):
    path = file_of(tmp_path, RUN, "run.gz").rename(tmp_path / "run.txt")
    assert len(load_run(path).query) == 3


def test_the_rank_is_the_order_and_equal_ranks_keep_the_files(tmp_path):
    run = """\
q2 Q0 b 0 1 10 0
q1 Q0 c 0 1 2 1
q2 Q0 a 0 1 9 1
q1 Q0 a 0 1 1 5
q1 Q0 b 0 1 1 5
q1 Q0 d 0 1 2 1
"""
    messages = []
    segments = load_run(file_of(tmp_path, run), warn=messages.append)
    assert segments.queries == ["q2", "q1"]
    assert segments.video == ["a", "b", "a", "b", "c", "d"]
    [message] = messages
    assert f"{tmp_path}/file, line 5: the rank appears twice" in message
    assert "2 such lines" in message


def test_scores_that_contradict_ranks_are_told_once(tmp_path):
    run = "q Q0 a 0 1 3 0.1\nq Q0 b 0 1 1 0.1\nq Q0 c 0 1 2 0.3\np Q0 a 0 1 1 5\np Q0 b 0 1 2 6\n"
    messages = []
    segments = load_run(file_of(tmp_path, run), warn=messages.append)
    assert segments.video == ["b", "c", "a", "a", "b"]
    assert messages == [
        (
            f"{tmp_path}/file, line 3: the score is higher than that of the result before it:"
            " the rank counts (2 such results)"
        )
    ]


def test_by_default_the_remark_is_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="the rank appears twice"):
        load_run(file_of(tmp_path, "q Q0 v 0 1 1 1\nq Q0 v 0 2 1 1\n"))


@given(runs(), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_does_not_matter_to_that_of_a_query(tmp_path, run, dice):
    path = tmp_path / "run"
    write_run(path, run)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    dice.shuffle(lines)
    segments = load_run(file_of(tmp_path, "".join(lines)), warn=lambda _: None)
    by_query = {name: [row for row in rows_of(run) if row[0] == name] for name in run.queries}
    assert rows_of(segments) == [row for name in segments.queries for row in by_query[name]]


@given(runs(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_a_depth_cuts_what_would_be_read(tmp_path, run, depth, dice):
    write_run(tmp_path / "run", run)
    lines = (tmp_path / "run").read_text(encoding="utf-8").splitlines(keepends=True)
    dice.shuffle(lines)
    path = file_of(tmp_path, "".join(lines))
    whole = load_run(path)
    assert same(load_run(path, depth=depth), whole.select(whole.rank <= depth))


def test_ids_are_percent_decoded(tmp_path):
    path = file_of(tmp_path, "my%20query Q0 %C3%A9%25%23+ 0 1 1\nñ Q0 v 0 1 1\n")
    assert [row[:2] for row in rows_of(load_qrels(path))] == [("my query", "é%#+"), ("ñ", "v")]


def test_a_query_may_begin_as_json_does(tmp_path):
    assert load_qrels(file_of(tmp_path, "[q Q0 v 0 1 1\n")).queries == ["[q"]
    assert load_run(file_of(tmp_path, "{q Q0 v 0 1 1 1\n")).queries == ["{q"]


@pytest.mark.parametrize(
    ("field", "seconds"), [("3.05", 185), ("3", 180), ("0.59", 59), ("3.5", 185), ("120.00", 7200)]
)
def test_minutes_and_seconds(tmp_path, field, seconds):
    qrels = load_qrels(file_of(tmp_path, f"q Q0 v 0 {field} 1\n"), time="mm.ss")
    run = load_run(file_of(tmp_path, f"q Q0 v 0.00 {field} 0.00 1 1 tag\n"), time="mm.ss")
    assert qrels.end.tolist() == run.end.tolist() == [seconds]


@pytest.mark.parametrize(
    "field", ["3.60", "3.", ".05", "-1.05", "3.05.1", "1e1", "3,05", "x", "\u0663", "9" * 5000]
)
def test_what_is_no_minutes_and_seconds(tmp_path, field):
    path = file_of(tmp_path, f"q Q0 v 0 1 1\nq Q0 v 0 {field} 1\n")
    with pytest.raises(FormatError, match=r"line 2: the end must be minutes\.seconds"):
        load_qrels(path, time="mm.ss")


def test_json_has_no_minutes(tmp_path):
    path = file_of(tmp_path, '{"qid": 1, "vid": "v", "relevant_windows": [[1, 2.5]]}')
    assert load_qrels(path, time="mm.ss in lines").end == [2.5]
    with pytest.raises(UsageError, match="only for lines of fields"):
        load_qrels(path, time="mm.ss")


def test_a_segment_that_stands_twice_is_told_and_kept(tmp_path):
    messages = []
    alike = file_of(tmp_path, "q Q0 v 0 1 1\nq Q0 v 0.0 1 1\n")
    assert len(load_qrels(alike, warn=messages.append).query) == 2
    assert messages.pop().startswith(f"{alike}, line 2: the same segment as in line 1 (1 such row)")
    two = file_of(tmp_path, "q Q0 v 0 1 1\nq Q0 w 0 1 2\nq Q0 v 0.0 1 2\n")
    assert load_qrels(two, warn=messages.append).value.tolist() == [1, 2, 2]
    [message] = messages
    assert "line 3: the same segment as in line 1: level 2, but level 1 there" in message


BAD_QRELS = [
    ("q Q0 v 0 1 1 1 1", "line 3: 8 columns, but the first line has 6"),
    ("q Q0 v x 1 1", "line 3: the start must be a number, not 'x'"),
    ("q Q0 v nan 1 1", "line 3: the start must be a number, not 'nan'"),
    ("q Q0 v 2 1 1", "line 3: the end is before the start"),
    ("q Q0 v 0 1 -1", "line 3: the level must be 0, 1, 2"),
    ("q Q0 v 0 1 high", "line 3: the level must be a number, not 'high'"),
    ("q Q0 v%ff 0 1 1", "line 3: the video_id 'v%ff' is not percent-encoded UTF-8"),
    (b"q Q0 \xff 0 1 1", r"line 3: not UTF-8 \(byte 0xff\)"),
]


@pytest.mark.parametrize(("line", "message"), BAD_QRELS)
@pytest.mark.parametrize("name", ["q.txt", "q.txt.gz"])
def test_a_malformed_line_is_an_error_with_its_line(tmp_path, line, message, name):
    line = line if isinstance(line, bytes) else line.encode()
    path = file_of(tmp_path, b"# one\nq Q0 w 0 1 1\n" + line + b"\nq Q0 w 0 1 1\n", name)
    with pytest.raises(FormatError, match=f"^{path}, {message}"):
        load_qrels(path)


def test_qrels_are_no_run_and_a_run_no_qrels(tmp_path):
    with pytest.raises(FormatError, match="line 2: 6 columns are qrels, not a run"):
        load_run(file_of(tmp_path, QRELS))
    with pytest.raises(FormatError, match="line 1: 8 columns are a run, not qrels"):
        load_qrels(file_of(tmp_path, RUN))


@pytest.mark.parametrize("load", [load_qrels, load_run])
@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff", "\x1c\u3000"])
@pytest.mark.parametrize("name", ["f", "f.gz"])
def test_an_empty_file_is_an_error(tmp_path, load, text, name):
    with pytest.raises(FormatError, match="the file is empty"):
        load(file_of(tmp_path, text, name))


@pytest.mark.parametrize("load", [load_qrels, load_run])
def test_what_is_no_known_format(tmp_path, load):
    with pytest.raises(FormatError, match=r"no known format of (?s:.)* tvr-ranking {query_id"):
        load(file_of(tmp_path, "some prose\n"))
    with pytest.raises(FormatError, match="line 1: 2 columns are not"):
        load(file_of(tmp_path, "some prose\n"), fmt="segments")
    with pytest.raises(FormatError, match="no known format"):
        load(file_of(tmp_path, "# a comment\n"))


def test_a_file_that_is_not_there_or_damaged(tmp_path):
    with pytest.raises(FormatError, match="no such file or directory"):
        load_run(tmp_path / "run")
    with pytest.raises(FormatError, match="is a directory"):
        load_run(tmp_path)
    path = file_of(tmp_path, RUN, "run.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError, match="gzip file is damaged"):
        load_run(path)


def test_a_format_that_there_is_not(tmp_path):
    with pytest.raises(UsageError, match="'trec' is not a valid format, must be one of segments"):
        load_run(tmp_path / "run", fmt="trec")
    with pytest.raises(
        UsageError, match=r"'hours' is not a valid unit of time; choose seconds, mm\.ss"
    ):
        load_run(file_of(tmp_path, RUN), time="hours")


SEPARATORS = st.text([*" \t\r\x0b\x0c\x1c\x1f"], min_size=1, max_size=3)
FIELD = st.text([*"aZ09._-%é"], min_size=1, max_size=4)


@given(
    rows=st.lists(st.lists(FIELD, min_size=2, max_size=2), min_size=1, max_size=5),
    between=st.lists(SEPARATORS, min_size=10, max_size=10),
    blank=st.sampled_from(["", "\n", " \n", "# a comment\n"]),
    last=st.sampled_from(["", "\n", "\n\n", " "]),
)
def test_lines_are_split_at_whatever_separates_words(rows, between, blank, last):
    lines = [f"{a}{space}{b}" for (a, b), space in zip(rows, between, strict=False)]
    text = blank + "\n".join(lines) + last
    read = read_lines(Source(Path("x"), text))
    assert [list(column) for column in read.columns] == [
        list(column) for column in zip(*rows, strict=True)
    ]
    first = 1 + blank.count("\n")
    assert [read.location(row).line for row in range(len(rows))] == [
        first + row for row in range(len(rows))
    ]
    chosen = read.select(np.array([len(rows) - 1]))
    assert list(column(chosen, "a b", "b")) == [rows[-1][1]]
    assert chosen.location(0).line == first + len(rows) - 1


NUMBERS = [
    "0",
    "7",
    "-1.5",
    "+.5",
    "5.",
    "1e3",
    "1E-400",
    "9007199254740993",
    "0.1",
    "1e400",
    "nan",
]
NO_NUMBERS = ["1_0", "0x10", "1d5", "1,5", "--5", "1e", "inf", "True", "1j", "x"]


@given(
    st.lists(st.sampled_from(NUMBERS + NO_NUMBERS), min_size=1, max_size=4),
    SEPARATORS,
    st.sampled_from(["\n", "\r\n", " \n", "\r\r\n"]),
)
def test_a_column_of_numbers_is_what_python_reads_in_each_field(fields, space, end):
    layout = "query_id Q0 video_id start end"
    text = "".join(space.join(["q", "Q0", "v", field, "2.5"]) + end for field in fields)
    lines = read_lines(Source(Path("a.run"), text))
    assert floats(lines, layout, "end").tolist() == [2.5] * len(fields)
    wrong = [field for field in fields if field in {*NO_NUMBERS, "1e400", "nan"}]
    if wrong:
        with pytest.raises(FormatError, match=f"must be a number, not '{re.escape(wrong[0])}'"):
            floats(lines, layout, "start")
    else:
        assert floats(lines, layout, "start").tolist() == list(map(float, fields))
