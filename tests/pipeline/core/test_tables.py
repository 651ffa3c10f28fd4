"""The tables between the stages: round trips, and errors that name file, row and column."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core import csv_files, tables
from pipeline.core.files import FileError
from pipeline.core.table import SHOWN_PROBLEMS, Column, Table, TableError, coerce

NOON = pd.Timestamp("2024-05-01T12:00:00Z")
# Two rows of each table: the first with everything, the second with every null that may be.
ROWS = {
    "MOMENTS": [("m1", "v 1", 0.0, 2.5, "She waves.", "v"), ("2", "v2", 1.25, 3.0, "Il é.", "vt")],
    "VIDEOS": [("v1", 61.46, "videos/v1.mp4"), ("v2", 0.5, None)],
    "CAPTIONS": [
        ("m1", "She waves.", "llm", "gpt", "p1", 1, 0.5, 0.25, "passed"),
        ("m2", "He sits.", "none", None, None, 0, None, None, "failed"),
    ],
    "REVIEW": [("m1", "She waves."), ("m2", "drop")],
    "CAST": [("Dr. Nora Reed", "female"), ("Robin", None)],
    "QUERIES": [
        ("q1", "She waves.", "val", "m1", "caption", "corpus"),
        ("m2", "=1+1", "train", "m2", "caption", "corpus"),
    ],
    "FROZEN_QUERIES": [
        ("q1", "She waves.", "val", "m1", "gist", "model"),
        ("q2", '-1, "so"\nso', "test", None, "person", "person"),
    ],
    "WRITTEN_QUERIES": [
        ("She waves.", "test", "person", "person", "by 7"),
        ("He waves.", "val", "recall", "person", None),
    ],
    "ASKED_QUERIES": [
        ("writer 7, recall m1", "She waves.", 7, "test", "recall", "person", "m1", NOON, None, None,
         "open", None),
        ("mine.csv", "Al waves.", None, "val", "person", "person", None, NOON, "names Al", None,
         "refused", "by 7"),
    ],
    "VARIANTS": [
        ("m1", "gist", "She waves.", "She w.", "rules", None, None, 0.5, 0.25, "passed", None),
        ("m2", "changed", "He sits.", "He runs.", "llm", "gpt", "p1", None, None, "failed", "far"),
    ],
    "CANDIDATES": [("q1", "m1", 1, 1.0, 1), ("q1", "m2", 21, -0.123456, 2)],
    "POOL": [
        ("q1", "m1", 1, 1.0, 1, "similarity", None, None),
        ("q1", "m2", 21, 0.5, 2, "learned", 1.25, "2026-01-02T03:04:05+00:00 0123456789abcdef"),
    ],
    "CLIPS": [("m1", "ab.mp4", "ab", 2.5), ("m2", "cd.gif", "cd", 0.0)],
    "FAILED_CLIPS": [("m1", "v 1", "missing"), ("m2", "../v2", "no-frame")],
    "AUDIT": [("q1", "m1", 1, 1.0, "near"), ("q1", "m2", 321, -0.123456, "deep")],
    "AUDIT_STRATA": [("q1", "m1", "unjudged", 340), ("q1", "m2", "high", 1)],
    "NEIGHBOURS": [("q1", "m1", 41, 0.5), ("q1", "m2", 42, -0.1)],
    "MACHINE_JUDGMENTS": [
        ("q1", "m1", 4, 3.8, None, "He waves.", "owl-7b", "judge-v1@ab", "3", 16, 0, "ab", "cd"),
        ("q1", "m1", None, None, "refused", None, "owl-7b", "judge-v1@ab", "3", 16, 1, "ab", "cd"),
        ("q1", "m2", 0, None, None, None, "similarity", None, None, 0, 0, "ab", "ef"),
    ],
    "TOPUP": [("q1", "m1", 61, 0.5, "splade"), ("q1", "m2", 70, 0.25, "=clip")],
    "POOLED_RUNS": [
        ("=clip", "q1", 1, "v", 0.5, 2.0, 0.5, 2.5),
        ("=clip", "q1", 2, "v", 3, 4, None, None),
    ],
    "CHANNEL": [("q1", "m1", 1, 0.5), ("q1", "m2", 2, -0.25)],
    "CHANNELS": [
        ("clip", "ef", "ab", 900, 0.75, "asked", None, None, None, None, None, None),
        ("splade", "gh", "cd", 900, 1.0, "refused", 40, 200, 21, 80, -0.4, -0.123456),
    ],
    "CHANNEL_SAMPLE": [
        ("clip", "q1", "m1", 61, 0.5, "channel"),
        ("clip", "q1", "m1", 61, 0.5, "captions"),
    ],
    "WANTED": [("q1", "m1", 21, 0.5, 2), ("q1", "m2", 321, -0.123456, 5)],
    "PAIRS": [
        (0, "q1", "m1", "v1", 0.1, 2.5, 61.46, "She waves.", 0.987654, 1, "ab", "cd"),
        (1, "q1", "m2", "v2", 0.0, 1.0, 2.0, "'=x", -1.0, 40, "ab", "ef"),
    ],
    "JUDGMENTS": [
        ("q1", "m1", 3, 4, None, NOON, 7.5, "ls:1", "1", "first", "ab", "cd"),
        ("q1", "m2", 3, None, "broken-clip", NOON, None, "ls:2", "1", "first", "ab", "ef"),
    ],
    "JUDGMENT_HISTORY": [
        ("q1", "m1", 3, 4, None, NOON, 7.5, "1@a", "1", "first", "ab", "cd", NOON, "stands"),
        ("q1", "m1", 3, None, "broken-clip", NOON, None, "b", "1", "first", "a", "c", NOON, "lost"),
    ],
    "REJECTED_JUDGMENTS": [
        ("q1", "m1", 3, "skipped", "1@a", NOON, 7.5, "annotator 3"),
        (None, None, 4, "bad-key", "2@b", NOON, None, None),
    ],
    "ASSIGNMENTS": [("q1", "m1", 3, "first"), ("q1", "m1", 4, "escalated")],
    "OPEN_TASKS": [
        ("q1", "m1", 3, "first", "ab", "cd", NOON),
        ("q1", "m1", 3, "first", "ab", "ef", NOON),
    ],
    "EXTEND": [("q1", "yes"), ("q2", "no")],
    "COUNTED_VOTES": [(0, 3, 4, None), (0, 4, None, "broken-clip")],
    "GOLD": [("q1", "m1", 4, "she waves at nobody"), ("q1", "m2", 0, None)],
    "EXAM": [
        ("q1", "m1", 4, "gold", "cd.mp4", "ab", "cd"),
        ("q1", "m2", None, None, "ef.mp4", "ab", "ef"),
    ],
    "EXAM_ANSWERS": [
        (3, 1, "q1", "m1", 4, None, NOON, 7.5, "1@a", "1"),
        (3, 2, "q1", "m1", None, "broken-clip", NOON, None, "2@b", "1"),
    ],
    "QUALIFICATIONS": [(3, 1, 100, 16, 0.25, 0.5, "no"), (3, 2, 16, 0, None, None, "yes")],
    "VOIDED": [(3, NOON, None, "judged without looking"), (4, NOON, NOON, None)],
    "DEPARTURES": [(3, NOON, None), (4, NOON, NOON)],
    "DEVIATIONS": [
        (3, "campaign", NOON, None, "label_config", "no"),
        (4, "exam", NOON, NOON, "2 predictions; its settings", "yes"),
    ],
    "SECOND_LOOK": [
        ("q1", "m1", "is it the same door?", "lead"),
        ("q1", "m2", "a.csv: 0\nb.csv: 1", "reported"),
    ],
    "LATE_RUNS": [
        (90, "clip", "test", 10, 0.5, 0.5, 0.25, 0.75, 9, NOON),
        (90, "captions", "test", None, None, 0.5, 0.25, 0.5, 9, NOON),
    ],
    "ADJUDICATIONS": [
        ("q1", "m1", 8, 4, None, NOON, 7.5, "1@a", "1", "ab", "cd"),
        ("q1", "m2", 8, None, "senseless-query", NOON, None, "2@b", "1", "ab", "ef"),
    ],
    "CONSENSUS": [
        ("q1", "m1", 4, 3.5, [3, 4], "two", 4, "two"),
        ("q1", "m2", None, None, [], "waiting", None, "waiting"),
    ],
}  # fmt: skip
every_table = pytest.mark.parametrize("name", ROWS)


def get_table(name: str) -> Table:
    return getattr(tables, name)


def make_frame(name: str) -> pd.DataFrame:
    return pd.DataFrame(ROWS[name], columns=get_table(name).columns)


def list_dtypes(frame: pd.DataFrame) -> str:
    return " ".join(str(dtype) for dtype in frame.dtypes)


def plain(frame: pd.DataFrame) -> list[list[object]]:
    """Return the cells, nulls as None and lists as lists."""
    rows = frame.astype(object).itertuples(index=False, name=None)
    return [[_plain(cell) for cell in row] for row in rows]


def _plain(cell: object) -> object:
    if isinstance(cell, list | np.ndarray):
        return list(cell)
    return None if pd.isna(cell) else cell


def problems(call) -> list[str]:
    with pytest.raises(TableError) as caught:
        call()
    return str(caught.value).splitlines()


def test_every_table_of_the_module_is_tested():
    assert {name for name, value in vars(tables).items() if isinstance(value, Table)} == set(ROWS)


# Round trips


@every_table
def test_an_empty_table_has_its_dtypes_and_round_trips(name, tmp_path):
    table = get_table(name)
    empty = table.empty()
    assert len(empty) == 0
    assert list(empty.columns) == table.columns
    for path in [tmp_path / "t.parquet", tmp_path / "t.csv"]:
        table.write(empty, path)
        pd.testing.assert_frame_equal(table.read(path), empty)


@pytest.mark.parametrize(
    ("name", "file"),
    [(name, f"t.{kind}") for name in ROWS for kind in ("parquet", "csv")][:-1],  # a list is no cell
)
def test_a_table_round_trips(name, file, tmp_path):
    table, frame = get_table(name), make_frame(name)
    table.write(frame, tmp_path / file)
    read = table.read(tmp_path / file)
    assert list_dtypes(read) == list_dtypes(table.empty())
    assert plain(read) == plain(frame)


def test_judgments_are_committed_as_this_text(tmp_path):
    tables.JUDGMENTS.write(make_frame("JUDGMENTS"), tmp_path / "j.csv")
    assert (tmp_path / "j.csv").read_text() == (
        "query_id,moment_id,annotator,level,reason,submitted_at,seconds,origin,guideline,kind,"
        "query_sha,clip_sha\n"
        "q1,m1,3,4,,2024-05-01 12:00:00+00:00,7.5,ls:1,1,first,ab,cd\n"
        "q1,m2,3,,broken-clip,2024-05-01 12:00:00+00:00,,ls:2,1,first,ab,ef\n"
    )


texts = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
seconds = st.floats(min_value=0, allow_infinity=False)


@settings(max_examples=25)
@given(st.lists(st.tuples(texts, texts, seconds, texts), max_size=4, unique_by=lambda row: row[0]))
def test_any_text_and_any_time_survives_a_committed_table(tmp_path, rows):
    columns = ["query_id", "caption", "start", "clip_sha"]
    frame = pd.DataFrame(rows, columns=columns).assign(
        pair_id=range(len(rows)), moment_id="m", video_id="v", end=1.0, duration=2.0,
        similarity=0.5, rank=1, query_sha="a",
    )[tables.PAIRS.columns]  # fmt: skip
    tables.PAIRS.write(frame, tmp_path / "pairs.csv")
    assert plain(tables.PAIRS.read(tmp_path / "pairs.csv")) == plain(frame)


def test_the_index_is_not_kept_and_what_is_handed_over_is_not_changed(tmp_path):
    frame = make_frame("QUERIES").set_axis([7, 3])
    tables.QUERIES.write(frame, tmp_path / "q.parquet")
    assert list(tables.QUERIES.read(tmp_path / "q.parquet").index) == [0, 1]
    assert list(frame.index) == [7, 3]


def test_columns_in_another_order_are_put_in_theirs(tmp_path):
    (tmp_path / "q.csv").write_text("split,moment_id,query_id,query\nval,m1,q1,She waves.\n")
    assert plain(tables.QUERIES.read(tmp_path / "q.csv")) == [
        ["q1", "She waves.", "val", "m1", "caption", "corpus"]
    ]


def test_a_table_of_an_earlier_version_gets_what_its_rows_were(tmp_path):
    (tmp_path / "q.csv").write_text("query_id,query,split,moment_id,stratum\nq1,a,val,m1,gist\n")
    assert plain(tables.FROZEN_QUERIES.read(tmp_path / "q.csv")) == [
        ["q1", "a", "val", "m1", "gist", "corpus"]
    ]


# Broken cells

MISTAKES = [
    ("MOMENTS", "moment_id", None, "empty"),
    ("MOMENTS", "start", "soon", "'soon' is not a number"),
    ("MOMENTS", "start", -0.5, "-0.5 is not a time of 0 s or more"),
    ("MOMENTS", "description", " \n", r"' \n' is not text"),
    ("MOMENTS", "modality", "x", "'x' is not one of v, t, vt"),
    ("CAPTIONS", "rounds", -1, "-1 is not 0 or more"),
    ("CAPTIONS", "similarity", 1.5, "1.5 is not between -1 and 1"),
    ("QUERIES", "split", "dev", "'dev' is not one of val, test, train"),
    ("CANDIDATES", "rank", 0, "0 is not 1 or more"),
    ("JUDGMENTS", "annotator", "bob@example.org", "'bob@example.org' is not a whole number"),
    ("JUDGMENTS", "level", 5, "5 is not between 0 and 4"),
    ("JUDGMENTS", "level", "4.5", "'4.5' is not a whole number"),
    ("JUDGMENTS", "submitted_at", "05/01/2024", "'05/01/2024' is not a date and time"),
    ("JUDGMENTS", "submitted_at", None, "empty"),
    ("CONSENSUS", "mean", 4.5, "4.5 is not between 0 and 4"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "column", "value", "complaint"), MISTAKES)
def test_a_broken_cell_is_one_line_with_row_or_line_and_column(
    name, column, value, complaint, tmp_path
):
    table, path = get_table(name), tmp_path / "t.parquet"
    frame = table.check(make_frame(name)).astype(object)
    frame.loc[1, column] = value
    assert problems(lambda: table.write(frame, path)) == [f"{path}: row 1, {column}: {complaint}"]
    assert not path.exists()
    if name != "CONSENSUS":  # a list is no cell of a CSV file
        path = tmp_path / "t.csv"
        csv_files.write_csv(path, frame)
        assert problems(lambda: table.read(path)) == [f"{path}: line 3, {column}: {complaint}"]


CELLS = (None, "", " ", "q1", "first", "2", "\ud800", 2, -1, 0.5, 2**70, True, NOON, np.inf)


def column_kinds() -> dict[Column, object]:
    """Return a column of every kind that the tables have, each with a cell that is right."""
    return {
        column._replace(default=None): cell
        for name in ROWS
        for (_, column), cell in zip(get_table(name).definitions, ROWS[name][0], strict=True)
        if cell is not None
    }


def list_refused(column: Column, cells: list[object]) -> list[str]:
    """Return where a table refuses cells, whose rows are 7, 8 ...; no key is checked."""
    frame = pd.DataFrame({"it": pd.Series(cells, range(7, 7 + len(cells)), dtype=object)})
    try:
        [checked] = Table(Path("t.csv"), (("it", column),), ()).check_batches([frame])
    except TableError as exc:
        return [line.split(", it: ")[0] for line in str(exc).splitlines()]
    assert (checked["it"].dtype, list(checked.index)) == (column.dtype, list(frame.index))
    return []


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_refused_alone_and_beside_right_ones_and_none_of_those_is(cell):
    for column, right in column_kinds().items():
        alone = list_refused(column, [cell])
        assert alone in ([], ["t.csv: row 7"]), (column, cell)
        assert list_refused(column, [right, cell, right]) == ["t.csv: row 8" for _ in alone]


@pytest.mark.parametrize(
    ("dtype", "cell", "value"),
    [
        ("int64", "2", 2), ("int64", 2.0, 2), ("int64", 0.5, None), ("Int64", 1.5, None),
        ("int64", "1.5", None), ("int64", 2**70, None), ("float64", "1.5", 1.5), ("str", 2, "2"),
        ("str", "\ud800", None), ("datetime64[us, UTC]", "05/01/2024", None),
    ],
)  # fmt: skip
def test_a_cell_becomes_the_same_value_of_the_dtype_or_none(dtype, cell, value):
    [coerced], wrong = coerce(pd.Series([cell], dtype=object), dtype)
    assert (None if wrong else coerced) == value


@every_table
def test_a_frame_is_checked_whatever_its_index(name):
    table, frame = get_table(name), make_frame(name)
    twice = pd.concat([frame, frame]).rename_axis("moment")
    for rows in (frame.head(0), frame, twice):
        [checked] = table.check_batches([rows])
        assert checked.index.equals(rows.index)
        assert plain(checked.reset_index(drop=True)) == plain(rows.reset_index(drop=True))


def test_a_column_that_has_its_dtype_already_is_checked_all_the_same():
    frame = tables.JUDGMENTS.check(make_frame("JUDGMENTS"))
    cells = {"seconds": -1.0, "annotator": -1, "level": 9, "kind": "second", "submitted_at": pd.NaT}
    for name, cell in cells.items():
        wrong = pd.Series(cell, frame.index, dtype=frame[name].dtype)
        assert (
            len(problems(lambda w=wrong, n=name: tables.JUDGMENTS.check(frame.assign(**{n: w}))))
            == 2
        )


def test_lines_are_those_of_the_file_even_after_cells_of_several_lines(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text('query_id,query,split,moment_id\nq1,"two\nlines",val,m1\n\nq2,x,dev,\n')
    assert problems(lambda: tables.QUERIES.read(path)) == [
        f"{path}: line 5, split: 'dev' is not one of val, test, train"
    ]


def test_several_broken_cells_are_several_lines_and_the_rest_is_counted():
    frame = pd.DataFrame({"query_id": list("abcdefg"), "query": "x", "split": "dev"})
    frame["moment_id"] = None
    lines = problems(lambda: tables.QUERIES.check(frame))
    assert len(lines) == SHOWN_PROBLEMS + 1
    assert lines[0] == (
        "datasets/work/queries.parquet: row 0, split: 'dev' is not one of val, test, train"
    )
    assert lines[-1] == "datasets/work/queries.parquet: and 2 more"


def test_text_that_is_no_utf8_is_refused(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes(b"query_id,query,split,moment_id\nq1,fine,val,\nq2,caf\xe9,val,\n")
    assert problems(lambda: tables.QUERIES.read(path)) == [f"{path}: line 3, query: not UTF-8"]
    lone = make_frame("QUERIES").astype(object).replace("=1+1", "\ud800")
    [line] = problems(lambda: tables.QUERIES.check(lone))
    assert line.endswith(r"row 1, query: '\ud800' is not UTF-8 text")


# Times of judgments


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01 12:00:00+00:00",
        "2024-05-01T12:00:00Z",
        "2024-05-01T12:00:00.000000Z",
        "2024-05-01 14:00:00+02:00",
        "2024-05-01T12:00",
    ],
)
def test_a_time_is_any_iso_8601_and_utc_where_it_does_not_say(text, tmp_path):
    frame = tables.JUDGMENTS.check(make_frame("JUDGMENTS")).astype({"submitted_at": object})
    frame.loc[1, "submitted_at"] = text
    assert list(tables.JUDGMENTS.check(frame)["submitted_at"]) == [NOON, NOON]
    csv_files.write_csv(tmp_path / "j.csv", frame)
    assert list(tables.JUDGMENTS.read(tmp_path / "j.csv")["submitted_at"]) == [NOON, NOON]


def test_times_of_a_column_may_differ_in_form(tmp_path):
    forms = ["2024-05-01 12:00:00+00:00", "2024-05-01T12:00:00.5Z", "2024-05-01T12:00:01.123456Z"]
    frame = pd.concat([make_frame("JUDGMENTS")] * 2).head(3).astype({"level": "Int64"})
    csv_files.write_csv(tmp_path / "j.csv", frame.assign(annotator=range(3), submitted_at=forms))
    instants = tables.JUDGMENTS.read(tmp_path / "j.csv")["submitted_at"]
    assert list((instants - NOON).dt.total_seconds()) == [0.0, 0.5, 1.123456]


# Columns, keys, files


def test_a_missing_and_an_unknown_column_are_told(tmp_path):
    path, frame = tmp_path / "q.csv", make_frame("QUERIES").rename(columns={"split": "spilt"})
    errors = [f"{path}: column 'split' is missing", f"{path}: unknown column 'spilt'"]
    assert problems(lambda: tables.QUERIES.write(frame, path)) == errors
    csv_files.write_csv(path, frame)
    assert problems(lambda: tables.QUERIES.read(path)) == errors


@every_table
def test_a_key_twice_names_both_rows(name):
    table, frame = get_table(name), make_frame(name).astype(object)
    key = list(table.key)
    frame.loc[1, key] = frame.loc[0, key]
    message = (
        f"{', '.join(key)}: {', '.join(str(frame.loc[0, part]) for part in key)} appears twice"
    )
    assert problems(lambda: table.check(frame)) == [
        f"{table.path}: row 0, {message}",
        f"{table.path}: row 1, {message}",
    ]


def test_a_key_differs_where_one_part_does():
    frame = pd.concat([make_frame("JUDGMENTS").head(1)] * 2, ignore_index=True)
    tables.JUDGMENTS.check(frame.assign(annotator=[3, 4]))
    tables.JUDGMENTS.check(frame.assign(kind=["first", "repeat"]))


def test_a_missing_table_says_what_to_do(tmp_path):
    with pytest.raises(FileError, match=r"moments\.parquet: no such file; `dvc repro` makes it$"):
        tables.MOMENTS.read(tmp_path / "moments.parquet")
    path = tmp_path / "queries.csv"
    with pytest.raises(FileError, match=f"{path}: no such file; `git restore {path}` brings"):
        tables.FROZEN_QUERIES.read(path)


@pytest.mark.parametrize("folder", ["work", "work/datasets", "datasets/work/x/datasets/campaign"])
def test_what_git_restores_is_told_by_its_place_not_by_a_word(tmp_path, monkeypatch, folder):
    (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / folder)
    with pytest.raises(
        FileError, match=r"`git restore datasets/campaign/cast\.csv` brings it back"
    ):
        tables.CAST.read()
    for path in (tables.CLIPS.path, tables.CLIPS.path.absolute()):
        with pytest.raises(FileError, match=r"clips\.csv: no such file; `dvc repro` makes it"):
            tables.CLIPS.read(path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"moment_id,video_id\n", b"PAR1" * 99])
def test_what_is_no_parquet_is_told(tmp_path, content):
    path = tmp_path / "moments.parquet"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"moments\.parquet: not readable as Parquet \(.+\)$"):
        tables.MOMENTS.read(path)


def test_a_refused_table_leaves_the_old_one(tmp_path):
    path = tmp_path / "q.parquet"
    tables.QUERIES.write(make_frame("QUERIES"), path)
    before = path.read_bytes()
    with pytest.raises(TableError):
        tables.QUERIES.write(make_frame("QUERIES").assign(split="dev"), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", [tables.FROZEN_QUERIES, tables.REVIEW, tables.CAST])
def test_what_is_committed_is_readable(repository, table):
    table.read(repository / table.path)
