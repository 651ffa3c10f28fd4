"""A disk that is full, over its quota or read-only: one line, and never half a file."""

import os
import resource
import subprocess
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest

from pipeline.core import cli, csv_files, files, tables
from pipeline.core.files import FileError
from pipeline.core.storage import database, mapped
from pipeline.core.storage.database import DatabaseError
from pipeline.retrieval import embeddings
from pipeline.video import cutter
from pipeline.video.cutter import ClipFormat, Interval
from pipeline.video.ffmpeg import write_video

ROOM = 512 * 1024
LIMIT = 64 * 1024
NOBODY = 65534


@pytest.fixture
def small_disk(tmp_path):
    """Return the folder of a disk of half a MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@contextmanager
def quota(limit):
    """Let this process write no file of more than `limit` bytes."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


def moments(rows):
    """Return moments whose texts no compression makes small."""
    texts = [os.urandom(64).hex() for _ in range(rows)]
    return pd.DataFrame(
        {"moment_id": texts, "video_id": "v", "start": 0.0, "end": 1.0,
         "description": texts, "modality": "v"}
    )  # fmt: skip


def as_json(path, rows):
    files.write_json(path, moments(rows)["description"].tolist())


def as_csv(path, rows):
    csv_files.write_csv(path, moments(rows))


def as_parquet(path, rows):
    tables.MOMENTS.write(moments(rows), path)


def as_array(path, rows):
    with files.unfinished(path, "wb") as stream:
        np.save(stream, np.zeros(rows * 16))  # numpy does not say why it failed


def as_other_program(path, rows):
    """Write as torch and safetensors do, whose errors are no `OSError`."""
    with files.unfinished(path, "wb") as stream:
        try:
            stream.write(bytes(rows * 64))
            stream.flush()
        except OSError:
            raise RuntimeError("unexpected pos 64 vs 0") from None


WRITERS = [as_json, as_csv, as_parquet, as_array, as_other_program]


def assert_nothing_is_lost(folder, write, limit, reason):
    """Write a table, then a larger one that fails: the former stays, and nothing else."""
    path = folder / "table"
    write(path, 10)
    before = path.read_bytes()
    with limit, pytest.raises(FileError, match=rf"/table: can't be written \({reason}"):
        write(path, 10_000)
    assert [(entry.name, entry.read_bytes()) for entry in folder.iterdir()] == [("table", before)]


@pytest.mark.parametrize("write", WRITERS)
def test_a_full_disk_leaves_the_former_file_and_nothing_else(small_disk, write):
    assert_nothing_is_lost(small_disk, write, nullcontext(), "no space left on device")


@pytest.mark.parametrize("write", WRITERS)
def test_a_quota_leaves_the_former_file_and_nothing_else(tmp_path, write):
    assert_nothing_is_lost(tmp_path, write, quota(LIMIT), "file too large")


@pytest.fixture
def read_only():
    """Return a folder into which this process may not write."""
    with TemporaryDirectory() as place:  # pytest's own lie where root alone may look
        folder = Path(place) / "mine"
        folder.mkdir()
        (folder / "table").write_text("old")
        folder.chmod(0o555)
        folder.parent.chmod(0o755)
        with as_nobody():
            if os.access(folder, os.W_OK, effective_ids=True):
                pytest.skip("no mode stops anybody here")
            yield folder


@contextmanager
def as_nobody():
    """Be somebody else for a while, if this is root, whom no mode stops."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("name", ["table", "new/table"])
def test_a_read_only_folder_is_one_line(read_only, name):
    problem = rf"mine/{name}: can't be written \(permission denied\)$"
    with pytest.raises(FileError, match=problem):
        files.write_json(read_only / name, {})
    assert [(entry.name, entry.read_text()) for entry in read_only.iterdir()] == [("table", "old")]


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), files.unfinished(tmp_path / "table"):
        (tmp_path / "other").read_text()


def store_texts(folder, texts):
    store = embeddings.Store(folder / "embeddings", "fingerprint")
    ids, _ = embeddings.distinct(texts)
    store.finish(ids, [(ids, np.ones((len(ids), 64), dtype=np.float32))])
    return ids


def test_embeddings_on_a_full_disk_are_the_former_ones_and_nobody_is_killed(small_disk):
    # Who writes to the map of a file for which there is no room dies of SIGBUS.
    former = store_texts(small_disk, ["a", "b"])
    more = [f"text {number}" for number in range(3000)]
    with pytest.raises(files.FileError, match="no space left on device"):
        store_texts(small_disk, more)
    assert embeddings.Embeddings.open(small_disk / "embeddings").ids.tolist() == former.tolist()


@pytest.mark.parametrize("room", [0, 4096, 8192])
def test_a_clip_on_a_full_disk_is_no_bad_video_and_no_half_clip(small_disk, numbered, room):
    (small_disk / "rest").write_bytes(bytes(ROOM - room))
    with pytest.raises(FileError, match=r"clip\.mp4: can't be written \(no space left on"):
        cutter.cut(
            numbered, Interval(0.5, 7.5), 7.5, ClipFormat("mp4", 480), small_disk / "clip.mp4"
        )
    assert [entry.name for entry in small_disk.iterdir()] == ["rest"]


def test_other_programs_and_mapped_tables_on_a_full_disk_say_so(small_disk, tmp_path, monkeypatch):
    frames = np.random.default_rng(0).integers(0, 256, (99, 64, 64, 3), dtype=np.uint8)
    (small_disk / "rest").write_bytes(bytes(ROOM - 4096))
    with pytest.raises(FileError, match=r"v\.mp4: can't be written \(no space left on device"):
        write_video(small_disk / "v.mp4", frames, (64, 64), 9)
    with pytest.raises(FileError, match=r"\.arrow: can't be written \(no space left on device"):
        mapped.map_frames(small_disk, [moments(5000)])
    monkeypatch.setattr(database, "FOLDER", small_disk)
    message = "no space left on device; the tables need"
    with pytest.raises(DatabaseError, match=message), database.open_database(1) as tables_:
        tables_.load("t", [moments(5000)])


def test_what_the_disk_refuses_elsewhere_is_a_line_too(small_disk, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.run_command(lambda: (small_disk / "log").write_bytes(bytes(2 * ROOM)) and None)
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error: the disk: no space left on device\n"


def test_too_little_memory_is_a_line(capsys):
    def work():
        raise MemoryError

    with pytest.raises(SystemExit) as ended:
        cli.run_command(work)
    assert (ended.value.code, capsys.readouterr().err) == (1, "error: not enough memory\n")


def test_an_error_of_ours_is_no_word_of_the_disk():
    with pytest.raises(FileNotFoundError):
        cli.run_command(lambda: Path("no-such-file").read_text() and None)
