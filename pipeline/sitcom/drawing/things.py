"""Things people carry, pour from and put down. A thing is painted around where it is held."""

import math
from collections.abc import Callable

from pipeline.sitcom.drawing.brush import Brush, Point, Rgb, shade
from pipeline.sitcom.drawing.pose import Pose

DRINKS: dict[str, Rgb] = {"coffee": (86, 52, 34), "water": (150, 205, 240), "juice": (255, 160, 40)}
PAPER, INK = (250, 247, 238), (120, 116, 112)


class _Turned:
    """Paints in a thing's own coordinates: x ahead of its holder, y up from its middle.

    The thing is turned forward by `tilt` round `at`, which is its middle less `grip`.
    """

    def __init__(
        self, brush: Brush, at: Point, facing: int, tilt: float, grip: Point = (0.0, 0.0)
    ) -> None:
        self.brush = brush
        self._at, self._facing, self._grip = at, facing, grip
        self._sin, self._cos = math.sin(tilt), math.cos(tilt)

    def __call__(self, x: float, y: float) -> Point:
        x, y = x + self._grip[0], y + self._grip[1]
        ahead = x * self._cos + y * self._sin
        up = y * self._cos - x * self._sin
        return self._at[0] + self._facing * ahead, self._at[1] - up

    def box(self, left: float, low: float, right: float, high: float, colour: Rgb) -> None:
        """Fill a rectangle."""
        corners = [self(left, low), self(right, low), self(right, high), self(left, high)]
        self.brush.poly(corners, colour)


def paint_in_hand(brush: Brush, thing: str, pose: Pose) -> None:
    """Paint what somebody holds in the near hand, as it is turned or opened for reading."""
    shapes, grips = (OPEN, OPEN_GRIPS) if pose.open else (THINGS, GRIPS)
    hand = pose.hands[1] or pose.rest
    shapes[thing](_Turned(brush, hand, pose.facing, pose.tilt, grips.get(thing, MIDDLE)))


def paint_on_table(brush: Brush, thing: str, at: Point, facing: int) -> None:
    """Paint a thing whose middle is at `at`, as it was laid down by one who faces so."""
    THINGS[thing](_Turned(brush, at, facing, 0.0))


def grip_on(thing: str, at: Point, facing: int) -> Point:
    """Return where the hand is that holds a thing whose middle is at `at`."""
    ahead, up = GRIPS.get(thing, MIDDLE)
    return at[0] - facing * ahead, at[1] + up


def paint_pot(brush: Brush, drink: str, at: Point, facing: int, tilt: float) -> None:
    """Paint the pot of a drink, held by its handle at `at`, spout ahead."""
    pot = _Turned(brush, at, facing, tilt)
    glass = (196, 214, 222) if drink != "juice" else (250, 238, 214)
    pot.brush.arc(pot(1.5, 0), 4.0, (0, 360), 1.4, (50, 48, 52) if drink == "coffee" else INK)
    pot.box(3, -8, 14, 8, glass)
    pot.box(4, -7, 13, 4, DRINKS[drink])
    pot.brush.poly([pot(14, 8), pot(17.5, 7), pot(14, 3)], glass)
    if drink == "coffee":
        pot.box(3, 7, 14, 9.5, (50, 48, 52))


MIDDLE: Point = (0.0, 0.0)
GRIPS: dict[str, Point] = {
    "letter": (6.0, 0.0), "book": (4.0, 0.0), "newspaper": (3.0, 0.0), "parcel": (7.5, 0.0),
    "bouquet": (0.0, 5.0), "phone": (0.0, 0.0),
}  # fmt: skip
"""How far the middle of a thing is ahead of and above the hand that holds it."""
OPEN_GRIPS: dict[str, Point] = {"letter": (2.0, 0.0), "book": (5.0, 0.0), "newspaper": (11.0, 0.0)}
POT_SPOUT = (17.5, 7.0)
POT_STANDS = 9.0
"""How high above the table a standing pot's handle is."""
CUP_STANDS = 5.0


def spout(at: Point, facing: int, tilt: float) -> Point:
    """Return where a pot that is held so pours."""
    x, y = POT_SPOUT
    ahead = x * math.cos(tilt) + y * math.sin(tilt)
    return at[0] + facing * ahead, at[1] - (y * math.cos(tilt) - x * math.sin(tilt))


def paint_cup(brush: Brush, drink: str, at: Point, level: float) -> None:
    """Paint the cup that a drink is poured into, so full (0 to 1)."""
    cup = _Turned(brush, at, 1, 0.0)
    _vessel(cup, drink, level)


def _vessel(cup: _Turned, drink: str, level: float) -> None:
    if drink == "coffee":
        cup.brush.arc(cup(4.5, 0), 3.0, (0, 360), 1.3, (214, 76, 60))
        cup.box(-4, -5, 4, 5, (226, 88, 70))
        if level:
            cup.box(-3, 5 - 1.6 * level, 3, 5, DRINKS[drink])
        return
    cup.box(-3.8, -5.6, 3.8, 5.6, (112, 136, 150))
    cup.box(-3, -5, 3, 5.6, (232, 242, 246))
    cup.box(-3, -5, 3, -5 + 8.4 * level, DRINKS[drink])


