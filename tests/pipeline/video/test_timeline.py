"""What a video holds, read from ffmpeg's own words; the oracle adds up fractions."""

import re
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


pictures = st.tuples(st.integers(-99, 99999), st.integers(1, 9000))


@given(st.lists(pictures, min_size=1, max_size=9), ticks, seconds, seconds)
def test_it_says_what_the_fractions_say(frames, tick, first, second):
    start, end = sorted([first, second])
    timeline = Timeline(write_showinfo(frames, tick))
    at = [pts * tick for pts, _ in frames]
    assert [frame.time for frame in timeline.frames] == sorted(at)
    low, high = Fraction(start), Fraction(end)
    rising = [time for n, time in enumerate(at) if not n or time > max(at[:n])]
    before = max((time for time in rising if time <= low + Fraction(1, 1000)), default=rising[0])
    shown = [time for time in rising if time >= before and time + HALF < high]
    showing = timeline.watch(start, end)
    assert [frame.time for frame in (showing.frames if showing else [])] == shown
    assert timeline.begins_by(start) == (min(at) <= low)
    last = max((pts * tick, long * tick) for pts, long in frames)
    assert timeline.reaches(end) == (sum(last) + HALF >= high)


@pytest.mark.parametrize("text", ["", "nonsense", "[error] moov atom not found"])
def test_without_frames_there_is_nothing(text):
    timeline = Timeline(text)
    assert (timeline.frames, timeline.begins_by(9), timeline.reaches(0)) == ([], False, False)
    assert timeline.watch(0, 9) is None


def test_where_durations_are_not_told_the_last_frame_stands_as_long_as_others():
    timeline = Timeline(write_showinfo([(0, 0), (100, 0), (200, 0)], Fraction(1, 1000)))
    assert timeline.reaches(0.3)
    assert not timeline.reaches(0.301)


def test_a_third_of_a_second_written_with_six_digits_is_meant():
    timeline = Timeline(write_showinfo([(12288, 1024), (13312, 1024)], Fraction(1, 12288)))
    first, second = Fraction(1), Fraction(13, 12)
    assert [frame.time for frame in timeline.watch(1.0, 1.083333).frames] == [first]
    assert [frame.time for frame in timeline.watch(1.083333, 1.1).frames] == [second]
    assert [frame.time for frame in timeline.watch(1.0, 1.083334).frames] == [first, second]


FRAMES_OF_A_RECORDING = [*range(50), *range(100, 150)]  # 25 a second; 49 stands for 2 s


@pytest.mark.parametrize(
    ("start", "end", "is_steady", "repeats"),
    [
        (0.4, 1.0, True, False),
        (0.41, 1.01, True, False),  # between two frames, as in most corpora
        (0.4, 4.8, True, False),  # a still in the middle keeps its length by itself
        (1.0, 3.0, False, True),
        (2.5, 4.5, False, False),
        (2.5, 3.0, False, True),
        (4.0, 5.0, True, False),
    ],
)
def test_frames_are_steady_but_where_a_still_meets_an_edge(start, end, is_steady, repeats):
    frames = [(40 * number, 40) for number in FRAMES_OF_A_RECORDING]
    showing = Timeline(write_showinfo(frames, Fraction(1, 1000))).watch(start, end)
    assert (showing.is_steady, showing.repeat is not None) == (is_steady, repeats)
    assert showing.step == Fraction(1, 25)
    assert (showing.repeat or 0) < showing.end - showing.frames[-1].time


def test_a_slide_is_a_still_even_if_all_frames_are_slides():
    timeline = Timeline(write_showinfo([(k * 5, 5) for k in range(4)], Fraction(1)))
    assert not timeline.watch(5, 10).is_steady
    for rate, is_steady in ((3, False), (5, False), (6, True), (12, True)):
        frames = Timeline(write_showinfo([(k, 1) for k in range(40)], Fraction(1, rate)))
        assert frames.watch(1.01, 2.0).is_steady is is_steady


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


@given(st.lists(pictures, min_size=1, max_size=9), st.data())
def test_other_threads_write_into_the_lines_of_frames(frames, data):
    log, tick = write_showinfo(frames, Fraction(1, 1000)), Fraction(1, 1000)
    prefix, unfinished = "[Parsed_showinfo_0 @ 0x1] [info] ", "[info]   Stream #0:1"
    for n in range(len(frames)):
        if data.draw(st.booleans()):
            log = log.replace(f"{prefix}n:{n:4d}", f"{unfinished}n:{n:4d}")
    within = f"  : Audio: aac, 44100 Hz\n[info] Output #0, mp4\n{prefix}fmt:"
    log = "".join(
        within if part == " fmt:" and data.draw(st.booleans()) else part
        for part in re.split("( fmt:)", log)
    )
    assert Timeline(log).frames == Timeline(write_showinfo(frames, tick)).frames
