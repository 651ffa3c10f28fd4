"""A tableau: everything a frame shows, before any of it is painted.

People who do nothing breathe and blink; people between two moments walk to their marks.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.sitcom.drawing.brush import Point
from pipeline.sitcom.drawing.pose import Pose, ease
from pipeline.sitcom.screenplay import Place, Screenplay
from pipeline.sitcom.staging.schedule import WALK
from pipeline.sitcom.staging.world import Cue, Step, World

BLINKS, BLINK = 3.7, 0.17
"""Seconds from one blink to the next, and seconds that a blink takes."""
TABLE_TOP, SLOT = 109.0, 22.0
"""The height of tables from the top, and how far from their middle things lie on either side."""
POT_AT, POT_STANDS, CUP_AT = -10.0, 9.0, 9.0
"""Where pot (its handle) and cup stand, from the table's middle, and how high the handle is."""


class Item(NamedTuple):
    """A thing, or a sign in the air: its drawing's name, its place, and how it is turned."""

    name: str
    at: Point
    facing: int = 1
    tilt: float = 0.0
    size: float = 1.0
    drink: str | None = None


@dataclass
class Tableau:
    """What one frame shows; `fixtures` says how far each is open, 0 to 1.

    `things` stand on the table, the last two a cup and its pot if there is one.
    """

    poses: dict[str, Pose]
    fixtures: dict[str, float]
    things: list[Item]
    signs: list[Item] = field(default_factory=list)


class Now(NamedTuple):
    """A time in a step: `time` seconds into the video, `seconds` of `length` into the step."""

    step: Step
    place: Place
    script: Screenplay
    time: float
    seconds: float
    length: float

    @property
    def share(self) -> float:
        """How much of the step is over, 0 to 1."""
        return self.seconds / self.length

    @property
    def cue(self) -> Cue:
        """The cue that is played; between two moments there is none."""
        if self.step.cue is None:
            raise ValueError("nothing is played in this step")
        return self.step.cue

    def within(self, begin: float, end: float = math.inf) -> bool:
        """Tell whether the time is between two shares of the step."""
        return begin <= self.share < end

    def between(self, begin: float, end: float) -> float:
        """Return 0 before one share of the step, 1 after another, a gentle transition between."""
        return ease(self.share, begin, end)

    def during(self, begin: float, rise: float, fall: float, end: float) -> float:
        """Return 0 outside two shares of the step, 1 from `rise` to `fall`."""
        return self.between(begin, rise) * (1 - self.between(fall, end))


def still(now: Now, world: World) -> Tableau:
    """Return the tableau of a world in which nobody does anything."""
    things = [
        Item(thing, slot_at(now.place, slot), 1 - 2 * slot, drink=thing)
        for slot, thing in enumerate(world.table)
        if thing
    ]
    if world.pot:
        cup = now.place.table + CUP_AT, TABLE_TOP
        pot = now.place.table + POT_AT, TABLE_TOP - POT_STANDS
        things.append(Item(world.pot, cup, drink=world.pot if world.poured else None))
        things.append(Item("pot", pot, drink=world.pot))
    return Tableau(
        {name: _idle(name, now, world) for name, person in world.people.items() if person.present},
        {name: float(name in world.ajar) for name in now.place.openable},
        things,
    )


def _idle(name: str, now: Now, world: World) -> Pose:
    """Return the pose of a person who only breathes and blinks, standing or seated."""
    person, own = world.people[name], sum(name.encode()) % 31 / 31
    pose = Pose(person.x, person.facing, now.script.cast[name].height, holds=person.holds)
    pose.sit = float(person.posture == "seated")
    pose.sink = 0.5 + 0.5 * math.sin(2 * math.pi * (now.time / 3.2 + own))
    pose.blink = (now.time + 4.1 * own) % BLINKS < BLINK
    return pose


def slot_at(place: Place, slot: int) -> Point:
    """Return where things lie on one end of the table."""
    return place.table + (2 * slot - 1) * SLOT, TABLE_TOP


def find_places(now: Now) -> Tableau:
    """Return the tableau of people who walk to their marks for what comes next."""
    tableau = still(now, now.step.before)
    for name, pose in tableau.poses.items():
        goal = now.step.after.people[name]
        needed = abs(goal.x - pose.x) / WALK
        share = min(1.0, now.seconds / needed) if needed else 1.0
        pose.walk(pose.x, goal.x, share)
        if share == 1:
            pose.facing = goal.facing
    return tableau
