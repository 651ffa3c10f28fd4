"""Things people carry, pour from and put down. A thing is painted around where it is held."""

import math

from pipeline.sitcom.drawing.brush import Brush, Point, Rgb, Turned
from pipeline.sitcom.drawing.pose import Pose
from pipeline.sitcom.drawing.shapes import SHAPES, paint

DRINKS: dict[str, Rgb] = {"coffee": (86, 52, 34), "water": (150, 205, 240), "juice": (255, 160, 40)}
GRIPS: dict[str, Point] = {
    "letter": (6.0, 0.0), "book": (4.0, 0.0), "newspaper": (3.0, 0.0), "parcel": (7.5, 0.0),
    "bouquet": (0.0, 5.0),
}  # fmt: skip
"""How far the middle of a thing is ahead of and above the hand that holds it."""
OPEN_GRIPS: dict[str, Point] = {"letter": (2.0, 0.0), "book": (5.0, 0.0), "newspaper": (11.0, 0.0)}
MIDDLE: Point = (0.0, 0.0)
STANDS: dict[str, float] = {
    "letter": 4.8, "book": 7.0, "newspaper": 8.0, "parcel": 6.5, "bouquet": 7.0,
    "coffee": 5.0, "water": 5.6, "juice": 5.6,
}  # fmt: skip
"""How high the middle of a thing is above the table it stands on."""
POT_SPOUT = (17.5, 7.0)
POT_STANDS = 9.0
"""How high above the table a standing pot's handle is."""
CUP_STANDS = 5.0


def paint_in_hand(brush: Brush, thing: str, pose: Pose) -> None:
    """Paint what a person has in the near hand, turned or opened for reading as the pose shows."""
    grip = (OPEN_GRIPS if pose.open else GRIPS).get(thing, MIDDLE)
    turned = Turned(brush, pose.hands[1] or pose.rest, pose.facing, pose.tilt, grip)
    if pose.open:
        paint(turned, SHAPES["open"][thing])
    else:
        _paint(turned, thing)


def paint_on_table(brush: Brush, thing: str, at: Point, facing: int) -> None:
    """Paint a thing whose middle is at `at`, as laid down by a person facing `facing`."""
    _paint(Turned(brush, at, facing), thing)


def _paint(turned: Turned, thing: str) -> None:
    if thing in DRINKS:
        _vessel(turned, thing, 1.0)
    else:
        paint(turned, SHAPES["things"][thing])


def grip_on(thing: str, at: Point, facing: int) -> Point:
    """Return where the hand is that holds a thing whose middle is at `at`."""
    ahead, up = GRIPS.get(thing, MIDDLE)
    return at[0] - facing * ahead, at[1] + up


def paint_pot(brush: Brush, drink: str, at: Point, tilt: float) -> None:
    """Paint the pot of a drink, held by its handle at `at`, spout to the right."""
    lid: Rgb = (50, 48, 52)
    pot, is_coffee = Turned(brush, at, 1, tilt), drink == "coffee"
    glass = (250, 238, 214) if drink == "juice" else (196, 214, 222)
    handle = lid if is_coffee else (120, 116, 112)
    paint(pot, SHAPES["vessels"]["pot"], glass=glass, drink=DRINKS[drink], handle=handle)
    if is_coffee:
        pot.box(3, 7, 14, 9.5, lid)


def spout(at: Point, tilt: float) -> Point:
    """Return where a pot held at `at` pours when tilted by `tilt`."""
    x, y = POT_SPOUT
    ahead = x * math.cos(tilt) + y * math.sin(tilt)
    return at[0] + ahead, at[1] - (y * math.cos(tilt) - x * math.sin(tilt))


def paint_cup(brush: Brush, drink: str, at: Point, level: float) -> None:
    """Paint the cup that a drink is poured into, filled to `level` (0 to 1)."""
    _vessel(Turned(brush, at, 1), drink, level)


def _vessel(cup: Turned, drink: str, level: float) -> None:
    paint(cup, SHAPES["vessels"]["mug" if drink == "coffee" else "glass"])
    if drink != "coffee":
        cup.box(-3, -5, 3, -5 + 8.4 * level, DRINKS[drink])
    elif level:
        cup.box(-3, 5 - 1.6 * level, 3, 5, DRINKS[drink])
