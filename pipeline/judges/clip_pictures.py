"""Pictures in requests: they are named by what they show, and read from the clip on sending.

So a stored answer is found without reading the clip, whatever the version of ffmpeg. Requests keep
no pictures once they are sent, and no object here shows one in its repr.
"""

import asyncio
import base64
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pipeline.core.parallel import cores
from pipeline.llm import outcomes
from pipeline.llm.outcomes import CallFailed
from pipeline.llm.request import Body
from pipeline.video.pictures import VERSION, BrokenClipError, picture_times, take_pictures

_PIXELS_PER_TOKEN = 750
"""Roughly what the common servers count."""
_ASPECT = 16 / 9
_PREFIX = "data:image/jpeg;base64,"


@dataclass(frozen=True)
class Clip:
    """A clip: its file, the hash of what it shows, and its length in seconds."""

    path: Path
    sha: str
    seconds: float


@dataclass(frozen=True)
class Look:
    """How to look at a clip: the most pictures, and their maximum height."""

    frames: int
    height: int

    def times(self, clip: Clip) -> list[float]:
        """Return the times of the pictures, in seconds."""
        return picture_times(clip.seconds, self.frames)

    def addresses(self, clip: Clip) -> list[str]:
        """Return the names of the pictures, which stand for them until they are sent."""
        recipe = f"{clip.sha}?seconds={clip.seconds!r}&height={self.height}&version={VERSION}"
        number = len(self.times(clip))
        return [f"clip:{recipe}&picture={index + 1}/{number}" for index in range(number)]


class PictureReader:
    """Reads pictures in threads, and keeps those of the last clips, as queries share clips."""

    def __init__(self, look: Look, capacity: int) -> None:
        """Keep the pictures of `capacity` clips."""
        self._look, self._capacity = look, capacity
        self._pool = ThreadPoolExecutor(cores(), thread_name_prefix="pictures")
        self._clips: OrderedDict[str, asyncio.Task[list[str]]] = OrderedDict()

    async def read(self, clip: Clip) -> list[str]:
        """Return the pictures of a clip as data URLs.

        Raises:
            BrokenClipError: it can't be read.
        """
        task = self._clips.get(clip.sha)
        if task is None or task.get_loop() is not asyncio.get_running_loop() or task.cancelled():
            task = asyncio.create_task(self._take(clip))
        self._clips[clip.sha] = task
        self._clips.move_to_end(clip.sha)
        while len(self._clips) > self._capacity:
            self._clips.popitem(last=False)
        return await asyncio.shield(task)

    async def _take(self, clip: Clip) -> list[str]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(_read_clip, clip, self._look))


def _read_clip(clip: Clip, look: Look) -> list[str]:
    number = len(look.times(clip))
    pictures = take_pictures(clip.path, clip.seconds, number, look.height)
    return [_PREFIX + base64.b64encode(picture).decode("ascii") for picture in pictures]


@dataclass(frozen=True)
class ClipPictures:
    """The pictures of one clip, as a request has them."""

    clip: Clip
    look: Look
    reader: PictureReader = field(repr=False, compare=False)

    @property
    def subject(self) -> str:
        """The clip."""
        return self.clip.sha

    @property
    def tokens(self) -> int:
        """About how many tokens all pictures take; servers differ by a factor of more than ten."""
        per_picture = self.look.height**2 * _ASPECT / _PIXELS_PER_TOKEN
        return round(len(self.look.times(self.clip)) * per_picture)

    async def put_in(self, body: Body) -> Body:
        """Return the body with the pictures in place of their names.

        Raises:
            CallFailed: the clip is broken.
        """
        try:
            pictures = await self.reader.read(self.clip)
        except BrokenClipError as error:
            raise CallFailed(outcomes.UNREADABLE, str(error)) from error
        by_name = dict(zip(self.look.addresses(self.clip), pictures, strict=True))
        messages = [
            message | {"content": _replace(message["content"], by_name)}
            for message in body["messages"]
        ]
        return body | {"messages": messages}


def _replace(content: str | Sequence[Body], by_name: dict[str, str]) -> str | list[Body]:
    if isinstance(content, str):
        return content
    return [
        block | {"image_url": block["image_url"] | {"url": by_name[block["image_url"]["url"]]}}
        if block["type"] == "image_url"
        else block
        for block in content
    ]
