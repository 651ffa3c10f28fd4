"""The form of a caption: what it has that its description does not, and what was cut off.

An answer may be like its description, keep its details, name no one, and still be no query:
`Caption: A man waves.`, `A man waves.</s>`, `A man pours milk into`. Faults are named, so that a
person sees at once what to look for. Everything is compared with the description: its own marks,
capitals, repetitions and ends are right. Without a description only what no caption has is a fault.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import pairwise

from pipeline.captions.details import NO_DETAILS, Pair, details, mask, mask_people
from pipeline.captions.replacements import WORDS
from pipeline.core import text
from pipeline.language import lexicon, syntax
from pipeline.names import truecase
from pipeline.names.base import Span

MAX_ADDED = 0.4
"""The largest share of a caption's content words that its description may lack."""
FEWEST_ADDED = 3
"""Fewer added words are another wording."""
MAX_CAPITALS = 0.5
"""The largest share of capitals in a caption that is not written in them."""
RUN = 4
"""Words that are a repetition when they come twice."""
_PLAIN = str.maketrans(
    "\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2010\u2011\u2013\u2014", '\'\'"""""----'
)
"""Forms of one mark."""
_QUOTED = re.compile(r"(?<!\w)'(?=\w)([^']*(?:\w'\w[^']*)*)'(?!\w)")
"""Words in single quotation marks: they are a form of the double ones."""
_FREE = frozenset(".,;'-")
_FREE_ELSEWHERE = frozenset("\u3002\u3001\uff0c\uff0e\uff1b\u060c\u061b\u06d4\u0964")
"""Marks that any sentence may have, and one in another script; others must be the description's."""
_ENDS = ".!?\u3002\uff01\uff1f\u061f\u06d4\u0964"
_FINAL = re.compile(rf"[{_ENDS}]['\")\]]*$")
_SENTENCE = re.compile(rf"(?<=[{_ENDS}])['\")\]]*\s+")
_MARKUP = re.compile(
    r"</?\w[^<>]*>|<\|[^<>]*\|>|\[/?\w+\]|\*\*|```|&#?\w+;|\\[nrtu\"]|^\s*(?:[-*\u2022>]|\d+[.)]) "
    r"|\b(?i:character|individual|m[ae]n|person|people|wom[ae]n) [A-HJ-Z]\b"
)
"""What no caption has: tags, entities, escapes, list marks, numbered people."""
_LABEL = re.compile(
    r"^(?:caption|rewritten|output|answer|description|note)\b[\w ]*:|\((?:note|rewr)",
    re.IGNORECASE,
)
_ABOUT_PICTURE = re.compile(
    r"(?:in )?(?:the|this) "
    r"(clip|footage|image|moment|passage|picture|scene|sentence|shot|text|video)\b",
    re.IGNORECASE,
)
"""Words that tell what is told: In this video, a man waves; The sentence describes a man."""
_BROKEN_MARKS = re.compile(r"[.,;\-]{2,}|\s[.,;](?!\d)|''")
_BRACKETS = ("()", "[]", "{}")
_MIXED_CASE = re.compile(r"\b[^\W\d_]*[a-z][A-Z]{2,}[^\W\d_]*\b")
_ABOUT_TEXT = lexicon.words("form", "about_text")
_SPEAKERS = lexicon.words("form", "speakers")
_NEGATIONS = lexicon.words("form", "negations")
_OPENERS = lexicon.words("form", "openers")
"""Words that begin an answer, not a caption."""
_DENIALS = lexicon.words("form", "denials")
"""Words that may become a negation: fails to, does not."""
_INITIALS = lexicon.words("form", "initials")
_DANGLING = lexicon.words("form", "dangling")
"""Words that end no sentence, unless the description ends so."""
_PARTICLES = (syntax.PREPOSITIONS | syntax.AUXILIARIES) - _DANGLING
"""Words that end a sentence if they end a clause of the description: sits down, as she can."""
NO_MARK, NO_CAPITAL = "no final mark", "no capital"
STYLE = frozenset((NO_MARK, NO_CAPITAL))
"""Faults that are a rewriter's style if most captions have them, and no others."""
FEWEST_IN_STYLE = 5
_OF_PEOPLE = details(" ".join((*WORDS, *map(lexicon.plural, WORDS), "named called"))).keys()
PEOPLE_WORDS = 3
"""Words that may stand for a name in a language whose words for people are not known."""
_SCRIPT_OF = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "HALFWIDTH": "CJK"}
_NUMBER = re.compile(r"\d+")
_NAMES_OF_NUMBERS = {str(number): name for number, name in enumerate(lexicon.NUMBERS)}
_LOANED = frozenset("\u00e0\u00e2\u00e7\u00e8\u00e9\u00ea\u00ee\u00ef\u00f1\u00f4")
"""Letters with accents that English words may have: cafe, facade, naive."""
_ASCII_ONLY = re.compile(r"[\x00-\x7f]*")


