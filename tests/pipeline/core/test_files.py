"""The edge to the disk: what a kill leaves behind, and errors that name file, line and field."""

import csv
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from momentrank.ids import is_utf8
from pipeline.core import csv_files, files
from pipeline.core.files import FileError

HOSTILE = "=+-@\t\r\n'\",;|\0 \ufeff\x85\u2028\uff1dé"
FORMULA_STARTS = "=+-@\t\r\n\uff0b\uff0d\uff1d\uff20"
cells = st.text(st.sampled_from(HOSTILE) | st.characters(codec="utf-8"), min_size=1)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes bytes to a new file and returns its path."""

    def _write(content: bytes | str, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def read_numbered(path):
    return [(line.number, line.text) for line in files.read_lines(path)]


# Atomic writes


def break_off(path, mode, error):
    with files.unfinished(path, mode) as stream:
        stream.write(b"new" if mode == "wb" else "new")
        raise error


def test_a_file_is_written_with_its_folders_and_is_there_only_when_it_is_whole(tmp_path):
    path = tmp_path / "a" / "b.txt"
    with files.unfinished(path) as stream:
        stream.write("é\n")
        stream.flush()
        assert not path.exists()
    assert path.read_bytes() == "é\n".encode()


@pytest.mark.parametrize("mode", ["w", "wb"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, mode, error):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(error):
        break_off(path, mode, error)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [
        ("table.csv", "old")
    ]


def test_kill_9_leaves_the_old_file_whole_and_the_next_write_works(tmp_path, repository):
    path = tmp_path / "table.csv"
    path.write_text("old")
    code = f"""
import time
from pathlib import Path
from pipeline.core import files
with files.unfinished(Path({str(path)!r})) as stream:
    stream.write("new" * 100_000)
    stream.flush()
    print("written", flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=repository, text=True
    )
    with child:
        assert child.stdout.readline() == "written\n"
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    with files.unfinished(path) as stream:
        stream.write("newer")
    assert path.read_text() == "newer"


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_file_has_the_mode_that_the_umask_allows(tmp_path, umask, mode):
    former = os.umask(umask)
    try:
        with files.unfinished(tmp_path / "new.txt"):
            pass
        assert os.umask(umask) == umask, "the umask itself was changed"
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == mode


def test_writing_over_a_link_leaves_what_it_points_to(tmp_path):
    # DVC's outs may be links into its cache, which nobody may change.
    (tmp_path / "cache").write_text("cached")
    (tmp_path / "out").symlink_to(tmp_path / "cache")
    with files.unfinished(tmp_path / "out") as stream:
        stream.write("new")
    assert (tmp_path / "cache").read_text() == "cached"
    assert (tmp_path / "out").read_text() == "new"


def test_json_is_written_in_order_and_nan_is_refused(tmp_path):
    path = tmp_path / "metrics.json"
    files.write_json(path, {"b": 1, "a": "é"})
    assert path.read_text() == '{\n  "b": 1,\n  "a": "é"\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(path, {"b": float("nan")})
    assert files.read_json(path) == {"b": 1, "a": "é"}


# Lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a\nb\n", [(1, "a"), (2, "b")]),
        (b"a\nb", [(1, "a"), (2, "b")]),
        (b"\xef\xbb\xbfa\r\nb\r\n", [(1, "a"), (2, "b")]),
        (b"\n\na\n", [(1, ""), (2, ""), (3, "a")]),
        (b"a\xe2\x80\xa8b\x0cc\n", [(1, "a\u2028b\x0cc")]),
        (b"a\n\xef\xbb\xbfb\n", [(1, "a"), (2, "\ufeffb")]),
    ],
    ids=["empty", "two", "no-end", "bom-crlf", "blank", "unicode-line-ends", "bom-inside"],
)
def test_lines(write, content, lines):
    assert read_numbered(write(content)) == lines


def test_a_line_that_is_no_utf8_is_marked_and_the_others_are_read(write):
    first, broken, last = files.read_lines(write(b"a\ncaf\xe9\nb\n"))
    assert (first.text, last.text) == ("a", "b")
    assert [is_utf8(line.text) for line in (first, broken, last)] == [True, False, True]


def test_a_line_too_long_is_an_error_with_its_number(write):
    path = write(b"a\nb\n" + b"x" * (files.MAX_LINE_BYTES + 1))
    lines = files.read_lines(path)
    assert [next(lines).number, next(lines).number] == [1, 2]
    with pytest.raises(FileError, match=r"file\.txt, line 3: longer than 16 MiB$"):
        next(lines)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.parametrize(
    "reader", ["files.read_lines", "files.read_json_lines", "csv_files.read_sheet"]
)
def test_a_line_of_4_gigabytes_takes_little_memory(repository, tmp_path, reader):
    with (tmp_path / "long.csv").open("wb") as stream:
        stream.write(b"a\n")
        stream.truncate(4 * 2**30)  # takes no room on the disk
    code = f"""
import resource
from pathlib import Path
from pipeline.core import csv_files, files
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))
try:
    sheet = {reader}(Path("long.csv"))
    for line in sheet.rows if isinstance(sheet, tuple) else sheet:
        pass
except files.FileError as exc:
    print(exc)
"""
    output = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(repository), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output == "long.csv, line 2: longer than 16 MiB\n"


