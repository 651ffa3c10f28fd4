"""Effects: signs for things that can't be seen (sound, music, anger), and poured drinks."""

import math

from pipeline.sitcom.drawing.brush import Brush, Rgb
from pipeline.sitcom.drawing.tableau import Effect
from pipeline.sitcom.drawing.things import DRINKS

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
