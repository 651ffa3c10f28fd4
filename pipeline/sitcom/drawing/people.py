"""People: a character's looks on a pose's bones.

Women, men and those whose name suggests no gender differ in outline (hair, shoulders, dress or
trousers); no two of the cast share hair and clothes.
"""

import math
from functools import partial

from pipeline.sitcom.drawing import faces
from pipeline.sitcom.drawing.brush import Brush, Point, Rgb, rgb, shade
from pipeline.sitcom.drawing.pose import ARM, GROUND, LEG, Pose
from pipeline.sitcom.drawing.things import paint_in_hand
from pipeline.sitcom.screenplay import Character

FAR = 0.82
"""The far side of a body is darker by this factor."""
SHOULDERS = {"woman": 8.0, "man": 10.5, "unknown": 9.2}
SHADOWLESS = 0.5
"""A body deeper than this is in the doorway, and casts no shadow on the stage."""
SHOES = (52, 44, 44)


def paint_body(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint everything but the near arm, which may be around someone else."""
    faces.paint_back_hair(brush, pose, look)
    _arm(brush, pose, look, near=False)
    _leg(brush, pose, look, near=False)
    _leg(brush, pose, look, near=True)
    _trunk(brush, pose, look)
    faces.paint_face(brush, pose, look)


def paint_near_arm(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint the near arm and what its hand holds."""
    _arm(brush, pose, look, near=True)
    if pose.holds:
        paint_in_hand(brush, pose.holds, pose)
        thumb = pose.hands[1] or pose.rest
        brush.disc(thumb, 2.2 * pose.scale, shade(rgb(look.skin), 0.94))


def paint_shadow(brush: Brush, pose: Pose, floor: Rgb) -> None:
    """Paint the shadow where the body meets the ground, so that nobody floats."""
    if pose.depth < SHADOWLESS:
        brush.disc((pose.x, max(pose.y, GROUND)), 15 * pose.scale, shade(floor, 0.8), 3)


def bend(start: Point, end: Point, upper: float, lower: float, turn: int) -> tuple[Point, Point]:
    """Return the joint between two bones, and the end as far as they reach.

    `turn` is the side to which the joint goes: 1 is clockwise of the way from start to end.
    """
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(math.hypot(dx, dy), 1e-6)
    reached = min(max(length, abs(upper - lower), 1e-3), (upper + lower) * 0.999)
    ux, uy = dx / length, dy / length
    along = (upper**2 - lower**2 + reached**2) / (2 * reached)
    aside = math.sqrt(max(0.0, upper**2 - along**2)) * turn
    joint = start[0] + ux * along - uy * aside, start[1] + uy * along + ux * aside
    return joint, (start[0] + ux * reached, start[1] + uy * reached)


def _arm(brush: Brush, pose: Pose, look: Character, *, near: bool) -> None:
    width = SHOULDERS[look.gender] * look.build
    start = pose.ahead(pose.shoulder, (-0.62 if near else 0.62) * width, -3.0)
    goal = pose.hands[near] or pose.ahead(start, 2 + 9 * pose.sit, -27 + 7 * pose.sit)
    bone = ARM / 2 * pose.scale
    behind = goal[1] < start[1] and (goal[0] - start[0]) * pose.facing < 0
    elbow, wrist = bend(start, goal, bone, bone, -pose.facing if behind else pose.facing)
    colour, skin = shade(rgb(look.top), 0.93 if near else FAR), rgb(look.skin)
    if not near:
        skin = shade(skin, 0.92)
    thick = 6.2 * pose.scale * math.sqrt(look.build)
    sleeve = skin if look.outfit == "dress" else colour
    brush.limb([elbow, wrist], thick * 0.82, sleeve)
    brush.limb([start, elbow], thick, colour)
    brush.disc(wrist, 3.1 * pose.scale, skin)


def _leg(brush: Brush, pose: Pose, look: Character, *, near: bool) -> None:
    ahead, up = pose.feet[near]
    start = pose.ahead(pose.hips, -2.5 if near else 2.5, 1.0)
    ahead += pose.sit * 17
    ankle = pose.x + pose.facing * ahead * pose.scale, pose.y - (up + 3) * pose.scale
    bone = (LEG - 3.2) / 2 * pose.scale
    knee, ankle = bend(start, ankle, bone, bone, -pose.facing)
    bare = look.outfit in {"dress", "skirt"}
    cover = shade(rgb(look.bottom), 1 if near else FAR)
    colour = shade(rgb(look.skin), 1 if near else FAR) if bare else cover
    width = (5.4 if bare else 7.6) * pose.scale * math.sqrt(look.build)
    brush.limb([start, knee, ankle], width, colour)
    if bare:
        brush.limb([start, knee], 9 * pose.scale * look.build, cover)
    toe = pose.ahead(ankle, 5.5, -1.6)
    brush.limb([pose.ahead(ankle, -0.5, -1.6), toe], 3.6 * pose.scale, SHOES)


def _trunk(brush: Brush, pose: Pose, look: Character) -> None:
    wide = SHOULDERS[look.gender] * look.build
    hips = (9.0 if look.gender == "woman" else 7.8) * look.build
    waist = (6.3 if look.gender == "woman" else 7.9) * look.build
    top, middle, low = pose.shoulder, pose.along(pose.hips, 12, pose.lean), pose.hips
    outline = [
        pose.ahead(top, -wide, -2), pose.ahead(top, -wide + 3, 1), pose.ahead(top, wide - 3, 1),
        pose.ahead(top, wide, -2), pose.ahead(middle, waist, 0), pose.ahead(low, hips, -3),
        pose.ahead(low, -hips, -3), pose.ahead(middle, -waist, 0),
    ]  # fmt: skip
    neck = pose.ahead(top, 0.5, 4)
    brush.limb([pose.ahead(top, 0, -1), neck], 6.5 * pose.scale, shade(rgb(look.skin), 0.9))
    brush.poly(outline, rgb(look.top))
    _lower(brush, pose, look, hips)
    _details(brush, pose, look, outline)


def _lower(brush: Brush, pose: Pose, look: Character, hips: float) -> None:
    """Paint what hangs from the waist: a skirt, a coat, or the trousers' top."""
    low = pose.hips
    if look.outfit in {"dress", "skirt", "coat"}:
        hem, flare = (19.0, 5.0) if look.outfit != "coat" else (20.0, 1.5)
        hem *= 1 - pose.sit * 0.85
        swing = (pose.feet[0][0] + pose.feet[1][0]) * 0.2 + pose.sit * 8
        waist = pose.along(low, 11 if look.outfit != "coat" else 4, pose.lean)
        colour = rgb(look.top if look.outfit == "coat" else look.bottom)
        points = [
            pose.ahead(waist, -hips * 0.72, 0), pose.ahead(waist, hips * 0.72, 0),
            pose.ahead(low, hips, 0), pose.ahead(low, hips + flare + swing, -hem),
            pose.ahead(low, -hips - flare + swing * 0.4, -hem), pose.ahead(low, -hips, 0),
        ]  # fmt: skip
        brush.poly(points, shade(colour, 0.96))
    else:
        ends = [pose.ahead(low, -hips + 4, -2), pose.ahead(low, hips - 4, -2)]
        brush.limb(ends, 8 * pose.scale, rgb(look.bottom))


def _details(brush: Brush, pose: Pose, look: Character, outline: list[Point]) -> None:
    top, low = partial(pose.ahead, pose.shoulder), partial(pose.ahead, pose.hips)
    match look.outfit:
        case "suit":
            brush.poly([top(1, 0), top(8, 0), low(3, 12)], (240, 240, 240))
            brush.line([top(4.5, 0), low(3.5, 13)], 2, (190, 40, 50))
        case "coat":
            brush.line([top(3, 0), low(3, -18)], 1, shade(rgb(look.top), 0.75))
            brush.line([top(-1, 0), low(2, 16), top(7, 0)], 1.3, (70, 130, 180))
        case "overalls":
            colour = rgb(look.bottom)
            brush.poly([top(-2, -11), top(8, -11), *outline[5:7]], colour)
            brush.line([top(-2, -11), top(-4, 0)], 2.2, colour)
            brush.line([top(7, -11), top(5, 0)], 2.2, colour)
    if "apron" in look.wears:
        brush.poly([top(0, -9), top(8, -9), low(9, -10), low(-2, -10)], (246, 240, 226))
