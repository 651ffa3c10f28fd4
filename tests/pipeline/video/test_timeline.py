"""What a video holds, read from ffmpeg's own words; the oracle adds up fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.video.timeline import Timeline

HALF = Fraction(1, 2_000_000)
ticks = st.sampled_from([Fraction(1, 12288), Fraction(1, 90000), Fraction(1, 1000)])
seconds = st.floats(0, 20, allow_nan=False)


def write_showinfo(frames, tick):
    """Return what ffmpeg's `showinfo` says of frames (pts, duration) at `tick` seconds."""
    clock = f"{tick.numerator}/{tick.denominator}"
    lines = [f"[Parsed_showinfo_0 @ 0x1] [info] config in time_base: {clock}, frame_rate: 12/1"]
    lines += [
        f"[Parsed_showinfo_0 @ 0x1] [info] n:{n:4d} pts:{pts:7d} pts_time:0.1   "
        f"duration:{long:7d} duration_time:0.08 fmt:yuv420p cl:left sar:0/1 s:64x36 i:P"
        for n, (pts, long) in enumerate(frames)
    ]
    return "\n".join(["[info] Input #0, mov", *lines, "[info] [Parsed] side data - x:"])


@given(st.lists(st.tuples(st.integers(-99, 99999), st.integers(1, 9000)), max_size=9), ticks,
       seconds, seconds)  # fmt: skip
def test_it_says_what_the_fractions_say(frames, tick, first, second):
    start, end = sorted([first, second])
    timeline = Timeline(write_showinfo(frames, tick))
    at = [pts * tick for pts, _ in frames]
    assert [frame.time for frame in timeline.frames] == sorted(at)
    low, high = Fraction(start), Fraction(end)
    assert timeline.shows(start, end) == any(low <= time + HALF < high for time in at)
    assert timeline.begins_by(start) == (bool(at) and min(at) <= low)
    last = max(((pts * tick, long * tick) for pts, long in frames), default=None)
    assert timeline.reaches(end) == (last is not None and sum(last) + HALF >= high)


@pytest.mark.parametrize("text", ["", "nonsense", "[error] moov atom not found"])
def test_without_frames_there_is_nothing(text):
    timeline = Timeline(text)
    assert (timeline.frames, timeline.begins_by(9), timeline.reaches(0)) == ([], False, False)
    assert not timeline.shows(0, 9)


def test_where_durations_are_not_told_the_last_frame_stands_as_long_as_others():
    timeline = Timeline(write_showinfo([(0, 0), (100, 0), (200, 0)], Fraction(1, 1000)))
    assert timeline.reaches(0.3)
    assert not timeline.reaches(0.301)


def test_a_third_of_a_second_written_with_six_digits_is_meant():
    timeline = Timeline(write_showinfo([(13312, 1024)], Fraction(1, 12288)))  # 13/12 s
    assert timeline.shows(1.083333, 1.1)
    assert timeline.shows(1.083334, 1.1) is False
    assert not timeline.shows(1.0, 1.083333)


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize("missing", [(), (5,)])
@pytest.mark.parametrize(
    ("complaint", "counts"),
    [
        ("[in#0/matroska,webm @ 0x1] [error] 0x00 at pos 9 invalid as first byte", True),
        ("[Parsed_showinfo] type:P 0x00 at pos 9 invalid as first byte of an EBML number", True),
        ("[avi @ 0x1] [error] invalid packet", True),
        ("[in#0/mpegts @ 0x1] [warning] corrupt input packet in stream 0", True),
        ("[in#0/mpegts @ 0x1] [warning] Packet corrupt (stream = 0, dts = 1).", False),
        ("[in#0/mov @ 0x1] [error] File ended prematurely", False),
        ("[h264 @ 0x1] [error] co located POCs unavailable", False),
    ],
)
def test_a_container_that_is_broken_counts_where_frames_are_missing(
    is_before, missing, complaint, counts
):
    """ffmpeg reads ahead in a thread of its own: the complaint may come before any frame."""
    text = write_showinfo([(k, 1) for k in range(9) if k not in missing], Fraction(1, 12))
    both = [complaint, text] if is_before else [text, complaint]
    whole = "\n".join(both)
    assert Timeline(whole).is_damaged == (counts and bool(missing))
