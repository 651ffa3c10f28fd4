"""The screenplay of the sample corpus as one strict model.

`datasets/sample/screenplay.yaml` lists the characters, places and actions; how they are staged,
drawn and judged follows from it. Anything that the model does not allow is refused in one line:
file, field, problem.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from momentrank.errors import MomentRankError
from pipeline.core import files
from pipeline.core.validation import validate

SCREENPLAY = Path("datasets/sample/screenplay.yaml")
MIN_PHRASINGS = 3

Gender = Literal["woman", "man", "unknown"]
Hair = Literal["long", "bun", "ponytail", "bob", "curly", "quiff", "short", "bald", "flat", "mop"]
Outfit = Literal["dress", "skirt", "trousers", "suit", "overalls", "coat"]
Extra = Literal["glasses", "beard", "moustache", "cap", "apron"]
Pattern = Literal["plain", "stripes", "tiles", "bricks", "panel", "skyline"]
Fixture = Literal["door", "window", "fridge", "cupboard"]
Seat = Literal["sofa", "armchair", "chair", "bench"]
Drink = Literal["coffee", "water", "juice"]
Portable = Literal["letter", "book", "newspaper", "parcel", "bouquet", Drink]
Object = Literal[Portable, Fixture, Seat, "phone"]
Decor = Literal[
    "rug", "picture", "lamp", "shelf", "counter", "hanging lamp", "bar", "blackboard",
    "whiteboard", "clock", "plant", "eye chart", "cross", "string lights", "planter",
]  # fmt: skip
ActionName = Literal[
    "enter", "leave", "sit_down", "stand_up", "pour", "drink", "put_down", "pick_up", "hand_over",
    "read", "open", "close", "phone", "argue", "wave", "hug", "shake_hands", "dance",
]  # fmt: skip
Whereabouts = Literal["hand", "other", "table", "pot", "shut", "ajar", "seat", "pocket"]
Posture = Literal["standing", "seated", "outside"]
Colour = Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]
Across = Annotated[float, Field(ge=0, le=320)]
"""A place from left to right, in stage units: the stage is 320 wide."""

PLACEHOLDER = re.compile(r"\{(\w+)\}")
ABOUT_OBJECT = {"object", "a_object", "at", "onto", "pot"}
ABOUT_PLACE = {"place", "into", "out_of"}
ABOUT_OTHER = {"other", "other_they", "other_s"}
PLACEHOLDERS = {"who", "they", "them", "their", "self", "s"}
PLACEHOLDERS |= ABOUT_OBJECT | ABOUT_PLACE | ABOUT_OTHER


class ScreenplayError(MomentRankError):
    """A screenplay that can't be staged."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Character(_Part):
    """One of the cast: `gender` as the name suggests it, and how to draw them."""

    gender: Gender
    role: str
    skin: Colour
    hair: Hair
    hair_colour: Colour
    outfit: Outfit
    top: Colour
    bottom: Colour
    height: Annotated[float, Field(ge=0.8, le=1.1)]
    build: Annotated[float, Field(ge=0.8, le=1.3)]
    wears: tuple[Extra, ...] = ()


class Place(_Part):
    """A room: how a sentence names it, and where its furniture stands."""

    at: str
    into: str
    out_of: str
    wall: Colour
    floor: Colour
    pattern: Pattern
    door: Across
    table: Across
    fixtures: dict[Fixture, Across] = {}
    seats: dict[Seat, tuple[Across, ...]]
    decor: dict[Decor, tuple[Across, ...]] = {}

    @property
    def openable(self) -> dict[str, float]:
        """The position of everything that opens, the door included."""
        return {"door": self.door} | {str(name): x for name, x in self.fixtures.items()}

    @property
    def spots(self) -> tuple[tuple[str, float], ...]:
        """Every seat for one person, as (kind, x)."""
        return tuple((kind, x) for kind, across in self.seats.items() for x in across)


class Thing(_Part):
    """An object in sentences: with its article, and phrases for sitting on or pouring from it.

    `words` are others for it.
    """

    a: str
    words: tuple[str, ...] = ()
    at: str | None = None
    onto: str | None = None
    pot: str | None = None


