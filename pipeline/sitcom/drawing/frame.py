"""A frame: the tableau of a time, painted from back to front, and the strip below it."""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pipeline.sitcom.drawing import acts_alone, acts_moving, acts_together
from pipeline.sitcom.drawing.brush import OVERSAMPLE, STAGE_HEIGHT, Brush, Rgb, rgb
from pipeline.sitcom.drawing.furniture import DOOR_FOOT, DOOR_HALF, DOOR_TOP, FIXTURES
from pipeline.sitcom.drawing.people import paint_body, paint_near_arm, paint_shadow
from pipeline.sitcom.drawing.places import paint_place
from pipeline.sitcom.drawing.pose import Pose
from pipeline.sitcom.drawing.strip import paint_strip
from pipeline.sitcom.drawing.tableau import Effect, Now, Tableau, find_places, still
from pipeline.sitcom.drawing.things import DRINKS, paint_cup, paint_on_table, paint_pot
from pipeline.sitcom.screenplay import Screenplay
from pipeline.sitcom.staging.world import WIDTH, Take

SOUND: Rgb = (38, 92, 160)
MUSIC: Rgb = (92, 52, 140)
ANGER: Rgb = (206, 40, 40)


def _sound(brush: Brush, effect: Effect) -> None:
    middle = 0 if effect.facing > 0 else 180
    for ring in range(3):
        radius = 9 + 4 * (ring + effect.phase)
        brush.arc(effect.at, radius, (middle - 38, middle + 38), 1.5, SOUND)


def _music(brush: Brush, effect: Effect) -> None:
    x = effect.at[0] + 4 * math.sin(effect.phase * 7)
    y = effect.at[1] - 16 * effect.phase
    brush.disc((x, y), 2.8, MUSIC, 2.2)
    brush.line([(x + 2.3, y), (x + 2.3, y - 10)], 1.3, MUSIC)
    brush.line([(x + 2.3, y - 10), (x + 6, y - 7)], 1.8, MUSIC)


def _anger(brush: Brush, effect: Effect) -> None:
    x, y = effect.at
    size = 1 + 0.25 * math.sin(effect.phase * 2 * math.pi)
    zigzag = ((-9, 0), (-5, -7 * size), (-1, -1), (4, -8 * size), (8, -1))
    brush.line([(x + dx, y + dy) for dx, dy in zigzag], 1.9, ANGER)


def _stream(brush: Brush, effect: Effect) -> None:
    x, y = effect.at
    brush.line([(x, y), (x + 0.8, effect.phase + 3)], 1.9, DRINKS[effect.drink])


EFFECTS = {"sound": _sound, "music": _music, "anger": _anger, "stream": _stream}


BEHIND = 0.75
"""A body deeper than this is behind the wall, and seen through the doorway only."""

Frame = NDArray[np.uint8]
Act = Callable[[Now, Tableau], Tableau]
ACTS: dict[str, Act] = {
    "enter": acts_moving.enter,
    "leave": acts_moving.leave,
    "sit_down": acts_moving.sit_down,
    "stand_up": acts_moving.stand_up,
    "dance": acts_moving.dance,
    "pour": acts_alone.pour,
    "drink": acts_alone.drink,
    "put_down": acts_alone.put_down,
    "pick_up": acts_alone.pick_up,
    "read": acts_alone.read,
    "open": acts_alone.opening,
    "close": acts_alone.close,
    "phone": acts_alone.phone,
    "wave": acts_alone.wave,
    "hug": acts_together.hug,
    "shake_hands": acts_together.shake_hands,
    "hand_over": acts_together.hand_over,
    "argue": acts_together.argue,
}


def frame_size(height: int) -> tuple[int, int]:
    """Return width and height in pixels of a frame: 16 to 9, both even."""
    return 2 * round(height * 8 / 9), height


