"""Clips by ffmpeg: the right frames at both ends, small and silent; and why there is none."""

import operator
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numbered import (
    FPS,
    convert,
    first_sound,
    numbers,
    read_size,
    select_frames,
    streams,
    thin_frames,
    times,
    watch,
    write_numbered,
)

from pipeline.video import cutter
from pipeline.video.cutter import ClipFormat, Interval, cut
from pipeline.video.ffmpeg import read_duration

pytestmark = pytest.mark.integration

ALL = range(96)
MP4 = ClipFormat("mp4", 480)
GIF = ClipFormat("gif", 480)
STRETCHES = [
    (0.0, 1.0),
    (0.5, 1.5),  # on the grid of frames
    (1.01, 2.02),  # beside it
    (1.083333, 1.25),  # frame 13 appears at 1.08333333..., which is meant
    (1.666667, 1.916667),  # and so are frames 20 and 23, written with six digits
    (3.99, 4.01),  # around a keyframe, which is all that is seen
    (4.0, 4.5),  # from a keyframe on
    (5.37, 7.99),
    (7.9, 8.0),  # the very last frame
    (0.0, 8.0),
]


def cut_clip(video, start, end, style, folder, needed=None):
    target = folder / f"clip.{style.format}"
    assert cut(video, Interval(start, end), needed or end, style, target) is None
    return target


@pytest.mark.parametrize(("start", "end"), STRETCHES)
def test_a_clip_shows_the_frames_of_its_stretch_and_no_others(numbered, tmp_path, start, end):
    clip = cut_clip(numbered, start, end, MP4, tmp_path)
    expected = select_frames(start, end, ALL)
    assert numbers(clip) == expected
    seconds = [float(time) for time in times(clip)]
    own = [(number - expected[0]) / FPS for number in expected]
    assert seconds == pytest.approx(own, abs=2e-4)  # they play as fast as in the video


@pytest.mark.parametrize(("start", "end"), STRETCHES)
def test_a_gif_shows_three_pictures_a_second(numbered, tmp_path, start, end):
    clip = cut_clip(numbered, start, end, GIF, tmp_path)
    assert numbers(clip) == thin_frames(start, end, ALL)
    seconds = [float(time) for time in times(clip)]
    assert seconds == pytest.approx([k / 3 for k in range(len(seconds))], abs=0.011)  # GIF: 1/100 s


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(st.floats(0, 7.8), st.floats(0.09, 2))
def test_any_stretch_is_accurate_at_both_ends(numbered, tmp_path, start, length):
    end = min(start + length, 8.0)
    if expected := select_frames(start, end, ALL):
        assert numbers(cut_clip(numbered, start, end, MP4, tmp_path)) == expected


SOURCES = {
    "late.mkv": ((), ("-c", "copy", "-output_ts_offset", "7")),  # starts at 7 s
    "broadcast.ts": ((), ("-c:v", "libx264", "-bf", "3", "-g", "30", "-x264-params", "open-gop=1")),
    "one-keyframe.mp4": ((), ("-c:v", "libx264", "-bf", "3", "-g", "999")),
    "old.avi": ((), ("-c:v", "mpeg4", "-q:v", "2")),
}


@pytest.fixture(scope="module")
def sources(numbered, tmp_path_factory):
    """Return the numbered video in other containers and codecs, in a folder."""
    folder = tmp_path_factory.mktemp("sources")
    for name, (before, options) in SOURCES.items():
        convert(numbered, folder / name, *options, before=before)
    return folder


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(("start", "end"), [(0.0, 0.3), (2.55, 4.2), (6.01, 8.0)])
def test_the_container_makes_no_difference(sources, tmp_path, name, start, end):
    assert numbers(cut_clip(sources / name, start, end, MP4, tmp_path)) == select_frames(
        start, end, ALL
    )


@pytest.mark.parametrize(("start", "end"), [(0.0, 1.0), (2.3, 5.1), (4.6, 7.7)])
def test_frames_at_uneven_times_keep_them(numbered, tmp_path, start, end):
    there = [number for number in ALL if number % 7 not in {2, 3, 4}]
    uneven = tmp_path / "uneven.mp4"
    convert(numbered, uneven, "-vf", "select=not(between(mod(n\\,7)\\,2\\,4))",
            "-fps_mode", "passthrough")  # fmt: skip
    clip = cut_clip(uneven, start, end, MP4, tmp_path)
    instants = np.arange(0.001, end - start, 0.01)
    seen = watch(clip, instants)
    at_the_time = watch(uneven, start + instants)
    a_frame_later = watch(uneven, start + instants + 1 / FPS)
    assert all(map(operator.le, at_the_time, seen))
    assert all(map(operator.le, seen, a_frame_later))
    assert numbers(cut_clip(uneven, start, end, GIF, tmp_path)) == thin_frames(start, end, there)


