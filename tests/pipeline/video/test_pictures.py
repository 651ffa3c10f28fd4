"""Pictures of a clip: what is seen at the middles of its parts, by the frames' own numbers."""

import io
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import FPS, convert, read_frame_number, watch, write_numbered
from PIL import Image

from pipeline.video.cutter import ClipFormat, Interval, cut
from pipeline.video.pictures import BrokenClipError, picture_times, take_pictures


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "numbered.mp4"
    write_numbered(path, 100, (480, 270))
    return path


def read(jpeg):
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))


@pytest.mark.parametrize("kind", ["mp4", "gif"])
@pytest.mark.parametrize(
    ("start", "end", "most"), [(1.0, 4.0, 16), (0.21, 7.93, 5), (2.5, 2.9, 16), (0.0, 8.33, 16)]
)
def test_a_picture_is_what_is_seen_at_its_time(video, tmp_path, kind, start, end, most):
    clip = tmp_path / f"clip.{kind}"
    assert cut(video, Interval(start, end), end, ClipFormat(kind, 270), clip) is None
    seconds = round(end - start, 3)
    instants = picture_times(seconds, most)
    pictures = [read(jpeg) for jpeg in take_pictures(clip, seconds, len(instants), 180)]
    assert {picture.shape for picture in pictures} == {(180, 320, 3)}
    frame_numbers = [read_frame_number(picture) for picture in pictures]
    assert frame_numbers == watch(clip, instants)


def test_pictures_are_no_higher_than_the_clip_and_the_same_each_time(video, tmp_path):
    clip = tmp_path / "clip.mp4"
    assert cut(video, Interval(1, 3), 3, ClipFormat("mp4", 180), clip) is None
    first = take_pictures(clip, 2.0, 4, 720)
    assert {read(jpeg).shape for jpeg in first} == {(180, 320, 3)}
    assert take_pictures(clip, 2.0, 4, 720) == first


def test_frames_at_uneven_times_are_taken_by_their_times(video, tmp_path):
    clip = tmp_path / "uneven.mp4"
    convert(
        video, clip, "-fps_mode", "passthrough", before=("-vf", r"select=not(between(n\,9\,30))")
    )
    frame_numbers = [read_frame_number(read(jpeg)) for jpeg in take_pictures(clip, 8.0, 8, 180)]
    assert frame_numbers == watch(clip, picture_times(8.0, 8))


def test_a_picture_of_a_frame_that_stands_is_that_frame(video, tmp_path):
    """The video's frames 30 to 79 are missing: what is seen is 29 from 2.42 s to 6.67 s."""
    still, clip = tmp_path / "still.mp4", tmp_path / "clip.mp4"
    drop = r"select=not(between(n\,30\,79))"
    convert(video, still, "-fps_mode", "passthrough", before=("-vf", drop))
    for start, end in ((3.0, 6.0), (2.0, 5.0), (4.0, 8.0)):
        assert cut(still, Interval(start, end), end, ClipFormat("mp4", 270), clip) is None
        instants = picture_times(end - start, 16)
        pictures = take_pictures(clip, end - start, len(instants), 180)
        seen = [read_frame_number(read(jpeg)) for jpeg in pictures]
        assert seen == watch(still, [start + time for time in instants])


def test_the_last_picture_stays(video, tmp_path):
    clip = tmp_path / "clip.mp4"
    assert cut(video, Interval(0, 1), 1, ClipFormat("mp4", 180), clip) is None
    frame_numbers = [read_frame_number(read(jpeg)) for jpeg in take_pictures(clip, 3.0, 6, 180)]
    assert frame_numbers == [3, 9, *[FPS - 1] * 4]


@pytest.mark.parametrize(
    ("kind", "damage"),
    [("mp4", each) for each in ("half", "empty", "noise", "text", "missing", "zeros")]
    + [("gif", each) for each in ("half", "empty", "noise")],
)
def test_a_broken_clip_is_told_and_gives_no_picture(video, tmp_path, kind, damage):
    clip = tmp_path / f"clip.{kind}"
    assert cut(video, Interval(1, 4), 4, ClipFormat(kind, 270), clip) is None
    raw = clip.read_bytes()
    zeros = bytearray(raw)
    zeros[len(raw) // 2 : len(raw) * 3 // 4] = bytes(len(raw) * 3 // 4 - len(raw) // 2)
    spoilt = {
        "half": raw[: len(raw) // 2],
        "empty": b"",
        "noise": np.random.default_rng(0).bytes(5000),
        "text": b"not a video",
        "zeros": bytes(zeros),
    }
    if damage == "missing":
        clip.unlink()
    else:
        clip.write_bytes(spoilt[damage])
    with pytest.raises(BrokenClipError, match=r"clip\.(mp4|gif): ") as caught:
        take_pictures(clip, 3.0, 6, 180)
    assert len(str(caught.value)) < 500


@given(st.floats(0.01, 300), st.integers(1, 64))
def test_times_are_the_middles_of_equal_parts(seconds, most):
    instants = picture_times(seconds, most)
    assert len(instants) == max(1, min(most, ceil(2 * seconds)))
    edges = [seconds * index / len(instants) for index in range(len(instants) + 1)]
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    assert instants == pytest.approx(middles)
