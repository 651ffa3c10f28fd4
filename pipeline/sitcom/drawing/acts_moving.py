"""How bodies move as a whole: through doors, onto seats, to music."""

import math
from collections.abc import Iterator
from dataclasses import replace

from pipeline.sitcom.drawing.pose import GROUND, Pose, ease, hand, swell
from pipeline.sitcom.drawing.tableau import Effect, Now, Tableau, carry, idle, walk
from pipeline.sitcom.staging.schedule import SECOND_AT_DOOR
from pipeline.sitcom.staging.world import Person

BEYOND, THRESHOLD, ASIDE = 30.0, 26.0, 10.0
"""How far people walk at the door, in stage units: behind it, through it, and to its side."""
DEEP = 21.0
"""How much higher in the picture the doorway's floor is than the stage's."""
OPENS, SHUTS = 0.45, 0.5
"""How many seconds the door takes to open, and to shut."""


def enter(now: Now, tableau: Tableau) -> Tableau:
    """The door opens, they come in one after the other, and it closes behind them."""
    poses: dict[str, Pose] = {}
    for name, begin, end, share in _turns(now, 0.3, 0.3):
        person = now.step.after.people[name]
        poses |= _on_the_way(now, name, person, share)
        passed = begin + (end - begin) * (BEYOND + THRESHOLD) / _way(now, person.x)
    opening = ease(now.seconds, 0, OPENS) - ease(now.seconds, passed + 0.1, passed + 0.1 + SHUTS)
    return replace(tableau.pose(poses), fixtures={**tableau.fixtures, "door": opening})


def leave(now: Now, tableau: Tableau) -> Tableau:
    """They walk to the door, it opens, they go through, and it closes behind them."""
    poses = {name: p for name, p in tableau.poses.items() if name not in now.cue.who}
    for name, _, _, share in _turns(now, 0.1, 0.5):
        person = now.step.before.people[name]
        poses |= _on_the_way(now, name, person, 1 - share, out=True)
    shut = ease(now.seconds, now.length - 0.55, now.length - 0.1)
    opening = ease(now.seconds, 0.1, 0.1 + OPENS) - shut
    return replace(tableau, poses=poses, fixtures={**tableau.fixtures, "door": opening})


def _turns(now: Now, before: float, after: float) -> Iterator[tuple[str, float, float, float]]:
    """Yield who passes the door in turn: name, begin and end in seconds, and the share done."""
    for i, name in enumerate(now.cue.who):
        begin = before + SECOND_AT_DOOR * i
        end = now.length - after - SECOND_AT_DOOR * (len(now.cue.who) - 1 - i)
        yield name, begin, end, min(1.0, max(0.0, (now.seconds - begin) / (end - begin)))


def _way(now: Now, x: float) -> float:
    return BEYOND + THRESHOLD + abs(x - _inside(now))


def _inside(now: Now) -> float:
    return now.cue.target + now.cue.side * ASIDE


def _on_the_way(
    now: Now, name: str, person: Person, share: float, *, out: bool = False
) -> dict[str, Pose]:
    """Pose a person who is `share` of the way from behind the wall to where `person` stands."""
    if share <= 0:
        return {}
    side, door = now.cue.side, now.cue.target
    gone = share * _way(now, person.x)
    seen = replace(person, posture="standing", facing=-side if out else side)
    pose = idle(name, seen, now.script.cast[name].height, now.time)
    if share >= 1:
        return {name: pose}
    pose = walk(pose, 0, side * _way(now, person.x), share, turn=False)
    through = min(1.0, max(0.0, (gone - BEYOND) / THRESHOLD))
    if gone < BEYOND:
        x = door - side * (BEYOND - gone)
    elif through < 1:
        x = door + side * ASIDE * through
    else:
        x = _inside(now) + math.copysign(gone - BEYOND - THRESHOLD, person.x - _inside(now))
    return {name: _shift(pose, x, 1 - through)}


