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
FIRST_BLOCK = WIDTH - 8 - BITS * BLOCK
GREY = (96, 96, 104)


def paint_strip(image: Image.Image, number: int, fps: int) -> None:
    """Paint the strip of frame `number` onto the bottom of a finished frame."""
    scale = image.width / WIDTH
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, round(STAGE_HEIGHT * scale), image.width, image.height), fill=GREY)
    minutes, seconds = divmod(number / fps, 60)
    text = f"{int(minutes):02d}:{int(seconds * 10) / 10:04.1f}  #{number:05d}"
    left = 6 * scale
    for character in text:
        glyph, advance = _glyph(character, scale)
        image.paste((255, 255, 255), (round(left), round((STAGE_HEIGHT + 1) * scale)), glyph)
        left += advance
    for bit in range(BITS):
        colour = (255, 255, 255) if number >> (BITS - 1 - bit) & 1 else (0, 0, 0)
        left, top, right, bottom = (part * scale for part in block_box(bit))
        draw.rectangle((round(left), round(top), round(right) - 1, round(bottom) - 1), fill=colour)


@lru_cache(maxsize=64)
def _glyph(character: str, scale: float) -> tuple[Image.Image, float]:
    """Return the mask of a character and its width: text is slow to draw for every frame."""
    font = ImageFont.load_default(size=10.5 * scale)
    mask = Image.new("L", (round(12 * scale), round((HEIGHT - 2) * scale)))
    middle = (HEIGHT / 2 - 1) * scale
    ImageDraw.Draw(mask).text((0, middle), character, fill=255, font=font, anchor="lm")
    return mask, font.getlength(character)


def block_box(bit: int) -> tuple[float, float, float, float]:
    """Return where a bit's block is: left, top, right and bottom in stage units."""
    left = FIRST_BLOCK + bit * BLOCK
    top = STAGE_HEIGHT + (HEIGHT - BLOCK) / 2
    return left, top, left + BLOCK, top + BLOCK
