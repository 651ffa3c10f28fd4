"""Opening: the state of the stage when a video begins."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from pipeline.sitcom.screenplay import Place, Screenplay
from pipeline.sitcom.staging.blocking import CLEAR, MARKS, SEAT_CLEAR, is_clear
from pipeline.sitcom.staging.cues import facing_from
from pipeline.sitcom.staging.world import Person, World

OUTSIDE, SEATED, HOLDING, LYING, POT, AJAR = 0.3, 0.3, 0.45, 0.5, 0.75, 0.35
"""The probability that a character or a thing begins in that state."""
PRESENT = 2
"""At least this many characters begin on the stage."""


def opening(script: Screenplay, place: Place, names: Sequence[str], random: Random) -> World:
    """Return the world in which a video of these characters begins."""
    people: dict[str, Person] = {}

    def perhaps(likely: float, where: str) -> str | None:
        """Draw one of the objects that some action needs in a hand, on the table or in a pot."""
        acts = [action for action in script.actions.values() if action.before == where]
        things = list(dict.fromkeys(thing for action in acts for thing in action.objects))
        return random.choice(things) if things and random.random() < likely else None

    for number, name in enumerate(names):
        person = Person(place.door, facing_from(place.door), "outside")
        if number < PRESENT or random.random() >= OUTSIDE:
            person = _draw_present(place, people.values(), random)
        people[name] = replace(person, holds=perhaps(HOLDING, "hand"))
    table = perhaps(LYING, "table"), perhaps(LYING, "table")
    pot = perhaps(POT, "pot")
    ajar = frozenset(thing for thing in place.fixtures if random.random() < AJAR)
    return World(people, table, pot, ajar)


def _draw_present(place: Place, others: Iterable[Person], random: Random) -> Person:
    taken = {person.seat for person in others}
    crowd = [person.x for person in others if person.present]
    free = [
        (seat, x)
        for seat, (_, x) in enumerate(place.spots)
        if seat not in taken and is_clear(x, crowd, SEAT_CLEAR)
    ]
    if free and random.random() < SEATED:
        seat, x = random.choice(free)
        return Person(x, facing_from(x), "seated", seat)
    x = random.choice([x for x in MARKS if is_clear(x, crowd, CLEAR)])
    return Person(x, facing_from(x), "standing")
