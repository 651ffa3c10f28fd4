"""The words of an English caption with their classes, as far as rules can tell them."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pipeline.captions.variants.general_words import listed
from pipeline.language import lexicon, syntax
from pipeline.names.evidence import lists

Tag = Literal["determiner", "noun", "verb", "auxiliary", "preposition", "adverb", "link", "mark"]

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*['\u2019]?|[.,;]")
_ONLY = re.compile(rf"(?:\s|{_TOKEN.pattern})*")
_MARKS = frozenset(".,;")
_PRONOUNS = listed("pronouns")
_DETERMINERS = (syntax.DETERMINERS - _PRONOUNS - {"to"}) | set(lexicon.NUMBERS) | {"both", "all"}
_VOWEL = re.compile(r"(?!uni|use|one|eu)[aeiou]|hour|honest", re.IGNORECASE)
_LINKS = (syntax.LINKS - {"for"}) | {"or"}


class Token(NamedTuple):
    """A word or a mark, and its class."""

    text: str
    tag: Tag

    @property
    def key(self) -> str:
        """The text in lower case."""
        return self.text.lower()


Sentence = tuple[Token, ...]


def parse(caption: str) -> Sentence:
    """Return the words and marks of a caption.

    () if it is more than one sentence, or has marks that rules can't keep.
    """
    texts = _TOKEN.findall(caption)
    if not _ONLY.fullmatch(caption) or {".", ";"} & set(texts[:-1]):
        return ()
    return tag_words(texts)


def tag_words(texts: Sequence[str]) -> Sentence:
    """Return words and marks with their classes."""
    tokens: list[Token] = []
    has_verb = False
    for text in texts:
        tag = _find_tag(text.lower(), tokens, has_verb=has_verb)
        has_verb = tag in {"verb", "auxiliary"} or (has_verb and tag not in {"link", "mark"})
        tokens.append(Token(text, tag))
    return tuple(tokens)


def _find_tag(key: str, before: Sequence[Token], *, has_verb: bool) -> Tag:
    if key in _MARKS:
        return "mark"
    classes: tuple[tuple[Tag, bool], ...] = (
        ("auxiliary", key in syntax.AUXILIARIES),
        ("noun", key in _PRONOUNS),
        ("determiner", key in _DETERMINERS or key.endswith(("'s", "\u2019s", "s'"))),
        ("link", key in _LINKS),
        ("preposition", key in syntax.PREPOSITIONS),
        ("adverb", key in syntax.ADVERBS or (key.endswith("ly") and lists.may_be_adverb(key))),
        ("verb", _is_verb(key, before, has_verb=has_verb)),
    )
    return next((tag for tag, is_so in classes if is_so), "noun")


def _is_verb(key: str, before: Sequence[Token], *, has_verb: bool) -> bool:
    """Tell whether a word of an open class is a verb, by its form and what is before it."""
    bases = lists.lemmas(key)
    last = before[-1] if before else Token("", "mark")
    if not bases or last.tag == "determiner":
        return False
    may_be_noun = lists.may_be_noun(key) or lists.may_be_adjective(key)
    if last.tag == "preposition":
        return key.endswith("ing") or (last.key == "to" and key in bases)
    if last.tag == "auxiliary" or key.endswith("ing") or not may_be_noun:
        return True
    inflected = key not in bases
    if last.tag == "noun":
        return not has_verb and (inflected or key in syntax.PLAIN_VERBS)
    if last.tag in {"link", "adverb"}:
        return inflected or key in syntax.PLAIN_VERBS
    return False


def join(texts: Sequence[str]) -> str:
    """Return words and marks as a sentence, with its capital, its final mark and right articles."""
    kept = list(texts)
    while kept and kept[-1] in _MARKS:
        kept.pop()
    fixed = [
        _article(word, after) if word.lower() in {"a", "an"} else word
        for word, after in zip(kept, [*kept[1:], ""], strict=True)
    ]
    text = re.sub(r" (?=[.,;])", "", " ".join(fixed))
    return f"{text[:1].upper()}{text[1:]}."


def _article(article: str, after: str) -> str:
    right = "an" if _VOWEL.match(after) else "a"
    return right.capitalize() if article[0].isupper() else right