def list_faults(english: bool, rows: Sequence[Pair]) -> list[str]:
    """Return the faults of each caption's form, separated by `; `; '' if there are none.

    Words that are no caption's are known in English only.
    """
    return ["; ".join(dict.fromkeys(_faults(pair, english=english))) for pair in rows]


def list_faults_alone(caption: str) -> str:
    """Return the faults that show without a description."""
    return "; ".join(dict.fromkeys(_absolute(caption)))


def find_style(faults: Sequence[str]) -> frozenset[str]:
    """Return the faults of `STYLE` that most captions have, of those with no other faults."""
    found = [set(some.split("; ")) for some in faults]
    counts = Counter(fault for some in found if some <= STYLE for fault in some)
    fewest = max(FEWEST_IN_STYLE, len(found) / 2)
    return frozenset(fault for fault, count in counts.items() if count >= fewest)


def excuse(faults: str, style: frozenset[str]) -> str:
    """Return the faults of a caption without those of its rewriter's style."""
    return "; ".join(fault for fault in faults.split("; ") if fault not in style)


def list_lost(description: str, caption: str) -> list[str]:
    """Return which of `STYLE` a caption has: it lacks the final mark, the first capital."""
    before, after = _normalize(description), _normalize(caption)
    lost = (_FINAL.search(before) is not None and _FINAL.search(after) is None, NO_MARK)
    lower = (after[:1].islower() and before[:1].isupper(), NO_CAPITAL)
    return [fault for is_found, fault in (lost, lower) if is_found]


def _faults(pair: Pair, *, english: bool) -> Iterator[str]:
    yield from text.list_unreadable(pair.caption)
    if pair.caption == pair.description:
        return
    before, after = _normalize(pair.description), _normalize(pair.caption)
    yield from list_lost(pair.description, pair.caption)
    yield from _added_marks(before, after)
    yield from _foreign_letters(before, after)
    yield from _capitals(before, after)
    yield from _repetitions(before, after)
    yield from _repeated_run(pair)
    if english:
        yield from _lost_end(pair, before, after)
        yield from _strange_words(before, after)
    yield from _added_words(pair, before, after, english=english)


def _absolute(caption: str) -> Iterator[str]:
    yield from text.list_unreadable(caption)
    plain = _normalize(caption)
    yield from (_quote(mark) for mark in _MARKUP.findall(plain))
    if label := _LABEL.search(plain):
        yield _quote(label[0])
    for marks in _BRACKETS:
        opened, closed = (plain.count(mark) for mark in marks)
        if opened != closed:
            yield _quote(marks[opened < closed])
    for word in text.WORD.findall(plain):
        if len(_scripts(word)) > 1:
            yield f"mixed scripts {_quote(word)}"
    yield from _said_twice("", plain)