def _shift(pose: Pose, x: float, depth: float) -> Pose:
    """Move a posed body, hands and all, to another place and depth."""
    moved = replace(pose, x=x, y=GROUND - DEEP * depth, depth=depth)
    dx, dy = moved.shoulder[0] - pose.shoulder[0], moved.shoulder[1] - pose.shoulder[1]
    far, near = pose.hands
    hands = far and (far[0] + dx, far[1] + dy), near and (near[0] + dx, near[1] + dy)
    return replace(moved, hands=hands)


def sit_down(now: Now, tableau: Tableau) -> Tableau:
    """They step to the seat, turn round and go down on it."""
    (name,) = now.cue.who
    pose, goal = tableau.poses[name], now.step.after.people[name]
    walked = now.between(0.0, 0.3)
    pose = walk(pose, pose.x, goal.x, walked)
    if walked == 1:
        down = now.between(0.36, 0.68)
        pose = replace(pose, facing=goal.facing, sit=down, lean=0.5 * math.sin(math.pi * down))
        pose = carry(pose, pose.holds)
    return tableau.pose({name: pose})


def stand_up(now: Now, tableau: Tableau) -> Tableau:
    """They lean forward and rise from the seat."""
    (name,) = now.cue.who
    pose = tableau.poses[name]
    up = now.between(0.3, 0.7)
    lean = 0.55 * now.between(0.1, 0.35) * (1 - now.between(0.45, 0.8))
    pose = replace(pose, sit=1 - up, lean=lean)
    pose = carry(pose, pose.holds)
    return tableau.pose({name: pose})


def dance(now: Now, tableau: Tableau) -> Tableau:
    """They step and sway to music, alone with arms in the air, or two hand in hand."""
    who = now.cue.who
    poses = _alone(now, tableau, who[0]) if len(who) == 1 else _hand_in_hand(now, tableau)
    x, y = poses[who[0]].head
    if len(who) > 1:
        x = (x + poses[who[1]].head[0]) / 2
    notes = tuple(
        Effect("music", (x + dx, y - 16), 1, (now.seconds * 0.55 + phase) % 1)
        for dx, phase in ((-19, 0.0), (17, 0.5))
    )
    return replace(tableau.pose(poses), effects=notes if now.within(0.08, 0.95) else ())


def _beat(now: Now) -> float:
    return now.seconds * 2 * math.pi * 0.9


def _hop(pose: Pose, now: Now, beat: float) -> Pose:
    """Bounce and lift the feet in turn."""
    much = swell(now.share, 0.12, 0.9)
    left, right = max(0.0, math.sin(beat)), max(0.0, -math.sin(beat))
    return replace(
        pose,
        sink=pose.sink + much * (2.5 + 2 * math.cos(2 * beat)),
        feet=((6.0, 7 * left * much), (-5.0, 7 * right * much)),
        mood="smile",
        lean=0.1 * math.sin(beat) * much,
    )


def _alone(now: Now, tableau: Tableau, name: str) -> dict[str, Pose]:
    beat, much = _beat(now), swell(now.share, 0.12, 0.9)
    pose = tableau.poses[name]
    turned = pose.facing * (1 if math.sin(beat / 4) >= 0 else -1)
    pose = replace(pose, x=pose.x + 5 * math.sin(beat / 2) * much, facing=turned)
    pose = _hop(pose, now, beat)
    swing = math.sin(beat)
    pose = hand(pose, pose.reach(21, 13 + 9 * swing), much, near=False)
    return {name: hand(pose, pose.reach(-21, 13 - 9 * swing), much)}


def _hand_in_hand(now: Now, tableau: Tableau) -> dict[str, Pose]:
    first, second = now.cue.who
    much, beat = swell(now.share, 0.15, 0.85), _beat(now)
    sway = 7 * math.sin(beat / 2) * much
    middle = (tableau.poses[first].x + tableau.poses[second].x) / 2 + sway
    poses = {}
    for name, lag in ((first, 0.0), (second, math.pi)):
        pose = tableau.poses[name]
        pose = replace(pose, x=pose.x + sway + 5 * pose.facing * much)
        pose = _hop(pose, now, beat + lag)
        lift = 10 + 9 * math.sin(beat / 2)
        pose = hand(pose, (middle, 88 - lift), much, near=False)
        poses[name] = hand(pose, (middle, 96 + lift * 0.4), much)
    return poses
