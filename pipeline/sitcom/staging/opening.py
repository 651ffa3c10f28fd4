"""Opening: the state of the stage when a video begins."""

from dataclasses import replace
from random import Random

from pipeline.sitcom.screenplay import Place, Screenplay
from pipeline.sitcom.staging.blocking import CLEAR, MARKS, SEAT_CLEAR
from pipeline.sitcom.staging.cues import facing_from
from pipeline.sitcom.staging.world import Person, World

OUTSIDE, SEATED, HOLDING, LYING, POT, AJAR = 0.3, 0.3, 0.45, 0.5, 0.75, 0.35
"""The probability that a character or a thing begins in that state."""
PRESENT = 2
"""At least this many characters begin on the stage."""


def opening(script: Screenplay, place: Place, names: list[str], random: Random) -> World:
    """Return the world in which a video of these characters begins."""
    world = World({}, (None, None), None, frozenset())
    for number, name in enumerate(names):
        outside = number >= PRESENT and random.random() < OUTSIDE
        absent = Person(place.door, facing_from(place.door), "outside")
        person = absent if outside else _present(place, world, random)
        holds = _perhaps(HOLDING, _objects(script, "hand"), random)
        world = world.change({name: replace(person, holds=holds)})
    laid = _objects(script, "table")
    left, right = _perhaps(LYING, laid, random), _perhaps(LYING, laid, random)
    pot = _perhaps(POT, _objects(script, "pot"), random)
    ajar = frozenset(thing for thing in place.fixtures if random.random() < AJAR)
    return replace(world, table=(left, right), pot=pot, ajar=ajar)


def _present(place: Place, world: World, random: Random) -> Person:
    taken = {person.seat for person in world.people.values()}
    others = [person.x for person in world.people.values() if person.present]
    free = [
        seat
        for seat, (_, x) in enumerate(place.spots)
        if seat not in taken and all(abs(x - other) >= SEAT_CLEAR for other in others)
    ]
    if free and random.random() < SEATED:
        seat = random.choice(free)
        x = place.spots[seat][1]
        return Person(x, facing_from(x), "seated", seat)
    x = random.choice([x for x in MARKS if all(abs(x - other) >= CLEAR for other in others)])
    return Person(x, facing_from(x), "standing")


def _perhaps(likely: float, things: list[str], random: Random) -> str | None:
    return random.choice(things) if things and random.random() < likely else None


def _objects(script: Screenplay, where: str) -> list[str]:
    """Return the objects that some action needs in a hand, on the table or in a pot."""
    acts = script.actions.values()
    return list(dict.fromkeys(thing for a in acts if a.before == where for thing in a.objects))