def _normalize(caption: str) -> str:
    """Return a text with one form of each letter and mark, and without what nobody sees."""
    plain = text.strip_unreadable(unicodedata.normalize("NFC", caption)).translate(_PLAIN)
    return _QUOTED.sub(r'"\1"', plain.strip(" "))


def _quote(found: str) -> str:
    return f'"{found.strip()}"'


def _added_marks(before: str, after: str) -> Iterator[str]:
    """Yield marks, symbols and unusual spaces that the caption has more often."""
    found = [*_MARKUP.findall(after), *_BROKEN_MARKS.findall(after)]
    found = [_quote(mark) for mark in found if mark not in before]
    free = _FREE if _scripts(before) <= {"LATIN"} else _FREE | _FREE_ELSEWHERE
    marks = (_marks(after) - _marks(before)).keys() - set("".join(found)) - free
    yield from found
    yield from (
        _quote(mark) if mark.isprintable() else f"U+{ord(mark):04X}" for mark in sorted(marks)
    )
    for at, where in ((0, "begins"), (-1, "ends")):
        mark = after[at : at + 1 or None]
        known = marks.union(_ENDS if at else "", before[at:][:1], set(before) - free, *found)
        if mark and _is_mark(mark) and mark not in known:
            yield f"{where} with {_quote(mark)}"


def _marks(plain: str) -> Counter[str]:
    return Counter(c for c in plain if c != " " and _is_mark(c))


def _is_mark(character: str) -> bool:
    """Tell whether a character is no letter, nor a vowel sign, as in Hindi or Thai."""
    is_sign = unicodedata.category(character)[0] == "M"
    is_loose = is_sign and unicodedata.name(character, "").startswith("COMBINING")
    return not character.isalnum() and (not is_sign or is_loose)


def _foreign_letters(before: str, after: str) -> Iterator[str]:
    """Yield words with a script that the description does not have, and digits that it lacks."""
    if _ASCII_ONLY.fullmatch(after) is None:
        known = _scripts(before) or {"LATIN"}
        for word in text.WORD.findall(after):
            if foreign := _scripts(word) - known:
                yield f"{', '.join(sorted(foreign)).lower()} letters in {_quote(word)}"
    words = text.words(before)
    spelt = {n for n in _NUMBER.findall(after) if _NAMES_OF_NUMBERS.get(n) in words}
    digits = {c for c in after if c.isdigit()}.difference(before, *spelt)
    if digits:
        yield f"digits {_quote(''.join(sorted(digits)))}"


def _has_strange_accents(word: str, old: Container[str]) -> bool:
    """Tell whether a word differs by its accents from one of the description."""
    marked = unicodedata.normalize("NFD", word)
    plain = "".join(letter for letter in marked if not unicodedata.combining(letter))
    if plain == word or word in old:
        return False
    return plain in NO_DETAILS or (plain in old and not _LOANED.issuperset({*word} - {*plain}))


def _scripts(letters: str) -> set[str]:
    return {_script(letter) for letter in letters if letter.isalnum() and not letter.isdigit()}


@cache
def _script(letter: str) -> str:
    if "\u0250" <= letter <= "\u02af" or "\u1d00" <= letter <= "\u1dbf":
        return "PHONETIC"
    name = unicodedata.name(letter, "unknown").split()[0]
    if name == "LATIN" and unicodedata.normalize("NFKC", letter) != letter:
        return "LIGATURE"
    return _SCRIPT_OF.get(name, name)


def _capitals(before: str, after: str) -> Iterator[str]:
    """Yield capitals that the description does not have, and the lost one at its beginning."""
    if _share_of_capitals(after) > MAX_CAPITALS >= _share_of_capitals(before):
        yield "capitals"
        return
    words = set(text.WORD.findall(before))
    known = {word.casefold() for word in words} | NO_DETAILS
    yield from (
        f"capitals {_quote(word)}"
        for word in text.WORD.findall(after)
        if word.isupper() and word not in words and _is_shouted(word, after, known)
    )
    yield from (
        f"capitals {_quote(word)}" for word in _MIXED_CASE.findall(after) if word not in words
    )
    if _starts(after) > max(0.5, 1.5 * _starts(before)):
        yield "a capital in each word"


