"""Blocking: where people stand for a cue, and where the others move to keep it visible.

Positions are stage units from left to right. Nobody ends up in front of another.
"""

from collections.abc import Iterable, Mapping
from statistics import fmean

from pipeline.sitcom.staging.world import WIDTH, Cue, World

MARKS = tuple(range(22, WIDTH - 21, 4))
"""Where people may stand when nothing calls them elsewhere."""
CLEAR, ROOMY = 36, 52
"""People nearer than `CLEAR` hide one another; onlookers keep `ROOMY` away where they can."""
FURNITURE = 40
"""A person nearer than this to the middle of a table hides what lies on it."""
SEAT_CLEAR = 28
APPROACH = 20
"""The last steps to a table, a seat or a door belong to the moment."""
REACH = {"table": 37, "pot": 29, "fixture": 31, "door out": 34}
"""How far from the middle of a table, window or door a person stands to reach it."""
APART = {"hug": 40, "shake_hands": 42, "hand_over": 43, "argue": 54, "dance": 48, "wave": 64}
"""How far apart two people stand at the beginning."""

Marks = dict[str, tuple[float, int]]
"""Name to (x, facing)."""


def block(cue: Cue, at: str, world: World, table: float) -> tuple[Marks, Marks] | None:
    """Return where everyone involved stands when the cue begins, and where its actors end.

    `at` is the kind of the cue's target: floor, table, pot, fixture, seat, door in, door out;
    `table` is the position of the table, which people should not hide.
    None if the cue can't be played in full view.
    """
    marks = _actors(cue, at, world, table)
    if marks is None:
        return None
    starts, ends = marks
    busy = [x for x, _ in (*starts.values(), *ends.values())]
    busy += [] if at in {"floor", "seat"} else [cue.target]
    sitting = [p.x for n, p in world.people.items() if p.posture == "seated" and n not in cue.who]
    if not all(is_clear(x, sitting, SEAT_CLEAR) for x in busy):
        return None
    others = _step_aside(cue, busy, world, table)
    return None if others is None else ({**others, **starts}, ends)


def _actors(cue: Cue, at: str, world: World, table: float) -> tuple[Marks, Marks] | None:
    first, side = cue.who[0], cue.side
    person = world.people[first]
    match at:
        case "table" | "pot" | "fixture":
            end = cue.target + side * REACH[at]
            return {first: (end + side * APPROACH, -side)}, {first: (end, -side)}
        case "seat" if person.seat is None:
            return {first: (cue.target + side * APPROACH, -side)}, {}
        case "door out":
            start = cue.target + side * REACH[at]
            starts = {name: (start + side * CLEAR * i, -side) for i, name in enumerate(cue.who)}
            return starts, dict.fromkeys(cue.who, (cue.target, -side))
        case "door in":
            return _arrivals(cue, world, table)
        case "floor" if len(cue.who) > 1:
            return _pair(cue, world, table)
    return {first: (person.x, person.facing)}, {}


def _arrivals(cue: Cue, world: World, table: float) -> tuple[Marks, Marks] | None:
    """Place those who come in near the door, the first of them farther in."""
    ends: list[int] = []
    for x in _nearest(MARKS, cue.target, table):
        if (x - cue.target) * cue.side < CLEAR:
            continue
        if is_clear(x, world.seated_at, SEAT_CLEAR) and is_clear(x, ends, CLEAR):
            ends.append(x)
        if len(ends) == len(cue.who):
            farthest = zip(cue.who, reversed(ends), strict=True)
            return {}, {name: (x, cue.side) for name, x in farthest}
    return None


def _pair(cue: Cue, world: World, table: float) -> tuple[Marks, Marks] | None:
    """Place two people face to face, near where they are; left stays left."""
    left, right = sorted(cue.who, key=lambda name: (world.people[name].x, name))
    half = APART[cue.action] / 2
    middle = fmean(world.people[name].x for name in cue.who)
    inside = [x for x in MARKS if MARKS[0] + half <= x <= MARKS[-1] - half]
    for x in _nearest(inside, middle, table):
        if is_clear(x, world.seated_at, half + SEAT_CLEAR):
            return {left: (x - half, 1), right: (x + half, -1)}, {}
    return None


def _step_aside(cue: Cue, busy: list[float], world: World, table: float) -> Marks | None:
    """Send those who stand in the way to the nearest free mark; all look at what happens."""
    taken, marks = [*busy], Marks()
    for name, person in world.people.items():
        if person.posture != "standing" or name in cue.who:
            continue
        marks_near = [
            x
            for x in _nearest(MARKS, person.x, table)
            if not min(busy) < x < max(busy) and is_clear(x, world.seated_at, SEAT_CLEAR)
        ]
        gaps = (x for gap in (ROOMY, CLEAR) for x in marks_near if is_clear(x, taken, gap))
        free = next(gaps, None)
        if free is None:
            return None
        taken.append(free)
        marks[name] = free, 1 if free < fmean(busy) else -1
    return marks


def is_clear(x: float, others: Iterable[float], gap: float) -> bool:
    """Tell whether a place is at least `gap` from all others."""
    return all(abs(x - other) >= gap for other in others)


def _nearest(marks: Iterable[int], x: float, table: float) -> list[int]:
    """Return the marks from the nearest to the farthest, those before the table last."""
    return sorted(marks, key=lambda mark: (abs(mark - table) < FURNITURE, abs(mark - x), mark))


def longest_walk(world: World, marks: Mapping[str, tuple[float, int]]) -> float:
    """Return the longest way that a person has to walk to their mark, in stage units."""
    return max((abs(world.people[name].x - x) for name, (x, _) in marks.items()), default=0.0)
