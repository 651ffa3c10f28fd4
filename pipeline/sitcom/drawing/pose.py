"""A pose: how one body stands, sits or walks, and where its hands are.

Bodies are measured for a character of height 1: 39 units of leg, 31 of back, 29 of arm.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.sitcom.drawing.brush import Point

GROUND = 150.0
"""Where people stand, from the top of the stage."""
SEAT = 25.0
"""How high a seat is above the ground."""
LEG, BACK, ARM, HEAD = 39.0, 31.0, 29.0, 10.5
STRIDE = 46.0
"""How far two steps carry."""

Mood = Literal["calm", "smile", "talk", "shout"]


@dataclass(frozen=True)
class Pose:
    """One body at one time.

    `x, y` is the ground below the hips; `facing` 1 is right, -1 left; `sit` and `sink` say
    how far the hips are down to a seat (0 to 1) or lower than upright (units); `lean` and
    `nod` are angles forward (radians) of back and head; `feet` and `hands` are (far, near):
    feet from (x, y) as (ahead, up) in units, hands on the stage, None where they hang.
    `depth` is 0 on the stage and 1 behind the door.
    """

    x: float
    facing: int = 1
    y: float = GROUND
    height: float = 1.0
    sit: float = 0.0
    sink: float = 0.0
    lean: float = 0.0
    nod: float = 0.0
    feet: tuple[Point, Point] = ((4.0, 0.0), (-3.0, 0.0))
    hands: tuple[Point | None, Point | None] = (None, None)
    holds: str | None = None
    open: bool = False
    tilt: float = 0.0
    mood: Mood = "calm"
    beat: float = 0.0
    blink: bool = False
    depth: float = 0.0

    @property
    def scale(self) -> float:
        """How large the body is drawn: its height, less what distance takes away."""
        return self.height * (1 - 0.1 * self.depth)

    @property
    def hips(self) -> Point:
        """The lower end of the back."""
        up = LEG * self.scale * (1 - self.sit) + (SEAT + 2) * self.sit
        return self.x, self.y - up + self.sink * self.scale

    @property
    def shoulder(self) -> Point:
        """The upper end of the back, where the arms begin."""
        return self.along(self.hips, BACK, self.lean)

    @property
    def head(self) -> Point:
        """The middle of the head."""
        return self.along(self.shoulder, 15.5, self.lean * 0.6 + self.nod)

    @property
    def mouth(self) -> Point:
        """Where cups go."""
        return self.ahead(self.head, 7.0, -5.0)

    def along(self, start: Point, length: float, angle: float) -> Point:
        """Return the point `length` from `start`, leaning forward from upright by `angle`."""
        size = length * self.scale
        return start[0] + self.facing * size * math.sin(angle), start[1] - size * math.cos(angle)

    def ahead(self, start: Point, forward: float, up: float) -> Point:
        """Return the point ahead of and above `start`, in units of the body's own scale."""
        return start[0] + self.facing * forward * self.scale, start[1] - up * self.scale

    def reach(self, forward: float, up: float) -> Point:
        """Return the point ahead of and above the shoulder."""
        return self.ahead(self.shoulder, forward, up)

    @property
    def rest(self) -> Point:
        """Where an empty hand hangs, or lies on the knee of a person who sits."""
        return self.reach(2 + 9 * self.sit, -27 + 6 * self.sit)


def mix(start: Point, end: Point, share: float) -> Point:
    """Return the point that is `share` of the way from start to end."""
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def ease(time: float, begin: float = 0.0, end: float = 1.0) -> float:
    """Return 0 before `begin`, 1 after `end`, and a gentle transition between."""
    share = min(1.0, max(0.0, (time - begin) / (end - begin)))
    return share * share * (3 - 2 * share)


def swell(time: float, rise: float = 0.2, fall: float = 0.8) -> float:
    """Return 0 at time 0 and 1 (the ends of a moment) and 1 between `rise` and `fall`."""
    return ease(time, 0.0, rise) * (1 - ease(time, fall, 1.0))


def hand(pose: Pose, target: Point, share: float = 1.0, *, near: bool = True) -> Pose:
    """Move one hand `share` of its way to `target`."""
    far_hand, near_hand = pose.hands
    start = (near_hand if near else far_hand) or pose.rest
    moved = mix(start, target, share)
    return replace(pose, hands=(far_hand, moved) if near else (moved, near_hand))


def step(pose: Pose, distance: float) -> Pose:
    """Return the pose after walking `distance`: one foot is on the ground, the other swings."""
    phase = distance / STRIDE
    feet = _foot(phase), _foot(phase + 0.5)
    bounce = 1.2 * abs(math.sin(2 * math.pi * phase))
    arms = math.sin(2 * math.pi * phase) * 0.45
    swung = tuple(
        pose.reach(27 * math.sin(angle) + 2, -27 * math.cos(angle)) for angle in (arms, -arms)
    )
    near = pose.hands[1] if pose.holds else swung[1]
    return replace(pose, feet=feet, hands=(swung[0], near), sink=pose.sink + 1.5 - bounce)


def _foot(phase: float) -> Point:
    part = phase % 1.0
    reach = STRIDE / 4
    swing = 2 * part - 1
    if swing < 0:
        return reach - 4 * reach * part, 0.0
    return -reach + 2 * reach * swing, 6 * math.sin(math.pi * swing)
