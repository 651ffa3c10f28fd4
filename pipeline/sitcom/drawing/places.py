"""Places: wall, floor and what stands there, painted once for each place."""

from collections.abc import Callable
from random import Random

from PIL import Image

from pipeline.sitcom.drawing.brush import STAGE_HEIGHT, Brush, Rgb, rgb, shade
from pipeline.sitcom.drawing.furniture import paint_seats
from pipeline.sitcom.drawing.shapes import SHAPES, paint
from pipeline.sitcom.screenplay import Place
from pipeline.sitcom.staging.world import WIDTH

WALL_FOOT = 128.0
"""Where the wall meets the floor."""


def paint_place(place: Place, size: tuple[int, int]) -> Image.Image:
    """Return the empty place in `size` pixels, without what opens and shuts."""
    wall, floor = rgb(place.wall), rgb(place.floor)
    image = Image.new("RGB", size, wall)
    brush = Brush(image, size[0] / WIDTH)
    PATTERNS[place.pattern](brush, wall)
    _floor(brush, floor, boards=place.pattern in {"stripes", "bricks"})
    if place.pattern == "skyline":
        house = SHAPES["furniture"]["stairhouse"]
        paint(brush.moved(place.door), house, wall=shade(floor, 0.9), roof=shade(floor, 0.7))
    for decor, across in place.decor.items():
        for x in across:
            paint(brush.moved(x), SHAPES["decor"][decor])
    for seat, across in place.seats.items():
        paint_seats(brush, seat, across)
    table = SHAPES["furniture"]["table"]
    paint(brush.moved(place.table), table, shadow=shade(floor, 0.86))
    return image


def _floor(brush: Brush, colour: Rgb, *, boards: bool) -> None:
    brush.box(0, WALL_FOOT, WIDTH, STAGE_HEIGHT, colour)
    brush.box(0, WALL_FOOT - 4, WIDTH, WALL_FOOT, shade(colour, 0.78))
    if boards:
        for x in range(-60, WIDTH + 60, 30):
            ends = [(x * 0.8 + 32, WALL_FOOT), (x * 1.1 - 16, STAGE_HEIGHT)]
            brush.line(ends, 0.8, shade(colour, 0.92))
    for y in (136, 147):
        brush.line([(0, y), (WIDTH, y)], 0.6, shade(colour, 0.94))


def _plain(brush: Brush, wall: Rgb) -> None:
    brush.box(0, 0, WIDTH, 12, shade(wall, 1.35))


def _stripes(brush: Brush, wall: Rgb) -> None:
    for x in range(0, WIDTH, 20):
        brush.box(x, 0, x + 10, WALL_FOOT, shade(wall, 1.22))
    brush.box(0, 0, WIDTH, 7, shade(wall, 0.86))


def _tiles(brush: Brush, wall: Rgb) -> None:
    for y in range(64, 128, 12):
        brush.line([(0, y), (WIDTH, y)], 0.7, shade(wall, 0.93))
    for x in range(0, WIDTH, 12):
        brush.line([(x, 64), (x, WALL_FOOT)], 0.7, shade(wall, 0.93))
    brush.box(0, 61, WIDTH, 64, shade(wall, 0.84))


def _bricks(brush: Brush, wall: Rgb) -> None:
    random = Random(3)
    for row, y in enumerate(range(0, 128, 8)):
        for x in range(-16 + 8 * (row % 2), WIDTH, 16):
            tone = random.uniform(0.96, 1.1)
            brush.box(x + 0.8, y + 0.8, x + 15.4, y + 7.4, shade(wall, tone))


def _panel(brush: Brush, wall: Rgb) -> None:
    brush.box(0, 84, WIDTH, WALL_FOOT, shade(wall, 0.9))
    brush.box(0, 82, WIDTH, 84.5, shade(wall, 1.6))


def _skyline(brush: Brush, wall: Rgb) -> None:
    for y in range(0, 128, 4):
        brush.box(0, y, WIDTH, y + 4, shade(wall, 1 + 0.7 * (y / 128)))
    for left, y in ((60, 26), (208, 40)):
        for ahead, size in ((0, 8.5), (12, 12), (25, 7.5)):
            brush.disc((left + ahead, y), size, (250, 252, 254))
    random = Random(5)
    for x in range(0, WIDTH, 24):
        top = random.uniform(62, 92)
        tone = shade((132, 146, 170), random.uniform(0.94, 1.2))
        brush.box(x, top, x + 22, WALL_FOOT, tone)
        for wx in range(x + 4, x + 20, 7):
            for wy in range(int(top) + 6, 112, 11):
                brush.box(wx, wy, wx + 3.2, wy + 4.5, shade(tone, 1.45))
    for x in range(4, WIDTH, 13):
        brush.box(x, 102, x + 1.6, WALL_FOOT, (92, 98, 108))
    brush.box(0, 99, WIDTH, 102.4, (78, 84, 94))


PATTERNS: dict[str, Callable[[Brush, Rgb], None]] = {
    "plain": _plain,
    "stripes": _stripes,
    "tiles": _tiles,
    "bricks": _bricks,
    "panel": _panel,
    "skyline": _skyline,
}