# What a clip is like


@pytest.mark.parametrize(
    ("size", "height", "expected"),
    [
        ((320, 180), 480, (320, 180)),  # never enlarged
        ((640, 360), 120, (214, 120)),
        ((640, 360), 121, (214, 120)),  # H.264 wants even sizes
        ((180, 320), 100, (56, 100)),
    ],
)
@pytest.mark.parametrize("kind", ["mp4", "gif"])
def test_a_clip_is_no_higher_than_wanted_and_even(tmp_path, size, height, expected, kind):
    video = tmp_path / "video.mp4"
    write_numbered(video, 4, size)
    assert read_size(cut_clip(video, 0.0, 0.3, ClipFormat(kind, height), tmp_path)) == expected


def test_pixels_that_are_not_square_become_square(numbered, tmp_path):
    wide = tmp_path / "wide.mp4"
    convert(numbered, wide, "-vf", "setsar=2", "-t", "0.5")
    assert read_size(cut_clip(wide, 0.0, 0.5, MP4, tmp_path)) == (384, 108)


@pytest.mark.parametrize("style", [MP4, GIF])
def test_a_clip_is_silent_and_nothing_but_pictures(numbered, tmp_path, style):
    loud = tmp_path / "loud.mp4"
    tone = ("-f", "lavfi", "-i", "sine=d=8")
    convert(numbered, loud, "-metadata", "title=secret", "-shortest", before=tone)
    assert sorted(streams(loud)) == ["Audio", "Video"]
    clip = cut_clip(loud, 1.0, 2.0, style, tmp_path)
    assert streams(clip) == ["Video"]
    assert b"secret" not in clip.read_bytes()
    assert numbers(clip) == (select_frames if style is MP4 else thin_frames)(1.0, 2.0, ALL)


def test_a_browser_can_play_the_file_before_it_has_all_of_it(numbered, tmp_path):
    content = cut_clip(numbered, 1.0, 2.0, MP4, tmp_path).read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    assert b"avc1" in content


def test_a_clip_is_the_same_again_and_readable_by_all(numbered, tmp_path):
    first = cut_clip(numbered, 1.0, 2.0, MP4, tmp_path)
    content, mode = first.read_bytes(), first.stat().st_mode
    assert cut_clip(numbered, 1.0, 2.0, MP4, tmp_path).read_bytes() == content
    assert mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [first]


# No clip


@pytest.fixture
def reason(tmp_path):
    """Return a function that cuts what can't be cut: nothing may be left."""

    def _reason(video, start=0.0, end=1.0, needed=None):
        folder = tmp_path / "clips"
        folder.mkdir(exist_ok=True)
        why = cut(video, Interval(start, end), needed or end, MP4, folder / "clip.mp4")
        assert list(folder.iterdir()) == []
        return why

    return _reason


@pytest.mark.parametrize("content", [b"", b"This is no video.\n" * 99, b"\0" * 4096])
def test_what_is_no_video_is_unreadable(reason, tmp_path, content):
    video = tmp_path / "v.mp4"
    video.write_bytes(content)
    assert reason(video) == "unreadable"


def test_a_torn_video_and_sound_alone_are_unreadable(reason, numbered, tmp_path):
    torn, sound = tmp_path / "torn.mp4", tmp_path / "sound.mp4"
    torn.write_bytes(numbered.read_bytes()[:2200])
    convert(numbered, sound, "-map", "1:a", before=("-f", "lavfi", "-i", "sine=d=3"))
    assert [reason(torn), reason(sound), reason(tmp_path / "none.mp4")] == ["unreadable"] * 3


@pytest.mark.parametrize(
    ("start", "end", "needed"), [(7.0, 8.6, 8.1), (7.0, 30.0, 29.0), (9.0, 9.5, 9.4), (0, 9, 8.01)]
)
def test_a_video_that_ends_before_is_too_short(reason, numbered, start, end, needed):
    assert reason(numbered, start, end, needed) == "too-short"


