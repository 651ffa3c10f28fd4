"""A pose: how one body stands, sits or walks, and where its hands are.

Bodies are measured for a character of height 1: 39 units of leg, 31 of back, 29 of arm.
"""

import math
from dataclasses import dataclass, field

from pipeline.sitcom.drawing.brush import Point

GROUND = 150.0
"""Where people stand, from the top of the stage."""
SEAT = 25.0
"""How high a seat is above the ground."""
LEG, BACK, ARM = 39.0, 31.0, 29.0
STRIDE = 46.0
"""How far two steps carry."""
SETTLE = 12.0
"""How many stage units a walk takes to speed up, and to slow down."""


@dataclass
class Pose:
    """One body at one time.

    `x, y` is the ground below the hips; `facing` 1 is right, -1 left; `sit` and `sink` say
    how far the hips are down to a seat (0 to 1) or lower than upright (units); `lean` and
    `nod` are angles forward (radians) of back and head, `tilt` of what the near hand holds;
    `feet` and `hands` are [far, near]: feet from (x, y) as (ahead, up) in units, hands on the
    stage, None where they hang or carry. `depth` is 0 on the stage and 1 behind the door.
    """

    x: float
    facing: int
    height: float
    y: float = GROUND
    sit: float = 0.0
    sink: float = 0.0
    lean: float = 0.0
    nod: float = 0.0
    feet: tuple[Point, Point] = ((4.0, 0.0), (-3.0, 0.0))
    hands: list[Point | None] = field(default_factory=lambda: [None, None])
    holds: str | None = None
    reads: bool = False
    tilt: float = 0.0
    mood: str = "calm"
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
        return self._along(self.hips, BACK, self.lean)

    @property
    def head(self) -> Point:
        """The middle of the head."""
        return self._along(self.shoulder, 15.5, self.lean * 0.6 + self.nod)

    def _along(self, start: Point, length: float, angle: float) -> Point:
        return self.ahead(start, length * math.sin(angle), length * math.cos(angle))

    def ahead(self, start: Point, forward: float, up: float) -> Point:
        """Return the point ahead of and above `start`, in units of the body's own scale."""
        return start[0] + self.facing * forward * self.scale, start[1] - up * self.scale

    def reach(self, forward: float, up: float) -> Point:
        """Return the point ahead of and above the shoulder."""
        return self.ahead(self.shoulder, forward, up)

    def hand(self, *, near: bool = True) -> Point:
        """Return where a hand is: without a reason to move it carries, hangs or lies on a knee."""
        carried = self.reach(14, -15) if near and self.holds else None
        return self.hands[near] or carried or self.reach(2 + 9 * self.sit, -27 + 6 * self.sit)

    def move_hand(self, target: Point, share: float, *, near: bool = True) -> None:
        """Move one hand `share` of its way to `target`."""
        self.hands[near] = mix(self.hand(near=near), target, share)

    def walk(self, start: float, end: float, share: float) -> None:
        """Go `share` of the way from `start` to `end`, facing the way if it goes on."""
        self.x = start + (end - start) * share
        if 0 < share < 1:
            self.facing = 1 if end > start else -1
            self.stride(abs(end - start) * share, abs(end - start))

    def stride(self, gone: float, distance: float) -> None:
        """Swing feet and arms after `gone` of a distance: nobody starts or stops with a jerk."""
        gain = max(0.0, min(1.0, gone / SETTLE, (distance - gone) / SETTLE))
        phase = 2 * math.pi * gone / STRIDE
        swing, lift = gain * math.sin(phase), 6 * gain * math.cos(phase)
        self.feet = (4 + 11 * swing, max(0.0, lift)), (-3 - 11 * swing, max(0.0, -lift))
        self.hands[0] = self.reach(2 - 12 * swing, -27)
        if not self.holds:
            self.hands[1] = self.reach(2 + 12 * swing, -27)


def mix(start: Point, end: Point, share: float) -> Point:
    """Return the point that is `share` of the way from start to end."""
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def ease(time: float, begin: float = 0.0, end: float = 1.0) -> float:
    """Return 0 before `begin`, 1 after `end`, and a gentle transition between."""
    share = min(1.0, max(0.0, (time - begin) / (end - begin)))
    return share * share * (3 - 2 * share)
