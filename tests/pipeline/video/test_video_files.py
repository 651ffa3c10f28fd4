"""Where videos lie: several suffixes in one folder, durations out of the files, none there."""

import shutil

import pytest

from pipeline.video import corpus_videos, ffmpeg
from pipeline.video.corpus_videos import durations, find, missing_remark, video_path
from pipeline.video.ffmpeg import VideoError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos").mkdir()
    corpus_videos._videos_in.cache_clear()
    return tmp_path / "videos"


def place(folder, *names):
    for name in names:
        (folder / name).write_text("video")


def test_several_suffixes_lie_in_one_folder(folder):
    place(folder, "a.mp4", "b.MKV", "c.d.webm", "a.srt", "b.jpg", "aa.mp4")
    template = "videos/{video_id}.*"
    paths = {name: find(video_path(template, name)) for name in ("a", "b", "c.d", "c", "[a]")}
    names = {name: path.name for name, path in paths.items() if path}
    assert names == {"a": "a.mp4", "b": "b.MKV", "c.d": "c.d.webm"}


def test_two_files_for_one_video_are_an_error_naming_both(folder):
    place(folder, "a.mp4", "a.webm")
    with pytest.raises(VideoError, match=r"videos/a\.mp4 and a\.webm both exist"):
        find("videos/a.*")


def test_without_a_star_only_the_name_itself_is_there(folder):
    place(folder, "a.mp4")
    assert find("videos/a.mp4").name == "a.mp4"
    assert find("videos/a.webm") is None


def test_no_video_at_all_asks_for_the_setting(folder):
    paths = [f"videos/{number}.mp4" for number in range(180)]
    message = missing_remark(paths)
    assert [it for it in ("180", "ingest.videos", "videos/0.mp4") if it not in message] == []
    place(folder, "7.mp4")
    assert "1 of 180" in missing_remark(paths)
    place(folder, *(f"{number}.mp4" for number in range(100)))
    assert missing_remark(paths) == missing_remark([]) == ""


def test_durations_are_read_once_and_only_of_what_is_a_video(
    folder, numbered, tmp_path, monkeypatch
):
    shutil.copy(numbered, folder / "v.mp4")
    place(folder, "broken.mp4")
    asked = []
    real = ffmpeg.read_duration
    monkeypatch.setattr(
        corpus_videos, "read_duration", lambda path: asked.append(path) or real(path)
    )
    paths = ["videos/v.*", "videos/broken.mp4", "videos/none.mp4"]
    memory = tmp_path / "deep/durations.json"
    assert durations(paths, memory, 2) == {"videos/v.*": pytest.approx(8.0, abs=0.05)}
    assert durations(paths, memory, 2) == {"videos/v.*": pytest.approx(8.0, abs=0.05)}
    assert sorted(path.name for path in asked) == ["broken.mp4", "v.mp4"]
