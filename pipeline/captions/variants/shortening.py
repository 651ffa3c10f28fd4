"""Make a caption vaguer, step by step: drop details, then name things in general.

Each step leaves a sentence that says less than the one before and nothing else. No parser is used,
but the classes of `sentence`: where they are not sure, a step is left out.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pipeline.captions.variants import general_words
from pipeline.captions.variants.general_words import PEOPLE, inflect, listed
from pipeline.captions.variants.sentence import Sentence, Token, join, parse, tag_words
from pipeline.language import lexicon, syntax
from pipeline.names.evidence import lists

_ADVERBS, _APPROACH, _BODY = map(listed, ("adverbs", "approach", "body"))
_COMPLETE, _LIGHT, _PARTICLES = map(listed, ("complete", "light", "particles"))
_MOTION = listed("motion")
_ADJECTIVES = lexicon.words("adjectives", "some") | listed("colours")
_WITH_PLACE, _PLACED = map(listed, ("with_place", "placed"))
_SOMETHING = "something"
_STAND_FOR_PEOPLE = frozenset(("he", "she", "him", "her", "his", "they", "them", "their"))
_VERBS = frozenset(("verb", "auxiliary"))

Step = Callable[[Sentence], list[str] | None]
"""Returns the words of a vaguer sentence; None where it finds nothing to do."""


def list_shorter(caption: str) -> Iterator[str]:
    """Yield shorter and shorter versions of an English caption; none if it can't be taken apart."""
    yield from _take_steps(caption, _DROPS)


def list_more_general(caption: str) -> Iterator[str]:
    """Yield versions of an English caption that name more and more in general."""
    yield from _take_steps(caption, _NAMES)


def _take_steps(caption: str, steps: Sequence[Step]) -> Iterator[str]:
    sentence = parse(caption)
    for step in steps:
        while (words := step(sentence)) and not _is_unclear(sentence, words):
            sentence = tag_words(words)
            yield join(words)


def _is_unclear(sentence: Sentence, words: Sequence[str]) -> bool:
    """Tell whether a pronoun is kept while someone whom it may stand for is dropped."""
    kept = {word.lower() for word in words}
    dropped = {token.key for token in sentence} - kept
    return bool(dropped & (PEOPLE - _STAND_FOR_PEOPLE) and kept & _STAND_FOR_PEOPLE)


def _drop_adverb(sentence: Sentence) -> list[str] | None:
    found = (
        at
        for at, token in enumerate(sentence)
        if (token.key in _ADVERBS and at and not _joins(sentence, at))
        or (token.tag == "adverb" and token.key.endswith("ly") and token.key != "only")
    )
    return _without(sentence, next(found, None))


def _joins(sentence: Sentence, at: int) -> bool:
    """Tell whether an adverb joins two actions: talks, then sings."""
    return sentence[at].key == "then" and sentence[at - 1].tag != "link"


def _drop_adjective(sentence: Sentence) -> list[str] | None:
    found = (
        at
        for at, (token, after) in enumerate(pairwise(sentence))
        if token.tag == after.tag == "noun"
        and lists.may_be_adjective(token.key)
        and (token.key in _ADJECTIVES or not lists.may_be_noun(token.key))
        and lists.may_be_noun(after.key)
    )
    return _without(sentence, next(found, None))


def _without(sentence: Sentence, at: int | None) -> list[str] | None:
    return None if at is None else [t.text for n, t in enumerate(sentence) if n != at]


def _drop_opening(sentence: Sentence) -> list[str] | None:
    """Drop what precedes the first comma: a place or a clause before the main clause."""
    keys = [token.key for token in sentence]
    opens = sentence and (
        keys[0] in syntax.PREPOSITIONS | syntax.OPENERS or keys[0].endswith("ing")
    )
    rest = sentence[keys.index(",") + 1 :] if opens and "," in keys else ()
    if not rest or rest[0].tag not in {"determiner", "noun"} or not _has_verb(rest):
        return None
    return [token.text for token in rest]


