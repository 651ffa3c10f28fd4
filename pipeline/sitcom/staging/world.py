"""The state of the stage between two steps, and the plan of a video made of such steps.

Everything is a value: a step contains the world before and after it, so that any frame can
be drawn from its step alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.sitcom.screenplay import Posture

WIDTH = 320
"""The stage is 320 units wide, whatever the video's size in pixels."""


@dataclass(frozen=True)
class Scene:
    """What a moment shows, and which parts of it its sentence mentions.

    `who` are names, the one who acts first; `mentions` are of people, action, object, place.
    """

    who: tuple[str, ...]
    action: str
    object: str | None
    place: str
    mentions: frozenset[str]


@dataclass(frozen=True)
class Person:
    """One character's state: where (stage units), how, on which seat, with what in hand."""

    x: float
    facing: int
    posture: Posture
    seat: int | None = None
    holds: str | None = None

    @property
    def present(self) -> bool:
        """Tell whether the person can be seen."""
        return self.posture != "outside"


@dataclass(frozen=True)
class World:
    """The stage at one time.

    `table` is what lies on its left and right end, `pot` which drink's pot stands between
    them, with an empty cup until it is `poured`; `ajar` is what stands open.
    """

    people: Mapping[str, Person]
    table: tuple[str | None, str | None]
    pot: str | None
    ajar: frozenset[str]
    poured: bool = False

    @property
    def seated_at(self) -> list[float]:
        """Where people are seated, in stage units."""
        return [person.x for person in self.people.values() if person.posture == "seated"]

    def change(self, names: Iterable[str], **state: Any) -> "World":  # noqa: ANN401  (as replace)
        """Return the world with some of its people in another state: fields of `Person`."""
        changed = {name: replace(self.people[name], **state) for name in names}
        return replace(self, people={**self.people, **changed})

    def move(self, marks: Mapping[str, tuple[float, int]]) -> "World":
        """Return the world with some of its people elsewhere: name to (x, facing)."""
        world = self
        for name, (x, facing) in marks.items():
            world = world.change([name], x=x, facing=facing)
        return world

    def lay(self, slot: int, thing: str | None) -> "World":
        """Return the world with something else on one end of the table."""
        left, right = self.table
        return replace(self, table=(left, thing) if slot else (thing, right))


@dataclass(frozen=True)
class Cue:
    """One thing that can happen: an action, by whom, with what.

    `target` is where on the stage it is done (door, table, seat, window, or between two
    people); `side` is on which side of it the actors stand, -1 left, +1 right.
    """

    action: str
    who: tuple[str, ...]
    object: str | None
    target: float
    side: int
    seat: int | None

    @property
    def slot(self) -> int:
        """Which end of the table is near."""
        return int(self.side > 0)


@dataclass(frozen=True)
class Step:
    """Part of a video, frames `first` (in) to `last` (out): a cue, or finding one's place."""

    first: int
    last: int
    before: World
    after: World
    cue: Cue | None = None


@dataclass(frozen=True)
class Take:
    """The plan of one video: `steps` follow each other without a gap."""

    name: str
    place: str
    fps: int
    steps: tuple[Step, ...]

    @property
    def frames(self) -> int:
        """How many frames the video has."""
        return self.steps[-1].last

    @property
    def seconds(self) -> float:
        """How long the video lasts."""
        return self.frames / self.fps
