"""Furniture: tables, seats, and what opens and shuts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.sitcom.drawing.brush import Brush, Rgb, shade
from pipeline.sitcom.drawing.pose import GROUND, SEAT
from pipeline.sitcom.staging.world import WIDTH

WOOD: Rgb = (150, 104, 66)
TABLE_TOP = 109.0
TABLE_HALF = 32.0
SLOT = 22.0
"""How far from the table's middle its two ends are laid."""
BASE = 145.0
"""Where furniture meets the floor: a little behind the people."""
SEAT_TOP = GROUND - SEAT
DOOR_HALF, DOOR_TOP, DOOR_FOOT = 16.0, 34.0, 128.0
LIGHT_BEYOND: Rgb = (253, 240, 205)


def paint_table(brush: Brush, x: float, floor: Rgb) -> None:
    """Paint a table on the floor, its middle at `x`."""
    brush.disc((x, BASE), TABLE_HALF, shade(floor, 0.86), 2.6)
    for leg in (-TABLE_HALF + 3, TABLE_HALF - 6):
        brush.box(x + leg, TABLE_TOP, x + leg + 3, BASE, shade(WOOD, 0.8))
    brush.box(x - TABLE_HALF, TABLE_TOP, x + TABLE_HALF, TABLE_TOP + 4.5, WOOD)
    brush.box(x - TABLE_HALF, TABLE_TOP, x + TABLE_HALF, TABLE_TOP + 1.3, shade(WOOD, 1.35))


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


def _armchair(brush: Brush, across: Sequence[float]) -> None:
    cloth: Rgb = (168, 130, 84)
    for x in across:
        brush.cushion(x - 19, 90, x + 19, BASE - 3, shade(cloth, 0.84))
        brush.cushion(x - 14, 94, x + 14, SEAT_TOP + 3, cloth)
        brush.cushion(x - 14, SEAT_TOP, x + 14, SEAT_TOP + 9, shade(cloth, 1.22))
        brush.cushion(x - 23, 112, x - 13, BASE - 2, shade(cloth, 0.72))
        brush.cushion(x + 13, 112, x + 23, BASE - 2, shade(cloth, 0.72))


def _chair(brush: Brush, across: Sequence[float]) -> None:
    wood: Rgb = (122, 78, 50)
    for x in across:
        for post in (-10.0, 8.0):
            brush.box(x + post, 92, x + post + 2.4, BASE, shade(wood, 0.85))
        for bar in (94, 103, 112):
            brush.box(x - 10, bar, x + 10.4, bar + 4, wood)
        brush.box(x - 12, SEAT_TOP, x + 12, SEAT_TOP + 3.6, shade(wood, 1.25))
        for post in (-11.5, 9.2):
            brush.box(x + post, SEAT_TOP + 3, x + post + 2.4, BASE + 2, wood)


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


SEATS: dict[str, Callable[[Brush, Sequence[float]], None]] = {
    "sofa": _sofa,
    "armchair": _armchair,
    "chair": _chair,
    "bench": _bench,
}


def paint_stairhouse(brush: Brush, x: float, colour: Rgb) -> None:
    """Paint the little house on a roof that the door at `x` belongs to."""
    brush.box(x - 34, 14, x + 34, DOOR_FOOT, shade(colour, 0.9))
    brush.box(x - 38, 8, x + 38, 15, shade(colour, 0.7))


def paint_doorway(brush: Brush, x: float) -> None:
    """Paint what one sees through the open door: the stairs' light, and the frame."""
    brush.box(x - DOOR_HALF, DOOR_TOP, x + DOOR_HALF, DOOR_FOOT, LIGHT_BEYOND)
    brush.box(x - DOOR_HALF, DOOR_FOOT - 12, x + DOOR_HALF, DOOR_FOOT, shade(LIGHT_BEYOND, 0.84))


def paint_door(brush: Brush, x: float, share: float) -> None:
    """Paint frame and leaf of the door, open by `share`; what is beyond stays as it is."""
    frame: Rgb = (98, 66, 46)
    leaf: Rgb = (172, 102, 62)
    for side in (-1, 1):
        edge = x + side * (DOOR_HALF + 1.5)
        brush.box(edge - 1.5, DOOR_TOP - 3, edge + 1.5, DOOR_FOOT, frame)
    brush.box(x - DOOR_HALF - 3, DOOR_TOP - 4, x + DOOR_HALF + 3, DOOR_TOP, frame)
    hinge = x - DOOR_HALF if x < WIDTH / 2 else x + DOOR_HALF
    way = 1 if x < WIDTH / 2 else -1
    free = hinge + way * 2 * DOOR_HALF * (1 - 0.82 * share)
    skew = 7 * share
    leaf = shade(leaf, 1 - 0.25 * share)
    brush.poly(
        [(hinge, DOOR_TOP), (free, DOOR_TOP + skew), (free, DOOR_FOOT - skew), (hinge, DOOR_FOOT)],
        leaf,
    )
    for top, foot in ((42, 74), (84, 120)):
        inner = [hinge + (free - hinge) * 0.2, hinge + (free - hinge) * 0.8]
        brush.box(min(inner), top + skew, max(inner), foot - skew * 0.5, shade(leaf, 0.88))
    brush.disc((hinge + (free - hinge) * 0.88, 84), 1.9, (244, 206, 96))


