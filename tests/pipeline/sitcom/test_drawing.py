"""Drawing: every action is seen, its people are there, and the frame says its number."""

import math
import subprocess
from dataclasses import replace
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import read_frame_number, read_video
from PIL import Image, ImageColor

from pipeline.sitcom.drawing.acts import ACTS, HANDLES
from pipeline.sitcom.drawing.brush import SHAPES
from pipeline.sitcom.drawing.frame import FIXTURES, Painter, frame_size, tableau_at
from pipeline.sitcom.drawing.people import DRINKS, bend
from pipeline.sitcom.drawing.pose import ARM, GROUND, Pose
from pipeline.sitcom.drawing.strip import paint_strip
from pipeline.sitcom.screenplay import (
    SCREENPLAY,
    ActionName,
    Decor,
    Drink,
    Extra,
    Fixture,
    Gender,
    Hair,
    Outfit,
    Pattern,
    Portable,
    Seat,
    load_screenplay,
)
from pipeline.sitcom.staging.schedule import Plot
from pipeline.video import ffmpeg

HEIGHT, FPS = 180, 12
SCRIPT = load_screenplay(Path(__file__).parents[3] / SCREENPLAY)
TAKES = list(Plot(SCRIPT, 2024, FPS).takes(24))
MOMENTS = [(take, step) for take in TAKES for step in take.steps if step.cue]


def list_steps(action):
    return [(take, step) for take, step in MOMENTS if step.cue.action == action]


def choose_frame(step, share):
    """Return the frame that is `share` of the way through a step."""
    return step.first + int(share * (step.last - step.first))


def count_near(frame, colour, tolerance=26):
    """Count the pixels of a frame that are about of a colour."""
    distance = np.abs(frame.astype(int) - np.array(ImageColor.getrgb(colour))).max(axis=2)
    return int((distance <= tolerance).sum())


def test_all_that_a_screenplay_may_name_can_be_drawn():
    assert set(ACTS) == set(get_args(ActionName)) == set(SCRIPT.actions)
    assert set(SHAPES["furniture"]) >= {*get_args(Decor), *get_args(Seat), *get_args(Fixture)}
    assert set(SHAPES["hair"]) == set(get_args(Hair))
    assert set(SHAPES["skirts"]) == set(get_args(Outfit))
    assert set(SHAPES["faces"]) | set(SHAPES["bodies"]) >= {*get_args(Extra), *get_args(Gender)}
    assert set(FIXTURES) == set(HANDLES) == set(get_args(Fixture))
    assert set(SHAPES["walls"]) == set(get_args(Pattern))
    assert set(DRINKS) == set(get_args(Drink))
    assert set(SHAPES["things"]) == {*get_args(Portable), "phone", "pot", "stream"}
    assert set(SHAPES["opened"]) == set(SCRIPT.action("read").objects)


def test_no_two_characters_look_alike():
    for (first, a), (second, b) in combinations(SCRIPT.cast.items(), 2):
        clothes = math.dist(ImageColor.getrgb(a.top), ImageColor.getrgb(b.top))
        assert clothes > 45, f"{first} and {second} wear the same colour"
        look = ("hair", "hair_colour", "skin", "outfit", "wears")
        assert sum(getattr(a, part) != getattr(b, part) for part in look) >= 2, (first, second)


def test_women_and_men_are_told_apart_at_a_glance():
    hair, clothes = {}, {}
    for character in SCRIPT.cast.values():
        hair.setdefault(character.gender, set()).add(character.hair)
        clothes.setdefault(character.gender, set()).add(character.outfit)
    for looks in (hair, clothes):
        for first, second in combinations(looks, 2):
            assert not looks[first] & looks[second]


def farthest(track):
    """Return how far any part of a body gets from where it was first."""
    return max(
        math.dist(first, part)
        for later in track
        for first, part in zip(track[0], later, strict=True)
    )


@pytest.mark.parametrize("action", sorted(ACTS))
def test_an_action_moves_its_people_more_than_those_who_look_on(action):
    for take, step in list_steps(action)[:4]:
        tracks = {}
        for number in range(step.first, step.last):
            for name, pose in tableau_at(SCRIPT, take, number).poses.items():
                parts = (pose.hips, pose.head, pose.hand(near=False), pose.hand())
                tracks.setdefault(name, []).append(parts)
        swept = {name: farthest(track) for name, track in tracks.items()}
        movers = step.cue.who[:1] if action == "wave" else step.cue.who
        assert all(swept[name] > 9 for name in movers), (action, swept)
        assert all(sweep < 2 for name, sweep in swept.items() if name not in step.cue.who), swept


