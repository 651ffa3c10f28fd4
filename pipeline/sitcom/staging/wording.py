"""Wording: the sentence that a person would write about what happens, and what it mentions."""

from collections.abc import Iterator
from random import Random

from pipeline.sitcom.screenplay import ABOUT_OBJECT, ABOUT_PLACE, Screenplay, fields
from pipeline.sitcom.staging.world import Cue, Scene

PRONOUNS = {
    "woman": {"they": "she", "them": "her", "their": "her", "self": "herself", "s": "s"},
    "man": {"they": "he", "them": "him", "their": "his", "self": "himself", "s": "s"},
    "unknown": {"they": "they", "them": "them", "their": "their", "self": "themselves", "s": ""},
}


class Narrator:
    """Words cues: every phrasing of an action is used before one is used again."""

    def __init__(self, script: Screenplay, seed: int) -> None:
        self._script = script
        self._random = Random(f"words {seed}")
        self._turns: dict[tuple[str, int], Iterator[str]] = {}

    def tell(self, cue: Cue, place: str) -> tuple[str, Scene]:
        """Return a description of a cue, and the scene with the facets it mentions."""
        kind = cue.action, len(cue.who)
        phrasing = next(self._turns.setdefault(kind, self._rounds(*kind)))
        used = fields(phrasing)
        mentions = {"people", "action"}
        mentions |= {"object"} if used & ABOUT_OBJECT else set()
        mentions |= {"place"} if used & ABOUT_PLACE else set()
        scene = Scene(cue.who, cue.action, cue.object, place, frozenset(mentions))
        return word(self._script, phrasing, scene), scene

    def _rounds(self, action: str, people: int) -> Iterator[str]:
        """Yield the phrasings forever, in a new order each time."""
        texts = self._script.action(action).phrasings_for(people)
        while True:
            yield from self._random.sample(texts, len(texts))


def word(script: Screenplay, phrasing: str, scene: Scene) -> str:
    """Fill a phrasing's placeholders, and begin with a capital letter."""
    place = script.places[scene.place]
    first = PRONOUNS[script.cast[scene.who[0]].gender]
    values = {"who": scene.who[0], "place": place.at, "into": place.into, "out_of": place.out_of}
    values |= first
    if len(scene.who) > 1:
        other = PRONOUNS[script.cast[scene.who[1]].gender]
        values |= {"other": scene.who[1], "other_they": other["they"], "other_s": other["s"]}
    if scene.object:
        thing = script.thing(scene.object)
        values |= {"object": scene.object, "a_object": thing.a}
        values |= {"at": thing.at or "", "onto": thing.onto or "", "pot": thing.pot or ""}
    text = phrasing.format_map(values)
    return text[0].upper() + text[1:]