class Family(_Part):
    """Actions that have something in common; `akin` are loosely similar families."""

    akin: tuple[str, ...] = ()


class Action(_Part):
    """What can happen: how many people it takes, and the state `before` and `after` it.

    `before` and `after` are where the object is: in the first person's hand, in the
    other's, on the table, in its pot, and so on. `ordered`: the two people do
    different things. `becomes` is the first person's posture afterwards, `seconds` how
    long it may take (walking through doors takes as long as it needs). `words` are base forms
    by which a query tells it, in order; with {other}, who is named first is the other.
    """

    family: str
    people: tuple[Literal[1, 2], ...]
    words: tuple[str, ...] = ()
    ordered: bool = False
    posture: Posture | None = None
    becomes: Posture | None = None
    objects: tuple[Object, ...] = ()
    before: Whereabouts | None = None
    after: Whereabouts | None = None
    empty_handed: bool = False
    seconds: Annotated[tuple[float, float], Field(min_length=2)] = (3.0, 5.0)
    phrasings: tuple[str, ...]

    def phrasings_for(self, people: int) -> tuple[str, ...]:
        """Return the phrasings for one person, or for two."""
        two = people > 1
        return tuple(text for text in self.phrasings if bool(fields(text) & ABOUT_OTHER) is two)


class Screenplay(_Part):
    """The whole screenplay."""

    title: str
    show: Annotated[str, Field(pattern=r"^[a-z0-9]+$")]
    cast: dict[str, Character]
    places: dict[str, Place]
    objects: dict[Object, Thing]
    general: tuple[str, ...] = ()
    families: dict[str, Family]
    actions: dict[ActionName, Action]

    def action(self, name: str) -> Action:
        """Return an action by its name."""
        return self.actions[cast("ActionName", name)]

    def thing(self, name: str) -> Thing:
        """Return an object by its name."""
        return self.objects[cast("Object", name)]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        problem = next(_problems(self), None)
        if problem:
            raise ValueError(problem)
        return self


def fields(phrasing: str) -> frozenset[str]:
    """Return the placeholders of a phrasing."""
    return frozenset(PLACEHOLDER.findall(phrasing))


def load_screenplay(path: Path = SCREENPLAY) -> Screenplay:
    """Read and check a screenplay.

    Raises:
        FileError: the file is missing or not YAML.
        ScreenplayError: what is wrong with it, a line for each mistake, with its field.
    """
    return validate(Screenplay, files.read_yaml(path), path, ScreenplayError)


def _problems(script: Screenplay) -> Iterator[str]:
    for name, family in script.families.items():
        for akin in sorted({*family.akin} - script.families.keys()):
            yield f"families.{name}.akin: {akin!r} is not among the families"
    for action_name, action in script.actions.items():
        where = f"actions.{action_name}."
        if action.family not in script.families:
            yield f"{where}family: {action.family!r} is not among the families"
        for thing in sorted({*action.objects} - script.objects.keys()):
            yield f"{where}objects: {thing!r} is not among the objects"
        for text in action.phrasings:
            for problem in _problems_in(fields(text), action, script):
                yield f"{where}phrasings: {text!r} {problem}"
        for people in action.people:
            if len(action.phrasings_for(people)) < MIN_PHRASINGS:
                yield f"{where}phrasings: fewer than {MIN_PHRASINGS} where people is {people}"


def _problems_in(used: frozenset[str], action: Action, script: Screenplay) -> Iterator[str]:
    for unknown in sorted(used - PLACEHOLDERS):
        yield f"contains {{{unknown}}}, which is not a placeholder"
    if "who" not in used:
        yield "lacks {who}"
    if used & ABOUT_OBJECT and not action.objects:
        yield "mentions an object, but the action has none"
    for thing in action.objects:
        for field in sorted(used & {"at", "onto", "pot"}):
            if getattr(script.thing(thing), field) is None:
                yield f"contains {{{field}}}, which {thing!r} does not have"
    people = 2 if used & ABOUT_OTHER else 1
    if people not in action.people:
        yield f"is for {people}, but people is {list(action.people)}"
