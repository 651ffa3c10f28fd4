"""Clips whose frames show their numbers, and which are relevant to which query.

There are several videos of a moving textured picture, each with its own range of numbers, so that a
number identifies the video; clips cut from them as the stage `clips` does; and queries with a
random level for each clip.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from support.fake_openai.eyes import Moment

from pipeline.judges.base import Pair
from pipeline.sitcom.drawing.strip import BITS, paint_strip
from pipeline.video.cutter import ClipFormat, Interval, cut
from pipeline.video.ffmpeg import Frame, write_video

SPACE = 4096
"""How many numbers a video has."""


@dataclass(frozen=True)
class Plan:
    """The amounts: sizes in pixels, lengths in seconds."""

    videos: int
    seconds: float
    clips: int
    queries: int
    size: tuple[int, int]
    fps: int
    shortest: float
    longest: float
    format: str = "mp4"
    seed: int = 0


@dataclass(frozen=True)
class World:
    """The clips' moments, their files, and the levels of each query by moment."""

    moments: list[Moment]
    clips: dict[str, Path]
    levels: dict[str, dict[str, int]]
    similar: dict[str, dict[str, int]]
    plan: Plan

    def pairs(self) -> list[Pair]:
        """Return every query with each of its moments."""
        return [
            Pair(
                query_id=f"q{number}", moment_id=moment.moment_id, split="val", query=query,
                caption=f"What is seen in {moment.moment_id}.", similarity=0.5,
                start=moment.start, end=moment.end, clip=self.clips[moment.moment_id],
                seconds=round(moment.end - moment.start, 3),
            )
            for number, query in enumerate(self.levels)
            for moment in self.moments
            if moment.moment_id in self.levels[query]
        ]  # fmt: skip

    def level(self, pair: Pair) -> int:
        """Return the true level of a pair."""
        return self.levels[pair.query][pair.moment_id]

    def write_truth(self, path: Path) -> Path:
        """Write what the stand-in needs to judge."""
        plan = self.plan
        captions = {f"What is seen in {one.moment_id}.": one.moment_id for one in self.moments}
        content = {
            "fps": plan.fps, "tolerance": 1 / 3 if plan.format == "gif" else 0.0,
            "moments": [list(moment) for moment in self.moments],
            "levels": self.levels, "similar": self.similar, "captions": captions,
        }  # fmt: skip
        path.write_text(json.dumps(content), encoding="utf-8")
        return path


def make_world(folder: Path, plan: Plan) -> World:
    """Draw videos, cut clips, and draw levels."""
    if plan.seconds * plan.fps > SPACE or plan.videos * SPACE > 1 << BITS:
        raise SystemExit(f"frames have {BITS} bits, {SPACE:,} numbers a video: ask for fewer")
    videos = {f"v{number}": folder / f"v{number}.mp4" for number in range(plan.videos)}
    for number, path in enumerate(videos.values()):
        frames = draw_frames(plan, number * SPACE)
        write_video(path, frames, plan.size, plan.fps)
    chance = random.Random(plan.seed)
    moments, clips, originals = list[Moment](), dict[str, Path](), list[Moment]()
    for number in range(plan.clips):
        video = f"v{number % plan.videos}"
        start, end = draw_interval(
            plan, chance, [moment for moment in originals if moment.video == video]
        )
        clip = folder / f"clip{number}.{plan.format}"
        clip_format = ClipFormat("gif" if plan.format == "gif" else "mp4", plan.size[1])
        if reason := cut(videos[video], Interval(start, end), end, clip_format, clip):
            raise SystemExit(f"{clip}: {reason}")
        originals.append(Moment(f"m{number}", video, start, end))
        first = SPACE * int(video[1:]) / plan.fps
        moments.append(Moment(f"m{number}", video, first + start, first + end))
        clips[f"m{number}"] = clip
    levels = draw_levels([moment.moment_id for moment in moments], plan, chance)
    similar = draw_levels([moment.moment_id for moment in moments], plan, chance)
    return World(moments, clips, levels, similar, plan)


def draw_interval(
    plan: Plan, chance: random.Random, others: Sequence[Moment]
) -> tuple[float, float]:
    """Return an interval that shares no frames with another, with a frame or two to spare."""
    while True:
        length = chance.uniform(plan.shortest, plan.longest)
        start = round(chance.uniform(0, plan.seconds - length), 2)
        end = round(start + length, 2)
        near = 3 / plan.fps
        if all(abs(other.start - start) > near or abs(other.end - end) > near for other in others):
            return start, end


def draw_levels(
    moments: Sequence[str], plan: Plan, chance: random.Random
) -> dict[str, dict[str, int]]:
    """Return a level of each moment for each query."""
    return {
        f'Somebody does thing "{number}".\nThen {{{{query}}}} they leave.': {
            name: chance.randrange(5) for name in moments
        }
        for number in range(plan.queries)
    }


def draw_frames(plan: Plan, first: int) -> Iterator[Frame]:
    """Yield the frames of a video: a moving textured picture, with the number below it."""
    width, height = plan.size
    rng = np.random.default_rng([plan.seed, first])
    rough = rng.normal(128, 20, (height // 4, width // 4, 3)).clip(0, 255)
    picture = Image.fromarray(rough.astype(np.uint8)).resize(plan.size, Image.Resampling.BICUBIC)
    texture = np.asarray(picture)
    for number in range(round(plan.seconds * plan.fps)):
        image = Image.fromarray(np.roll(texture, (number // 3, 2 * number), (0, 1)))
        paint_strip(image, first + number, plan.fps)
        yield np.asarray(image)