@pytest.mark.parametrize("action", sorted(ACTS))
def test_an_action_goes_on_smoothly_from_and_to_the_steps_beside_it(action):
    """Nobody jumps: from one frame to the next a body moves less than a stride."""
    for take, step in list_steps(action)[:4]:
        before = tableau_at(SCRIPT, take, step.first - 1).poses
        for number in range(step.first, step.last + 1):
            poses = tableau_at(SCRIPT, take, number).poses
            for name in before.keys() & poses.keys():
                earlier, later = before[name], poses[name]
                assert math.dist(earlier.hips, later.hips) < 12, (take.name, number)
                if earlier.holds == later.holds and later.holds:
                    hands = [pose.hand() for pose in (earlier, later)]
                    turned = earlier.facing != later.facing
                    assert turned or math.dist(*hands) < 16, (take.name, number)
            before = poses


def test_those_who_are_described_are_in_the_frame():
    for take in TAKES:
        painter = Painter(SCRIPT, take, HEIGHT)
        for step in take.steps:
            if step.cue is None:
                continue
            share = {"enter": 0.99, "leave": 0.0}.get(step.cue.action, 0.5)
            tableau = tableau_at(SCRIPT, take, choose_frame(step, share))
            frame = painter.frame(choose_frame(step, share))[:160]
            for name in step.cue.who:
                others = {n: pose for n, pose in tableau.poses.items() if n != name}
                without = painter.paint(replace(tableau, poses=others, things=[], signs=[]))
                colour = SCRIPT.cast[name].top
                rest = count_near(np.asarray(without.reduce(2))[:160], colour)
                assert count_near(frame, colour) - rest > 60, (take.name, step.cue, name)


def test_one_who_has_left_is_gone_and_one_who_comes_was_not_there():
    for take, step in list_steps("leave"):
        assert not set(step.cue.who) & set(tableau_at(SCRIPT, take, step.last - 1).poses)
    for take, step in list_steps("enter"):
        assert not set(step.cue.who) & set(tableau_at(SCRIPT, take, step.first).poses)


def test_a_thing_handed_over_changes_hands_once():
    for take, step in list_steps("hand_over"):
        giver, taker = step.cue.who
        poses = [tableau_at(SCRIPT, take, n).poses for n in range(step.first, step.last)]
        holders = [(p[giver].holds, p[taker].holds) for p in poses]
        thing = step.cue.object
        assert set(holders) == {(thing, None), (None, thing)}
        assert sum(a != b for a, b in pairwise(holders)) == 1


@pytest.mark.parametrize(
    ("action", "held"), [("put_down", [True, False]), ("pick_up", [False, True])]
)
def test_a_thing_is_in_the_hand_or_on_the_table_never_both(action, held):
    for take, step in list_steps(action):
        tableaux = [tableau_at(SCRIPT, take, n) for n in range(step.first, step.last)]
        hand = [tableau.poses[step.cue.who[0]].holds == step.cue.object for tableau in tableaux]
        assert [key for key, _ in groupby(hand)] == held
        assert (
            len({len(scene.things) + held for scene, held in zip(tableaux, hand, strict=True)}) == 1
        )


def test_what_is_held_is_within_reach():
    """A hand that can't get where its thing is would leave it in the air."""
    for take in TAKES:
        for number in range(0, take.frames, 5):
            for name, pose in tableau_at(SCRIPT, take, number).poses.items():
                if pose.holds:
                    far = math.dist(pose.shoulder, pose.hand())
                    assert far < (ARM + 6) * pose.scale, (take.name, number, name)


def test_feet_are_on_the_ground():
    for take in TAKES:
        for number in range(0, take.frames, 7):
            for pose in tableau_at(SCRIPT, take, number).poses.values():
                assert min(up for _, up in pose.feet) < 0.6
                assert pose.depth or pose.y == GROUND


def test_a_door_is_open_while_somebody_is_in_it():
    for take, step in list_steps("enter") + list_steps("leave"):
        for number in range(step.first, step.last):
            tableau = tableau_at(SCRIPT, take, number)
            if any(0.3 < tableau.poses[n].depth < 1 for n in step.cue.who if n in tableau.poses):
                assert tableau.fixtures["door"] > 0.6


