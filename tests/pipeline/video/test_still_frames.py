"""Clips of videos whose frames stand still, start late or change their size: the player's rule.

At any time the frame is shown that appeared last. The oracle reads the frames' numbers and times
from the video and from the clip.
"""

import random

import numpy as np
import pytest
from numbered import (
    FPS,
    SIZE,
    convert,
    first_sound,
    frame,
    numbers,
    read_frame_number,
    read_video,
    streams,
    times,
    watch,
    write_numbered,
)

from pipeline.video import cutter
from pipeline.video.cutter import ClipFormat, Interval, cut
from pipeline.video.ffmpeg import read_duration

pytestmark = pytest.mark.integration

FORMATS = {
    "mp4": ClipFormat("mp4", 480),
    "sound": ClipFormat("mp4", 480, audio=True),
    "gif": ClipFormat("gif", 480),
}
KINDS = {
    "recording": r"select=lt(n\,20)+gte(n\,60)",  # 19 is shown from 1.58 s to 5 s
    "slides": r"select=not(mod(n\,24))",  # one every 2 s
    "telephone": r"select=lt(mod(n*n\,11)\,5)",  # no rate at all
    "meeting": r"select=not(mod(n\,4))",  # three a second, at a steady rate
}
CODECS = {
    "mp4": ("-c:v", "libx264", "-bf", "2"),
    "mkv": ("-c:v", "libx264", "-bf", "2"),
    "ts": ("-c:v", "libx264"),
    "webm": ("-c:v", "libvpx", "-b:v", "1M", "-deadline", "realtime", "-cpu-used", "8"),
}
INTERVALS = [(0.5, 4.0), (2.0, 4.7), (2.21, 3.33), (3.5, 6.0), (0.0, 7.0), (5.0, 6.5)]
TONE = ("-f", "lavfi", "-i", "sine=d=8")


@pytest.fixture(scope="module")
def make_video(numbered, tmp_path_factory):
    """Return a function that makes a video of 8 s, with sound, of a kind in a container, once."""
    folder = tmp_path_factory.mktemp("still")

    def _make_video(kind, container):
        path = folder / f"{kind}.{container}"
        if not path.exists():
            both = ("-map", "0:v", "-map", "1:a", "-vf", KINDS[kind], "-fps_mode", "passthrough")
            convert(numbered, path, *both, *CODECS[container], before=TONE)
        return path

    return _make_video


