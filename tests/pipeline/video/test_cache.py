"""The cache of what files hold: read once for each change, and kept while a disk is away."""

import hashlib
import os

import pytest

from pipeline.core import files
from pipeline.video.file_cache import FileCache


def sha(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def video(tmp_path):
    path = tmp_path / "videos" / "v.mp4"
    path.parent.mkdir()
    path.write_bytes(b"pictures")
    return path


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "deep" / "hashes.json"


@pytest.fixture
def read(monkeypatch):
    """Return the list of files that were read."""
    paths = []
    whole = files.file_sha256
    monkeypatch.setattr(files, "file_sha256", lambda path: paths.append(path) or whole(path))
    return paths


def open_cache(path):
    return FileCache(path, files.file_sha256, str)


def save_hash(cache, video):
    hashes = open_cache(cache)
    assert hashes.get(video) == sha(video.read_bytes())
    hashes.save()


def test_a_file_is_read_once(cache, video, read):
    save_hash(cache, video)
    save_hash(cache, video)
    assert read == [video]


def test_a_changed_file_is_read_again(cache, video, read):
    save_hash(cache, video)
    video.write_bytes(b"Pictures")
    os.utime(video, ns=(1, 1))
    save_hash(cache, video)
    assert read == [video, video]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"a": 1}', '{"a": [1, 2]}', "null"])
def test_a_broken_memory_is_none(cache, video, content):
    cache.parent.mkdir()
    cache.write_text(content)
    save_hash(cache, video)


def test_a_file_that_is_away_held_what_it_held(cache, video):
    save_hash(cache, video)
    content = video.read_bytes()
    video.unlink()
    for _ in range(2):  # and is not forgotten
        hashes = open_cache(cache)
        assert hashes.last(video) == sha(content)
        hashes.save()
    assert open_cache(cache).last(video.with_name("never.mp4")) is None


def test_files_that_nobody_asks_for_are_forgotten(cache, video):
    save_hash(cache, video)
    second = video.with_name("other.mp4")
    second.write_bytes(b"x")
    save_hash(cache, second)
    assert open_cache(cache).last(video) is None


def test_what_is_not_there_is_an_error_of_the_system(cache, tmp_path):
    with pytest.raises(FileNotFoundError):
        open_cache(cache).get(tmp_path / "none.mp4")


def test_a_killed_run_keeps_what_it_has_read_and_what_was_known(cache, video, read, monkeypatch):
    save_hash(cache, video)
    others = [video.with_name(f"{number}.mp4") for number in range(3)]
    for other in others:
        other.write_bytes(b"x")
    monkeypatch.setattr("pipeline.video.file_cache.SAVE_SECONDS", 0.0)
    killed = open_cache(cache)
    for other in others:
        killed.get(other)
    again = open_cache(cache)
    assert {again.get(path) for path in [video, *others[:2]]} == {sha(b"x"), sha(b"pictures")}
    assert len(read) == 4
