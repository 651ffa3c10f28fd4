"""ffmpeg: whole files or none, the message if it fails, and which program cuts."""

import imageio_ffmpeg
import numpy as np
import pytest
from numbered import read_video

from pipeline.video import ffmpeg
from pipeline.video.cutter import find_ffmpeg
from pipeline.video.ffmpeg import VideoError, write_video

SIZE = (64, 36)


def frames(number, size=SIZE):
    for shade in range(number):
        yield np.full((size[1], size[0], 3), 20 * (shade % 12), np.uint8)


def test_every_frame_comes_back_in_order(tmp_path):
    path = tmp_path / "deep" / "a.mp4"
    write_video(path, frames(12), SIZE, fps=12)
    shades = [float(frame.mean()) for frame in read_video(path, SIZE)]
    assert shades == pytest.approx([20 * shade for shade in range(12)], abs=6)


def test_the_file_is_h264_for_any_browser_at_its_frame_rate(tmp_path):
    path = tmp_path / "a.mp4"
    write_video(path, frames(24), SIZE, fps=12)
    meta = next(imageio_ffmpeg.read_frames(str(path)))
    assert (meta["codec"], meta["fps"], meta["duration"], meta["size"]) == ("h264", 12, 2, SIZE)
    assert meta["pix_fmt"].startswith("yuv420p")
    content = path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


def test_a_failure_midway_leaves_nothing(tmp_path):
    def broken():
        yield from frames(3)
        raise RuntimeError("out of paint")

    with pytest.raises(RuntimeError, match="out of paint"):
        write_video(tmp_path / "a.mp4", broken(), SIZE, fps=12)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_the_former_file(tmp_path):
    path = tmp_path / "a.mp4"
    path.write_bytes(b"former")
    with pytest.raises(VideoError, match=r"a\.mp4: ffmpeg could not write it: .*"):
        write_video(path, frames(200, (63, 35)), (63, 35), fps=12)
    assert path.read_bytes() == b"former"
    assert list(tmp_path.iterdir()) == [path]


def test_no_ffmpeg_says_what_to_type(monkeypatch):
    def missing():
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(ffmpeg.imageio_ffmpeg, "get_ffmpeg_exe", missing)
    with pytest.raises(VideoError, match="pip install imageio-ffmpeg"):
        ffmpeg.ffmpeg()


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    find_ffmpeg.cache_clear()
    yield
    find_ffmpeg.cache_clear()


@pytest.fixture
def own_ffmpeg(fresh):
    return imageio_ffmpeg.get_ffmpeg_exe()


def put(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_systems_is_taken_first(tmp_path, own_ffmpeg):
    assert find_ffmpeg() == own_ffmpeg
    find_ffmpeg.cache_clear()
    system = put(tmp_path / "ffmpeg", f'exec {own_ffmpeg} "$@"')
    assert find_ffmpeg() == system


@pytest.mark.parametrize(
    "script", ["echo 'Unknown encoder libx264' >&2; exit 1", "echo 'Unrecognized option'; exit 8"]
)
def test_a_system_one_that_cannot_cut_is_passed_over(tmp_path, own_ffmpeg, script):
    put(tmp_path / "ffmpeg", script)
    assert find_ffmpeg() == own_ffmpeg


def test_one_that_is_asked_for_is_taken_before_the_systems(tmp_path, own_ffmpeg, monkeypatch):
    put(tmp_path / "ffmpeg", f'exec {own_ffmpeg} "$@"')
    asked = put(tmp_path / "another", f'exec {own_ffmpeg} "$@"')
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", asked)
    assert find_ffmpeg() == asked
