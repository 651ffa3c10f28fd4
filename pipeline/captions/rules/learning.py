"""Learn from a corpus whom its pronouns take for a man or a woman.

A surname tells no gender, and a name such as Robin is anybody's. But where a description
names one person and goes on with `his` or `she`, it tells; over a corpus that adds up.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from pipeline.captions.rules.gender import Genders, census, clear_gender
from pipeline.captions.rules.mentions import Mention, find_mentions
from pipeline.language.lexicon import GENDER_OF_NOUN, TITLES, Gender
from pipeline.names.base import Span

ENOUGH = 3
"""Pronouns that a name needs to overrule the census; fewer decide where that says nothing."""
MOST = 0.75
"""The share of a name's pronouns that has to agree."""
ALIKE = 0.84
"""How alike (`difflib`) a rare, misspelt name is to the one that is meant."""
SHORT = 3
"""Letters up to which any name is nearly another one."""
_OF_MEN = re.compile(r"\b(?:he|his|himself)\b", re.IGNORECASE)
# `her` counts only before a noun: as an object it is somebody else.
_OF_WOMEN = re.compile(
    r"\b(?:she|herself|her(?=\s+(?!(?:as|and|while|to|in|on|at|with|from|by|for|that|when|then|up|"
    r"down|out|off|away|back|about|into|over|if|a|an|the|he|she|who|is|was)\b)[a-z]))\b",
    re.IGNORECASE,
)


def learn(
    texts: Sequence[str], spans: Sequence[Sequence[Span]], cast: Mapping[str, Gender]
) -> Genders:
    """Return what the corpus tells of its people; `spans` are the names of each text."""
    names = _names_of(spans)
    found = [find_mentions(*pair, names) for pair in zip(texts, spans, strict=True)]
    counts = _count(texts, found)
    learned = {name: gender for name, by in counts.items() if (gender := _decide(name, by))}
    rare = {name for mentions in found for mention in mentions for name in mention.names}
    learned |= _of_misspelt(rare - set(learned) - set(cast), {**learned, **cast})
    return Genders(cast, learned, names | frozenset(cast))


def _names_of(spans: Iterable[Sequence[Span]]) -> frozenset[str]:
    """Return the single names that stand for themselves more often than with an s added."""
    count = Counter(word.lower() for found in spans for span in found for word in span.text.split())
    return frozenset(
        name
        for name, times in count.items()
        if not (name.endswith("s") and count[name[:-1]] > times)
    )


def _count(texts: Sequence[str], found: Sequence[Sequence[Mention]]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text, mentions in zip(texts, found, strict=True):
        people = {mention.names for mention in mentions}
        if (
            len(people) == 1
            and mentions[0].names
            and (gender := _pronouns(text[mentions[0].end :], mentions[0]))
        ):
            for name in (*mentions[0].names, " ".join(mentions[0].names)):
                counts[name][gender] += 1
    return counts


def _pronouns(right: str, mention: Mention) -> Gender | None:
    title = TITLES.get(mention.title or "")
    if title and title.gender != "unknown":
        return title.gender
    men, women = bool(_OF_MEN.search(right)), bool(_OF_WOMEN.search(right))
    gender: Gender = "man" if men else "woman"
    others = {GENDER_OF_NOUN.get(word) for word in re.findall(r"\w+", right.lower())}
    return None if men == women or others & {gender, "unknown"} else gender


def _decide(name: str, by: Counter[str]) -> Gender | None:
    gender = clear_gender(by["woman"], by["man"], MOST)
    needed = 1 if census(name) == "unknown" else ENOUGH
    return gender if gender != "unknown" and by.total() >= needed else None


def _of_misspelt(rare: Iterable[str], known: Mapping[str, Gender]) -> dict[str, Gender]:
    """Return genders for names that nothing tells, by the name that they are nearly."""
    unclear = (name for name in sorted(rare) if census(name) == "unknown" and len(name) > SHORT)
    alike = {name: get_close_matches(name, known, n=1, cutoff=ALIKE) for name in unclear}
    return {name: known[found[0]] for name, found in alike.items() if found}
