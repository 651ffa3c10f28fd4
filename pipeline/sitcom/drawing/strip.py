"""The strip below the picture: a clock for people, the frame's number for machines.

The number is drawn as 16 black or white blocks, the highest bit first, large enough to survive
the codec at its worst, so that tests can check frame by frame what a clip really shows.
"""

from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from pipeline.sitcom.drawing.brush import STAGE_HEIGHT
from pipeline.sitcom.staging.world import WIDTH

HEIGHT = 16
"""Height of the strip in stage units; picture and strip together are 180 high."""
BITS = 16
BLOCK = 12.0

_load_font = lru_cache(ImageFont.load_default)


def paint_strip(image: Image.Image, number: int, fps: int) -> None:
    """Paint the strip of frame `number` onto the bottom of a finished frame."""
    scale = image.width / WIDTH
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, round(STAGE_HEIGHT * scale), image.width, image.height), fill="#606068")
    minutes, seconds = divmod(number / fps, 60)
    text = f"{int(minutes):02d}:{int(seconds * 10) / 10:04.1f}  #{number:05d}"
    middle = (STAGE_HEIGHT + HEIGHT / 2) * scale
    draw.text((6 * scale, middle), text, fill="white", font=_load_font(10.5 * scale), anchor="lm")
    for bit in range(BITS):
        colour = "white" if number >> (BITS - 1 - bit) & 1 else "black"
        left, top, right, bottom = (part * scale for part in block_box(bit))
        draw.rectangle((round(left), round(top), round(right) - 1, round(bottom) - 1), fill=colour)


def block_box(bit: int) -> tuple[float, float, float, float]:
    """Return where a bit's block is: left, top, right and bottom in stage units."""
    left = WIDTH - 8 - (BITS - bit) * BLOCK
    top = STAGE_HEIGHT + (HEIGHT - BLOCK) / 2
    return left, top, left + BLOCK, top + BLOCK
