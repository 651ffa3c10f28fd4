"""Files that somebody made to hurt: the command says one line, and takes no more than is there."""

import gzip
import json
import os
import re
import subprocess
import sys

import pytest
from formats_cases import file_of

from momentrank.cli.main import main
from momentrank.formats import load_qrels, load_run, source
from momentrank.formats.source import FormatError

LINE = "q Q0 v 0 10 1 0.5 t\n"
QRELS = "q Q0 v 0 10 1\n"
MEBIBYTE = 2**20


def test_a_gzip_bomb_is_refused_before_it_is_whole(tmp_path):
    path = file_of(tmp_path, LINE * (80 * MEBIBYTE // len(LINE)), "bomb.run.gz")
    assert path.stat().st_size < MEBIBYTE
    with pytest.raises(
        FormatError, match=r"bomb\.run\.gz: the gzip file expands to more than 200 t"
    ):
        load_run(path)


@pytest.mark.parametrize("members", [1, 3])
def test_no_more_is_held_of_a_bomb_than_its_bound(tmp_path, monkeypatch, members):
    monkeypatch.setattr(source, "SMALL", 100_000)
    monkeypatch.setattr(source, "_CHUNK", 1000)
    sizes = []
    inside = gzip.GzipFile.read
    monkeypatch.setattr(
        gzip.GzipFile, "read", lambda self, size: sizes.append(size) or inside(self, size)
    )
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(5 * MEBIBYTE)) * members)
    bound = max(100_000, 200 * path.stat().st_size)
    with pytest.raises(FormatError, match="gunzip it first"):
        load_run(path)
    assert sum(sizes) <= bound + 1000


def test_what_is_only_well_compressed_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "SMALL", 1000)
    text = "".join(f"q{n // 100} Q0 v{n % 7} {n % 50} 60 {n % 100} 0.5 t\n" for n in range(20_000))
    path = file_of(tmp_path, text, "run.gz")
    assert len(text) > 5 * path.stat().st_size
    assert len(load_run(path).video) == 20_000


def run_limited(repository, folder, limit, *arguments):
    """Run the command with so much address space."""
    code = f"""
import resource, sys
from momentrank.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
sys.exit(main(sys.argv[1:]))
"""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(repository), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_file_larger_than_memory_is_one_line(repository, tmp_path):
    (tmp_path / "test.qrels").write_text(QRELS)
    with (tmp_path / "line.run").open("wb") as stream:
        stream.write(b"q Q0 ")
        stream.truncate(4 * 2**30)  # takes no room on the disk
    done = run_limited(repository, tmp_path, 3 * 2**30, "evaluate", "test.qrels", "line.run")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "momentrank: not enough memory for these files\n"


@pytest.mark.parametrize("text", [b"q Q0 " + b"x" * 30 * MEBIBYTE, bytes(30 * MEBIBYTE)])
def test_what_is_said_of_a_long_line_is_short(tmp_path, capsys, text):
    (tmp_path / "test.qrels").write_text(QRELS)
    (tmp_path / "line.run").write_bytes(text)
    assert main(["evaluate", str(tmp_path / "test.qrels"), str(tmp_path / "line.run")]) == 1
    assert len(capsys.readouterr().err) < 2000


DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        '{"a":' * 200_000,
        f'[{{"query_id": {DEEP}}}]',
        f'{{"query_id": 1}}\n{{"query_id": {DEEP}}}\n',
    ],
    ids=["lists", "objects", "inside", "line"],
)
def test_nested_json_is_one_line(tmp_path, capsys, text):
    assert main(["validate", str(file_of(tmp_path, text, "b.run"))]) == 1
    output = capsys.readouterr()
    assert re.search(r"b\.run(, line 2)?: nested too deep\n$", output.err + output.out)


@pytest.mark.parametrize("times", ["0 1e308", "-1e308 1e308", "1e16 1e17", "-1e16 0"])
@pytest.mark.parametrize(("load", "rest"), [(load_qrels, "1"), (load_run, "1 0.5 t")])
def test_a_time_in_which_lengths_are_lost_is_refused(tmp_path, load, rest, times):
    # Two equal segments of 1e308 s had an IoU of 0, as the sum of their lengths must be a number.
    path = file_of(tmp_path, f"q Q0 v 0 1 {rest}\nq Q0 v {times} {rest.replace('1', '2', 1)}\n")
    with pytest.raises(FormatError, match=r"line 2: a time must be below 1e\+15 seconds$"):
        load(path)


def test_the_latest_times_are_scored_as_any(tmp_path, capsys):
    (tmp_path / "test.qrels").write_text("q Q0 v 0 1e15 1\n")
    (tmp_path / "a.run").write_text("q Q0 v 0 1e15 1 0.5 t\n")
    names = ["nDCG(iou=0.5)@10", "AxIoU@10", "AP(match='tol')", "P(match='overlap')@1"]
    code = main(
        ["evaluate", str(tmp_path / "test.qrels"), str(tmp_path / "a.run"), *names, "--json"]
    )
    assert code == 0
    [_, figures] = json.loads(capsys.readouterr().out).values()
    assert [figures[name] for name in names] == [1.0] * 4


@pytest.mark.parametrize("text", ["[{}, {}]", "{}\n{}\n"], ids=["list", "lines"])
def test_two_objects_that_number_the_videos_each_in_its_way_are_refused(tmp_path, text):
    first, second = (
        json.dumps(
            {"video2idx": {name: 0}, "VCMR": [{"desc_id": name, "predictions": [[0, 1, 2]]}]}
        )
        for name in "vw"
    )
    path = tmp_path / "a.json"
    path.write_text(text.replace("{}", first, 1).replace("{}", second, 1))
    with pytest.raises(FormatError, match="a second object; the format allows only one"):
        load_run(path)