class Painter:
    """Paints the frames of one video; what never moves is painted once."""

    def __init__(self, script: Screenplay, take: Take, height: int) -> None:
        self._script, self._take = script, take
        self._place = script.places[take.place]
        self._size = frame_size(height)
        width = self._size[0]
        picture = width, round(STAGE_HEIGHT * width / WIDTH)
        self._scale = width / WIDTH * OVERSAMPLE
        self._empty = paint_place(self._place, (picture[0] * OVERSAMPLE, picture[1] * OVERSAMPLE))
        self._standing: dict[tuple[float, ...], Image.Image] = {}

    def frame(self, number: int) -> Frame:
        """Return frame `number`: (height, width, 3)."""
        picture = self.paint(tableau_at(self._script, self._take, number))
        whole = Image.new("RGB", self._size)
        whole.paste(picture.reduce(OVERSAMPLE))
        paint_strip(whole, number, self._take.fps)
        return np.asarray(whole)

    def paint(self, tableau: Tableau) -> Image.Image:
        """Return the picture of a tableau, `OVERSAMPLE` times as large as it is shown."""
        image = self._paint_furniture(tableau.fixtures)
        brush = Brush(image, self._scale)
        behind = {name: pose for name, pose in tableau.poses.items() if pose.depth > BEHIND}
        before = {name: pose for name, pose in tableau.poses.items() if pose.depth <= BEHIND}
        if behind:
            self._through_doorway(image, behind)
        for pose in before.values():
            paint_shadow(brush, pose, rgb(self._place.floor))
        _table(brush, tableau)
        self._people(brush, {n: p for n, p in before.items() if n not in tableau.actors})
        self._people(brush, {n: p for n, p in before.items() if n in tableau.actors})
        for effect in tableau.effects:
            EFFECTS[effect.kind](brush, effect)
        return image

    def _paint_furniture(self, fixtures: Mapping[str, float]) -> Image.Image:
        """Return the place with its doors and windows as open as they are."""
        key = tuple(fixtures.values())
        if key in self._standing:
            return self._standing[key].copy()
        image = self._empty.copy()
        brush = Brush(image, self._scale)
        for name, share in fixtures.items():
            FIXTURES[name].paint(brush, self._place.openable[name], share)
        if all(share in {0.0, 1.0} for share in key):
            self._standing[key] = image.copy()
        return image

    def _through_doorway(self, image: Image.Image, poses: Mapping[str, Pose]) -> None:
        left, right = self._place.door - DOOR_HALF, self._place.door + DOOR_HALF
        edges = (left, DOOR_TOP, right, DOOR_FOOT)
        box = tuple(round(edge * self._scale) for edge in edges)
        seen = image.crop((box[0], box[1], box[2], box[3]))
        corner = box[0] / self._scale, box[1] / self._scale
        self._people(Brush(seen, self._scale, *corner), poses)
        image.paste(seen, (box[0], box[1]))

    def _people(self, brush: Brush, poses: Mapping[str, Pose]) -> None:
        """Paint bodies, farther ones first, then all near arms: they may be around others."""
        ordered = sorted(poses.items(), key=lambda item: -item[1].depth)
        for name, pose in ordered:
            paint_body(brush, pose, self._script.cast[name])
        for name, pose in ordered:
            paint_near_arm(brush, pose, self._script.cast[name])


def _table(brush: Brush, tableau: Tableau) -> None:
    for thing, at, facing in tableau.laid:
        paint_on_table(brush, thing, at, facing)
    if tableau.pot:
        pot = tableau.pot
        paint_cup(brush, pot.drink, pot.cup, pot.level)
        paint_pot(brush, pot.drink, pot.at, pot.tilt)


def tableau_at(script: Screenplay, take: Take, number: int) -> Tableau:
    """Return what frame `number` of a video shows."""
    step = take.steps[bisect_right(take.steps, number, key=lambda step: step.last)]
    done, length = number - step.first, step.last - step.first
    place = script.places[take.place]
    now = Now(step, place, script, number / take.fps, done / take.fps, length / take.fps)
    if step.cue is None:
        return find_places(now)
    tableau = ACTS[step.cue.action](now, still(now, step.before))
    return replace(tableau, actors=step.cue.who)