def paint_window(brush: Brush, x: float, share: float) -> None:
    """Paint a window with two wings, open by `share`."""
    left, right, top, foot = x - 19.0, x + 19.0, 34.0, 88.0
    brush.box(left - 3, top - 3, right + 3, foot + 3, (250, 250, 248))
    brush.box(left, top, right, foot, (150, 205, 240))
    brush.disc((x - 6, top + 15), 6, (246, 250, 253))
    brush.disc((x + 1, top + 16), 5, (246, 250, 253))
    brush.box(left, foot - 14, right, foot, (140, 186, 130))
    brush.box(left - 5, foot + 2, right + 5, foot + 5.5, (236, 234, 228))
    for side, edge in ((1, left), (-1, right)):
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


def paint_fridge(brush: Brush, x: float, share: float) -> None:
    """Paint a fridge, its door open by `share`."""
    left, right, top, foot = x - 16.0, x + 16.0, 58.0, 142.0
    brush.box(left - 2, top - 2, right + 2, foot + 2, (150, 170, 176))
    brush.box(left, top, right, foot, (255, 250, 222))
    for shelf, colours in (
        (80, ((222, 70, 60), (250, 190, 60), (90, 160, 90))),
        (102, ((240, 240, 250), (120, 90, 170), (240, 150, 70))),
        (124, ((90, 160, 90), (222, 70, 60), (200, 200, 210))),
    ):
        for place, colour in zip((-10, -1, 7), colours, strict=True):
            brush.box(x + place, shelf - 9, x + place + 5, shelf, colour)
        brush.box(left, shelf, right, shelf + 1.2, (170, 190, 196))
    _leaf(brush, _Leaf(left, right, top, foot, (226, 236, 238)), share)


def paint_cupboard(brush: Brush, x: float, share: float) -> None:
    """Paint a tall cupboard, its doors open by `share`."""
    left, right, top, foot = x - 19.0, x + 19.0, 50.0, 142.0
    brush.box(left - 2, top - 3, right + 2, foot + 2, (112, 84, 62))
    brush.box(left, top, right, foot, (70, 52, 42))
    for shelf in (76, 100, 124):
        brush.box(left, shelf, right, shelf + 1.6, (150, 118, 88))
        for place, high, colour in (
            (-15, 11, (96, 140, 190)),
            (-7, 15, (214, 196, 120)),
            (4, 9, (226, 226, 230)),
            (10, 13, (180, 96, 90)),
        ):
            brush.box(x + place, shelf - high, x + place + 5.5, shelf, colour)
    for hinge in (left, right):
        _leaf(brush, _Leaf(hinge, x, top, foot, (196, 158, 118)), share)


class _Leaf(NamedTuple):
    """A door leaf between `hinge` and `free`, which stands there when it is shut."""

    hinge: float
    free: float
    top: float
    foot: float
    colour: Rgb


def _leaf(brush: Brush, leaf: _Leaf, share: float) -> None:
    """Paint a leaf that opens towards the room: it turns round its hinge, past flat."""
    hinge, free, top, foot, colour = leaf
    edge = hinge + (free - hinge) * (1 - 1.45 * share)
    skew = 7 * share
    corners = [(hinge, top), (edge, top - skew), (edge, foot + skew), (hinge, foot)]
    brush.poly(corners, shade(colour, 1 - 0.16 * share))
    brush.line([*corners, corners[0]], 1, shade(colour, 0.72))
    knob = hinge + (edge - hinge) * 0.86
    brush.box(knob - 1, (top + foot) / 2 - 8, knob + 1, (top + foot) / 2 + 2, shade(colour, 0.55))


FIXTURES: dict[str, Callable[[Brush, float, float], None]] = {
    "door": paint_door,
    "window": paint_window,
    "fridge": paint_fridge,
    "cupboard": paint_cupboard,
}
HANDLES: dict[str, tuple[float, float]] = {
    "door": (12.0, 84.0),
    "window": (3.0, 79.0),
    "fridge": (11.0, 96.0),
    "cupboard": (3.0, 92.0),
}
"""How far the handle of a shut fixture is from its middle (to the actor), and how high."""
