"""The gender a name suggests: the corpus's cast, then its pronouns, then a census of names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pandas as pd

from pipeline.language.lexicon import TITLES, Gender
from pipeline.names.evidence.cast import is_no_name
from pipeline.names.evidence.lists import first_names

CLEAR = 0.9
"""The share of bearers from which a first name counts as a man's or a woman's."""
_NONE: Mapping[str, Gender] = MappingProxyType({})


def census(name: str) -> Gender:
    """Return the gender of a first name, `unknown` where both bear it or nobody does."""
    return clear_gender(*first_names().get(name.lower(), (0.0, 0.0)))


def clear_gender(women: float, men: float, clear: float = CLEAR) -> Gender:
    """Return the gender that has at least the share `clear` of the weight."""
    total = women + men
    if not total:
        return "unknown"
    return "woman" if women / total >= clear else "man" if men / total >= clear else "unknown"


def name_key(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without titles: `Dr. Ann Lee` is (ann, lee)."""
    words = (word.lower().strip(".,'\u2019") for word in name.split())
    return tuple(word for word in words if word and word not in TITLES)


@dataclass(frozen=True)
class Genders:
    """What is known of the people of a corpus, by name in lower case, without titles.

    Attributes:
        cast: what the corpus itself says; this is final.
        learned: what the pronouns beside a name say (`learning`).
        names: every single name of the corpus.
    """

    cast: Mapping[str, Gender] = field(default_factory=lambda: _NONE)
    learned: Mapping[str, Gender] = field(default_factory=lambda: _NONE)
    names: frozenset[str] = frozenset()

    def of(self, names: tuple[str, ...]) -> Gender:
        """Return the gender of a person by first and last name, or by one of them."""
        for known in (self.cast, self.learned):
            for name in (" ".join(names), *names):
                if name in known:
                    return known[name]
        return census(names[0]) if names else "unknown"


def cast_of(table: pd.DataFrame) -> dict[str, Gender]:
    """Return the genders of the people in the table `CAST` by name, as it is written there."""
    genders: dict[str, Gender] = {"female": "woman", "male": "man"}
    people = table[~is_no_name(table)]
    pairs = zip(people["name"], people["gender"], strict=True)
    return {name: genders.get(gender, "unknown") for name, gender in pairs}


def from_cast(cast: Mapping[str, Gender]) -> dict[str, Gender]:
    """Return a cast list by name in lower case, without titles.

    What is left of Mr. Lee and Mrs. Lee is one name, of a man or a woman: `unknown`.
    """
    genders: dict[str, Gender] = {}
    for name, gender in cast.items():
        if key := " ".join(name_key(name)):
            genders[key] = gender if genders.get(key, gender) == gender else "unknown"
    return genders
