"""Acts: what people do in a moment, as changes of the tableau in which they do nothing."""

import math
from collections.abc import Callable

from pipeline.sitcom.drawing.people import GRIP
from pipeline.sitcom.drawing.pose import GROUND, Pose, ease, mix
from pipeline.sitcom.drawing.tableau import Item, Now, Tableau, slot_at, still
from pipeline.sitcom.staging.schedule import SECOND_AT_DOOR

ARRIVED = 0.28
"""The share of a moment by which its actor has reached the table or the window."""
CHANGES_HANDS = 0.55
"""The share of a moment at which a thing is in another hand, or on the table."""
BEYOND, THRESHOLD, DEEP = 30.0, 26.0, 21.0
"""How far people walk behind the door, and through it, and how much higher its floor is."""
HANDLES = {"door": (12, 84), "window": (3, 79), "fridge": (11, 96), "cupboard": (3, 92)}
"""How far a handle is from the middle, on the actor's side, and from the top of the stage."""
POURED_FROM, SPOUT = (-15.0, -31.0), (15.0, 10.0)
"""Where the pot's handle is held to fill a cup, from the cup's foot, and its spout from there."""
HUGGED = 19.0
"""How far apart two people's hips are in a hug."""


def _approach(now: Now, tableau: Tableau) -> Pose:
    """Pose the actor coming up to the target, then leaning over it."""
    name = now.cue.who[0]
    pose, goal = tableau.poses[name], now.step.after.people[name]
    pose.walk(pose.x, goal.x, now.between(0, ARRIVED))
    if now.within(ARRIVED):
        pose.facing = goal.facing
    pose.lean = 0.26 * now.during(0.3, 0.42, 0.7, 0.88)
    return pose


def move_thing(now: Now, tableau: Tableau) -> None:
    """They come up to the table, and set down what they carry or take what lies there."""
    pose, slot = _approach(now, tableau), slot_at(now.place, now.cue.slot)
    if now.within(CHANGES_HANDS):
        tableau.things = still(now, now.step.after).things
        pose.holds = now.step.after.people[now.cue.who[0]].holds
    if now.within(ARRIVED):
        spot = slot[0] - pose.facing * GRIP[0], slot[1] - GRIP[1]
        pose.move_hand(spot, now.during(0.3, 0.5, 0.6, 0.85))


def pour(now: Now, tableau: Tableau) -> None:
    """They take the pot from the table and fill the cup from it."""
    pose, (*laid, cup, pot) = _approach(now, tableau), tableau.things
    above = cup.at[0] + POURED_FROM[0], cup.at[1] + POURED_FROM[1]
    at = mix(pot.at, above, now.during(0.38, 0.46, 0.84, 0.9))
    tableau.things = [
        *laid,
        cup._replace(drink=pot.drink if now.within(0.7) else None),
        pot._replace(at=at, tilt=now.during(0.46, 0.54, 0.78, 0.84)),
    ]
    if now.within(0.54, 0.79):
        spout = at[0] + SPOUT[0], at[1] + SPOUT[1]
        tableau.things.append(Item("stream", spout, drink=pot.drink))
    pose.move_hand(at, now.during(ARRIVED, 0.37, 0.9, 1))


def drink(now: Now, tableau: Tableau) -> None:
    """They lift the cup to the mouth twice, and tilt the head back."""
    pose = tableau.poses[now.cue.who[0]]
    up = max(now.during(0.08, 0.26, 0.42, 0.56), now.during(0.56, 0.7, 0.82, 0.96))
    pose.nod, pose.tilt = -0.28 * up, -0.95 * up
    pose.move_hand(pose.ahead(pose.head, 8, -7), up)


def phone(now: Now, tableau: Tableau) -> None:
    """They take the phone out, talk with it at the ear, and put it back."""
    pose, up = tableau.poses[now.cue.who[0]], now.during(0, 0.2, 0.86, 1)
    pose.nod, pose.tilt = 0.05 * math.sin(now.seconds * 2.4), 0.25
    pose.hands[1] = mix(pose.hips, pose.ahead(pose.head, -2, -2.5), up)
    pose.holds = "phone" if now.within(0.04, 0.97) else None
    if not pose.sit:
        gesture = pose.reach(15 + 4 * math.sin(now.seconds * 3), -9)
        pose.move_hand(gesture, 0.9 * up, near=False)
    if up == 1:
        pose.mood = "talk" if math.sin(now.seconds * 13) > 0 else "calm"
        tableau.signs = [Item("sound", pose.head, -pose.facing, size=1 + now.seconds % 0.3)]


