"""People whom a text names by a noun already: `a man`, `the nurse`, `two women`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.captions.rules.units import Unit
from pipeline.language.lexicon import GENDER_OF_NOUN, GENDER_OF_PLURAL, Gender

_PRONOUNS: dict[str, Gender] = {"him": "man"}
_NOUNS = "|".join(sorted((*GENDER_OF_NOUN, *GENDER_OF_PLURAL, *_PRONOUNS), key=len, reverse=True))
_NOUN = re.compile(rf"(?<![\w'\u2019-])(?:{_NOUNS})(?![\w-])", re.IGNORECASE)
_BARE_ARTICLE = re.compile(r"\b(an?|the)\s+$", re.IGNORECASE)
_DESCRIBED = re.compile(r"\s+(?:who|with|in|wearing|dressed|from|holding|[a-z]+ing)\b")
_CONJOINED = re.compile(rf"\s+and\s+(?:{_NOUNS})(?![\w-])")


class Other(NamedTuple):
    """A noun for somebody at `start`; `article` is where its bare article stands, if any."""

    start: int
    noun: str
    gender: Gender
    article: tuple[int, int] | None
    definite: bool
    described: bool


def find_others(text: str, units: Sequence[Unit]) -> list[Other]:
    """Return the nouns for people in a text, outside its names."""
    found = (_other(text, match) for match in _NOUN.finditer(text))
    return [
        other for other in found if not any(unit.start <= other.start < unit.end for unit in units)
    ]


def _other(text: str, match: re.Match[str]) -> Other:
    noun = match[0].lower()
    # `the man and woman` share their article.
    conjoined = _CONJOINED.match(text, match.end())
    article = None if conjoined else _BARE_ARTICLE.search(text[: match.start()])
    return Other(
        start=match.start(),
        noun=noun,
        gender=GENDER_OF_NOUN.get(noun) or GENDER_OF_PLURAL.get(noun) or _PRONOUNS[noun],
        article=article.span(1) if article else None,
        definite=article is not None and article[1].lower() == "the",
        described=bool(_DESCRIBED.match(text, match.end())),
    )


def set_apart(other: Other) -> str:
    """Return the determiner that sets a noun apart from one of the same word before it."""
    return "the other" if other.definite and not other.described else "another"
