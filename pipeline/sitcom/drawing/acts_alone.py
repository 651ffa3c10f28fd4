"""What one person does with their hands: drinks, things on the table, doors, papers, phones."""

import math
from dataclasses import replace

from pipeline.sitcom.drawing.furniture import FIXTURES
from pipeline.sitcom.drawing.pose import Pose, hand, mix, swell
from pipeline.sitcom.drawing.tableau import (
    Effect,
    Now,
    Tableau,
    carry_point,
    list_things_on_table,
    slot_at,
    walk,
)
from pipeline.sitcom.drawing.things import CUP_STANDS, grip_on, spout

ARRIVED = 0.28
"""The share of a moment by which its actor has reached the table or the window."""


def _approach(now: Now, tableau: Tableau, lean: float, begin: float, end: float) -> Pose:
    """Pose the actor coming up to the target, then leaning over it between two shares."""
    name, goal = now.cue.who[0], now.step.after.people[now.cue.who[0]]
    pose = tableau.poses[name]
    pose = walk(pose, pose.x, goal.x, now.between(0.0, ARRIVED))
    if not now.after(ARRIVED):
        return pose
    much = now.between(begin - 0.12, begin) * (1 - now.between(end, end + 0.15))
    return replace(pose, facing=goal.facing, lean=lean * much, hands=(None, None))


def put_down(now: Now, tableau: Tableau) -> Tableau:
    """They come up to the table and set down what they carry."""
    name, thing = now.cue.who[0], str(now.cue.object)
    pose = _approach(now, tableau, 0.3, 0.5, 0.68)
    spot = grip_on(thing, slot_at(now.place, now.cue.slot, thing), -now.cue.side)
    if now.after(0.64):
        released = mix(spot, pose.rest, now.between(0.66, 0.9))
        pose = replace(pose, holds=None, hands=(None, released))
        tableau = replace(tableau, laid=list_things_on_table(now.place, now.step.after))
    elif now.after(ARRIVED):
        pose = replace(pose, hands=(None, mix(carry_point(pose), spot, now.between(0.34, 0.6))))
    return tableau.pose({name: pose})


def pick_up(now: Now, tableau: Tableau) -> Tableau:
    """They come up to the table, reach for a thing and take it."""
    name, thing = now.cue.who[0], str(now.cue.object)
    pose = _approach(now, tableau, 0.3, 0.45, 0.6)
    spot = grip_on(thing, slot_at(now.place, now.cue.slot, thing), -now.cue.side)
    if now.after(0.54):
        lifted = mix(spot, carry_point(pose), now.between(0.56, 0.85))
        pose = replace(pose, holds=thing, hands=(None, lifted))
        tableau = replace(tableau, laid=list_things_on_table(now.place, now.step.after))
    elif now.after(ARRIVED):
        pose = replace(pose, hands=(None, mix(pose.rest, spot, now.between(0.3, 0.5))))
    return tableau.pose({name: pose})


def pour(now: Now, tableau: Tableau) -> Tableau:
    """They take the pot from the table and fill the cup from it."""
    pose, pot = _approach(now, tableau, 0.22, 0.36, 0.86), tableau.pot
    if pot is None or not now.after(ARRIVED):
        return tableau.pose({now.cue.who[0]: pose})
    tilt = 1.0 * now.between(0.46, 0.54) * (1 - now.between(0.78, 0.84))
    lift = now.between(0.38, 0.46) * (1 - now.between(0.84, 0.9))
    nose = spout((0.0, 0.0), 1.0)
    above = pot.cup[0] - nose[0], pot.cup[1] - 3 * CUP_STANDS - nose[1]
    at = mix(pot.at, above, lift)
    reach = now.between(0.26, 0.37) * (1 - now.between(0.9, 1.0))
    pose = hand(pose, at, reach)
    tip = spout(at, tilt)
    stream = Effect("stream", tip, 1, pot.cup[1], drink=pot.drink)
    pot = replace(pot, at=at, tilt=tilt, level=now.between(0.54, 0.8))
    posed = tableau.pose({now.cue.who[0]: pose})
    return replace(posed, pot=pot, effects=(stream,) if now.within(0.54, 0.79) else ())