def read(now: Now, tableau: Tableau) -> None:
    """They hold a paper up with both hands and look down at it."""
    pose, up = tableau.poses[now.cue.who[0]], now.during(0, 0.14, 0.9, 1)
    pose.reads, pose.nod, pose.tilt = now.within(0.08, 0.94), 0.3 * up, -0.12 * up
    pose.move_hand(pose.reach(15, -8 + math.sin(now.seconds * 1.7)), up)
    pose.move_hand(pose.ahead(pose.hand(), 9, -1), up, near=False)


def wave(now: Now, tableau: Tableau) -> None:
    """They lift an arm high and wave; the people they greet look on with a smile."""
    for name in now.cue.who:
        tableau.poses[name].mood = "smile"
    pose, swing = tableau.poses[now.cue.who[0]], math.sin(now.seconds * 12)
    pose.move_hand(pose.reach(18 + 7 * swing, 21), now.during(0, 0.18, 0.85, 1), near=False)


def use_fixture(now: Now, tableau: Tableau) -> None:
    """They walk up to a window, fridge, cupboard or door, take hold of it and open or shut it."""
    pose, name, opened = _approach(now, tableau), str(now.cue.object), now.between(0.45, 0.8)
    tableau.fixtures[name] = 1 - opened if name in now.step.before.ajar else opened
    ahead, height = HANDLES[name]
    handle = now.cue.target + now.cue.side * (ahead + 9 * tableau.fixtures[name]), height
    pose.move_hand(handle, now.during(0.3, 0.44, 0.82, 0.97))


def use_door(now: Now, tableau: Tableau) -> None:
    """The door opens, they come in or leave one after the other, and it closes behind them."""
    leaves, side = now.cue.action == "leave", now.cue.side
    present = now.step.before if leaves else now.step.after
    spare = 0.8 + SECOND_AT_DOOR * (len(now.cue.who) - 1)
    for i, name in enumerate(now.cue.who):
        share = (now.seconds - 0.3 - SECOND_AT_DOOR * i) / (now.length - spare)
        tableau.poses.pop(name, None)
        if share < 1 if leaves else share > 0:
            pose = tableau.poses[name] = still(now, present).poses[name]
            if 0 < share < 1:
                _walk_through(pose, now.cue.target, side, share, leaves=leaves)
    shut = ease(now.seconds, now.length - 0.55, now.length - 0.1)
    tableau.fixtures["door"] = ease(now.seconds, 0, 0.45) - shut


def _walk_through(pose: Pose, door: float, side: int, share: float, *, leaves: bool) -> None:
    """Put a body `share` of the way between behind the wall and where it stands."""
    inside = abs(pose.x - door)
    distance = BEYOND + THRESHOLD + inside
    gone = distance * (1 - share if leaves else share)
    pose.x = door + side * (max(0.0, gone - BEYOND - THRESHOLD) - max(0.0, BEYOND - gone))
    pose.depth = 1 - min(1.0, max(0.0, (gone - BEYOND) / THRESHOLD))
    pose.y = GROUND - DEEP * pose.depth
    pose.facing = -side if leaves else side
    pose.stride(gone, distance)


def sit_down(now: Now, tableau: Tableau) -> None:
    """They step to the seat, turn round and go down on it."""
    name = now.cue.who[0]
    pose, goal = tableau.poses[name], now.step.after.people[name]
    walked, pose.sit = now.between(0, 0.3), now.between(0.36, 0.68)
    pose.walk(pose.x, goal.x, walked)
    if walked == 1:
        pose.facing, pose.lean = goal.facing, 0.5 * math.sin(math.pi * pose.sit)


def stand_up(now: Now, tableau: Tableau) -> None:
    """They lean forward and rise from the seat."""
    pose = tableau.poses[now.cue.who[0]]
    pose.sit, pose.lean = 1 - now.between(0.3, 0.7), 0.55 * now.during(0.1, 0.35, 0.45, 0.8)