def test_a_missing_file_and_a_folder_say_so(tmp_path):
    with pytest.raises(FileError, match=r"nothing\.txt: no such file or directory$"):
        read_numbered(tmp_path / "nothing.txt")
    with pytest.raises(FileError, match=r": is a directory$"):
        read_numbered(tmp_path)


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("datasets/work/consensus.parquet", "dvc repro consensus"),
        ("datasets/work/sample/annotations.jsonl", "dvc repro sample"),  # in a folder that is made
        ("datasets/work/metrics/agreement.json", "dvc repro agreement"),
        ("datasets/campaign/extend.csv", None),
    ],
)
def test_what_a_stage_makes_names_the_command_that_makes_it(
    tmp_path, monkeypatch, repository, path, command
):
    monkeypatch.chdir(tmp_path)
    assert files.command_for(Path(path)) is None
    shutil.copy(repository / "dvc.yaml", tmp_path)
    assert files.command_for(Path(path)) == files.command_for(tmp_path / path) == command
    hint = f"; `{command}` makes it" if command else ""
    with pytest.raises(FileError, match=rf"no such file or directory{hint}$"):
        files.read_json(Path(path))


# JSON lines and JSON


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a": 1}', ""),
        (b"{}", ""),
        (b"{'a': 1}", "not-json"),
        (b'{"a": 1', "not-json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not-json"),
        (b"[" * 100_000, "not-json"),
        (b"[1]", "not-an-object"),
        (b"null", "not-an-object"),
        (b'"text"', "not-an-object"),
        (b'{"a": "caf\xe9"}', "not-utf8"),
    ],
    ids=lambda value: value[:12] if isinstance(value, bytes) else value or "fine",
)
def test_json_lines_say_why_a_line_is_no_object(write, line, problem):
    [before, record, after] = files.read_json_lines(write(b"{}\n\n" + line + b"\n   \n{}\n"))
    assert (record.line, record.problem) == (3, problem)
    assert record.fields == {} or not problem
    assert [before.line, after.line] == [1, 5]


def test_a_broken_text_of_a_json_document_does_not_hide_the_others(write):
    broken, fine = files.read_json(write(b'["\xff", "fine"]'))
    assert not is_utf8(broken)
    assert fine == "fine"


def test_json_is_read_with_a_byte_order_mark(write):
    assert files.read_json(write(b'\xef\xbb\xbf{"a": [1, 2.5, null]}')) == {"a": [1, 2.5, None]}


# YAML


def test_yaml_is_version_1_2_as_dvc_reads_it(write):
    assert files.read_yaml(write("a: no\nb: 0o17\n")) == {"a": "no", "b": 15}


# CSV


def read(path, *required):
    frame = csv_files.read_csv(path, required)
    return list(frame.itertuples(name=None))


def test_csv_rows_carry_the_line_on_which_they_start(write):
    path = write(b'\xef\xbb\xbfa,b\r\n1,"two\r\nlines"\r\n\r\n2,\r\n\n"3""",x')
    assert read(path, "a", "b") == [(2, "1", "two\r\nlines"), (5, "2", None), (7, '3"', "x")]


def test_csv_with_a_header_alone_has_no_rows(write):
    frame = csv_files.read_csv(write("a,b\n"), ["b"])
    assert list(frame.columns) == ["a", "b"]
    assert len(frame) == 0


def test_csv_cells_may_hold_nul_bytes_and_bytes_that_are_no_utf8(write):
    [(line, first, second)] = read(write(b"a,b\nx\0y,caf\xe9\n"))
    assert (line, first, is_utf8(second)) == (2, "x\0y", False)


def test_csv_takes_a_cell_longer_than_pythons_own_limit(tmp_path):
    frame = pd.DataFrame({"a": ["x" * 200_000]})
    csv_files.write_csv(tmp_path / "f.csv", frame)
    assert read(tmp_path / "f.csv") == [(2, "x" * 200_000)]


@example(["\ufeffa"], [])
@example(["a\rb"], [])
@given(
    st.lists(cells | st.just(""), min_size=1, max_size=3, unique=True),
    st.lists(st.lists(cells | st.none(), min_size=3, max_size=3), max_size=6),
)
def test_what_is_written_as_csv_is_read_again(tmp_path, names, rows):
    frame = pd.DataFrame([row[: len(names)] for row in rows], columns=names, dtype=object)
    csv_files.write_csv(tmp_path / "f.csv", frame)
    again = csv_files.read_csv(tmp_path / "f.csv")
    assert list(again.columns) == names
    assert again.to_numpy().tolist() == frame.to_numpy().tolist()


