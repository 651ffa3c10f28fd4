"""Lists of names and of what is not a name: first and family names, places, makes, words.

Names are those of the United States census of 1990 (package `names`) and of Faker's British and
Indian lists, places those of the time zones and Faker's countries and states, English words those
of the lexicon of `lemminflect`. What these lack is in `words.toml`.
"""

import calendar
import re
import tomllib
import zoneinfo
from functools import cache
from importlib import resources
from pathlib import Path

USUAL = 0.004
"""From this frequency (%), a first name of the census counts without further evidence."""
FAMILY_NAMES = 12_000
"""How many of the most frequent family names are used."""

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


@cache
def listed(section: str, name: str) -> frozenset[str]:
    """Return a list of `words.toml`; a phrase has its spaces."""
    return frozenset(word.replace("_", " ") for word in _WORDS[section][name].split())


@cache
def first_names() -> dict[str, tuple[float, float]]:
    """Return first names in lower case with their frequency (%) among women and among men."""
    women, men = _census("female.first"), _census("male.first")
    return {name: (women.get(name, 0.0), men.get(name, 0.0)) for name in {**women, **men}}


def _census(name: str) -> dict[str, float]:
    lines = resources.files("names").joinpath(f"dist.{name}").read_text("ascii").splitlines()
    # A frequency is printed with three decimals: at 0.000, a name is rare, not unused.
    return {name.lower(): max(float(share), 0.0005) for name, share, *_ in map(str.split, lines)}


@cache
def given_names() -> frozenset[str]:
    """Return the usual first names, in lower case; some of them are also places or words."""
    from faker.providers.person import en_GB, en_IN  # noqa: PLC0415  (only where names are looked for)

    usual = {name for name, shares in first_names().items() if sum(shares) >= USUAL}
    others = {*en_GB.Provider.first_names, *en_IN.Provider.first_names}
    return frozenset(usual | {name.lower() for name in others})


@cache
def family_names() -> frozenset[str]:
    """Return frequent family names, in lower case; many are also places or words."""
    return frozenset(list(_census("all.last"))[:FAMILY_NAMES])


@cache
def places() -> frozenset[str]:
    """Return cities, states and countries, and each of their words, in lower case."""
    from faker.providers.address import en, en_US  # noqa: PLC0415  (likewise)

    zones = {name for zone in zoneinfo.available_timezones() for name in re.split("[/_]", zone)}
    states = {*en.Provider.countries, *en_US.Provider.states}
    either = {name.lower() for name in zones | states}
    people = {"casey", "davis", "darwin", "palmer", "stanley", "victor", "sofia", "monica"}
    return frozenset(either - people) | listed("lists", "places")


@cache
def things() -> frozenset[str]:
    """Return makes, peoples, days and months, in lower case."""
    days = {name.lower() for name in (*calendar.day_name, *calendar.month_name) if name}
    many = {f"{name}s" for name in listed("lists", "peoples")}
    return listed("lists", "brands") | listed("lists", "peoples") | many | days


@cache
def is_word(word: str) -> bool:
    """Tell whether a word, in lower case, is an English one that needs no capital."""
    words, last = listed("lists", "words"), word.rpartition("-")[2]
    if {word, word.removesuffix("s")} & words or len(word) == 1:
        return True
    return bool(_lemmas(word) or (last != word and _lemmas(last)))


@cache
def _lemmas(word: str) -> dict[str, tuple[str, ...]]:
    """Return the base forms that a word, in lower case, can have, by their classes."""
    from lemminflect import getAllLemmas  # noqa: PLC0415  (likewise)

    lemmas: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return lemmas


def is_noun(word: str) -> bool:
    """Tell whether a word, in lower case, is a noun and nothing else: rice, but not walks."""
    return _lemmas(word).keys() == {"NOUN"}


def may_be_noun(word: str) -> bool:
    """Tell whether a word, in lower case, can be a noun, among other things: eggs, crackers."""
    return "NOUN" in _lemmas(word)


def may_be_adjective(word: str) -> bool:
    """Tell whether a word, in lower case, can be an adjective, among other things: green."""
    return "ADJ" in _lemmas(word)


def may_be_adverb(word: str) -> bool:
    """Tell whether a word, in lower case, can be an adverb, among other things: yesterday."""
    return "ADV" in _lemmas(word)


@cache
def lemmas(word: str) -> frozenset[str]:
    """Return the verbs, in their base form, that a word can be of: walks, walked, walking."""
    return frozenset((*_lemmas(word).get("VERB", ()), *_lemmas(word).get("AUX", ())))


def is_elsewhere(word: str) -> bool:
    """Tell whether a word, in lower case, is a place, a make, a people or a day."""
    return word in places() or word in things()


def is_given_name(word: str) -> bool:
    """Tell whether a word, in lower case, is a first name and hardly anything else."""
    if word in listed("lists", "names"):
        return True
    return word in given_names() and not is_word(word) and not is_elsewhere(word)
