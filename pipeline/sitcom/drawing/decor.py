"""Decor: what characterizes a place and plays no part in the action."""

from collections.abc import Callable

from pipeline.sitcom.drawing.brush import Brush, Rgb, shade

WOOD: Rgb = (134, 92, 60)
LEAF: Rgb = (86, 140, 92)
GREY: Rgb = (110, 112, 118)
WHITE: Rgb = (248, 248, 246)


def _rug(brush: Brush, x: float) -> None:
    brush.disc((x, 150), 62, (150, 92, 88), 9)
    brush.disc((x, 150), 52, (190, 136, 120), 7)


def _picture(brush: Brush, x: float) -> None:
    brush.box(x - 13, 44, x + 13, 70, shade(WOOD, 0.8))
    brush.box(x - 10.5, 46.5, x + 10.5, 67.5, (240, 226, 196))
    brush.poly([(x - 10.5, 67.5), (x - 3, 54), (x + 4, 67.5)], (140, 160, 140))
    brush.poly([(x - 2, 67.5), (x + 5, 57), (x + 10.5, 67.5)], (116, 140, 130))
    brush.disc((x + 4, 52), 2.6, (236, 186, 96))


def _lamp(brush: Brush, x: float) -> None:
    brush.box(x - 0.9, 66, x + 0.9, 140, GREY)
    brush.disc((x, 140), 8, GREY, 2)
    brush.poly([(x - 6, 50), (x + 6, 50), (x + 11, 68), (x - 11, 68)], (250, 226, 160))


def _shelf(brush: Brush, x: float) -> None:
    spines = ((150, 96, 90), (100, 120, 140), (196, 170, 110), (112, 140, 110), (140, 120, 150))
    for row in (50, 70):
        brush.box(x - 24, row, x + 24, row + 2.4, WOOD)
        for book in range(9):
            left = x - 22 + book * 4.9
            high = 10 + (book * 7 + row) % 4
            brush.box(left, row - high, left + 4, row, spines[(book + row) % 5])


def _counter(brush: Brush, x: float) -> None:
    brush.box(x - 36, 98, x + 36, 142, (206, 190, 160))
    brush.box(x - 38, 94, x + 38, 99, (128, 116, 108))
    for door in range(3):
        left = x - 34 + door * 23
        brush.box(left, 104, left + 21, 138, (222, 208, 180))
        brush.box(left + 9, 107, left + 12, 108.6, GREY)
    brush.box(x - 36, 22, x + 36, 54, (206, 190, 160))
    for door in range(3):
        left = x - 34 + door * 23
        brush.box(left, 25, left + 21, 51, (222, 208, 180))
    brush.box(x + 8, 91, x + 32, 94, (60, 60, 64))
    brush.cushion(x + 13, 80, x + 27, 91, (150, 160, 168))
    brush.box(x + 11, 80, x + 29, 82.5, (110, 118, 126))


def _hanging_lamp(brush: Brush, x: float) -> None:
    brush.box(x - 0.5, 0, x + 0.5, 14, GREY)
    brush.poly([(x - 4, 14), (x + 4, 14), (x + 11, 25), (x - 11, 25)], (96, 108, 112))
    brush.disc((x, 25.5), 4, (255, 238, 170))


def _bar(brush: Brush, x: float) -> None:
    for row in (46, 64):
        brush.box(x - 34, row, x + 34, row + 2, shade(WOOD, 0.7))
        for bottle in range(8):
            left = x - 31 + bottle * 8.2
            colour = ((120, 150, 110), (190, 170, 130), (150, 120, 90))[(bottle + row) % 3]
            brush.box(left, row - 10, left + 4.4, row, colour)
            brush.box(left + 1.4, row - 13, left + 3, row - 10, colour)
    brush.box(x - 38, 98, x + 38, 142, shade(WOOD, 0.8))
    for slat in range(6):
        brush.box(x - 35 + slat * 12, 104, x - 25 + slat * 12, 138, shade(WOOD, 0.9))
    brush.box(x - 41, 93, x + 41, 99, (216, 200, 176))
    brush.cushion(x - 30, 76, x - 6, 93, (160, 164, 170))
    brush.box(x - 26, 86, x - 10, 93, (70, 70, 76))


