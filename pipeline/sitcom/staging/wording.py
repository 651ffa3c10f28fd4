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
        text = phrasing.format_map(self._name(cue, place))
        scene = Scene(cue.who, cue.action, cue.object, place, frozenset(mentions))
        return text[0].upper() + text[1:], scene

    def _name(self, cue: Cue, at: str) -> dict[str, str | None]:
        """Return what the placeholders stand for."""
        script, place = self._script, self._script.places[at]
        first, last = (PRONOUNS[script.cast[cue.who[i]].gender] for i in (0, -1))
        names = {"place": place.at, "into": place.into, "out_of": place.out_of, **first}
        names |= {"who": cue.who[0], "other": cue.who[-1]}
        names |= {"other_they": last["they"], "other_s": last["s"]}
        thing = script.thing(cue.object) if cue.object else None
        told = {"object": cue.object, "a_object": thing.a} if thing else {}
        told |= {"at": thing.at, "onto": thing.onto, "pot": thing.pot} if thing else {}
        return names | told

    def _rounds(self, action: str, people: int) -> Iterator[str]:
        """Yield the phrasings forever, in a new order each time."""
        texts = self._script.action(action).phrasings_for(people)
        while True:
            yield from self._random.sample(texts, len(texts))
