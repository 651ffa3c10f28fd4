"""A tableau: everything a frame shows, before any of it is painted.

People who do nothing breathe and blink; people between two moments walk to their marks.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.sitcom.drawing.brush import Point
from pipeline.sitcom.drawing.furniture import SLOT, TABLE_TOP
from pipeline.sitcom.drawing.pose import Pose, ease, hand, mix, step
from pipeline.sitcom.drawing.things import CUP_STANDS, POT_STANDS, STANDS
from pipeline.sitcom.screenplay import Place, Screenplay
from pipeline.sitcom.staging.schedule import WALK
from pipeline.sitcom.staging.world import Cue, Person, Step, World

BLINKS, BLINK = 3.7, 0.17
"""Seconds from one blink to the next, and seconds that a blink takes."""
SETTLE = 12.0
"""How many stage units a walk takes to speed up, and to slow down."""
POT_AT, CUP_AT = -10.0, 9.0
"""Where pot (its handle) and cup stand, from the table's middle."""


@dataclass(frozen=True)
class Effect:
    """A sign in the air: sound of a phone, music, anger, or what is being poured."""

    kind: Literal["sound", "music", "anger", "stream"]
    at: Point
    facing: int
    phase: float
    drink: str = ""


@dataclass(frozen=True)
class Pot:
    """The pot (by its handle) and the cup that it fills."""

    drink: str
    at: Point
    cup: Point
    tilt: float = 0.0
    level: float = 0.0


@dataclass(frozen=True)
class Tableau:
    """What one frame shows."""

    poses: Mapping[str, Pose]
    fixtures: Mapping[str, float]
    laid: tuple[tuple[str, Point, int], ...]
    pot: Pot | None
    effects: tuple[Effect, ...] = ()
    actors: tuple[str, ...] = ()

    def pose(self, poses: Mapping[str, Pose]) -> "Tableau":
        """Return the tableau with some people in other poses."""
        return replace(self, poses={**self.poses, **poses})


@dataclass(frozen=True)
class Now:
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

    def between(self, begin: float, end: float) -> float:
        """Return 0 before one share of the step, 1 after another, a gentle transition between."""
        return ease(self.share, begin, end)

    def after(self, share: float) -> bool:
        """Tell whether this share of the step is over."""
        return self.share >= share

    def within(self, begin: float, end: float) -> bool:
        """Tell whether the time is between two shares of the step."""
        return begin <= self.share < end


def still(now: Now, world: World) -> Tableau:
    """Return the tableau of a world in which nobody does anything."""
    poses = {
        name: idle(name, person, now.script.cast[name].height, now.time)
        for name, person in world.people.items()
        if person.present
    }
    fixtures = {name: float(name in world.ajar) for name in now.place.openable}
    return Tableau(poses, fixtures, list_things_on_table(now.place, world), _pot(now.place, world))


def idle(name: str, person: Person, height: float, time: float) -> Pose:
    """Return the pose of a person who only breathes and blinks, standing or seated."""
    own = sum(name.encode()) % 31 / 31
    breath = 0.5 + 0.5 * math.sin(2 * math.pi * (time / 3.2 + own))
    blink = (time + 4.1 * own) % BLINKS < BLINK
    sit = float(person.posture == "seated")
    pose = Pose(person.x, person.facing, height=height, sit=sit, sink=breath, blink=blink)
    return carry(pose, person.holds)


def carry(pose: Pose, thing: str | None) -> Pose:
    """Let the near hand hold a thing in front of the body, or nothing."""
    if thing is None:
        return replace(pose, holds=None, hands=(pose.hands[0], None))
    return hand(replace(pose, holds=thing), carry_point(pose))


def carry_point(pose: Pose) -> Point:
    """Return where the near hand carries things."""
    return pose.reach(14, -15)


def slot_at(place: Place, slot: int, thing: str) -> Point:
    """Return the middle of a thing on one end of the table."""
    return place.table + (2 * slot - 1) * SLOT, TABLE_TOP - STANDS[thing]


def list_things_on_table(place: Place, world: World) -> tuple[tuple[str, Point, int], ...]:
    """Return the things on the table: name, position, and which way a person taking it faces."""
    return tuple(
        (thing, slot_at(place, slot, thing), 1 - 2 * slot)
        for slot, thing in enumerate(world.table)
        if thing
    )


def _pot(place: Place, world: World) -> Pot | None:
    if world.pot is None:
        return None
    at = place.table + POT_AT, TABLE_TOP - POT_STANDS
    cup = place.table + CUP_AT, TABLE_TOP - CUP_STANDS
    return Pot(world.pot, at, cup, level=float(world.poured))


def walk(pose: Pose, start: float, end: float, share: float, *, turn: bool = True) -> Pose:
    """Return the pose of a person who is `share` of the way from `start` to `end`.

    With `turn` they face the way they go; without, they may step backwards.
    """
    distance, gone = abs(end - start), abs(end - start) * share
    way = 1 if end > start else -1
    pose = replace(pose, x=start + (end - start) * share, hands=(None, None))
    if turn and 0 < share < 1:
        pose = replace(pose, facing=way)
    pose = carry(pose, pose.holds)
    if not 0 < share < 1:
        return pose
    gain = min(1.0, gone / SETTLE, (distance - gone) / SETTLE)
    return _soften(step(pose, gone * way * pose.facing), pose, gain)


def _soften(walking: Pose, standing: Pose, gain: float) -> Pose:
    """Blend from standing into walking, so that nobody starts with a jerk."""
    far_foot, near_foot = (
        (mix(a, b, gain)[0], b[1] * gain) for a, b in zip(standing.feet, walking.feet, strict=True)
    )
    far_hand, near_hand = (
        b and mix(a or standing.rest, b, gain)
        for a, b in zip(standing.hands, walking.hands, strict=True)
    )
    return replace(walking, feet=(far_foot, near_foot), hands=(far_hand, near_hand))


def find_places(now: Now) -> Tableau:
    """Return the tableau of people who walk to their marks for what comes next."""
    tableau = still(now, now.step.before)
    poses = {}
    for name, pose in tableau.poses.items():
        goal = now.step.after.people[name]
        needed = abs(goal.x - pose.x) / WALK
        share = min(1.0, now.seconds / needed) if needed else 1.0
        walked = walk(pose, pose.x, goal.x, share)
        if share == 1:
            walked = carry(replace(walked, facing=goal.facing), walked.holds)
        poses[name] = walked
    return tableau.pose(poses)
