"""Heads: face, hair, and what is worn on them."""

from pipeline.sitcom.drawing.brush import Brush, Point, Rgb, Turned, rgb, shade
from pipeline.sitcom.drawing.pose import HEAD, Pose
from pipeline.sitcom.drawing.shapes import SHAPES, paint
from pipeline.sitcom.screenplay import Character

FACES = SHAPES["faces"]
INK: Rgb = (45, 36, 36)
LIPS: Rgb = (158, 52, 58)


def _turned(brush: Brush, pose: Pose, at: Point) -> Turned:
    """Return a brush that paints round a point of the head."""
    turned = Turned(brush, at, pose.facing)
    turned.size = pose.scale
    return turned


def paint_back_hair(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint the hair that falls behind neck and shoulders."""
    head, colour = _turned(brush, pose, pose.head), shade(rgb(look.hair_colour), 0.9)
    if look.hair == "ponytail":
        sway = 2.0 * pose.beat
        head.limb([(-9, 5), (-15 - sway, -2)], 6, colour)
        head.limb([(-15 - sway, -2), (-14 - 2 * sway, -17)], 4.6, colour)
    else:
        paint(head, SHAPES["back_hair"].get(look.hair, []), hair=colour)


def paint_face(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint head, features and front hair."""
    head = _turned(brush, pose, pose.head)
    mouth = _turned(brush, pose, head.place(4.8, -5))
    skin, hair = rgb(look.skin), rgb(look.hair_colour)

    def wear(thing: str, around: Turned = head) -> None:
        if thing in look.wears:
            paint(around, FACES[thing], hair=hair)

    head.disc((0, 0), HEAD, skin)
    head.disc((10, -1.5), 1.9, skin)
    wear("beard")
    paint(head, SHAPES["hair"][look.hair], hair=hair)
    if look.hair in {"short", "quiff", "flat", "bald"}:
        head.disc((-2.2, -1.8), 2.4, shade(skin, 0.9))
    _paint_eyes(brush, pose, head, glasses="glasses" in look.wears)
    _paint_mouth(mouth, pose, look)
    wear("moustache", mouth)
    wear("cap")


def _paint_eyes(brush: Brush, pose: Pose, head: Turned, *, glasses: bool) -> None:
    eyes = [_turned(brush, pose, head.place(ahead, 0.6)) for ahead in (3.0, 7.4)]
    for eye, brow in zip(eyes, ("far brow", "near brow"), strict=True):
        shown = ["shut eye" if pose.blink else "eye"]
        shown += [brow] if pose.mood == "shout" else []
        shown += ["lens"] if glasses else []
        for name in shown:
            paint(eye, FACES[name], ink=INK)
    if glasses:
        brush.line([eyes[0].place(-3, 0), head.place(-5, 1.5)], 0.8, INK)


def _paint_mouth(mouth: Turned, pose: Pose, look: Character) -> None:
    match pose.mood:
        case "talk" | "shout":
            wide = 2.6 if pose.mood == "talk" else 3.4
            mouth.disc((0, 0), wide, LIPS, 0.7 + 2.3 * pose.beat)
        case "smile":
            mouth.chord((0, 1.6), 3.8, (15, 165), LIPS)
        case "calm":
            colour = LIPS if look.gender == "woman" else shade(rgb(look.skin), 0.6)
            mouth.line([(-2.2, 0), (2, 0)], 1.2, colour)