def _is_shouted(word: str, after: str, known: Container[str]) -> bool:
    """Tell whether a word in capitals is neither an abbreviation nor `A` or `I`."""
    key = word.casefold()
    if len(word) == 1:
        return key not in known and key not in "ai" and f"{word}." not in after
    longest = 3  # TV, USA
    return key not in _INITIALS and not word[0].isdigit() and (len(word) > longest or key in known)


def _share_of_capitals(plain: str) -> float:
    letters = [letter for letter in plain if letter.isupper() or letter.islower()]
    return sum(map(str.isupper, letters)) / len(letters) if len(letters) > RUN else 0.0


def _starts(plain: str) -> float:
    """Return the share of words, after the first, with a capital; 0 if there are few words."""
    words = [word for word in text.WORD.findall(plain)[1:] if word[0].isalpha()]
    return sum(word[0].isupper() for word in words) / len(words) if len(words) >= RUN else 0.0


def _lost_end(pair: Pair, before: str, after: str) -> Iterator[str]:
    """Yield signs that a caption ends before its description does."""
    written, words = (text.WORD.findall(after) or [""])[-1], text.words(before)
    last, told = written.lower(), details(after)
    if not words or last in ("", words[-1]) or (len(written) == 1 and written.isupper()):
        return
    may_end = last in syntax.PREPOSITIONS and _keeps_objects(pair, last, told)
    if not may_end and (
        last in _DANGLING or (last in _PARTICLES and not _ends_clause(last, before))
    ):
        yield f'ends with "{last}"'
    elif _is_cut(last, words, told) or _lacks_last_detail(pair, last, told):
        yield "the end is missing"


def _keeps_objects(pair: Pair, word: str, told: Counter[str]) -> bool:
    """Tell whether a caption has what follows a word in its description: the sofa he sits on."""
    words = _masked_words(pair)
    after = [words[at + 1 :] for at, found in enumerate(words) if found == word]
    objects = [next((w for w in some if w not in syntax.DETERMINERS), "") for some in after]
    return bool(objects) and all(details(thing) & told for thing in objects)


def _masked_words(pair: Pair) -> list[str]:
    return [word.key for word in truecase.words(mask(pair.description, pair.described))]


def _ends_clause(word: str, before: str) -> bool:
    """Tell whether a word ends a clause in a text, or is not in it at all."""
    lower, links = before.casefold(), syntax.PHRASE_STARTS
    ends = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", lower))
    following = [(lower[end.end() :], syntax.next_word(lower[end.end() :])) for end in ends]
    phrases = links - syntax.DETERMINERS
    return not ends or any(
        not nxt or rest.lstrip()[:1] in ".,;:!?" or nxt in phrases for rest, nxt in following
    )


def _is_cut(last: str, words: Sequence[str], told: Counter[str]) -> bool:
    """Tell whether the last word is the beginning of a word that the caption lacks."""
    wholes = [details(word) for word in words if word.startswith(last)]
    is_other = last in words or last in NO_DETAILS
    return not is_other and any(whole and not whole & told for whole in wholes)


def _lacks_last_detail(pair: Pair, last: str, told: Counter[str]) -> bool:
    """Tell whether the caption ends within the description, before the last thing it tells.

    A caption that adds as much as it lacks says it in other words.
    """
    words, known = _masked_words(pair), details(pair.description, pair.described)
    final = [stem for word in words for stem in details(word) if stem not in _OF_PEOPLE][-1:]
    if not final or last not in words or final[0] in told:
        return False
    return (known - told).total() > (told - known).total()


def _repetitions(before: str, after: str) -> Iterator[str]:
    yield from _said_twice(before, after)
    words, old = text.words(after), text.words(before)
    doubled = {b for a, b in pairwise(words) if a == b}
    doubled -= {b for a, b in pairwise(old) if a == b} | {"had", "that"}
    yield from (f'"{word} {word}"' for word in sorted(doubled))