def dance(now: Now, tableau: Tableau) -> None:
    """They step and sway to music, alone with arms in the air, or two hand in hand."""
    poses, much = [tableau.poses[name] for name in now.cue.who], now.during(0, 0.14, 0.88, 1)
    beat = now.seconds * 5.6
    middle = sum(pose.x for pose in poses) / len(poses) + 7 * math.sin(beat / 2) * much
    for pose, step in zip(poses, (math.sin(beat), -math.sin(beat)), strict=False):
        pose.x += 7 * math.sin(beat / 2) * much
        pose.sink += much * (2.5 + 2 * math.cos(2 * beat))
        pose.feet = (6.0, 7 * max(0.0, step) * much), (-5.0, 7 * max(0.0, -step) * much)
        pose.mood, pose.lean = "smile", 0.1 * step * much
        if len(poses) > 1:
            pose.x += 5 * pose.facing * much
            pose.move_hand((middle, 84 - 8 * step), much, near=False)
            pose.move_hand((middle, 98 + 4 * step), much)
        else:
            pose.move_hand(pose.reach(21, 13 + 9 * step), much, near=False)
            pose.move_hand(pose.reach(-21, 13 - 9 * step), much)
    if now.within(0.08, 0.95):
        tableau.signs = [Item("music", (middle, poses[0].head[1] - 4 * (now.seconds % 1)))]


def hug(now: Now, tableau: Tableau) -> None:
    """They step up to each other, put their arms round each other, and part."""
    one, two = (tableau.poses[name] for name in now.cue.who)
    close, held = now.during(0, 0.24, 0.8, 1), now.during(0, 0.34, 0.72, 1)
    gap = abs(one.x - two.x) - HUGGED
    for pose in (one, two):
        pose.x += pose.facing * gap / 2 * close
        pose.mood, pose.blink = "smile", close == 1
        pose.lean = close * (0.1 + 0.05 * math.sin(now.seconds * 3.1) * pose.facing)
    for pose, other in ((one, two), (two, one)):
        pose.move_hand(other.reach(-7.5, -9), held)
        pose.move_hand(other.reach(-6, -17), held, near=False)


def meet_hands(now: Now, tableau: Tableau) -> None:
    """They stretch out a hand each, and shake; or one gives the other what it holds."""
    thing = now.cue.object
    one, two = (tableau.poses[name] for name in now.cue.who)
    out = now.during(0.08, 0.3, 0.75, 0.92)
    height = (one.shoulder[1] + two.shoulder[1]) / 2 + 14
    height += 3.5 * math.sin(now.seconds * 13) * (out == 1 and not thing)
    spot = (one.x + two.x) / 2, height
    if now.within(CHANGES_HANDS):
        one.holds, two.holds = two.holds, one.holds
    for pose in (one, two):
        pose.mood, pose.lean = "smile", 0.14 * out
        pose.move_hand((spot[0] - pose.facing * GRIP[0] * bool(thing), spot[1]), out)


def argue(now: Now, tableau: Tableau) -> None:
    """They shout at each other in turn, pointing and throwing up their hands."""
    much, shake = now.during(0, 0.12, 0.92, 1), math.sin(now.seconds * 15)
    for i, name in enumerate(now.cue.who):
        pose, speaks = tableau.poses[name], int(now.seconds / 0.9) % 2 == i
        pose.mood, pose.lean = "shout", (0.2 if speaks else -0.08) * much
        near, far = ((27, 1 + 3 * shake), (-6, -16)) if speaks else ((13, -5 + 2 * shake), (16, -3))
        pose.move_hand(pose.reach(*near), much)
        pose.move_hand(pose.reach(*far), much, near=False)
        if speaks and now.within(0.06, 0.96):
            tableau.signs = [Item("anger", pose.head, pose.facing, size=1 + 0.05 * shake)]


ACTS: dict[str, Callable[[Now, Tableau], None]] = {
    "enter": use_door, "leave": use_door, "sit_down": sit_down, "stand_up": stand_up,
    "pour": pour, "drink": drink, "put_down": move_thing, "pick_up": move_thing,
    "hand_over": meet_hands, "read": read, "open": use_fixture, "close": use_fixture,
    "phone": phone, "argue": argue, "wave": wave, "hug": hug, "shake_hands": meet_hands,
    "dance": dance,
}  # fmt: skip