def _letter(thing: _Turned) -> None:
    thing.box(-7.6, -5.4, 7.6, 5.4, INK)
    thing.box(-7, -4.8, 7, 4.8, PAPER)
    thing.brush.line([thing(-7, 4.8), thing(0, -0.5), thing(7, 4.8)], 0.9, INK)
    thing.brush.disc(thing(0, -0.8), 1.7, (200, 40, 44))


def _sheet(thing: _Turned) -> None:
    thing.box(-1.6, -8.6, 10.6, 8.6, INK)
    thing.box(-1, -8, 10, 8, PAPER)
    for y in (5, 2, -1, -4):
        thing.brush.line([thing(1, y), thing(8, y)], 0.8, INK)


def _book(thing: _Turned) -> None:
    thing.box(-5.5, -7, 5.5, 7, (44, 62, 122))
    thing.box(4, -6, 5.6, 6, PAPER)
    thing.box(-3.4, 1.5, 2.4, 4.5, (235, 200, 90))


def _open_book(thing: _Turned) -> None:
    thing.brush.poly([thing(-8, 7), thing(2, 4), thing(2, -8), thing(-8, -5)], (44, 62, 122))
    thing.brush.poly([thing(12, 7), thing(2, 4), thing(2, -8), thing(12, -5)], (44, 62, 122))
    thing.brush.poly([thing(-7, 7.5), thing(2, 5.5), thing(2, -6), thing(-7, -4)], PAPER)
    thing.brush.poly(
        [thing(11, 7.5), thing(2, 5.5), thing(2, -6), thing(11, -4)], shade(PAPER, 0.93)
    )
    for y in (4, 1.5, -1):
        thing.brush.line([thing(-5.5, y + 0.8), thing(0.5, y)], 0.7, INK)
        thing.brush.line([thing(9.5, y + 0.8), thing(3.5, y)], 0.7, INK)


def _newspaper(thing: _Turned) -> None:
    thing.box(-4.6, -8.6, 4.6, 8.6, INK)
    thing.box(-4, -8, 4, 8, (228, 226, 218))
    thing.box(-3, 4, 3, 6.5, (70, 68, 68))
    for y in (2, -0.5, -3, -5.5):
        thing.brush.line([thing(-3, y), thing(3, y)], 0.8, INK)


def _open_newspaper(thing: _Turned) -> None:
    thing.box(-13.6, -10.6, 13.6, 10.6, INK)
    thing.box(-13, -10, 13, 10, (232, 230, 222))
    thing.brush.line([thing(0, -10), thing(0, 10)], 0.9, INK)
    thing.box(-11, 5, 11, 8, (70, 68, 68))
    for y in (2, -1, -4, -7):
        thing.brush.line([thing(-11, y), thing(-2, y)], 0.9, INK)
        thing.brush.line([thing(2, y), thing(11, y)], 0.9, INK)


def _parcel(thing: _Turned) -> None:
    thing.box(-8.5, -6.5, 8.5, 6.5, (176, 128, 76))
    thing.box(-8.5, 4, 8.5, 6.5, (194, 148, 96))
    thing.brush.line([thing(0, -6.5), thing(0, 6.5)], 1.4, (236, 226, 200))
    thing.brush.line([thing(-8.5, 0), thing(8.5, 0)], 1.4, (236, 226, 200))


def _bouquet(thing: _Turned) -> None:
    thing.brush.poly([thing(-1.5, -7), thing(1.5, -7), thing(6, 4), thing(-6, 4)], (70, 140, 80))
    flowers = ((-5, 5), (0, 4), (5, 5), (-2.5, 9), (3, 9))
    colours = ((226, 60, 90), (250, 205, 60), (240, 240, 250), (246, 140, 60), (214, 90, 190))
    for (x, y), colour in zip(flowers, colours, strict=True):
        thing.brush.disc(thing(x, y), 3.1, colour)
    for x, y in flowers:
        thing.brush.disc(thing(x, y), 1.0, (250, 220, 110))


def _phone(thing: _Turned) -> None:
    thing.box(-2.4, -3, 2.4, 8.5, (34, 34, 40))
    thing.box(-1.5, 0, 1.5, 7.2, (120, 200, 230))


THINGS: dict[str, Callable[[_Turned], None]] = {
    "letter": _letter,
    "book": _book,
    "newspaper": _newspaper,
    "parcel": _parcel,
    "bouquet": _bouquet,
    "phone": _phone,
    "coffee": lambda thing: _vessel(thing, "coffee", 1.0),
    "water": lambda thing: _vessel(thing, "water", 1.0),
    "juice": lambda thing: _vessel(thing, "juice", 1.0),
}
OPEN: dict[str, Callable[[_Turned], None]] = {
    "letter": _sheet,
    "book": _open_book,
    "newspaper": _open_newspaper,
}
STANDS: dict[str, float] = {
    "letter": 4.8, "book": 7.0, "newspaper": 8.0, "parcel": 6.5, "bouquet": 7.0,
    "coffee": 5.0, "water": 5.6, "juice": 5.6,
}  # fmt: skip
"""How high the middle of a thing is above the table it stands on."""