def assert_shows(clip, video, start, end, style, lag=0.0):
    """Check that a clip lasts as long as [start, end), and shows what the video shows then."""
    length = end - start
    slack = 1 / 3 if style == "gif" else lag or 1 / FPS if style == "sound" else lag or 0.02
    assert read_duration(clip) == pytest.approx(length, abs=slack)
    step = 1 / 3 if style == "gif" else 0.02
    instants = [k * step for k in range(int((length - 0.003) / step) + 1)]
    seen = watch(clip, [time + (0.015 if style == "gif" else 0.001) for time in instants])
    ahead = 0 if style == "gif" else 0.001
    spare = 0.002 if lag else 0
    before = spare + (0.03 if video.suffix == ".ts" else 0)  # which may start with the sound
    wanted = watch(video, [start + time + ahead - before for time in instants])
    later = watch(video, [start + time + ahead + lag + spare for time in instants])
    assert all(a <= number <= b for a, number, b in zip(wanted, seen, later, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("container", CODECS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_lasts_until_the_next(make_video, tmp_path, kind, container, style):
    video, clip_format = make_video(kind, container), FORMATS[style]
    chance = random.Random(f"{kind} {container}")
    edges = [sorted(chance.uniform(0, 7) for _ in range(2)) for _ in range(3)]
    clip = tmp_path / f"clip{clip_format.suffix}"
    for start, end in INTERVALS + [(a, b + 0.5) for a, b in edges]:
        assert cut(video, Interval(start, end), end, clip_format, clip) is None
        assert_shows(clip, video, start, end, style, lag=1.6 / FPS)


@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("kind", ["recording", "slides", "meeting"])
def test_a_clip_within_stills_is_exact(make_video, tmp_path, kind, style):
    video, clip_format = make_video(kind, "mp4"), FORMATS[style]
    clip = tmp_path / f"clip{clip_format.suffix}"
    for start, end in ((2.21, 3.3), (2.5, 4.7), (3.21, 6.5)):
        assert cut(video, Interval(start, end), end, clip_format, clip) is None
        assert_shows(clip, video, start, end, style)


def test_a_moment_shorter_than_a_frame_shows_the_frame(numbered, tmp_path):
    clip = tmp_path / "clip.mp4"
    assert cut(numbered, Interval(1.01, 1.07), 1.07, FORMATS["mp4"], clip) is None
    assert numbers(clip) == [12]
    assert read_duration(clip) == pytest.approx(0.06, abs=0.011)


@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("container", ["mkv", "ts", "webm"])
def test_the_last_frame_is_shown_while_the_sound_goes_on(make_video, tmp_path, container, style):
    """The last slide appears at 6 s; no container says how long it lasts, but the sound does."""
    video, clip_format = make_video("slides", container), FORMATS[style]
    clip, silent = tmp_path / f"clip{clip_format.suffix}", tmp_path / f"silent.{container}"
    assert cut(video, Interval(6.5, 7.9), 7.9, clip_format, clip) is None
    assert_shows(clip, video, 6.5, 7.9, style)
    assert cut(video, Interval(6.5, 8.5), 8.5, clip_format, clip) == "too-short"
    convert(video, silent, "-an", "-c", "copy")
    assert cut(silent, Interval(7.0, 7.9), 7.9, clip_format, clip) == "too-short"


def test_sound_that_broke_off_keeps_no_frame(make_video, tmp_path):
    video, torn = make_video("recording", "mkv"), tmp_path / "torn.mkv"
    content = video.read_bytes()
    torn.write_bytes(content[: len(content) // 2])
    assert cut(torn, Interval(6.0, 7.9), 7.9, FORMATS["mp4"], tmp_path / "clip") == "too-short"


# Late starts


@pytest.mark.parametrize("style", ["mp4", "sound"])
@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_picture_and_sound_keep_their_distance_where_the_picture_starts_late(
    numbered, tmp_path, container, style
):
    """The picture starts 2 s after the file; a tone is heard from 3 s on."""
    late, clip = tmp_path / f"late.{container}", tmp_path / "clip.sound.mp4"
    tone = ("-map", "0:v", "-map", "1:a", "-af", "adelay=3000:all=1")
    delay = ("-vf", "setpts=PTS+2/TB", "-fps_mode", "passthrough")
    convert(numbered, late, *tone, *delay, before=("-f", "lavfi", "-i", "sine=d=5"))
    for start, end in ((0.5, 5.0), (1.0, 4.0), (2.5, 6.0)):
        assert cut(late, Interval(start, end), end, FORMATS[style], clip) is None
        assert read_duration(clip) == pytest.approx(end - start, abs=1 / FPS)
        [_, *shown], [_, *appear] = numbers(clip), times(clip)
        own = [2 + number / FPS - start for number in shown]
        assert [float(time) for time in appear] == pytest.approx(own, abs=0.09)
        if style == "sound":
            assert first_sound(clip) == pytest.approx(3 - start, abs=0.06)
    assert cut(late, Interval(0.2, 1.5), 1.5, FORMATS[style], clip) == "no-frame"
    assert cut(late, Interval(0.5, 2.06), 2.06, FORMATS[style], clip) is None
    assert set(numbers(clip)) == {0}
    assert read_duration(clip) == pytest.approx(1.56, abs=0.03)


def test_the_clock_is_the_same_where_the_first_attempt_shows_nothing(numbered, tmp_path):
    """A slide of an MPEG stream whose picture starts 1.5 s after its sound: a GIF has no frame."""
    late, clip = tmp_path / "late.ts", tmp_path / "clip.gif"
    stills = ("-vf", f"{KINDS['recording']},setpts=PTS+1.5/TB", "-fps_mode", "passthrough")
    convert(numbered, late, "-map", "0:v", "-map", "1:a", *stills, before=TONE)
    for start, end in ((3.5, 6.0), (5.0, 6.4)):
        assert cut(late, Interval(start, end), end, FORMATS["gif"], clip) is None
        assert numbers(clip)[0] == 19
        assert read_duration(clip) == pytest.approx(end - start, abs=1 / 3)
    for start, end in ((0.0, 0.4), (1.0, 1.3)):
        assert cut(late, Interval(start, end), end, FORMATS["gif"], clip) == "no-frame"


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts"])
def test_sound_that_starts_late_is_heard_when_it_is(numbered, tmp_path, container):
    """The sound track starts at 2.5 s."""
    late, clip = tmp_path / f"late.{container}", tmp_path / "clip.sound.mp4"
    both = ("-map", "0:v", "-map", "1:a", "-c:v", "copy")
    convert(numbered, late, *both, before=("-itsoffset", "2.5", "-f", "lavfi", "-i", "sine=d=8"))
    for start, end in ((1.0, 4.0), (2.0, 3.5), (3.0, 5.0)):
        assert cut(late, Interval(start, end), end, FORMATS["sound"], clip) is None
        assert_shows(clip, late, start, end, "sound")
        assert first_sound(clip) == pytest.approx(max(2.5 - start, 0), abs=0.06)
    assert cut(late, Interval(0.5, 1.5), 1.5, FORMATS["sound"], clip) is None
    assert streams(clip)[0] == "Video"
    assert_shows(clip, late, 0.5, 1.5, "sound")
    assert cut(late, Interval(9.0, 10.4), 10.4, FORMATS["mp4"], clip) is None  # the last frame
    assert cut(late, Interval(9.0, 10.7), 10.7, FORMATS["mp4"], clip) == "too-short"


# Other sizes


@pytest.mark.parametrize("container", ["ts", "mkv"])
@pytest.mark.parametrize("style", FORMATS)
def test_where_the_size_changes_no_frame_is_lost_or_squeezed(numbered, tmp_path, container, style):
    """From 4 s on the picture is 4:3, not 16:9."""
    parts = [tmp_path / "first.ts", tmp_path / "second.ts"]
    convert(numbered, parts[0], "-t", "4", "-c:v", "libx264", "-bf", "0")
    write_numbered(tmp_path / "wide.mp4", 48, (320, 240), first=48)
    shift = ("-output_ts_offset", "4", "-c:v", "libx264", "-bf", "0")
    convert(tmp_path / "wide.mp4", parts[1], *shift)
    video = tmp_path / f"video.{container}"
    (tmp_path / "both.ts").write_bytes(b"".join(part.read_bytes() for part in parts))
    convert(tmp_path / "both.ts", video, "-c", "copy")
    clip_format = FORMATS[style]
    clip = tmp_path / f"clip{clip_format.suffix}"
    assert cut(video, Interval(3.01, 5.01), 5.01, clip_format, clip) is None
    expected = [36, 40, 44, 48, 52, 56] if style == "gif" else [*range(36, 61)]
    pictures = read_video(clip, (426, 240))
    wide = expected.index(48)
    narrow = [picture[:180, 53:-53] for picture in pictures[wide:]]
    shown = [*pictures[:wide], *narrow]
    assert [read_frame_number(np.ascontiguousarray(each)) for each in shown] == expected
    assert pictures[wide:, :, :50].max() < 30 < pictures[:wide, :, :50].max()
    assert all(b > a for a, b in zip(times(clip), times(clip)[1:], strict=False))
    assert read_duration(clip) == pytest.approx(2, abs=0.011)


def test_another_colour_format_changes_nothing(numbered, tmp_path):
    """ffmpeg would set up its filters anew, and so count from the beginning again."""
    parts = [tmp_path / "first.ts", tmp_path / "second.ts"]
    convert(numbered, parts[0], "-t", "4", "-c:v", "libx264", "-bf", "0")
    after = ("-ss", "4", "-output_ts_offset", "4", "-c:v", "libx264", "-bf", "0")
    convert(numbered, parts[1], *after, "-pix_fmt", "yuv444p")
    video, clip = tmp_path / "both.ts", tmp_path / "clip.mp4"
    video.write_bytes(b"".join(part.read_bytes() for part in parts))
    assert cut(video, Interval(3.0, 5.0), 5.0, FORMATS["mp4"], clip) is None
    assert numbers(clip) == [*range(36, 60)]
    assert [float(time) for time in times(clip)] == pytest.approx(np.arange(24) / FPS, abs=2e-4)


# The length


@pytest.mark.parametrize("style", FORMATS)
def test_a_clip_that_does_not_last_as_long_as_its_moment_is_none(
    numbered, tmp_path, monkeypatch, style
):
    clip = tmp_path / "clip"
    scale = ClipFormat._scale
    lose = lambda *about: rf"select=lt(n\,4),{scale(*about)}"  # noqa: E731
    monkeypatch.setattr(ClipFormat, "_scale", lose)
    assert cut(numbered, Interval(1, 4), 4, FORMATS[style], clip) == "wrong-length"
    assert not clip.exists()


@pytest.mark.parametrize("seconds", [1, 2.5, 6.25])
@pytest.mark.parametrize("kind", ["mp4", "gif"])
def test_the_length_is_read_from_the_file(tmp_path, seconds, kind):
    source, clip = tmp_path / "source.mp4", tmp_path / f"clip.{kind}"
    write_numbered(source, int(seconds * FPS))
    convert(source, clip)
    assert cutter.read_length(clip) == pytest.approx(read_duration(clip), abs=0.011)
    assert cutter.read_length(source) == pytest.approx(seconds, abs=0.001)
    assert frame(0).shape[:2] == SIZE[::-1]