def test_names_that_become_equal_are_refused(write):
    with pytest.raises(FileError, match="a column name appears twice"):
        read(write("=a,'=a\n1,2\n"))


def test_the_header_of_somebody_elses_file_stands_as_it_is(write):
    assert csv_files.read_sheet(write("'=a,b\n1,2\n")).header == ["'=a", "b"]


@given(st.lists(cells, min_size=1), cells)
def test_nothing_written_is_a_formula(tmp_path, rows, name):
    frame = pd.DataFrame(dict(zip([name, name + "b"], [rows, "=1"], strict=True)), dtype=object)
    csv_files.write_csv(tmp_path / "f.csv", frame)
    with (tmp_path / "f.csv").open(encoding="utf-8", newline="") as stream:
        written = list(csv.reader(stream))
    assert len(written) == 1 + len(rows)
    assert not [cell for row in written for cell in row if cell[0] in FORMULA_STARTS]


@given(cells)
def test_defused_cells_are_restored_and_only_formulas_are_defused(cell):
    assert csv_files.restore(csv_files.defuse(cell)) == cell
    assert (csv_files.defuse(cell) != cell) == cell.lstrip("'").startswith(tuple(FORMULA_STARTS))


@pytest.mark.parametrize("value", [None, 1.5, -2, True])
def test_numbers_are_no_formulas(value):
    assert csv_files.defuse(value) is value


def test_what_is_not_hostile_is_written_as_it_is():
    numbers = pd.DataFrame({"a": [-1.5, 0.1 + 0.2], "b": pd.array([None, -3], dtype="Int64")})
    assert csv_files.csv_text(numbers) == "a,b\n-1.5,\n0.30000000000000004,-3\n"
    mixed = pd.DataFrame({"a": [7, None, "x"], "b": [None, 2**60, None]}, dtype=object)
    assert csv_files.csv_text(mixed) == "a,b\n7,\n,1152921504606846976\nx,\n"
    assert csv_files.csv_text(pd.DataFrame({"a": ["x"], "b": ["y"]})) == "a,b\nx,y\n"


# Broken files

BROKEN = {
    "json": (
        files.read_json,
        [
            ('{"a": 1,\n "b": }', r", line 2, column 7: Expecting value"),
            ("", r", line 1, column 1: Expecting value"),
            ("[" * 100_000, r": nested too deep.*"),
            ("[" + "9" * 5000 + "]", r": Exceeds the limit.*"),
            ('{"v": 1, "w": 2, "v": 3}', r": the key 'v' appears twice in one object"),
        ],
    ),
    "yaml": (
        files.read_yaml,
        [
            ("[" * 1000, r": nested too deep"),
            ("a: 1\nb:\n  c: 2\n  c: 3\n", r', line 4, column 3: found duplicate key "c" .*'),
            ("a: [1\n", r", line 2, column 1: expected .*"),
            ("a: !!python/object:os.system x\n", r", line 1, column 4: could not determine .*"),
            ("a: \0\n", r": not YAML \(.*\)"),
        ],
    ),
    "csv": (
        lambda path: read(path, "a", "b"),
        [
            ("a,b\n1,2\n3\n", r", line 3: 1 cells where the header has 2.*"),
            ("a,c\n1,2\n", r", line 1: column 'b' is missing \(found: \['a', 'c'\]\).*"),
            ("a,b,a\n1,2,3\n", r", line 1: a column name appears twice in \['a', 'b', 'a'\].*"),
            ('a,b\n1,2\n"x,2\n3,4\n', r", line 3: unexpected end of data.*"),
            ("a,b\r1,2\r", r", line 1: new-line character seen in unquoted field.*"),
        ],
    ),
}


@pytest.mark.parametrize(
    ("kind", "content", "message"),
    [(kind, *case) for kind, (_, cases) in BROKEN.items() for case in cases],
    ids=lambda value: repr(value[:16]),
)
def test_a_broken_file_is_one_line_with_its_place(write, kind, content, message):
    with pytest.raises(FileError) as caught:
        BROKEN[kind][0](write(content, f"f.{kind}"))
    assert "\n" not in str(caught.value)
    assert caught.match(rf"f\.{kind}{message}$")


# Digests


def test_a_files_digest(write):
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert files.file_sha256(write("")) == empty


@pytest.mark.parametrize(
    ("text", "answer"), [("", True), ("é\0", True), ("\ud800", False), ("a\udcff", False)]
)
def test_what_can_be_written_as_utf8(text, answer):
    assert is_utf8(text) is answer
