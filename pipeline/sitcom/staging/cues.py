"""Cues: everything that can happen on the stage now, and how the world is after it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from pipeline.sitcom.screenplay import Action, Place, Screenplay
from pipeline.sitcom.staging.world import WIDTH, Cue, Person, World

POT_SIDE = -1
"""Pots stand with their handles to the left."""
Offer = tuple[str | None, float, int, int | None]
"""What a person can act on: the object, where it is, from which side, which seat."""
MARGIN = 60
"""What is nearer than this to where the stage ends is approached from the other side."""


def cues(script: Screenplay, place: Place, world: World) -> Iterator[Cue]:
    """Yield every cue that `world` allows, in the screenplay's order."""
    for name, action in script.actions.items():
        for number in action.people:
            for who in permutations(world.people, number):
                people = [world.people[person] for person in who]
                if _able(action, people):
                    for thing, target, side, seat in _offers(action, people[0], place, world):
                        if thing is None or thing in action.objects:
                            yield Cue(name, who, thing, target, side, seat)


def _able(action: Action, people: Sequence[Person]) -> bool:
    return not (
        any(person.posture != (action.posture or person.posture) for person in people)
        or (action.posture is None and not all(person.present for person in people))
        or (action.after == "other" and people[1].holds)
        or (action.empty_handed and any(person.holds for person in people))
    )


def _offers(action: Action, person: Person, place: Place, world: World) -> Iterator[Offer]:
    match action.before:
        case "hand" if person.holds and action.after == "table":
            free = [slot for slot, thing in enumerate(world.table) if thing is None]
            yield from ((person.holds, place.table, 2 * slot - 1, None) for slot in free)
        case "hand" if person.holds:
            yield person.holds, person.x, person.facing, None
        case "table":
            laid = [(slot, thing) for slot, thing in enumerate(world.table) if thing]
            yield from ((thing, place.table, 2 * slot - 1, None) for slot, thing in laid)
        case "pot" if world.pot and not world.poured:
            yield world.pot, place.table, POT_SIDE, None
        case "pocket":
            yield from ((thing, person.x, person.facing, None) for thing in action.objects)
        case None if "outside" not in {action.posture, action.becomes}:
            yield None, person.x, person.facing, None
        case None if "door" not in world.ajar:
            yield None, place.door, _inward(place.door, WIDTH / 2), None
        case _:
            yield from _fixed_offers(action, person, place, world)


def _fixed_offers(action: Action, person: Person, place: Place, world: World) -> Iterator[Offer]:
    taken = {other.seat for other in world.people.values()}
    if action.before == "seat":
        for seat, (kind, x) in enumerate(place.spots):
            if seat == person.seat or (person.seat is None and seat not in taken):
                yield kind, x, _inward(x, person.x), seat
    elif action.before in {"shut", "ajar"}:
        for thing, x in place.openable.items():
            if (thing in world.ajar) is (action.before == "ajar"):
                yield thing, x, _inward(x, person.x), None


def _inward(x: float, whence: float) -> int:
    """Return from which side to approach `x`: never from where the stage ends."""
    return 1 if x < MARGIN or (whence > x and x <= WIDTH - MARGIN) else -1


def outcome(cue: Cue, action: Action, place: Place, world: World) -> World:
    """Return the world after a cue, people still where they stood for it."""
    first = cue.who[0]
    match action.after:
        case "table":
            world = world.lay(cue.slot, cue.object).change([first], holds=None)
        case "hand":
            world = world.lay(cue.slot, None).change([first], holds=cue.object)
        case "other":
            world = world.change([first], holds=None).change(cue.who[1:], holds=cue.object)
    ajar = world.ajar ^ {str(cue.object)} if action.after in {"ajar", "shut"} else world.ajar
    world = replace(world, ajar=ajar, poured=world.poured or action.before == "pot")
    if action.becomes is None:
        return world
    seat = cue.seat if action.becomes == "seated" else None
    world = world.change(cue.who, posture=action.becomes, seat=seat)
    if seat is None:
        return world
    x = place.spots[seat][1]
    return world.change(cue.who, x=x, facing=facing_from(x))


def facing_from(x: float) -> int:
    """Return which way a seat at `x` faces: to the middle of the stage."""
    return 1 if x < WIDTH / 2 else -1
