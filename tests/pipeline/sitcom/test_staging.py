"""Staging: whatever the seed, what is planned can happen, and can be seen."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.sitcom.screenplay import SCREENPLAY, load_screenplay
from pipeline.sitcom.staging.schedule import Plot, StagingError
from pipeline.sitcom.staging.world import WIDTH

FPS = 12
SCRIPT = load_screenplay(Path(__file__).parents[3] / SCREENPLAY)


def plan(seed, videos=2, script=SCRIPT):
    return list(Plot(script, seed, FPS).takes(videos))


@cache
def takes():
    return [take for seed in range(30) for take in plan(seed)]


def worlds(take):
    return [world for step in take.steps for world in (step.before, step.after)]


def cues(take):
    return [step for step in take.steps if step.cue]


def test_steps_follow_each_other_without_a_gap():
    for take in takes():
        assert take.steps[0].first == 0
        for earlier, later in pairwise(take.steps):
            assert earlier.last == later.first
            assert earlier.after == later.before
        assert all(step.first < step.last for step in take.steps)


def test_videos_last_20_to_60_seconds_and_moments_2_to_8():
    for take in takes():
        assert 20 <= take.seconds <= 60
        assert 4 <= len(cues(take)) <= 7
        assert all(2 <= (step.last - step.first) / FPS <= 8 for step in cues(take))


def test_moments_do_not_touch():
    for take in takes():
        for earlier, later in pairwise(cues(take)):
            assert later.first - earlier.last >= FPS // 2


def test_things_neither_vanish_nor_appear():
    """What is carried and laid down stays the same, pots and phones aside."""
    for take in takes():
        counts = [
            sorted(
                thing
                for thing in (*world.table, *(p.holds for p in world.people.values()))
                if thing
            )
            for world in worlds(take)
        ]
        assert all(count == counts[0] for count in counts)


def test_nobody_leaves_the_stage_but_by_the_door_or_sits_on_another():
    for take in takes():
        spots = SCRIPT.places[take.place].spots
        for world in worlds(take):
            seats = [p.seat for p in world.people.values() if p.posture == "seated"]
            assert len(set(seats)) == len(seats)
            for person in world.people.values():
                assert 0 <= person.x <= WIDTH
                if person.posture == "seated":
                    assert person.x == spots[person.seat][1]
        for step in take.steps:
            for name, person in step.before.people.items():
                if person.present is not step.after.people[name].present:
                    assert step.cue.action in {"enter", "leave"}
                    assert name in step.cue.who


def test_nobody_hides_another_when_a_moment_begins():
    for take in takes():
        for step in cues(take):
            present = sorted(p.x for p in step.before.people.values() if p.present)
            assert all(right - left >= 28 for left, right in pairwise(present)), step


def test_nobody_stands_between_two_who_act_together():
    for take in takes():
        for step in cues(take):
            people = step.before.people
            low, *_, high = sorted(people[name].x for name in (*step.cue.who, *step.cue.who))
            others = [p.x for name, p in people.items() if p.present and name not in step.cue.who]
            if all(people[name].present for name in step.cue.who):
                assert not any(low < x < high for x in others), step


def test_the_action_is_possible():
    for take in takes():
        for step in cues(take):
            action = SCRIPT.action(step.cue.action)
            first = step.before.people[step.cue.who[0]]
            if action.before == "hand":
                assert first.holds == step.cue.object
            if action.empty_handed:
                assert all(step.before.people[name].holds is None for name in step.cue.who)
            if action.before in {"shut", "ajar"}:
                assert (step.cue.object in step.before.ajar) is (action.before == "ajar")
                assert (step.cue.object in step.after.ajar) is (action.before == "shut")
            if action.before == "pot":
                assert step.before.pot == step.cue.object
                assert not step.before.poured


def test_same_seed_same_plan_another_seed_another():
    assert plan(7) == plan(7)
    assert plan(7) != plan(8)


def test_a_shorter_corpus_keeps_names():
    names = [take.name for take in plan(3, 10)]
    assert names[0] == "flights_s01e01_clip_00"
    assert names[9] == "flights_s01e02_clip_01"


def test_a_screenplay_in_which_nothing_can_happen_is_told():
    only = SCRIPT.model_copy(update={"actions": {"pour": SCRIPT.actions["pour"]}})
    with pytest.raises(StagingError, match=r"flights_s01e01_clip_\d\d: .*screenplay"):
        plan(1, script=only)
