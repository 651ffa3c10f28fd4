"""Furniture: tables, seats, and what opens and shuts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.sitcom.drawing.brush import Brush, Rgb, shade
from pipeline.sitcom.drawing.pose import GROUND, SEAT
from pipeline.sitcom.drawing.shapes import SHAPES, paint
from pipeline.sitcom.staging.world import WIDTH

FURNITURE = SHAPES["furniture"]
TABLE_TOP = 109.0
SLOT = 22.0
"""How far from the table's middle things lie, on either side."""
BASE = 145.0
"""Where furniture meets the floor: a little behind the people."""
SEAT_TOP = GROUND - SEAT
DOOR_HALF, DOOR_TOP, DOOR_FOOT = 16.0, 34.0, 128.0


def _sofa(brush: Brush, across: Sequence[float]) -> None:
    cloth: Rgb = (92, 122, 128)
    left, right = min(across) - 20, max(across) + 20
    brush.cushion(left, 96, right, BASE - 4, shade(cloth, 0.86))
    for x in across:
        brush.cushion(x - 16.5, 98, x + 16.5, SEAT_TOP + 4, cloth)
        brush.cushion(x - 16.5, SEAT_TOP, x + 16.5, SEAT_TOP + 9, shade(cloth, 1.2))
    brush.cushion(left - 6, 112, left + 5, BASE - 2, shade(cloth, 0.74))
    brush.cushion(right - 5, 112, right + 6, BASE - 2, shade(cloth, 0.74))
    for foot in (left + 2, right - 5):
        brush.box(foot, BASE - 4, foot + 3, BASE, (60, 46, 40))


def _bench(brush: Brush, across: Sequence[float]) -> None:
    wood: Rgb = (176, 126, 78)
    left, right = min(across) - 20, max(across) + 20
    for bar in (98, 107):
        brush.box(left, bar, right, bar + 5, wood)
    for x in (left + 4, right - 7):
        brush.box(x, 97, x + 3, BASE, (84, 88, 94))
    brush.box(left, SEAT_TOP, right, SEAT_TOP + 4.4, shade(wood, 1.2))
    for x in (left + 4, right - 7):
        brush.box(x, SEAT_TOP + 4, x + 3, BASE + 2, (70, 74, 80))


def paint_seats(brush: Brush, kind: str, across: Sequence[float]) -> None:
    """Paint the seats of one kind: a sofa or a bench for all, or one for each place in `across`."""
    if kind in STRETCHED:
        STRETCHED[kind](brush, across)
    else:
        for x in across:
            paint(brush.moved(x), FURNITURE[kind])


STRETCHED: dict[str, Callable[[Brush, Sequence[float]], None]] = {"sofa": _sofa, "bench": _bench}


def _door(brush: Brush, x: float, share: float) -> None:
    """Paint the light behind the door, its frame, and its leaf."""
    paint(brush.moved(x), FURNITURE["doorway"])
    hinge = x - DOOR_HALF if x < WIDTH / 2 else x + DOOR_HALF
    way = 1 if x < WIDTH / 2 else -1
    free = hinge + way * 2 * DOOR_HALF * (1 - 0.82 * share)
    skew = 7 * share
    leaf = shade((172, 102, 62), 1 - 0.25 * share)
    brush.poly(
        [(hinge, DOOR_TOP), (free, DOOR_TOP + skew), (free, DOOR_FOOT - skew), (hinge, DOOR_FOOT)],
        leaf,
    )
    for top, foot in ((42, 74), (84, 120)):
        inner = [hinge + (free - hinge) * 0.2, hinge + (free - hinge) * 0.8]
        brush.box(min(inner), top + skew, max(inner), foot - skew * 0.5, shade(leaf, 0.88))
    brush.disc((hinge + (free - hinge) * 0.88, 84), 1.9, (244, 206, 96))


def _window(brush: Brush, x: float, share: float) -> None:
    top, foot = 34.0, 88.0
    paint(brush.moved(x), FURNITURE["window"])
    for side, edge in ((1, x - 19.0), (-1, x + 19.0)):
        free = edge + side * 19 * (1 - 1.5 * share)
        skew = 6 * share
        wing = [(edge, top), (free, top - skew), (free, foot + skew), (edge, foot)]
        brush.line([*wing, wing[0]], 2.6, (246, 244, 240) if not share else (232, 230, 226))
        middle = (top + foot) / 2
        brush.line([(edge, middle), (free, middle)], 1.6, (246, 244, 240))
        if not share:
            brush.line(
                [(edge + side * 6, top + 20), (edge + side * 13, top + 8)], 1, (226, 240, 250)
            )


def _fridge(brush: Brush, x: float, share: float) -> None:
    paint(brush.moved(x), FURNITURE["fridge"])
    _leaf(brush, (x - 16.0, 58.0, x + 16.0, 142.0), (226, 236, 238), share)


def _cupboard(brush: Brush, x: float, share: float) -> None:
    paint(brush.moved(x), FURNITURE["cupboard"])
    for hinge in (x - 19.0, x + 19.0):
        _leaf(brush, (hinge, 50.0, x, 142.0), (196, 158, 118), share)


def _leaf(brush: Brush, shut: tuple[float, float, float, float], colour: Rgb, share: float) -> None:
    """Paint a leaf that opens towards the room: it turns on its hinge, beyond a right angle.

    `shut` is where it is when shut: hinge, top, free edge and foot.
    """
    hinge, top, free, foot = shut
    edge = hinge + (free - hinge) * (1 - 1.45 * share)
    skew = 7 * share
    corners = [(hinge, top), (edge, top - skew), (edge, foot + skew), (hinge, foot)]
    brush.poly(corners, shade(colour, 1 - 0.16 * share))
    brush.line([*corners, corners[0]], 1, shade(colour, 0.72))
    knob = hinge + (edge - hinge) * 0.86
    brush.box(knob - 1, (top + foot) / 2 - 8, knob + 1, (top + foot) / 2 + 2, shade(colour, 0.55))


class Fixture(NamedTuple):
    """What opens: how it is painted at an x, open by a share, and where its handle is.

    `handle` is its distance from the middle, on the actor's side, and from the top of the stage.
    """

    paint: Callable[[Brush, float, float], None]
    handle: tuple[float, float]


FIXTURES = {
    "door": Fixture(_door, (12.0, 84.0)),
    "window": Fixture(_window, (3.0, 79.0)),
    "fridge": Fixture(_fridge, (11.0, 96.0)),
    "cupboard": Fixture(_cupboard, (3.0, 92.0)),
}
