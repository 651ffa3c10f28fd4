"""People: a character's looks on a pose's bones.

Women, men and those whose name suggests no gender differ in outline (hair, shoulders, dress or
trousers); no two of the cast share hair and clothes.
"""

import math
from dataclasses import replace

from pipeline.sitcom.drawing.brush import SHAPES, Brush, Point, shade
from pipeline.sitcom.drawing.pose import ARM, LEG, Pose
from pipeline.sitcom.screenplay import Character

FAR = 0.82
"""The far side of a body is darker by this factor."""
SHOULDERS = {"woman": 8.0, "man": 10.5, "unknown": 9.2}
DRINKS = {"coffee": "#563422", "water": "#96cdf0", "juice": "#ffa028"}
EMPTY = "#e8f2f6"
GRIP = 5.0, 6.0
"""How far a hand is behind the middle, and above the foot, of what it holds."""


def bend(start: Point, end: Point, bone: float, turn: int) -> tuple[Point, Point]:
    """Return the joint between two equal bones, and the end as far as they reach.

    `turn` is the side to which the joint goes: 1 is clockwise of the way from start to end.
    """
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = max(math.hypot(dx, dy), 1e-6)
    along = min(length, bone * 1.998) / 2
    aside = math.sqrt(bone**2 - along**2) * turn
    ux, uy = dx / length, dy / length
    joint = start[0] + ux * along - uy * aside, start[1] + uy * along + ux * aside
    return joint, (start[0] + 2 * ux * along, start[1] + 2 * uy * along)


def paint_body(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint everything but the near arm, which may be around someone else."""
    colours = {"skin": look.skin, "hair": look.hair_colour, "top": look.top, "bottom": look.bottom}
    head = replace(brush, at=pose.head, facing=pose.facing, size=pose.scale)
    trunk = replace(head, at=pose.hips, tilt=pose.lean, wide=look.build)
    skirt = replace(trunk, tilt=-1.2 * pose.sit)
    head.paint(SHAPES["back_hair"].get(look.hair, []), **colours)
    _paint_arm(brush, pose, look, near=False)
    for near in (False, True):
        _paint_leg(brush, pose, look, near=near)
    neck = [pose.reach(0, -1), pose.reach(0.5, 4)]
    brush.limb(neck, shade(look.skin, 0.9), 6.5 * pose.scale)
    trunk.paint(SHAPES["bodies"][look.gender], **colours)
    skirt.paint(SHAPES["skirts"][look.outfit], **colours)
    for worn in (look.outfit, *look.wears):
        trunk.paint(SHAPES["bodies"].get(worn, []), **colours)
    head.paint(SHAPES["faces"]["head"], **colours)
    head.paint(SHAPES["hair"][look.hair], **colours)
    for name in ("shut eyes" if pose.blink else "open eyes", pose.mood, *look.wears):
        head.paint(SHAPES["faces"].get(name, []), **colours)


def paint_near_arm(brush: Brush, pose: Pose, look: Character) -> None:
    """Paint the near arm and what its hand holds."""
    _paint_arm(brush, pose, look, near=True)
    if pose.holds:
        hand = replace(brush, at=pose.hand(), facing=pose.facing, tilt=pose.tilt)
        thing = SHAPES["opened" if pose.reads else "things"][pose.holds]
        colour = DRINKS.get(pose.holds, EMPTY)
        replace(hand, at=hand.place(*GRIP)).paint(thing, drink=colour)
        hand.disc([(0, 0)], shade(look.skin, 0.94), 2.2 * pose.scale)


def _paint_arm(brush: Brush, pose: Pose, look: Character, *, near: bool) -> None:
    width = SHOULDERS[look.gender] * look.build
    start, goal = pose.reach((-0.62 if near else 0.62) * width, -3), pose.hand(near=near)
    behind = goal[1] < start[1] and (goal[0] - start[0]) * pose.facing < 0
    turn = -pose.facing if behind else pose.facing
    elbow, wrist = bend(start, goal, ARM / 2 * pose.scale, turn)
    colour, thick = shade(look.top, 0.93 if near else FAR), 6.2 * pose.scale * look.build**0.5
    skin = shade(look.skin, 1 if near else 0.92)
    brush.limb([elbow, wrist], skin if look.outfit == "dress" else colour, thick * 0.82)
    brush.limb([start, elbow], colour, thick)
    brush.disc([wrist], skin, 3.1 * pose.scale)


def _paint_leg(brush: Brush, pose: Pose, look: Character, *, near: bool) -> None:
    ahead, up = pose.feet[near]
    start = pose.ahead(pose.hips, -2.5 if near else 2.5, 1)
    ankle = pose.ahead((pose.x, pose.y), ahead + 17 * pose.sit, up + 3)
    knee, ankle = bend(start, ankle, (LEG - 3.2) / 2 * pose.scale, -pose.facing)
    cover, skin = (shade(colour, 1 if near else FAR) for colour in (look.bottom, look.skin))
    bare = look.outfit in {"dress", "skirt"}
    width = (5.4 if bare else 7.6) * pose.scale * look.build**0.5
    brush.limb([start, knee, ankle], skin if bare else cover, width)
    if bare:
        brush.limb([start, knee], cover, 9 * pose.scale * look.build)
    shoe = [pose.ahead(ankle, -0.5, -1.6), pose.ahead(ankle, 5.5, -1.6)]
    brush.limb(shoe, "#342c2c", 3.6 * pose.scale)