def _drop_approach(sentence: Sentence) -> list[str] | None:
    """Keep the action that another only leads to: `walks to a door and opens it`."""
    verb = next((at for at, token in enumerate(sentence) if token.tag in _VERBS), 0)
    link = next((at for at, token in enumerate(sentence) if token.key == "and" and at > verb), 0)
    if not verb or not link or not lists.lemmas(sentence[verb].key) & _APPROACH:
        return None
    rest = sentence[link + 1 :]
    bases = lists.lemmas(sentence[verb].key)
    if bases & _MOTION and sentence[verb + 1].key == "out":
        return None
    if not rest or rest[0].tag not in _VERBS or any(t.tag == "link" for t in sentence[:link]):
        return None
    phrases = list(_noun_phrases(sentence[:link]))
    first = [token.text for token in sentence[slice(*phrases[0])]] if phrases else ["it"]
    kept = [word for t in rest for word in (first if t.key == "it" else [t.text])]
    return [*(token.text for token in sentence[:verb]), *kept]


def _has_verb(sentence: Sentence) -> bool:
    return any(token.tag in _VERBS for token in sentence)


def _drop_clause(sentence: Sentence) -> list[str] | None:
    """Drop the last clause: what follows a link or a comma, or begins with a participle."""
    for at in range(len(sentence) - 1, 1, -1):
        before, token = sentence[at - 1], sentence[at]
        is_link = token.tag == "link" or token.key == ","
        participle = token.tag == "verb" and token.key.endswith("ing")
        if not is_link and not (participle and before.tag in {"noun", "mark"}):
            continue
        kept = _trim(sentence[: _find_series(sentence, at)])
        if _has_verb(sentence[at:]) and _is_whole(kept):
            return [token.text for token in kept]
    return None


def _find_series(sentence: Sentence, at: int) -> int:
    """Return where the last clauses begin, if they are a series: sits, reads and sleeps."""
    if sentence[at].key != "and":
        return at
    pairs = pairwise(sentence[:at])
    commas = [
        n for n, (a, b) in enumerate(pairs) if a.key == "," and n > 1 and b.tag != "determiner"
    ]
    return commas[0] if commas else at


def _is_whole(sentence: Sentence) -> bool:
    """Tell whether a beginning of a sentence is one: it has a verb, and its end."""
    last, before = (*reversed(sentence), Token("", "mark"), Token("", "mark"))[:2]
    if last.tag == "preposition":
        return last.key in _PARTICLES
    if last.tag == "verb":
        describes = last.key.endswith("ing") and before.tag == "noun"  # a woman sitting
        return not describes and bool(lists.lemmas(last.key) & _COMPLETE)
    if last.key.endswith(("self", "selves")):  # lowers herself
        return False
    verb = next((t for t in reversed(sentence) if t.tag in _VERBS), last)
    if last.key in PEOPLE and lists.lemmas(verb.key) & {"ask", "tell"}:  # tells a man
        return False
    if last.key in _BODY and "out" in {token.key for token in sentence}:  # holds out a hand
        return False
    is_participle = bool(lists.lemmas(last.key)) and not lists.may_be_noun(last.key)
    opens = sentence[0].key in syntax.OPENERS and "," not in {t.key for t in sentence}
    return (
        last.tag == "noun"
        and not is_participle
        and not opens
        and any(token.tag in _VERBS and not token.key.endswith("ing") for token in sentence)
    )


def _trim(sentence: Sentence) -> Sentence:
    """Return the beginning of a sentence without what would join more to it."""
    while sentence and sentence[-1].tag in {"mark", "link"}:
        sentence = sentence[:-1]
    return sentence


def _drop_phrase(sentence: Sentence) -> list[str] | None:
    """Drop the last phrase with a preposition, if the sentence is whole without it."""
    at = _find_phrase(sentence)
    if at is None:
        return None
    kept, phrase = _trim(sentence[:at]), sentence[at + 1 :]
    verb = next((token.key for token in reversed(kept) if token.tag in _VERBS), "")
    where = any(map(general_words.is_place, _heads([t.key for t in phrase if t.tag != "mark"])))
    is_placed = any(token.key in _PLACED for token in kept)
    if lists.lemmas(verb) & _WITH_PLACE and not where and not is_placed:
        return None
    if kept[-1].key == "out" and "get" in lists.lemmas(verb):  # gets out of bed
        return None
    if sentence[at].key == "into" and kept[-1].key == verb and lists.lemmas(verb) & _MOTION:
        return [*(token.text for token in kept), "in"]
    is_idiom = kept[-1].key in {token.key for token in phrase}  # side by side
    return [token.text for token in kept] if _is_whole(kept) and not is_idiom else None