def test_a_download_that_broke_off_gives_what_is_there(reason, numbered, tmp_path):
    """Its header still promises 8 s."""
    torn = tmp_path / "torn.mp4"
    content = numbered.read_bytes()
    torn.write_bytes(content[: len(content) * 3 // 4])
    assert numbers(cut_clip(torn, 1.0, 2.0, MP4, tmp_path)) == select_frames(1.0, 2.0, ALL)
    assert reason(torn, 7.0, 7.9) == "too-short"


@pytest.mark.parametrize("name", ["v.mp4", "v.mkv", "v.avi"])
@pytest.mark.parametrize("fill", [b"\0", b"\xa5\x3c"])
def test_damage_in_the_middle_spoils_its_own_moments_alone(numbered, tmp_path, name, fill):
    source = tmp_path / name
    convert(numbered, source, "-c:v", "mpeg4" if name == "v.avi" else "libx264", "-g", "12")
    content = bytearray(source.read_bytes())
    middle, length = len(content) // 2, len(content) // 20
    content[middle : middle + length] = (fill * length)[:length]
    source.write_bytes(content)
    stretches = [Interval(second, second + 1.0) for second in range(8)]
    reasons = [cut(source, it, it.end, MP4, tmp_path / "clip.mp4") for it in stretches]
    assert set(reasons) == {None, "unreadable"}
    assert reasons[0] is reasons[7] is None
    clip = cut_clip(source, 0.0, 1.0, MP4, tmp_path)
    assert numbers(clip) == select_frames(0.0, 1.0, ALL)


@pytest.mark.parametrize("clip_format", [MP4, GIF])
def test_damage_after_which_nothing_is_found_does_not_make_a_video_short(
    numbered, tmp_path, clip_format
):
    source = tmp_path / "v.mkv"
    convert(numbered, source, "-c", "copy")
    content = source.read_bytes()
    middle, length = len(content) * 72 // 100, len(content) // 20
    source.write_bytes(content[:middle] + bytes(length) + content[middle + length :])
    interval, target = Interval(7.0, 7.9), tmp_path / f"clip.{clip_format.format}"
    assert cut(source, interval, 7.9, clip_format, target) == "unreadable"
    source.write_bytes(content[:middle])
    assert cut(source, interval, 7.9, clip_format, target) == "too-short"


def test_an_end_past_the_videos_shows_its_last_frame_until_then(numbered, tmp_path):
    clip = cut_clip(numbered, 7.5, 8.6, MP4, tmp_path, needed=8.0)
    assert numbers(clip) == [*range(90, 96), 95]
    assert read_duration(clip) == pytest.approx(1.1, abs=0.011)


def test_no_playlist_leads_ffmpeg_to_another_file(reason, numbered, tmp_path):
    convert(numbered, tmp_path / "part.ts", "-c", "copy")
    joined, listed = tmp_path / "joined.mp4", tmp_path / "listed.m3u8"
    joined.write_text("ffconcat version 1.0\nfile part.ts\n")
    listed.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\npart.ts\n#EXT-X-ENDLIST\n")
    assert [reason(joined), reason(listed)] == ["unreadable", "unreadable"]
    assert reason(tmp_path / "part.ts", 1.0, 9.0) == "too-short"  # which itself can be read


# When the video is not to blame


def test_an_ffmpeg_that_hangs_is_given_up(numbered, tmp_path, monkeypatch):
    def hang(*args, timeout, **kwargs):
        raise subprocess.TimeoutExpired("ffmpeg", timeout)

    monkeypatch.setattr(cutter.subprocess, "run", hang)
    assert cut(numbered, Interval(0, 1), 1, MP4, tmp_path / "clip.mp4") == "unreadable"


def test_a_clip_keeps_the_sound_of_its_stretch(numbered, tmp_path):
    """A tone that begins at 4 s is heard from 1 s on in a clip that begins at 3 s."""
    loud, silent = tmp_path / "loud.mp4", tmp_path / "none.mp4"
    tone = ("-f", "lavfi", "-i", "sine=d=4")
    convert(numbered, loud, "-map", "0:v", "-map", "1:a", "-af", "adelay=4000:all=1", before=tone)
    convert(numbered, silent, "-an")
    aloud = ClipFormat("mp4", 480, audio=True)
    for start, end in ((3.0, 6.0), (0.5, 4.5), (5.37, 7.99)):
        clip = cut_clip(loud, start, end, aloud, tmp_path)
        assert numbers(clip) == select_frames(start, end, ALL)
        assert streams(clip) == ["Video", "Audio"]
        assert first_sound(clip) == pytest.approx(max(4.0 - start, 0), abs=0.06)
    assert streams(cut_clip(silent, 1.0, 2.0, aloud, tmp_path)) == ["Video"]
    assert streams(cut_clip(loud, 1.0, 2.0, MP4, tmp_path)) == ["Video"]
