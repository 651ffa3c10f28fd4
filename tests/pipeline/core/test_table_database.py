"""Tables past memory: DuckDB's order and hashes are Python's, and mapped frames have all rows."""

import os
import socket

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core import rng
from pipeline.core.storage import database, mapped
from pipeline.core.storage.database import DatabaseError, open_database

DEAD, OTHER = 2**22 + 1, 1
"""No process has the first number, and the second is always there."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return the folder of databases, in an empty one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / database.FOLDER


@pytest.fixture
def small():
    """Return a database with the least memory."""
    with open_database(1e-6) as opened:
        yield opened


@given(st.lists(st.text(), min_size=1, max_size=30))
def test_texts_are_sorted_and_hashed_as_in_python(small, texts):
    small.load("texts", [pd.DataFrame({"text": texts}, dtype="str")])
    rows = small.frame("select text, sha256(text) as hash from texts order by text")
    small.run("drop table texts")
    assert list(rows["text"]) == sorted(texts)
    assert list(rows["text"]) == list(pd.Series(texts, dtype="str").sort_values())
    assert list(rows["hash"]) == [rng.draw(text) for text in rows["text"]]


def test_an_answer_comes_in_batches_while_the_database_goes_on(small, monkeypatch):
    monkeypatch.setattr(database, "ROWS", 2)
    small.load("numbers", [pd.DataFrame({"n": [3, 1, 2]}), pd.DataFrame({"n": [5, 4]})])
    answer = small.frames("select n from numbers order by n")
    small.run("create table more as from numbers")
    numbers = []
    for frame in answer:
        numbers += frame["n"].tolist()
        assert small.value("select count(*) from more where n > $n", n=3) == 2
    assert numbers == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_what_is_larger_than_the_memory_is_sorted_on_the_disk(small, folder):
    """300 MB of texts, and DuckDB has 256 MB."""
    rows, width = 1_500_000, 200
    step, end = 7_919, "x" * (width - 7)
    small.run(
        "create table texts as select lpad((i * $step % $rows)::text, 7, '0') || $end as text"
        " from range($rows) numbers(i)",
        step=step, rows=rows, end=end,
    )  # fmt: skip
    read = 0
    for frame in small.frames("select text from texts order by text"):
        if not read and len(frame):
            spilled = sum(path.stat().st_size for path in folder.glob("*/spilled/*"))
            assert spilled > rows * width - database.MIN_MEGABYTES * 1e6
        assert frame["text"].str[:7].astype(int).tolist() == [*range(read, read + len(frame))]
        read += len(frame)
    assert read == rows


def test_the_folder_is_deleted_and_so_are_those_of_killed_processes(folder):
    host = socket.gethostname()
    for name in (f"{host}.{DEAD}", f"{host}.{OTHER}", f"elsewhere.{DEAD}"):
        (folder / name).mkdir(parents=True)
    with open_database(1) as opened:
        assert opened.folder == folder / f"{host}.{os.getpid()}"
        assert (opened.folder / "tables.duckdb").is_file()
    assert {path.name for path in folder.iterdir()} == {f"{host}.{OTHER}", f"elsewhere.{DEAD}"}


def test_too_little_memory_is_one_line_and_leaves_nothing(folder):
    with (
        pytest.raises(DatabaseError, match=r"^engine\.table_memory: 0\.001 GB .*$"),
        open_database(0.001) as opened,
    ):
        opened.value("select length(list(range)::varchar) from range(100_000_000)")
    assert not list(folder.iterdir())


# Frames that are mapped from a file


@pytest.fixture
def frame():
    """Return ten rows, with a null and an empty text."""
    texts = ["a", None, "", "é", "\U0001f600", *"vwxyz"]
    return pd.DataFrame({"text": pd.Series(texts, dtype="str"), "number": range(10)})


@pytest.mark.parametrize("lengths", [[10], [0, 3, 0, 7], [1] * 10])
def test_a_mapped_frame_has_the_rows_of_its_parts(frame, lengths, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "ROWS", 4)
    ends = pd.Series(lengths).cumsum()
    parts = [frame[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    mapped_frame = mapped.map_frames(tmp_path, parts)
    for path in tmp_path.iterdir():
        path.unlink()  # as the folder of a database does when its stage goes on
    pd.testing.assert_frame_equal(mapped_frame, frame)
    assert [len(block) for block in mapped.blocks(mapped_frame)] == [4, 4, 2]
    pd.testing.assert_frame_equal(pd.concat(mapped.blocks(mapped_frame)), frame)


@pytest.mark.parametrize("wanted", ["v w x y z", "a x z", "", "a"])
def test_rows_are_selected_in_their_order(frame, wanted):
    mask = frame["text"].isin(wanted.split())
    pd.testing.assert_frame_equal(mapped.select(frame, mask), frame[mask])