def _find_phrase(sentence: Sentence) -> int | None:
    """Return where the last phrase with a preposition begins, if it ends the sentence."""
    has_noun = False
    for at in range(len(sentence) - 1, 1, -1):
        token, before = sentence[at], sentence[at - 1]
        has_noun = has_noun or token.tag == "noun"
        if token.tag not in {"determiner", "noun", "adverb", "preposition", "mark"}:
            return None
        if has_noun and token.tag == "preposition" and (token.key != "of" or before.key == "out"):
            earlier = _find_phrase(sentence[:at])
            inside = earlier is not None and sentence[earlier].key == "with"
            return earlier if inside else at
    return None


def _name_in_general(sentence: Sentence) -> list[str] | None:
    """Put a general name for the last thing or place that has one."""
    return _replace_phrase(sentence, general_words.name_in_general)


def _call_something(sentence: Sentence) -> list[str] | None:
    """Put `something` for the last thing, unless it is a verb's or someone's own."""
    return _replace_phrase(sentence, lambda noun: _SOMETHING if lists.is_noun(noun) else None)


def _replace_phrase(sentence: Sentence, name: Callable[[str], str | None]) -> list[str] | None:
    for start, end in reversed(list(_noun_phrases(sentence))):
        words = [token.key for token in sentence[start:end]]
        general = next(filter(None, map(name, _heads(words))), None)
        if general is None or _stays(words) or general in " ".join(words):
            continue
        before = sentence[start - 1]
        verbs = lists.lemmas(before.key)
        if before.tag == "verb" and verbs.intersection(general.split()):
            general = _SOMETHING
        if " to " in general and sentence[end:] and sentence[end].tag != "mark":
            general = _SOMETHING
        if verbs & _LIGHT and "of" in words:  # takes a bite of pizza
            continue
        if general == _SOMETHING and sentence[end:] and sentence[end].tag == "determiner":
            continue
        if general == _SOMETHING and (before.tag != "verb" or verbs & _LIGHT):
            continue
        texts = [token.text for token in sentence]
        return [*texts[:start], *general.split(), *texts[end:]]
    return None


def _stays(words: list[str]) -> bool:
    """Tell whether a noun phrase has people or parts of a body, which have no general name."""
    return bool(set(words) & (PEOPLE | _BODY)) or words[-1] in listed("pronouns")


def _heads(words: list[str]) -> Iterator[str]:
    """Yield what a noun phrase may be about: of `a mug of hot coffee`, coffee, then mug."""
    for part in reversed(" ".join(words).split(" of ")):
        ends = part.split()
        yield from (" ".join(ends[-count:]) for count in (2, 1) if len(ends) >= count)


def _noun_phrases(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield start and end of the noun phrases after the first verb, with their `of`."""
    first = next((at for at, token in enumerate(sentence) if token.tag in _VERBS), len(sentence))
    start = first + 1
    while start < len(sentence):
        end = start
        while end < len(sentence) and (
            sentence[end].tag in {"determiner", "noun"}
            or (end > start and sentence[end].key == "of")
        ):
            if end > start and _begins_phrase(sentence[end - 1], sentence[end]):
                break
            end += 1
        if end > start:
            yield start, end
        start = end if end > start else start + 1


def _begins_phrase(before: Token, token: Token) -> bool:
    """Tell whether a determiner begins another phrase: after the recipient."""
    return token.tag == "determiner" and (before.tag == "noun" or before.key == "her")


def _use_general_verb(sentence: Sentence) -> list[str] | None:
    for at, token in enumerate(sentence):
        found = (general_words.verb_in_general(base) for base in lists.lemmas(token.key))
        general = next(filter(None, found), None) if token.tag == "verb" else None
        if general:
            texts = [t.text for t in sentence]
            return [*texts[:at], inflect(general, token.key) or general, *texts[at + 1 :]]
    return None


_DROPS = (
    _drop_adverb,
    _drop_adjective,
    _drop_opening,
    _drop_approach,
    _drop_phrase,
    _drop_clause,
    _drop_phrase,
)
_NAMES = (_name_in_general, _use_general_verb, _call_something)
