"""Which clips are needed (one for all that shows the same), their names, and their folder."""

import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.sections import Clips
from pipeline.video import plan
from pipeline.video.cutter import ClipFormat, Interval
from pipeline.video.plan import (
    ClipsError,
    clip_name,
    has_clip,
    plan_clips,
    remove_others,
    select_moments,
)

SHAS = {"v.mp4": "ab", "w.mp4": "cd", "copy.mp4": "ab"}
VIDEOS = [("v", 10.0, "v.mp4"), ("w", 20.0, "w.mp4"), ("copy", 10.0, "copy.mp4"),
          ("../x", 5.0, None)]  # fmt: skip


def table(rows, *names):
    return pd.DataFrame(rows, columns=list(names))


def make_moments(*rows, padding=0.0, candidates=None, modality="v"):
    moments = table(rows, "moment_id", "video_id", "start", "end").assign(modality=modality)
    ids = candidates or [(f"q{n}", row[0]) for n, row in enumerate(rows)]
    videos = table(VIDEOS, "video_id", "duration", "path")
    return select_moments(table(ids, "query_id", "moment_id"), moments, videos, padding)


def make_jobs(*rows, padding=0.0, slack=1.0, modality="v", **clips):
    usual = {"format": "mp4", "height": 480, "url": "label-studio", "workers": 1, "audio": False}
    params = usual | clips
    moments = make_moments(*rows, padding=padding, modality=modality)
    return plan_clips(moments, SHAS, Clips(padding=padding, **params), slack)


def test_a_moment_that_many_queries_want_is_wanted_once():
    many = [("q1", "m"), ("q2", "m"), ("q2", "a"), ("q3", "m")]
    rows = [("m", "v", 1.0, 2.0), ("never", "v", 3.0, 4.0), ("a", "w", 0.0, 1.0)]
    moments = make_moments(*rows, candidates=many)
    assert moments["moment_id"].tolist() == ["a", "m"]


@pytest.mark.parametrize(
    ("start", "end", "padding", "expected"),
    [
        (3.0, 4.0, 0.0, (3.0, 4.0)),
        (3.0, 4.0, 1.5, (1.5, 5.5)),
        (1.0, 9.5, 2.0, (0.0, 10.0)),  # not before the video, nor after it
        (9.0, 10.4, 0.0, (9.0, 10.4)),  # an end past the video's is no padding
        (9.0, 10.4, 2.0, (7.0, 10.4)),
    ],
)
def test_padding_stays_within_the_video(start, end, padding, expected):
    [row] = make_moments(("m", "v", start, end), padding=padding).itertuples()
    assert (row.first, row.last) == expected


@pytest.mark.parametrize(("audio", "heard"), [(False, ""), (True, "b c")])
def test_only_moments_of_what_is_said_keep_their_sound(audio, heard):
    rows = [("a", "v", 1.0, 2.0), ("b", "v", 1.0, 2.0), ("c", "v", 3.0, 4.0)]
    jobs = make_jobs(*rows, modality=["v", "t", "vt"], audio=audio)
    aloud = [moment for moment, job in jobs.items() if job.clip.endswith(".sound.mp4")]
    assert " ".join(aloud) == heard
    assert all(job.clip_format.audio == (moment in aloud) for moment, job in jobs.items())


def test_moments_that_show_the_same_share_a_clip():
    rows = [("a", "v", 1.0, 2.0), ("b", "v", 1.0, 2.0), ("c", "copy", 1.0, 2.0)]
    jobs = make_jobs(*rows, ("d", "v", 1.0, 2.5), ("e", "w", 1.0, 2.0))
    assert jobs["a"].clip == jobs["b"].clip == jobs["c"].clip
    assert len({job.clip for job in jobs.values()}) == 3
    assert jobs["e"][1:4] == (Path("w.mp4"), Interval(1.0, 2.0), 1.0)


def test_a_clip_is_long_enough_for_each_of_its_moments():
    rows = [("a", "v", 1.0, 5.1), ("b", "v", 4.0, 9.9)]
    jobs = make_jobs(*rows, padding=5.0, slack=0.5)
    assert jobs["a"].clip == jobs["b"].clip
    assert {job.needed for job in jobs.values()} == {9.9 - 0.5}


def test_only_what_is_shown_makes_another_clip():
    row = ("m", "v", 1.0, 2.0)
    [usual] = {job.clip for job in make_jobs(row).values()}
    for same in ({"slack": 0.1}, {"workers": 7}, {"url": "s3://bucket"}):
        assert make_jobs(row, **same)["m"].clip == usual
    for changes in ({"height": 240}, {"format": "gif"}, {"padding": 0.5}):
        assert make_jobs(row, **changes)["m"].clip != usual


def test_what_has_no_content_has_no_clip():
    assert make_jobs(("m", "../x", 1.0, 2.0)) == {}
    assert make_jobs() == {}


def test_tables_that_do_not_belong_together_are_refused():
    with pytest.raises(ClipsError, match=r"pool\.csv: the moment 'x' .*`dvc repro`"):
        make_moments(("m", "v", 1.0, 2.0), candidates=[("q", "m"), ("q", "x")])
    with pytest.raises(ClipsError, match="the moment 'm' or its video is not in"):
        make_moments(("m", "unheard-of", 1.0, 2.0))


seconds = st.floats(0, 1e6, allow_nan=False)
facts = st.tuples(
    st.text(),
    st.builds(Interval, seconds, seconds),
    st.builds(ClipFormat, st.sampled_from(["mp4", "gif"]), st.integers(16, 4320)),
)


@given(facts, facts)
def test_clips_have_one_name_if_they_show_the_same(first, second):
    assert (clip_name(*first) == clip_name(*second)) == (first == second)
    assert clip_name(*first) == clip_name(*first)


@given(facts)
def test_a_name_is_a_hash_whatever_the_video_is_called(clip):
    assert re.fullmatch(r"[0-9a-f]{32}\.(mp4|gif)", clip_name(*clip))


def test_names_are_the_same_on_every_machine():
    """The ledger holds them: another name makes the judgments of a campaign stale."""
    name = clip_name("ab", Interval(1.5, 4.0), ClipFormat("mp4", 480))
    assert name == "e5fad33d9f49016f6c66722052bb842a.mp4"


def test_another_version_is_another_clip(monkeypatch):
    before = clip_name("ab", Interval(1.5, 4.0), ClipFormat("mp4", 480))
    monkeypatch.setattr(plan, "VERSION", plan.VERSION + 1)
    assert clip_name("ab", Interval(1.5, 4.0), ClipFormat("mp4", 480)) != before


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"clip")
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / ".b.x7f.mp4").write_bytes(b"half a clip")
    (tmp_path / "lost.mp4").symlink_to(tmp_path / "nowhere")
    return tmp_path


def test_only_a_file_that_holds_something_is_there(folder):
    names = ["a.mp4", "empty.mp4", "lost.mp4", "never.mp4"]
    assert [has_clip(folder, name) for name in names] == [True, False, False, False]


def test_what_nobody_wants_goes_and_so_do_pieces(folder):
    remove_others(folder, {"a.mp4", "b.mp4"})
    assert [path.name for path in folder.iterdir()] == ["a.mp4"]