def drink(now: Now, tableau: Tableau) -> Tableau:
    """They lift the cup to the mouth twice, and tilt the head back."""
    name = now.cue.who[0]
    pose = tableau.poses[name]
    up = max(swell((now.share - 0.08) / 0.5, 0.35, 0.7), swell((now.share - 0.55) / 0.4, 0.35, 0.7))
    pose = replace(pose, nod=-0.28 * up, blink=pose.blink or up == 1)
    lip = pose.ahead(pose.mouth, 4.5, 2.5)
    pose = replace(pose, tilt=-0.95 * up, hands=(pose.hands[0], mix(carry_point(pose), lip, up)))
    return tableau.pose({name: pose})


def phone(now: Now, tableau: Tableau) -> Tableau:
    """They take the phone out, talk with it at the ear, and put it back."""
    name = now.cue.who[0]
    up = swell(now.share, 0.2, 0.86)
    talks = math.sin(now.seconds * 2.1) + 0.45 > 0 and up == 1
    pose = replace(tableau.poses[name], nod=0.05 * math.sin(now.seconds * 2.4))
    if talks:
        pose = replace(pose, mood="talk", beat=0.5 + 0.5 * math.sin(now.seconds * 13))
    ear = pose.ahead(pose.head, -2.0, -2.5)
    pocket = pose.ahead(pose.hips, 0.0, 2.0)
    pose = replace(pose, hands=(pose.hands[0], mix(pocket, ear, up)), tilt=0.25)
    pose = replace(pose, holds="phone" if now.within(0.04, 0.97) else None)
    if not pose.sit:
        gesture = pose.reach(15 + 4 * math.sin(now.seconds * 3), -9 + 5 * math.sin(now.seconds * 4))
        pose = hand(pose, gesture, 0.9 * up, near=False)
    sound = Effect("sound", ear, -pose.facing, now.seconds * 1.3 % 1)
    return replace(tableau.pose({name: pose}), effects=(sound,) if up == 1 else ())


def read(now: Now, tableau: Tableau) -> Tableau:
    """They hold a paper up with both hands, look down at it, and turn a page."""
    name = now.cue.who[0]
    up = swell(now.share, 0.14, 0.9)
    pose = replace(tableau.poses[name], nod=0.3 * up, blink=False)
    held = mix(carry_point(pose), pose.reach(15, -8), up)
    page = math.sin(math.pi * min(1.0, max(0.0, (now.share - 0.5) / 0.2)))
    far = pose.ahead(held, 9 - 12 * page, -1 + 6 * page)
    pose = replace(pose, open=now.within(0.08, 0.94), hands=(None, held))
    pose = hand(pose, far, up, near=False)
    sway = 0.03 * math.sin(now.seconds * 1.7)
    return tableau.pose({name: replace(pose, tilt=(sway - 0.12) * up)})


def wave(now: Now, tableau: Tableau) -> Tableau:
    """They lift an arm high and wave; the people they greet look on with a smile."""
    up = swell(now.share, 0.18, 0.85)
    poses = {name: replace(tableau.poses[name], mood="smile") for name in now.cue.who}
    first = now.cue.who[0]
    swing = math.sin(now.seconds * 2 * math.pi * 1.9)
    pose = poses[first]
    poses[first] = hand(pose, pose.reach(18 + 7 * swing, 21 - 2 * abs(swing)), up, near=False)
    return tableau.pose(poses)


def opening(now: Now, tableau: Tableau) -> Tableau:
    """They walk up to a window, fridge or cupboard, take hold of it and open it."""
    return _turn(now, tableau, now.between(0.45, 0.8))


def close(now: Now, tableau: Tableau) -> Tableau:
    """They walk up to a fixture that is open, take hold of it and shut it."""
    return _turn(now, tableau, 1 - now.between(0.45, 0.8))


def _turn(now: Now, tableau: Tableau, share: float) -> Tableau:
    cue = now.cue
    pose = _approach(now, tableau, 0.22, 0.4, 0.8)
    if now.after(ARRIVED):
        reach = now.between(0.3, 0.44) * (1 - now.between(0.82, 0.97))
        ahead, height = FIXTURES[str(cue.object)].handle
        pose = hand(pose, (cue.target + cue.side * (ahead + 9 * share), height), reach)
    fixtures = {**tableau.fixtures, str(cue.object): share}
    return replace(tableau.pose({cue.who[0]: pose}), fixtures=fixtures)