def _blackboard(brush: Brush, x: float) -> None:
    brush.box(x - 20, 38, x + 20, 72, WOOD)
    brush.box(x - 17.5, 40.5, x + 17.5, 69.5, (54, 66, 62))
    for row, wide in ((47, 10), (53, 7), (59, 11), (65, 8)):
        brush.line([(x - 14, row), (x - 14 + wide, row)], 1.1, (220, 226, 220))
        brush.line([(x + 8, row), (x + 13, row)], 1.1, (220, 226, 220))


def _whiteboard(brush: Brush, x: float) -> None:
    brush.box(x - 27, 34, x + 27, 76, GREY)
    brush.box(x - 25.5, 35.5, x + 25.5, 74.5, WHITE)
    bars = ((-18, 12, (120, 150, 190)), (-9, 20, (150, 180, 140)), (0, 16, (210, 160, 120)))
    for left, high, colour in bars:
        brush.box(x + left, 70 - high, x + left + 6, 70, colour)
    brush.line([(x + 9, 66), (x + 14, 56), (x + 18, 60), (x + 23, 44)], 1.2, (190, 90, 90))


def _clock(brush: Brush, x: float) -> None:
    brush.disc((x, 48), 9, GREY)
    brush.disc((x, 48), 7.8, WHITE)
    brush.line([(x, 48), (x, 42.5)], 1.1, (50, 50, 54))
    brush.line([(x, 48), (x + 4, 50)], 1.1, (50, 50, 54))


def _plant(brush: Brush, x: float) -> None:
    for dx, dy in ((-9, 96), (9, 96), (-5, 86), (5, 87), (0, 80), (-11, 107), (11, 107)):
        brush.poly([(x, 124), (x + dx - 3, dy + 6), (x + dx, dy), (x + dx + 3, dy + 6)], LEAF)
    brush.poly([(x - 8, 122), (x + 8, 122), (x + 6, 140), (x - 6, 140)], (186, 122, 92))


def _eye_chart(brush: Brush, x: float) -> None:
    brush.box(x - 12, 32, x + 12, 74, GREY)
    brush.box(x - 11, 33, x + 11, 73, WHITE)
    for row, (letters, size) in enumerate(((1, 7.0), (2, 5.0), (3, 3.6), (4, 2.6), (5, 1.8))):
        y = 37 + row * 7.4
        for letter in range(letters):
            left = x + (letter - (letters - 1) / 2) * 20 / (letters + 0.6) - size / 2
            brush.box(left, y, left + size, y + size * 0.8, (60, 60, 64))


def _cross(brush: Brush, x: float) -> None:
    brush.cushion(x - 14, 38, x + 14, 66, WHITE)
    brush.box(x - 3.4, 42, x + 3.4, 62, (96, 170, 130))
    brush.box(x - 10, 48.6, x + 10, 55.4, (96, 170, 130))


def _string_lights(brush: Brush, x: float) -> None:
    points = [(x + 160 * (i / 12 - 1), 14 + 16 * (1 - ((i % 8) / 4 - 1) ** 2)) for i in range(25)]
    brush.line(points, 0.8, (84, 84, 92))
    for i, (px, py) in enumerate(points):
        if i % 2:
            brush.disc((px, py + 3), 2.6, (255, 232, 150))


def _planter(brush: Brush, x: float) -> None:
    for dx in range(-15, 16, 5):
        brush.disc((x + dx, 122 - abs(dx) % 3), 5, shade(LEAF, 0.9 + 0.05 * (dx % 3)))
    brush.box(x - 18, 125, x + 18, 140, (140, 112, 92))


DECOR: dict[str, Callable[[Brush, float], None]] = {
    "rug": _rug,
    "picture": _picture,
    "lamp": _lamp,
    "shelf": _shelf,
    "counter": _counter,
    "hanging lamp": _hanging_lamp,
    "bar": _bar,
    "blackboard": _blackboard,
    "whiteboard": _whiteboard,
    "clock": _clock,
    "plant": _plant,
    "eye chart": _eye_chart,
    "cross": _cross,
    "string lights": _string_lights,
    "planter": _planter,
}
