"""A frame: the tableau of a time, painted from back to front, and the strip below it."""

from bisect import bisect_right
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pipeline.sitcom.drawing.acts import ACTS
from pipeline.sitcom.drawing.brush import SHAPES, STAGE_HEIGHT, Brush, shade
from pipeline.sitcom.drawing.people import DRINKS, EMPTY, paint_body, paint_near_arm
from pipeline.sitcom.drawing.pose import GROUND, Pose
from pipeline.sitcom.drawing.strip import paint_strip
from pipeline.sitcom.drawing.tableau import Item, Now, Tableau, find_places, still
from pipeline.sitcom.screenplay import Place, Screenplay
from pipeline.sitcom.staging.world import WIDTH, Take

OVERSAMPLE = 2
"""How many pixels are painted for one of the frame, in each direction."""
BEHIND = 0.75
"""A body deeper than this is behind the wall, and seen through the doorway only."""

Frame = NDArray[np.uint8]


FIXTURES = {
    "door": ([(-16, 16)], 34, 128, "#ac663e"),
    "window": ([(-19, 0), (19, 0)], 34, 88, "#eceae4"),
    "fridge": ([(-16, 16)], 58, 142, "#e2ecee"),
    "cupboard": ([(-19, 0), (19, 0)], 50, 142, "#c49e76"),
}
"""What opens: its leaves, each from hinge to free edge, and their top, foot and colour."""


def frame_size(height: int) -> tuple[int, int]:
    """Return width and height in pixels of a frame: 16 to 9, both even."""
    return 2 * round(height * 8 / 9), height


def paint_place(place: Place, size: tuple[int, int]) -> Image.Image:
    """Return the empty place in `size` pixels, all that opens being open."""
    image = Image.new("RGB", size, place.wall)
    brush = Brush(ImageDraw.Draw(image), size[0] / WIDTH)
    brush.paint(SHAPES["walls"][place.pattern], wall=place.wall)
    standing: dict[str, tuple[float, ...]] = {"floor": (WIDTH / 2,)}
    standing |= {str(name): across for name, across in (*place.decor.items(), *place.seats.items())}
    standing |= {name: (x,) for name, x in {**place.openable, "table": place.table}.items()}
    for name, across in standing.items():
        for shape in SHAPES["furniture"][name]:
            for x in across:
                replace(brush, at=(x, 0)).paint([shape], floor=place.floor)
    return image


class Painter:
    """Paints the frames of one video; what never moves is painted once."""

    def __init__(self, script: Screenplay, take: Take, height: int) -> None:
        self._script, self._take = script, take
        self._place = script.places[take.place]
        self._size = width, _ = frame_size(height)
        self._scale = width / WIDTH * OVERSAMPLE
        picture = width * OVERSAMPLE, round(STAGE_HEIGHT * width / WIDTH) * OVERSAMPLE
        self._empty = paint_place(self._place, picture)
        self._wall = Image.new("L", picture, 255)
        (((left, right),), top, foot, _), x = FIXTURES["door"], self._place.door
        door = x + left, top, x + right, foot
        ImageDraw.Draw(self._wall).rectangle([edge * self._scale for edge in door], fill=0)

    def frame(self, number: int) -> Frame:
        """Return frame `number`: (height, width, 3)."""
        picture = self.paint(tableau_at(self._script, self._take, number))
        whole = Image.new("RGB", self._size)
        whole.paste(picture.reduce(OVERSAMPLE))
        paint_strip(whole, number, self._take.fps)
        return np.asarray(whole)

    def paint(self, tableau: Tableau) -> Image.Image:
        """Return the picture of a tableau, `OVERSAMPLE` times as large as it is shown."""
        image = self._empty.copy()
        brush = Brush(ImageDraw.Draw(image), self._scale)
        behind = {name: pose for name, pose in tableau.poses.items() if pose.depth > BEHIND}
        before = {name: pose for name, pose in tableau.poses.items() if name not in behind}
        if behind:
            self._paint_people(brush, behind)
            image.paste(self._empty, mask=self._wall)
        for name, share in tableau.fixtures.items():
            _paint_fixture(brush, name, self._place.openable[name], share)
        _paint_items(brush, "things", tableau.things)
        for pose in before.values():
            near, shadow = 1 - pose.depth, shade(self._place.floor, 0.8)
            brush.disc([(pose.x, GROUND)], shadow, 15 * near, 3 * near)
        self._paint_people(brush, before)
        _paint_items(brush, "signs", tableau.signs)
        return image

    def _paint_people(self, brush: Brush, poses: dict[str, Pose]) -> None:
        """Paint bodies, farther ones first, then all near arms: they may be around others."""
        ordered = sorted(poses.items(), key=lambda item: -item[1].depth)
        for paint in (paint_body, paint_near_arm):
            for name, pose in ordered:
                paint(brush, pose, self._script.cast[name])


def _paint_fixture(brush: Brush, name: str, x: float, share: float) -> None:
    """Paint leaves that open towards the room: they turn on hinges, beyond a right angle."""
    leaves, top, foot, colour = FIXTURES[name]
    turned = replace(brush, at=(x, 0), facing=1 if x < WIDTH / 2 else -1)
    skew = 7 * share
    for hinge, free in leaves:
        edge = hinge + (free - hinge) * (1 - 1.45 * share)
        leaf = [(hinge, top), (edge, top - skew), (edge, foot + skew), (hinge, foot)]
        if name == "window":
            turned.line([*leaf, leaf[0]], colour, 2.6)
            continue
        turned.poly(leaf, shade(colour, 1 - 0.16 * share))
        turned.line([*leaf, leaf[0]], shade(colour, 0.72), 1)
        knob = hinge + (edge - hinge) * 0.86, (top + foot) / 2
        turned.box([(knob[0] - 1, knob[1] - 4), (knob[0] + 1, knob[1] + 4)], shade(colour, 0.5))


def _paint_items(brush: Brush, group: str, items: list[Item]) -> None:
    for name, at, facing, tilt, size, drink in items:
        colour = DRINKS.get(str(drink), EMPTY)
        turned = replace(brush, at=at, facing=facing, tilt=tilt, size=size)
        turned.paint(SHAPES[group][name], drink=colour)


def tableau_at(script: Screenplay, take: Take, number: int) -> Tableau:
    """Return what frame `number` of a video shows."""
    step = take.steps[bisect_right(take.steps, number, key=lambda step: step.last)]
    done, length = number - step.first, step.last - step.first
    place = script.places[take.place]
    now = Now(step, place, script, number / take.fps, done / take.fps, length / take.fps)
    if step.cue is None:
        return find_places(now)
    tableau = still(now, step.before)
    ACTS[step.cue.action](now, tableau)
    tableau.poses = dict(sorted(tableau.poses.items(), key=lambda pose: pose[0] in now.cue.who))
    return tableau
