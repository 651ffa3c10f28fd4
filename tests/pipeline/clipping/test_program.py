"""Which ffmpeg cuts: the system's, if it can, else the packaged one, or the one asked for."""

import imageio_ffmpeg
import pytest

from pipeline.video import probe
from pipeline.video.ffmpeg import program
from pipeline.video.probe import VideoError

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def _asked_anew(monkeypatch, tmp_path):
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    program.cache_clear()
    yield
    program.cache_clear()


@pytest.fixture
def packaged():
    return imageio_ffmpeg.get_ffmpeg_exe()


def put(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_systems_is_taken_first(tmp_path, packaged):
    assert program() == packaged
    program.cache_clear()
    system = put(tmp_path / "ffmpeg", f'exec {packaged} "$@"')
    assert program() == system


@pytest.mark.parametrize(
    "script", ["echo 'Unknown encoder libx264' >&2; exit 1", "echo 'Unrecognized option'; exit 8"]
)
def test_a_system_one_that_cannot_cut_is_passed_over(tmp_path, packaged, script):
    put(tmp_path / "ffmpeg", script)
    assert program() == packaged


def test_one_that_is_asked_for_is_taken_before_the_systems(tmp_path, packaged, monkeypatch):
    put(tmp_path / "ffmpeg", f'exec {packaged} "$@"')
    asked = put(tmp_path / "another", f'exec {packaged} "$@"')
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", asked)
    assert program() == asked


def test_none_at_all_says_what_to_type(monkeypatch):
    def missing():
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(probe.imageio_ffmpeg, "get_ffmpeg_exe", missing)
    with pytest.raises(VideoError, match="pip install imageio-ffmpeg"):
        program()