def _repeated_run(pair: Pair) -> Iterator[str]:
    """Yield a run of words that comes again, people aside: Ann's hand, Bea's hand."""
    runs = _runs(mask_people(pair.caption, pair.named))
    known = _runs(mask_people(pair.description, pair.described))
    again = [run for run, count in runs.items() if count > max(1, known[run])]
    again += _stutters(pair.caption, pair.named) - _stutters(pair.description, pair.described)
    yield from (f"repeated {_quote(' '.join(run))}" for run in again[:1])


def _stutters(line: str, names: Sequence[Span]) -> set[tuple[str, ...]]:
    """Return the runs of two words or more that follow themselves: on the floor on the floor."""
    words = text.words(mask_people(line, names))
    return {
        tuple(words[at : at + length])
        for length in range(2, len(words) // 2 + 1)
        for at in range(len(words) - 2 * length + 1)
        if words[at : at + length] == words[at + length : at + 2 * length]
    }


def _said_twice(before: str, after: str) -> Iterator[str]:
    said = Counter(" ".join(text.words(sentence)) for sentence in _sentences(after))
    words, old = text.words(after), text.words(before)
    half = len(words) // 2
    whole = half > 1 and words == words[:half] * 2 and old != old[: len(old) // 2] * 2
    if whole or any(n > 1 and s and " ".join(old).count(s) < n for s, n in said.items()):
        yield "said twice"


def _sentences(plain: str) -> list[str]:
    ends = [end for end in _SENTENCE.finditer(plain) if not _is_abbreviation(plain, end.start())]
    cuts = [0, *(end.end() for end in ends), len(plain)]
    return [part for start, end in pairwise(cuts) if text.words(part := plain[start:end])]


def _is_abbreviation(plain: str, end: int) -> bool:
    return truecase.ends_abbreviated(plain[:end])


def _runs(masked: str) -> Counter[tuple[str, ...]]:
    """Count the runs of words, if two of them or more tell something."""
    words = text.words(masked)
    runs = zip(*(words[shift:] for shift in range(RUN)), strict=False)
    return Counter(run for run in runs if sum(word not in NO_DETAILS for word in run) > 1)


def _strange_words(before: str, after: str) -> Iterator[str]:
    """Yield words of another speaker, about the text, with accents, or that deny what it says."""
    words, old = text.words(after), set(text.words(before))
    strange = _ABOUT_TEXT | _SPEAKERS
    first = {*words[:1]} & _OPENERS
    yield from (_quote(word) for word in words if word in strange | first and word not in old)
    about = _ABOUT_PICTURE.match(after)
    if about and about[1].lower() not in old:
        yield _quote(about[0])
    yield from (f"accents in {_quote(word)}" for word in words if _has_strange_accents(word, old))
    negated = [word for word in words if _is_negation(word)]
    if negated and not any(_is_negation(word) or word in _DENIALS for word in old):
        yield _quote(negated[0])


def _added_words(pair: Pair, before: str, after: str, *, english: bool) -> Iterator[str]:
    """Yield sentences and words that the description lacks."""
    description = pair.description.translate(_PLAIN)
    known = details(description, pair.described) + details(description)
    told = details(after)
    known_or_people = known.keys() | _OF_PEOPLE
    added = Counter({word: count for word, count in told.items() if word not in known_or_people})
    sentences = _sentences(after)
    if len(sentences) > len(_sentences(before)):
        for sentence in sentences:
            content = details(sentence)
            if content and not content & known:
                yield f"added {_quote(sentence)}"
    count = added.total() - (0 if english else PEOPLE_WORDS * len(pair.described))
    if count >= FEWEST_ADDED and count > MAX_ADDED * told.total():
        yield f"added {_quote(' '.join(added))}"


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")
