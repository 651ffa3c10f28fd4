"""The role of a name: subject or object, as far as the words next to it show."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from pipeline.language import lexicon
from pipeline.language.lexicon import ROLE_NOUNS, words

Case = Literal["subject", "object", "open"]

PREPOSITIONS = words("syntax", "prepositions")
LINKS = words("syntax", "links")
"""Words after which a clause may begin: what follows them may not be their object."""
OPENERS = words("syntax", "openers")
CLAUSE_OPENERS = words("syntax", "clause_openers")
AUXILIARIES = words("syntax", "auxiliaries")
PLURAL_FORMS = words("syntax", "plural_forms")
ADVERBS = words("syntax", "adverbs")
PLAIN_VERBS = words("syntax", "plain_verbs")
NO_VERBS = words("syntax", "no_verbs")
_POSSESSED = words("syntax", "possessed")
_PAST = words("syntax", "past")
DETERMINERS = words("syntax", "determiners")
PHRASE_STARTS = PREPOSITIONS | LINKS | ADVERBS | AUXILIARIES | DETERMINERS

DITRANSITIVE = re.compile(
    r"\b(?:hand|give|tell|show|pass|throw|toss|offer|ask|teach|bring|send|gave|told|brought|threw)"
    r"(?:s|es|ing|ed)?\s+$",
    re.IGNORECASE,
)
"""A verb before a name that takes a person and a thing: hands Ann Bea's coat."""
_CLAUSE = re.compile(rf"\b(?:{'|'.join(sorted(LINKS))})\b|[,;.!?]", re.IGNORECASE)
_WORD = r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*"
_TITLE_BEFORE = re.compile(
    rf"(?<![\w'\u2019-])(?P<the>(?:an?|the|his|her|their|my)\s+)?(?P<title>{lexicon.title_pattern()})"
    r"(?:\.\s*|\s+|(?<=Dr|Mr|Ms),\s*)$",
    re.IGNORECASE,
)
_CAPITALISED_TITLES = words("titles", "capitalised")
_VERBS = frozenset(("coach", "doctor", "judge", "miss", "nurse"))
"""Titles that are verbs too."""
_BEFORE_VERB = re.compile(
    r"(?:\b(?:(?:about|going|has|have|had|likely|need|needs|not|sure|trying|used|want|wants) to"
    r"|i|you|we|they|who|can|could|may|might|must|should|will|would|do|does|did|not|never"
    rf"|all|both|gonna|wanna|gotta|really|still|always|{'|'.join(sorted(lexicon.GENDER_OF_PLURAL))})"
    r"|n['\u2019]t|['\u2019](?:ll|d|m))\s+$",
    re.IGNORECASE,
)
_INFINITIVE = re.compile(
    r"(?<!talks )(?<!talking )(?<!speaks )(?<!speaking )(?<!listens )(?<!listening )(?<!next )"
    r"\bto $"
)
_FIRST_WORD = re.compile(rf"\s*({_WORD})")
_LAST_WORD = re.compile(rf"({_WORD})\s*$")
_NEXT_IN_LOWER_CASE = re.compile(r"\s+([a-z][\w'\u2019-]*)")
_SINGULAR = re.compile(r"\w+(?<!s)(?<!['\u2019])s")
_PAST_TENSE = re.compile(r"\w{3,}ed")


class TitleBefore(NamedTuple):
    """A title right before a name: where it begins, its key in `TITLES`, and how it is written."""

    start: int
    key: str
    is_definite: bool
    """It is a noun after an article: the doctor Ann."""


def title_before(left: str) -> TitleBefore | None:
    """Return the title that ends the text before a name; `gonna miss` ends in a verb."""
    match = _TITLE_BEFORE.search(left)
    if not match:
        return None
    start, title = match.start("title"), match["title"]
    if title.islower() and (
        title in _CAPITALISED_TITLES
        or (title in _VERBS and _BEFORE_VERB.search(left[:start]))
        or (title == "miss" and _INFINITIVE.search(left[:start]))
    ):
        return None
    return TitleBefore(start, lexicon.title_key(title), bool(match["the"]) and title.islower())


