"""What two people do with each other, face to face."""

import math
from dataclasses import replace

from pipeline.sitcom.drawing.pose import Pose, hand, mix, swell
from pipeline.sitcom.drawing.tableau import Effect, Now, Tableau, carry_point, walk
from pipeline.sitcom.drawing.things import grip_on

HUGGED = 19.0
"""How far apart two people's hips are in a hug."""


def hug(now: Now, tableau: Tableau) -> Tableau:
    """They step up to each other, put their arms round each other, and part."""
    close = now.between(0.0, 0.24) * (1 - now.between(0.8, 1.0))
    one, two = now.cue.who
    apart, poses = tableau.poses[one].x - tableau.poses[two].x, {}
    for name in now.cue.who:
        pose = tableau.poses[name]
        gap = abs(apart) - HUGGED
        near = walk(pose, pose.x, pose.x + pose.facing * gap / 2, close, turn=False)
        rock = 0.05 * math.sin(now.seconds * 3.1) * close
        lean = 0.1 * close + rock * pose.facing
        poses[name] = replace(near, mood="smile", lean=lean, blink=close == 1)
    held = swell(now.share, 0.34, 0.72)
    hugged = {a: _embrace(poses[a], poses[b], held) for a, b in ((one, two), (two, one))}
    return tableau.pose(hugged)


def _embrace(pose: Pose, other: Pose, held: float) -> Pose:
    pose = hand(pose, other.reach(-7.5, -9), held)
    return hand(pose, other.reach(-6, -17), held, near=False)


def shake_hands(now: Now, tableau: Tableau) -> Tableau:
    """They stretch out a hand each, and shake."""
    met = swell(now.share, 0.28, 0.78)
    x, shoulder = _middle(now, tableau)
    spot = x, shoulder + 14 + 3.5 * math.sin(now.seconds * 2 * math.pi * 2.1) * (met == 1)
    poses = {}
    for name in now.cue.who:
        pose = replace(tableau.poses[name], mood="smile", lean=0.12 * met)
        poses[name] = hand(pose, spot, met)
    return tableau.pose(poses)


def hand_over(now: Now, tableau: Tableau) -> Tableau:
    """One holds a thing out, the other takes it."""
    giver, taker = now.cue.who
    x, shoulder = _middle(now, tableau)
    spot = x, shoulder + 14
    out = now.between(0.1, 0.36) * (1 - now.between(0.6, 0.85))
    there = now.between(0.22, 0.46) * (1 - now.between(0.62, 0.88))
    given = now.after(0.55)
    thing = str(now.cue.object)
    poses = {}
    for name, share, has_it in ((giver, out, not given), (taker, there, given)):
        pose = replace(tableau.poses[name], mood="smile", lean=0.15 * out)
        start = carry_point(pose) if has_it else pose.rest
        near = mix(start, grip_on(thing, spot, pose.facing), share)
        poses[name] = replace(pose, hands=(None, near), holds=thing if has_it else None)
    return tableau.pose(poses)


def argue(now: Now, tableau: Tableau) -> Tableau:
    """They shout at each other in turn, pointing and throwing up their hands."""
    much = swell(now.share, 0.12, 0.92)
    turn = int(now.seconds / 0.9) % 2
    poses, effects = {}, []
    for i, name in enumerate(now.cue.who):
        speaks = turn == i
        poses[name] = _quarrel(tableau.poses[name], now.seconds, much, speaks=speaks)
        if speaks and now.within(0.06, 0.96):
            x, y = poses[name].head
            effects.append(Effect("anger", (x, y - 17), poses[name].facing, now.seconds * 3 % 1))
    return replace(tableau.pose(poses), effects=tuple(effects))


def _quarrel(pose: Pose, seconds: float, much: float, *, speaks: bool) -> Pose:
    shake = math.sin(seconds * 15)
    pose = replace(pose, mood="shout", beat=(0.55 + 0.45 * shake) if speaks else 0.0)
    if speaks:
        pose = replace(pose, lean=0.2 * much)
        pose = hand(pose, pose.reach(27, 1 + 3 * shake), much)
        return hand(pose, pose.reach(-6, -16), much, near=False)
    pose = replace(pose, lean=-0.08 * much)
    pose = hand(pose, pose.reach(13, -5 + 2 * shake), much)
    return hand(pose, pose.reach(16, -3 - 2 * shake), much, near=False)


def _middle(now: Now, tableau: Tableau) -> tuple[float, float]:
    """Return the middle between two people, and how high their shoulders are there."""
    one, two = (tableau.poses[name] for name in now.cue.who)
    return (one.x + two.x) / 2, (one.shoulder[1] + two.shoulder[1]) / 2