def test_coffee_is_poured_after_the_pot_is_lifted_and_fills_the_cup():
    for take, step in list_steps("pour"):
        shown = [
            tableau_at(SCRIPT, take, choose_frame(step, share)) for share in (0.28, 0.66, 0.99)
        ]
        (*_, cup, pot), (*_, lifted, stream), (*_, filled, _) = [scene.things for scene in shown]
        assert (cup.drink, filled.drink) == (None, step.cue.object)
        assert lifted.at[1] < pot.at[1] - 5
        assert stream.name == "stream"


@given(st.tuples(st.floats(-40, 40), st.floats(-40, 40)), st.sampled_from([-1, 1]))
def test_bones_keep_their_length(goal, turn):
    joint, end = bend((0.0, 0.0), goal, 15.0, turn)
    if math.hypot(*goal) > 1.5:
        assert math.dist((0, 0), joint) == pytest.approx(15, abs=0.3)
        assert math.dist(joint, end) == pytest.approx(15, abs=0.3)


def test_a_pose_is_mirrored_when_it_faces_the_other_way():
    right, left = Pose(100, 1, 0.9, lean=0.3), Pose(100, -1, 0.9, lean=0.3)
    assert right.hand()[0] - 100 == pytest.approx(100 - left.hand()[0])
    assert right.hand()[1] == pytest.approx(left.hand()[1])


def test_the_same_frame_is_the_same_pixels():
    take = TAKES[0]
    again = Painter(SCRIPT, next(Plot(SCRIPT, 2024, FPS).takes(24)), HEIGHT)
    assert np.array_equal(Painter(SCRIPT, take, HEIGHT).frame(50), again.frame(50))


@pytest.mark.parametrize("height", [120, 180, 240, 360])
def test_a_frame_has_the_size_that_was_asked_for(height):
    width, _ = frame_size(height)
    frame = Painter(SCRIPT, TAKES[0], height).frame(200)
    assert frame.shape == (height, width, 3)
    assert width % 2 == 0
    assert abs(width / height - 16 / 9) < 0.02
    assert read_frame_number(frame) == 200


# The strip below the picture.


def strip(number, height=HEIGHT):
    image = Image.new("RGB", frame_size(height), (90, 200, 40))
    paint_strip(image, number, FPS)
    return np.asarray(image)


@given(st.integers(0, 2**16 - 1), st.sampled_from([120, 180, 202, 360]))
def test_the_number_on_a_frame_is_read_back(number, height):
    assert read_frame_number(strip(number, height)) == number


def test_the_number_survives_the_codec(tmp_path):
    numbers = [0, 1, 2, 3, 255, 256, 21845, 43690, 65535, 32768, 4095]
    ffmpeg.write_video(tmp_path / "a.mp4", map(strip, numbers), frame_size(HEIGHT), FPS)
    decoded = read_video(tmp_path / "a.mp4", frame_size(HEIGHT))
    assert [read_frame_number(frame) for frame in decoded] == numbers


def test_the_number_survives_being_made_small_and_bad(tmp_path):
    """As a clip may be: another codec run at its worst, half as large."""
    take = TAKES[1]
    painter = Painter(SCRIPT, take, HEIGHT)
    original, bad = tmp_path / "a.mp4", tmp_path / "b.mp4"
    ffmpeg.write_video(original, map(painter.frame, range(30, 70)), frame_size(HEIGHT), FPS)
    worst = ["-vf", "scale=160:90", "-c:v", "libx264", "-crf", "36", str(bad)]
    command = [ffmpeg.ffmpeg(), "-loglevel", "error", "-i", str(original), *worst]
    subprocess.run(command, check=True)
    numbers = [read_frame_number(frame) for frame in read_video(bad, (160, 90))]
    assert numbers == list(range(30, 70))


def test_a_frame_without_a_number_is_refused():
    with pytest.raises(ValueError, match="bit 0 of the frame number"):
        read_frame_number(np.full((180, 320, 3), 128, np.uint8))


def test_the_clock_is_inside_the_strip_and_left_of_the_blocks():
    first, last = strip(0), strip(599)
    changed = np.argwhere((first[:, :110] != last[:, :110]).any(axis=2))
    assert len(changed) > 20
    assert changed[:, 0].min() >= 164
    assert changed[:, 1].max() < 108