def next_word(right: str) -> str:
    """Return the first word of what follows, in lower case; '' before punctuation."""
    match = _FIRST_WORD.match(right)
    return match[1].lower() if match else ""


def next_verb_place(right: str) -> str:
    """Return the first following word that is not an adverb, where a verb would be."""
    while match := _FIRST_WORD.match(right):
        word = match[1].lower()
        if word not in ADVERBS and not word.endswith("ly"):
            return word
        right = right[match.end() :]
    return ""


def last_word(left: str) -> str:
    """Return the last word of what precedes, in lower case; '' after punctuation."""
    match = _LAST_WORD.search(left)
    return match[1].lower() if match else ""


def is_singular_verb(word: str) -> bool:
    """Tell whether a word right after a name looks like its verb: walks, is, sat."""
    if word in PLURAL_FORMS or word in NO_VERBS or word in PREPOSITIONS:
        return False
    past = word in _PAST or _PAST_TENSE.fullmatch(word)
    return word in AUXILIARIES or bool(past or _SINGULAR.fullmatch(word))


def is_verb(word: str) -> bool:
    """Tell whether a word right after a name looks like a verb, of one person or of several."""
    return is_singular_verb(word) or word in PLURAL_FORMS or word in PLAIN_VERBS


def takes_object(word: str) -> bool:
    """Tell whether the word before a name looks like a verb that takes it as its object."""
    verb = is_singular_verb(word) or word.endswith("ing") or word in PLAIN_VERBS
    return verb and word not in AUXILIARIES


def case_of(left: str, right: str) -> Case:
    """Return whether a name between `left` and `right` is subject or object, else `open`."""
    before, after = last_word(left), next_verb_place(right)
    if before in PREPOSITIONS and before not in LINKS:
        return "object"
    if takes_object(before) and before not in LINKS and before not in ADVERBS:
        return "object"
    return "subject" if is_verb(after) else "open"


def is_noun(word: str) -> bool:
    """Tell whether a word is a noun, as far as it has no other known class."""
    return bool(word) and word not in PHRASE_STARTS and not takes_object(word)


def is_before_noun(right: str) -> bool:
    """Tell whether what follows a name is a noun, as far as no other word class is known."""
    match = _NEXT_IN_LOWER_CASE.match(right)
    if not match or match[1] in PHRASE_STARTS or match[1].endswith(("ing", "ly")):
        return False
    return not is_verb(match[1])


def ends_noun_phrase(word: str) -> bool:
    """Tell whether a word can't belong to the noun before it: a verb, a preposition, and."""
    return word in PHRASE_STARTS - DETERMINERS or is_singular_verb(word)


def is_before_possession(right: str) -> bool:
    """Tell whether what follows a name is a thing that people have: in Ann room."""
    thing, after = _next_two(right)
    return thing in _POSSESSED and (not after or after in PHRASE_STARTS - DETERMINERS)


def is_before_relative(right: str) -> bool:
    """Tell whether what follows a name is a person related to them, who does something."""
    somebody, verb = _next_two(right)
    return somebody in ROLE_NOUNS and is_singular_verb(verb)


def _next_two(right: str) -> tuple[str, str]:
    """Return the next two words; '' for those after punctuation."""
    match = _NEXT_IN_LOWER_CASE.match(right)
    return (match[1], next_word(right[match.end() :])) if match else ("", "")


def clause_start(left: str, inside: Sequence[tuple[int, int]] = ()) -> int:
    """Return where the clause that continues after `left` begins.

    What links the names of one unit, at the characters `inside`, does not start a clause.
    """
    starts = (match.end() for match in _CLAUSE.finditer(left))
    return max((s for s in starts if not any(a < s <= b for a, b in inside)), default=0)
