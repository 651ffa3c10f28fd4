"""The stage `clips`: each moment's clip once, whole, and only what is missing; or the reason."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pandas as pd
import pytest
from moto import mock_aws
from numbered import convert, numbers, read_size, select_frames, thin_frames, write_numbered
from support.campaign_cases import write_candidates

from pipeline import clips
from pipeline.core import files, tables
from pipeline.core.params import ParamsError
from pipeline.ingest import video_path
from pipeline.video.corpus_videos import _videos_in
from pipeline.video.ffmpeg import VideoError

pytestmark = pytest.mark.integration

ALL = range(96)
TEMPLATE = "videos/{video_id}.mp4"


class Workplace:
    """A folder with parameters, tables and videos, in which the stage runs."""

    def __init__(self, folder: Path, content: dict) -> None:
        self.folder, self.clips = folder, folder / clips.FOLDER
        self._content = content
        (folder / "videos").mkdir()
        self.set(workers=2)
        self.set("ingest", videos=TEMPLATE)

    def set(self, section: str = "clips", **values: object) -> None:
        self._content[section] |= values
        files.write_json(self.folder / "params.yaml", self._content)

    def want(self, *moments: tuple, queries: int = 2, duration: float = 8.0) -> None:
        """Let every query want every moment (moment_id, video_id, start, end)."""
        frame = pd.DataFrame(moments, columns=["moment_id", "video_id", "start", "end"])
        tables.MOMENTS.write(frame.assign(description="She waves.", modality="v"))
        videos = pd.DataFrame({"video_id": frame["video_id"].unique()})
        paths = [video_path(self._content["ingest"]["videos"], v) for v in videos["video_id"]]
        tables.VIDEOS.write(videos.assign(duration=duration, path=pd.Series(paths, dtype="str")))
        pairs = [(f"q{q}", moment[0], 1, 0.5, 1) for q in range(queries) for moment in moments]
        write_candidates(pd.DataFrame(pairs, columns=tables.CANDIDATES.columns))
        for table in (tables.AUDIT, tables.TOPUP, tables.NEIGHBOURS):
            table.write(table.empty())

    def table(self) -> pd.DataFrame:
        return tables.CLIPS.read().set_index("moment_id")

    def reasons(self) -> dict[str, str]:
        return tables.FAILED_CLIPS.read().set_index("moment_id")["reason"].to_dict()

    def figures(self) -> dict:
        return json.loads((self.folder / "datasets/work/metrics/clips.json").read_text())

    def shelf(self) -> dict[str, int]:
        """Return each file in the folder of clips, and when it was written."""
        return {path.name: path.stat().st_mtime_ns for path in self.clips.iterdir()}

    def read_numbers(self, moment: str) -> list[int]:
        return numbers(self.clips / self.table().loc[moment, "clip"])


@pytest.fixture
def place(repository, tmp_path, monkeypatch, numbered):
    monkeypatch.chdir(tmp_path)
    workplace = Workplace(tmp_path, files.read_yaml(repository / "params.yaml"))
    os.link(numbered, "videos/v.mp4")
    return workplace


def test_every_moment_has_the_clip_of_its_frames(place, capsys):
    stretches = {"a": (0.0, 1.0), "b": (2.37, 3.1), "c": (3.95, 5.03), "d": (7.5, 8.0)}
    place.want(*((name, "v", *stretch) for name, stretch in stretches.items()))
    clips.main()
    assert {name: place.read_numbers(name) for name in stretches} == {
        name: select_frames(*stretch, ALL) for name, stretch in stretches.items()
    }
    table = place.table()
    assert (table["clip"] == table["clip_sha"] + ".mp4").all()
    assert table["seconds"].tolist() == [1.0, 0.73, 1.08, 0.5]
    assert place.reasons() == {}
    assert set(place.shelf()) == {*table["clip"]}
    assert "clips: 4 of 4 clips cut" in capsys.readouterr().err


def test_what_only_a_machine_judges_has_its_clip_too_and_the_others_are_the_same(place):
    place.want(("a", "v", 0.0, 1.0), ("b", "v", 2.0, 3.0))
    clips.main()
    both = place.table()
    write_candidates(tables.CANDIDATES.read().query("moment_id == 'a'"))
    clips.main()
    pd.testing.assert_frame_equal(place.table(), both.loc[["a"]])
    neighbours = [("q0", "a", 1, 0.5), ("q0", "b", 2, 0.4)]
    tables.NEIGHBOURS.write(pd.DataFrame(neighbours, columns=tables.NEIGHBOURS.columns))
    place.set("candidates", top=1)
    place.set("judge", pool_top=1)
    clips.main()
    pd.testing.assert_frame_equal(place.table(), both)


def test_a_clip_of_the_exam_stays_whatever_its_moment_shows_now(place):
    place.want(("a", "v", 0.0, 1.0), ("b", "v", 2.0, 3.0))
    clips.main()
    before = place.table()
    row = ("q", "a", None, None, before.loc["a", "clip"], "text", before.loc["a", "clip_sha"])
    tables.EXAM.write(pd.DataFrame([row], columns=tables.EXAM.columns))
    place.want(("a", "v", 0.5, 1.5), ("b", "v", 2.5, 3.5))
    clips.main()
    assert set(place.shelf()) == {*place.table()["clip"], before.loc["a", "clip"]}


def test_a_gif_as_the_paper_had(place):
    place.set(format="gif", height=72)
    place.want(("a", "v", 2.0, 5.5))
    clips.main()
    assert place.read_numbers("a") == thin_frames(2.0, 5.5, ALL)
    assert read_size(place.clips / place.table().loc["a", "clip"]) == (128, 72)


def test_padding_shows_more_on_both_sides_but_nothing_beyond_the_video(place):
    place.set(padding=1.25)
    place.want(("a", "v", 3.0, 4.0), ("b", "v", 0.5, 7.5))
    clips.main()
    assert place.read_numbers("a") == select_frames(1.75, 5.25, ALL)
    assert place.read_numbers("b") == list(ALL)
    assert place.table()["seconds"].tolist() == [3.5, 8.0]


def test_what_two_moments_and_many_queries_share_is_cut_once(place):
    place.want(("a", "v", 1.0, 2.0), ("b", "v", 1.0, 2.0), queries=7)
    clips.main()
    table = place.table()
    assert table.loc["a", "clip"] == table.loc["b", "clip"]
    assert len(place.shelf()) == 1
    figures = place.figures()
    assert (figures["moments"], figures["clips"], figures["cut"]) == (2, 1, 1)
    assert figures["bytes"] == (place.clips / table.loc["a", "clip"]).stat().st_size


def test_no_candidates_are_no_clips(place):
    place.want()
    clips.main()
    assert len(place.table()) == 0
    assert place.figures()["clips"] == 0


# Only what is missing or changed


def test_a_new_moment_and_an_empty_file_are_cut_and_an_unwanted_clip_goes(place):
    place.want(("a", "v", 1.0, 2.0), ("b", "v", 2.0, 3.0), ("c", "v", 3.0, 4.0))
    clips.main()
    old, before = place.table()["clip"], place.shelf()
    clips.main()
    assert place.shelf() == before
    assert (place.figures()["cut"], place.figures()["reused"]) == (0, 3)
    (place.clips / old["b"]).write_bytes(b"")
    (place.clips / ".half.x.mp4").write_bytes(b"of a run that was killed")
    place.want(("a", "v", 1.0, 2.0), ("b", "v", 2.0, 3.0), ("d", "v", 5.0, 6.0))
    clips.main()
    new = place.table()["clip"]
    assert set(place.shelf()) == {*new}
    assert old["c"] not in set(new)
    assert place.shelf()[new["a"]] == before[old["a"]]
    assert new["b"] == old["b"]
    assert place.read_numbers("b") == select_frames(2.0, 3.0, ALL)
    assert place.figures()["cut"] == 2


def test_a_changed_video_is_cut_again_and_a_copied_one_is_not(place, numbered):
    place.want(("a", "v", 1.0, 2.0))
    clips.main()
    before, [sha] = place.shelf(), place.table()["clip_sha"]
    video = Path("videos/v.mp4")
    video.unlink()
    video.write_bytes(numbered.read_bytes())  # from another disk, at another time
    clips.main()
    assert place.shelf() == before
    video.unlink()
    write_numbered(video, 96, first=500)
    clips.main()
    assert place.read_numbers("a") == [500 + number for number in select_frames(1.0, 2.0, ALL)]
    assert place.table()["clip_sha"].tolist() != [sha]
    assert len(place.shelf()) == 1


def test_the_hash_says_what_is_shown_not_how_it_was_encoded(place, monkeypatch):
    place.want(("a", "v", 1.0, 2.0))
    clips.main()
    [before] = place.clips.iterdir()
    content, [sha] = before.read_bytes(), place.table()["clip_sha"]
    before.unlink()
    monkeypatch.setattr("pipeline.video.cutter.MP4", ("-c:v", "libx264", "-crf", "40"))
    clips.main()
    assert before.read_bytes() != content  # as another ffmpeg would
    assert place.table()["clip_sha"].tolist() == [sha]


@pytest.mark.parametrize("shards", [3, 8])
def test_shards_cut_the_same_clips(place, numbered, shards):
    for number in range(4):
        padded = numbered.read_bytes() + (number + 1) * b"\0\0\0\x08free"
        Path(f"videos/{number}.mp4").write_bytes(padded)
    moments = [(f"m{n}", str(n % 5), n / 2, n / 2 + 0.6) for n in range(8)]  # 4 is missing
    place.want(*moments, ("late", "2", 8.5, 9.5))
    written = []
    for number in (1, shards):
        place.set("engine", shards=number, workers=1)
        clips.main()
        paths = [*place.clips.iterdir(), tables.CLIPS.path, tables.FAILED_CLIPS.path]
        written.append({path.name: path.read_bytes() for path in paths})
        for path in place.clips.iterdir():
            path.unlink()
    assert written[0] == written[1]
    assert place.reasons() == {"m4": "missing", "late": "too-short"}
    assert not Path(".cache/parts").exists() or not list(Path(".cache/parts").iterdir())


# Moments without a clip


def test_each_failure_is_a_row_with_its_reason_and_counted(place, numbered, capsys):
    late = ("-map", "0:v", "-map", "1:a", "-vf", "setpts=PTS+2/TB", "-fps_mode", "passthrough")
    convert(numbered, Path("videos/late.mp4"), *late, before=("-f", "lavfi", "-i", "sine=d=9"))
    Path("videos/text.mp4").write_text("This is no video.\n" * 99)
    Path("videos/folder.mp4").mkdir()
    place.want(
        ("fine", "v", 1.0, 2.0),
        ("slack", "v", 7.0, 8.9),
        ("short", "v", 7.0, 9.1),
        ("before", "late", 0.2, 0.7),
        ("gone", "gone", 1.0, 2.0),
        ("folder", "folder", 1.0, 2.0),
        ("text", "text", 1.0, 2.0),
        duration=10.0,
    )
    clips.main()
    missing = {"folder": "missing", "gone": "missing"}
    others = {"before": "no-frame", "short": "too-short", "text": "unreadable"}
    assert place.reasons() == missing | others
    assert set(place.table().index) == {"fine", "slack"}
    assert len(place.shelf()) == 2
    figures = place.figures()
    assert (figures["moments"], figures["failed"]) == (7, 5)
    assert figures["failed_by_reason"] == {"missing": 2} | dict.fromkeys(others.values(), 1)
    message = capsys.readouterr().err.splitlines()[-1]
    assert "5 moments (2 missing, 1 no-frame, 1 too-short, 1 unreadable)" in message
    assert "datasets/work/failed_clips.csv" in message
    assert "dvc repro -sf clips && dvc repro" in message


def test_a_mended_video_has_its_clips(place, numbered):
    Path("videos/w.mp4").write_text("This is no video.")
    place.want(("a", "v", 1.0, 2.0), ("b", "w", 1.0, 2.0))
    clips.main()
    assert place.reasons() == {"b": "unreadable"}
    write_numbered(Path("videos/w.mp4"), 30)
    clips.main()
    assert place.reasons() == {}
    assert place.figures()["cut"] == 1


@pytest.mark.parametrize("template", [TEMPLATE, "videos/{video_id}.*"])
def test_the_clips_of_a_disk_that_is_away_wait_for_it(place, template):
    place.set("ingest", videos=template)
    place.want(("a", "v", 1.0, 2.0))
    _videos_in.cache_clear()
    clips.main()
    before = place.shelf()
    Path("videos").rename("unmounted")
    for _ in range(2):
        _videos_in.cache_clear()  # every run reads the folder again
        clips.main()
        assert place.reasons() == {"a": "missing"}
        assert len(place.table()) == 0
    assert place.shelf() == before
    Path("unmounted").rename("videos")
    _videos_in.cache_clear()
    clips.main()
    assert place.shelf() == before
    assert place.figures()["cut"] == 0


def test_a_corpus_without_videos_has_no_clips(place, capsys):
    place.set("ingest", videos=None)
    place.want(("a", "v", 1.0, 2.0), ("b", "v", 2.0, 3.0))
    clips.main()
    assert place.reasons() == {"a": "no-videos", "b": "no-videos"}
    assert place.figures()["failed_by_reason"] == {"no-videos": 2}
    assert "ingest.videos is null" in capsys.readouterr().err


def test_a_failure_of_ours_stops_the_stage_and_is_nobodys_reason(place, monkeypatch):
    monkeypatch.setattr("pipeline.video.cutter.MP4", ("-c:v", "no-such-codec"))
    place.want(("a", "v", 1.0, 2.0))
    with pytest.raises(VideoError, match="ffmpeg could not write it"):
        clips.main()
    assert not tables.FAILED_CLIPS.path.exists()
    assert place.shelf() == {}


# Names


HOSTILE = ["a b", 'it\'s "q"', "50%d", "-i", "%s%n", "x\ny", "$(touch pwned)", "file:z", "é"]
OUTSIDE = ["../../etc/passwd", "/etc/passwd", "../outside", "nul\0byte", "a/../../../outside"]


def test_no_name_of_a_video_leads_anywhere_or_means_anything(place, numbered):
    write_numbered(Path("outside.mp4"), 12)
    names = [name for name in HOSTILE + OUTSIDE if "\0" not in name]
    for n, name in enumerate(HOSTILE):  # each of another content, or they would share a clip
        padded = numbered.read_bytes() + (n + 1) * b"\0\0\0\x08free"
        Path(f"videos/{name}.mp4").write_bytes(padded)
    place.want(*((f"m{n:02}", name, 1.0, 1.5) for n, name in enumerate(names)))
    before = {path for path in place.folder.rglob("*") if path.is_file()}
    clips.main()
    outside = {f"m{n:02}": "missing" for n, name in enumerate(names) if name in OUTSIDE}
    assert place.reasons() == outside
    cut = set(place.table()["clip"])
    assert len(cut) == len(HOSTILE)
    assert {tuple(numbers(place.clips / clip)) for clip in cut} == {
        (*select_frames(1.0, 1.5, ALL),)
    }
    after = {path for path in place.folder.rglob("*") if path.is_file()}
    new_files = {str(path.relative_to(place.folder)) for path in after - before}
    written = {"clips.csv", "failed_clips.csv", "metrics/clips.json"}
    inside = written | {f"clips/{clip}" for clip in cut}
    assert new_files == {".cache/clips/hashes.json", *(f"datasets/work/{name}" for name in inside)}


def test_a_link_to_a_video_on_another_disk_is_followed(place, numbered):
    Path("videos/w.mp4").symlink_to(numbered)
    place.want(("a", "w", 1.0, 1.5))
    clips.main()
    assert place.read_numbers("a") == select_frames(1.0, 1.5, ALL)


# Served from S3


@pytest.mark.parametrize("url", ["ftp://x", "s3://Bucket!", "https://example.org/x?sig=y", "", "x"])
def test_an_address_that_is_none_is_refused(place, url):
    place.set(url=url)
    place.want()
    with pytest.raises(ParamsError, match=r"clips\.url"):
        clips.main()


def test_clips_are_brought_to_s3(place, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    place.set(url="s3://clips/tvr")
    place.want(("a", "v", 1.0, 1.5), ("b", "v", 2.0, 2.5))
    with mock_aws():
        bucket = boto3.resource("s3").Bucket("clips")
        bucket.create()
        clips.main()
        keys = {entry.key for entry in bucket.objects.all()}
    assert keys == {f"tvr/{clip}" for clip in place.table()["clip"]}


# A real process


@pytest.mark.slow
def test_a_kill_leaves_no_half_clip_and_the_next_run_goes_on(place, capsys):
    moments = {f"m{n:02}": (n / 3, n / 3 + 1.3) for n in range(20)}
    place.want(*((name, "v", *stretch) for name, stretch in moments.items()))
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen([sys.executable, "-m", "pipeline.clips"], env=env) as process:
        deadline = time.monotonic() + 60
        while len(list(place.clips.glob("[!.]*"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.002)
        process.kill()
    remaining = {name: time for name, time in place.shelf().items() if not name.startswith(".")}
    assert 3 <= len(remaining) < 20
    assert not tables.CLIPS.path.exists()
    clips.main()
    assert f"clips: {20 - len(remaining)} of 20 clips cut" in capsys.readouterr().err
    shelf = place.shelf()
    assert set(shelf) == {*place.table()["clip"]}
    assert {name: shelf[name] for name in remaining} == remaining
    assert {name: place.read_numbers(name) for name in moments} == {
        name: select_frames(*stretch, ALL) for name, stretch in moments.items()
    }
