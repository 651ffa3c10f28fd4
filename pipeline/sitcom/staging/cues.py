"""Cues: everything that can happen on the stage now, and how the world is after it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

from pipeline.sitcom.screenplay import Action, Place, Screenplay
from pipeline.sitcom.staging.world import WIDTH, Cue, Person, World

POT_SIDE = -1
"""Pots stand with their handles to the left."""


def cues(script: Screenplay, place: Place, world: World) -> Iterator[Cue]:
    """Yield every cue that `world` allows, in the screenplay's order."""
    for name, action in script.actions.items():
        for number in action.people:
            for who in permutations(world.people, number):
                if _able(action, [world.people[person] for person in who]):
                    yield from _list_cues(name, action, who, place, world)


def _able(action: Action, people: list[Person]) -> bool:
    if action.posture is None and not all(person.present for person in people):
        return False
    if action.posture and any(person.posture != action.posture for person in people):
        return False
    if action.after == "other" and people[1].holds:
        return False
    return not (action.empty_handed and any(person.holds for person in people))


class _Offer(NamedTuple):
    """What a person can act on: the object, where it is, from which side, which seat."""

    object: str | None
    target: float
    side: int
    seat: int | None = None


def _list_cues(
    name: str, action: Action, who: tuple[str, ...], place: Place, world: World
) -> Iterator[Cue]:
    for offer in _offers(action, world.people[who[0]], place, world):
        if offer.object is None or offer.object in action.objects:
            yield Cue(name, who, *offer)


def _offers(action: Action, person: Person, place: Place, world: World) -> Iterator[_Offer]:
    match action.before:
        case "hand":
            yield from _from_hand(action, person, place, world)
        case "table":
            laid = [(slot, thing) for slot, thing in enumerate(world.table) if thing]
            yield from (_at_table(thing, slot, place) for slot, thing in laid)
        case "pot":
            if world.pot and not world.poured:
                yield _Offer(world.pot, place.table, POT_SIDE)
        case "shut" | "ajar":
            yield from _openings(person, place, world, ajar=action.before == "ajar")
        case "seat":
            yield from _seats(person, place, world)
        case "pocket":
            yield from (_Offer(thing, person.x, person.facing) for thing in action.objects)
        case _:
            yield from _without_object(action, person, place, world)


def _from_hand(action: Action, person: Person, place: Place, world: World) -> list[_Offer]:
    if not person.holds:
        return []
    if action.after != "table":
        return [_Offer(person.holds, person.x, person.facing)]
    free = [slot for slot, thing in enumerate(world.table) if thing is None]
    return [_at_table(person.holds, slot, place) for slot in free]


def _at_table(thing: str, slot: int, place: Place) -> _Offer:
    return _Offer(thing, place.table, 2 * slot - 1)


def _openings(person: Person, place: Place, world: World, *, ajar: bool) -> list[_Offer]:
    return [
        _Offer(thing, x, _inward(x, person.x))
        for thing, x in place.openable.items()
        if (thing in world.ajar) is ajar
    ]


def _seats(person: Person, place: Place, world: World) -> Iterator[_Offer]:
    taken = {other.seat for other in world.people.values()}
    for seat, (kind, x) in enumerate(place.spots):
        if seat == person.seat or (person.seat is None and seat not in taken):
            yield _Offer(kind, x, _inward(x, person.x), seat)


def _without_object(action: Action, person: Person, place: Place, world: World) -> Iterator[_Offer]:
    if "outside" not in {action.posture, action.becomes}:
        yield _Offer(None, person.x, person.facing)
    elif "door" not in world.ajar:
        yield _Offer(None, place.door, _inward(place.door, WIDTH / 2))


def _inward(x: float, whence: float, margin: float = 60) -> int:
    """Return from which side to approach `x`: never from where the stage ends."""
    if x < margin:
        return 1
    if x > WIDTH - margin:
        return -1
    return 1 if whence > x else -1


def outcome(cue: Cue, action: Action, place: Place, world: World) -> World:
    """Return the world after a cue, people still where they stood for it."""
    first = world.people[cue.who[0]]
    if action.before == "pot":
        world = replace(world, poured=True)
    match action.after:
        case "table":
            world = world.lay(cue.slot, cue.object).change({cue.who[0]: replace(first, holds=None)})
        case "hand":
            world = world.lay(cue.slot, None)
            world = world.change({cue.who[0]: replace(first, holds=cue.object)})
        case "other":
            second = replace(world.people[cue.who[1]], holds=cue.object)
            world = world.change({cue.who[0]: replace(first, holds=None), cue.who[1]: second})
        case "ajar":
            world = replace(world, ajar=world.ajar | {str(cue.object)})
        case "shut":
            world = replace(world, ajar=world.ajar - {str(cue.object)})
    return _postures(cue, action, place, world)


def _postures(cue: Cue, action: Action, place: Place, world: World) -> World:
    if action.becomes is None:
        return world
    seat = cue.seat if action.becomes == "seated" else None
    changed = {
        name: replace(world.people[name], posture=action.becomes, seat=seat) for name in cue.who
    }
    if seat is not None:
        x = place.spots[seat][1]
        changed = {name: replace(p, x=x, facing=facing_from(x)) for name, p in changed.items()}
    return world.change(changed)


def facing_from(x: float) -> int:
    """Return which way a seat at `x` faces: to the middle of the stage."""
    return 1 if x < WIDTH / 2 else -1
