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
    if at in {"table", "pot", "fixture", "door in", "door out"}:
        busy.append(cue.target)
    sitting = {n: p for n, p in world.people.items() if p.posture == "seated" and n not in cue.who}
    if any(abs(person.x - x) < SEAT_CLEAR for person in sitting.values() for x in busy):
        return None
    others = _step_aside(cue, busy, world, table)
    return None if others is None else ({**others, **starts}, ends)


def _actors(cue: Cue, at: str, world: World, table: float) -> tuple[Marks, Marks] | None:
    first = cue.who[0]
    match at:
        case "table" | "pot" | "fixture":
            end = cue.target + cue.side * REACH[at]
            start = end + cue.side * APPROACH
            return {first: (start, -cue.side)}, {first: (end, -cue.side)}
        case "seat":
            person = world.people[first]
            start = cue.target + cue.side * APPROACH if person.seat is None else person.x
            return {first: (start, -cue.side if person.seat is None else person.facing)}, {}
        case "door out":
            gaps = [cue.target + cue.side * (REACH[at] + CLEAR * i) for i in range(len(cue.who))]
            starts = {name: (x, -cue.side) for name, x in zip(cue.who, gaps, strict=True)}
            return starts, dict.fromkeys(cue.who, (cue.target, -cue.side))
        case "door in":
            return _arrivals(cue, world, table)
    if len(cue.who) == 1:
        return {first: (world.people[first].x, world.people[first].facing)}, {}
    return _pair(cue, world, table)


def _arrivals(cue: Cue, world: World, table: float) -> tuple[Marks, Marks] | None:
    """Place those who come in near the door, the first of them farther in."""
    ends: list[int] = []
    for x in _nearest(MARKS, cue.target, table):
        if (x - cue.target) * cue.side < CLEAR:
            continue
        if _is_clear(x, world.seated_at, SEAT_CLEAR) and _is_clear(x, ends, CLEAR):
            ends.append(x)
        if len(ends) == len(cue.who):
            return {}, {
                name: (x, cue.side) for name, x in zip(cue.who, reversed(ends), strict=True)
            }
    return None


def _pair(cue: Cue, world: World, table: float) -> tuple[Marks, Marks] | None:
    """Place two people face to face, near where they are; left stays left."""
    left, right = sorted(cue.who, key=lambda name: (world.people[name].x, name))
    half = APART[cue.action] / 2
    middle = fmean(world.people[name].x for name in cue.who)
    inside = [x for x in MARKS if MARKS[0] + half <= x <= MARKS[-1] - half]
    for x in _nearest(inside, middle, table):
        if _is_clear(x, world.seated_at, half + SEAT_CLEAR):
            return {left: (x - half, 1), right: (x + half, -1)}, {}
    return None


def _step_aside(cue: Cue, busy: list[float], world: World, table: float) -> Marks | None:
    """Send those who stand in the way to the nearest free mark; all look at what happens."""
    taken, marks = [*busy], Marks()
    for name, person in world.people.items():
        if person.posture != "standing" or name in cue.who:
            continue
        open_marks = [x for x in MARKS if not min(busy) < x < max(busy)]
        open_marks = [x for x in open_marks if _is_clear(x, world.seated_at, SEAT_CLEAR)]
        free = next(
            (
                x
                for gap in (ROOMY, CLEAR)
                for x in _nearest(open_marks, person.x, table)
                if _is_clear(x, taken, gap)
            ),
            None,
        )
        if free is None:
            return None
        taken.append(free)
        marks[name] = free, 1 if free < fmean(busy) else -1
    return marks


def _is_clear(x: float, others: Iterable[float], gap: float) -> bool:
    return all(abs(x - other) >= gap for other in others)


def _nearest(marks: Iterable[int], x: float, table: float) -> list[int]:
    """Return the marks from the nearest to the farthest, those before the table last."""
    return sorted(marks, key=lambda mark: (abs(mark - table) < FURNITURE, abs(mark - x), mark))


def longest_walk(world: World, marks: Mapping[str, tuple[float, int]]) -> float:
    """Return the longest way that a person has to walk to their mark, in stage units."""
    return max((abs(world.people[name].x - x) for name, (x, _) in marks.items()), default=0.0)
