"""Change one thing in a caption: its action, or else an object or the place.

What stands in its place is of the same kind, so that the sentence stays one. That nothing in the
corpus shows it is not known: judges decide.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from pipeline.captions.variants import general_words
from pipeline.captions.variants.general_words import DONE, inflect, listed
from pipeline.captions.variants.sentence import Sentence, join, parse
from pipeline.core import rng
from pipeline.language import syntax
from pipeline.names.evidence import lists

_PARTS = listed("particles") - {"through", "around"}
_MOTION = listed("motion")
_OWN = frozenset(("his", "her", "their", "its"))
_WHERE = frozenset(("in", "at", "to", "of", "away"))
"""Prepositions that any verb may have after its object."""
_NOT_AFTER = frozenset(("phone", "from", "off", "if"))
"""Words after which another action makes no sense: talks on the phone."""
_Others = Mapping[str, tuple[str, ...]]


class Change(NamedTuple):
    """A caption in which the tokens from `start` to `end` are replaced by `words`."""

    start: int
    end: int
    words: str


def list_changed(caption: str, seed: int) -> Iterator[str]:
    """Yield versions of an English caption with one thing changed: actions, objects, places.

    Of each kind in an order that depends on the seed and the caption.
    """
    sentence = parse(caption)
    keys = [token.key for token in sentence]
    if "until" in keys or general_words.list_denials(keys):  # it was so before, or is not
        return
    texts = [token.text for token in sentence]
    for find in (_change_actions, _change_objects, _change_places):
        for change in sorted(find(sentence), key=lambda found: rng.draw(seed, caption, *found)):
            yield join([*texts[: change.start], *change.words.split(), *texts[change.end :]])


def _change_actions(sentence: Sentence) -> Iterator[Change]:
    """Yield changes of the main verb, if what it is done to is known."""
    at = _find_main_verb(sentence)
    if not at:
        return
    verb, rest = sentence[at], sentence[at + 1 :]
    particle = rest[0].key if rest and rest[0].tag == "preposition" else ""
    is_where = [token.tag for token in rest[1:2]] == ["determiner"]  # in the kitchen
    for base in sorted(lists.lemmas(verb.key)):
        for others in _list_others(base, rest):
            whole = f"{base} {particle}"
            if whole not in others:
                if particle in _PARTS and base not in _MOTION and not (is_where and others is DONE):
                    continue
                whole = base
            forms = (inflect(other, verb.key) for other in others.get(whole, ()))
            yield from (Change(at, at + len(whole.split()), form) for form in forms if form)


def _find_main_verb(sentence: Sentence) -> int:
    """Return where the first finite verb is, after an opening; 0 if there is none."""
    keys = [token.key for token in sentence]
    opens = keys and keys[0] in syntax.PREPOSITIONS | syntax.OPENERS
    start = keys.index(",") if opens and "," in keys else 0
    for at in range(start + 1, len(sentence)):
        is_participle = keys[at].endswith("ing") and sentence[at - 1].tag != "auxiliary"
        if sentence[at].tag == "verb":
            return 0 if is_participle else at
    return 0


def _list_others(base: str, rest: Sentence) -> Iterator[_Others]:
    """Yield what a verb may be changed into that has the rest of a sentence after it."""
    keys = [token.key for token in rest]
    tag = rest[0].tag if rest else "mark"
    has_object = tag in {"determiner", "noun"} and not keys[0].endswith(("self", "selves"))
    if (has_object or tag == "preposition") and _has_known_object(base, rest):
        yield general_words.DONE_TO_THINGS
    if (
        has_object
        and keys[0] not in _OWN
        and general_words.PEOPLE.intersection(key.removesuffix("'s") for key in keys[:2])
    ):
        yield general_words.DONE_TO_PEOPLE
    is_errand = keys[:1] == ["to"] and {t.tag for t in rest[1:2]} != {"determiner"}  # goes to bed
    goes_on = tag == "link" or (base not in _MOTION and any(t.tag == "verb" for t in rest))
    if not (has_object or is_errand or goes_on or _NOT_AFTER.intersection(keys)):
        yield DONE


def _has_known_object(base: str, rest: Sentence) -> bool:
    """Tell whether a verb's object is of its kind, with no more after it than where it goes."""
    allowed = _list_objects(base, rest)
    at = next((n for n, token in enumerate(rest) if token.key in allowed), len(rest))
    after = [token for token in rest[at + 1 : at + 2] if token.tag not in {"link", "mark"}]
    is_plain = all(token.key in _WHERE for token in after) and "it" not in {t.key for t in rest}
    return at < len(rest) and is_plain and _is_object(rest[:at])


def _list_objects(base: str, rest: Sentence) -> frozenset[str]:
    """Return the things that a verb, with its particle, may have as its object."""
    phrasal = f"{base} {rest[0].key}" if rest else base
    kinds = general_words.OBJECTS.get(phrasal) or general_words.OBJECTS.get(base, ())
    return frozenset(chain.from_iterable(general_words.ALIKE_THINGS[kind] for kind in kinds))


def _is_object(before: Sentence) -> bool:
    """Tell whether what is between a verb and a noun lets the noun be the verb's object."""
    where = [t for t in before if t.tag == "preposition" and t.key not in {"of", *_PARTS}]
    return not where and all(t.tag not in {"link", "mark"} for t in before)


def _change_objects(sentence: Sentence) -> Iterator[Change]:
    """Yield changes of the main verb's object into another that the verb may have."""
    at = _find_main_verb(sentence)
    if not at:
        return
    rest = sentence[at + 1 :]
    bases = lists.lemmas(sentence[at].key)
    allowed = frozenset(chain.from_iterable(_list_objects(base, rest) for base in bases))
    for change in _change_nouns(sentence, general_words.ALIKE_THINGS):
        before, old = sentence[at + 1 : change.start], sentence[change.end - 1].key
        if change.start > at and old in allowed and _is_object(before) and _fits(before, old):
            yield change


def _fits(before: Sentence, noun: str) -> bool:
    """Tell whether the words before a noun fit all others of its kind: a book, but some milk."""
    articles = {token.key for token in before if token.tag == "determiner"}
    is_of = bool(before) and before[-1].key == "of"
    if noun in general_words.ALIKE_THINGS["drinks"]:
        return is_of or not articles & {"a", "an"}
    return bool(articles) and not is_of


def _change_places(sentence: Sentence) -> Iterator[Change]:
    return _change_nouns(sentence, general_words.ALIKE_PLACES)


def _change_nouns(sentence: Sentence, kinds: _Others) -> Iterator[Change]:
    for at, token in enumerate(sentence):
        if token.tag != "noun" or _has_more(sentence[at + 1 :]):
            continue
        pair = f"{sentence[at - 1].key} {token.key}" if at else ""
        for kind in kinds.values():
            whole = pair if pair in kind else token.key
            start = at + 1 - len(whole.split())
            if whole in kind and not _is_named(sentence[:start]):
                yield from (Change(start, at + 1, other) for other in kind if other != whole)


def _has_more(after: Sentence) -> bool:
    """Tell whether a noun is not the whole name of a thing: a door handle, a bouquet of flowers."""
    return bool(after) and (after[0].tag == "noun" or after[0].key == "of")


def _is_named(before: Sentence) -> bool:
    """Tell whether a noun has another before it: a hospital bed."""
    return bool(before) and before[-1].tag == "noun" and not lists.may_be_adjective(before[-1].key)
