"""Heads: face, hair, and what is worn on them."""

from pipeline.sitcom.drawing.brush import Brush, Point, Rgb, rgb, shade
from pipeline.sitcom.drawing.pose import HEAD, Pose
from pipeline.sitcom.screenplay import Character

INK = (45, 36, 36)
LIPS = (158, 52, 58)


def paint_back_hair(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint the hair that falls behind neck and shoulders."""
    colour = shade(rgb(look.hair_colour), 0.9)
    at, head, size = pose.ahead, pose.head, pose.scale
    match look.hair:
        case "long":
            brush.limb([at(head, -4, 2), at(head, -6.5, -22)], 13 * size, colour)
        case "ponytail":
            sway = 2.0 * pose.beat
            brush.limb([at(head, -9, 5), at(head, -15 - sway, -2)], 6 * size, colour)
            brush.limb(
                [at(head, -15 - sway, -2), at(head, -14 - 2 * sway, -17)], 4.6 * size, colour
            )
        case "bun":
            brush.disc(at(head, -9, 9), 5.6 * size, colour)
        case "curly":
            for dx, dy in ((-10, 4), (-9, -5), (-4, 11), (5, 11), (-11, -1)):
                brush.disc(at(head, dx, dy), 7.4 * size, colour)
        case "bob":
            brush.limb([at(head, -4, 3), at(head, -5, -8)], 15 * size, colour)


def paint_face(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint head, features and front hair."""
    skin, head = rgb(look.skin), pose.head
    brush.disc(head, HEAD * pose.scale, skin)
    brush.disc(pose.ahead(head, 10, -1.5), 1.9 * pose.scale, skin)
    if "beard" in look.wears:
        _beard(brush, pose, rgb(look.hair_colour))
    _front_hair(brush, pose, look)
    if look.hair in {"short", "quiff", "flat", "bald"}:
        brush.disc(pose.ahead(head, -2.2, -1.8), 2.4 * pose.scale, shade(skin, 0.9))
    _features(brush, pose, look)
    if "cap" in look.wears:
        brush.chord(pose.ahead(head, 0, 2.5), 11 * pose.scale, (180, 360), (178, 58, 46))
        brush.limb(
            [pose.ahead(head, 3, 3.6), pose.ahead(head, 16, 3.0)], 2.6 * pose.scale, (140, 42, 34)
        )


def _beard(brush: Brush, pose: Pose, colour: Rgb) -> None:
    angles = (25, 150) if pose.facing > 0 else (30, 155)
    brush.chord(pose.ahead(pose.head, 0.5, -1), (HEAD + 0.8) * pose.scale, angles, colour)


def _front_hair(brush: Brush, pose: Pose, look: Character) -> None:
    colour, size = rgb(look.hair_colour), pose.scale
    at, head = pose.ahead, pose.head
    if look.hair == "bald":
        _cap(brush, pose, colour, (110, 200), 0.6)
        return
    match look.hair:
        case "curly":
            for dx, dy in ((-6, 7), (0, 9.5), (6, 8)):
                brush.disc(at(head, dx, dy), 5.5 * size, colour)
            _cap(brush, pose, colour, (150, 300), 1.0)
        case "mop":
            _cap(brush, pose, colour, (128, 322), 2.2)
            brush.limb([at(head, -7, 2), at(head, -8.5, -7)], 6.5 * size, colour)
            brush.limb([at(head, 1, 8), at(head, 7, 5)], 6 * size, colour)
        case "quiff":
            _cap(brush, pose, colour, (142, 318), 1.0)
            brush.limb([at(head, -3, 8.5), at(head, 8, 11)], 6.5 * size, colour)
        case "flat":
            _cap(brush, pose, colour, (146, 320), 0.7)
            brush.poly(
                [at(head, -9, 6), at(head, -9, 14), at(head, 8, 15), at(head, 8.5, 6)], colour
            )
        case "short":
            _cap(brush, pose, colour, (142, 324), 1.3)
        case _:
            _cap(brush, pose, colour, (138, 318), 1.6)


def _cap(brush: Brush, pose: Pose, colour: Rgb, angles: tuple[float, float], more: float) -> None:
    """Paint a cap of hair: `angles` are for a face that looks right, mirrored for left."""
    begin, end = angles if pose.facing > 0 else (180 - angles[1], 180 - angles[0])
    brush.chord(pose.head, (HEAD + more) * pose.scale, (begin, end), colour)


def _features(brush: Brush, pose: Pose, look: Character) -> None:
    at, head, size = pose.ahead, pose.head, pose.scale
    eyes = at(head, 3.0, 0.6), at(head, 7.4, 0.6)
    for eye in eyes:
        _eye(brush, pose, eye)
    if pose.mood == "shout":
        brush.line([at(eyes[0], -2.5, 4.5), at(eyes[0], 1.5, 2.2)], 1.4, INK)
        brush.line([at(eyes[1], -1, 2.2), at(eyes[1], 2.2, 4.2)], 1.4, INK)
    if "glasses" in look.wears:
        for eye in eyes:
            brush.arc(eye, 3.2 * size, (0, 360), 0.8, INK)
        brush.line([at(eyes[0], -3, 0), at(head, -5, 1.5)], 0.8, INK)
    _mouth(brush, pose, look)


def _eye(brush: Brush, pose: Pose, eye: Point) -> None:
    if pose.blink:
        brush.line([pose.ahead(eye, -1.4, 0), pose.ahead(eye, 1.4, 0)], 0.9, INK)
    else:
        brush.disc(eye, 1.35 * pose.scale, INK, 1.75 * pose.scale)


def _mouth(brush: Brush, pose: Pose, look: Character) -> None:
    at, size = pose.ahead, pose.scale
    spot = at(pose.head, 4.8, -5.0)
    if pose.mood in {"talk", "shout"}:
        wide = (2.6 if pose.mood == "talk" else 3.4) * size
        brush.disc(spot, wide, LIPS, (0.7 + 2.3 * pose.beat) * size)
    elif pose.mood == "smile":
        brush.chord(at(spot, 0, 1.6), 3.8 * size, (15, 165), LIPS)
    else:
        colour = LIPS if look.gender == "woman" else shade(rgb(look.skin), 0.6)
        brush.line([at(spot, -2.2, 0), at(spot, 2.0, 0)], 1.2, colour)
    if "moustache" in look.wears:
        brush.limb([at(spot, -3, 2.2), at(spot, 3.4, 2.2)], 2.4 * size, rgb(look.hair_colour))
