"""The form of a caption: what it has that its description does not, and what was cut off.

An answer may be like its description, keep its details, name no one, and still be no query:
`Caption: A man waves.`, `A man waves.</s>`, `A man pours milk into`. Faults are named, so that a
person sees at once what to look for. Everything is compared with the description: its own marks,
capitals, repetitions and ends are right. Without a description only what no caption has is a fault.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from pipeline.captions.details import NO_DETAILS, Pair, details, mask, mask_people
from pipeline.core import text
from pipeline.language import lexicon, syntax
from pipeline.names import truecase

MAX_ADDED = 0.4
"""The largest share of a caption's content words that its description may lack."""
FEWEST_ADDED = 3
"""Fewer added words are another wording."""
MAX_CAPITALS = 0.5
"""The largest share of capitals in a caption that is not written in them."""
RUN = 4
"""Words that are a repetition when they come twice."""
_PLAIN = str.maketrans("\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2013\u2014", '\'\'"""""--')
"""Forms of one mark."""
_FREE = frozenset(".,;'-\u3002\u3001\uff0c\uff0e\uff1b\u060c\u061b\u06d4\u0964")
"""Marks that any sentence may have; every other one must be the description's."""
_ENDS = ".!?\u3002\uff01\uff1f\u061f\u06d4\u0964"
_FINAL = re.compile(rf"[{_ENDS}]['\")\]]*$")
_SENTENCE = re.compile(rf"(?<=[{_ENDS}])['\")\]]*\s+")
_MARKUP = re.compile(
    r"</?\w[^<>]*>|<\|[^<>]*\|>|\[/?\w+\]|\*\*|```|&#?\w+;|\\[nrtu\"]|^\s*(?:[-*\u2022>]|\d+[.)]) "
)
"""What no caption has: tags, entities, escapes, list marks."""
_LABEL = re.compile(
    r"^(?:caption|rewritten|output|answer|description|note)\b[\w ]*:|\((?:note|rewr)",
    re.IGNORECASE,
)
_BROKEN_MARKS = re.compile(r"[.,;\-]{2,}|\s[.,;](?!\d)|''")
_BRACKETS = ("()", "[]", "{}")
_MIXED_CASE = re.compile(r"\b[^\W\d_]*[a-z][A-Z]{2,}[^\W\d_]*\b")
_ABOUT_TEXT = lexicon.words("form", "about_text")
_SPEAKERS = lexicon.words("form", "speakers")
_NEGATIONS = lexicon.words("form", "negations")
_DANGLING = lexicon.words("form", "dangling")
"""Words that end no sentence, unless the description ends so."""
_PARTICLES = (syntax.PREPOSITIONS | syntax.AUXILIARIES) - _DANGLING
"""Words that end a sentence if they end a clause of the description: sits down, as she can."""
_SCRIPT_OF = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "HALFWIDTH": "CJK"}
_ASCII_ONLY = re.compile(r"[\x00-\x7f]*")


def list_faults(english: bool, rows: Sequence[Pair]) -> list[str]:
    """Return the faults of each caption's form, separated by `; `; '' if there are none.

    Words that are no caption's are known in English only.
    """
    return ["; ".join(dict.fromkeys(_faults(pair, english=english))) for pair in rows]


def list_faults_alone(caption: str) -> str:
    """Return the faults that show without a description."""
    return "; ".join(dict.fromkeys(_absolute(caption)))


def _faults(pair: Pair, *, english: bool) -> Iterator[str]:
    yield from text.list_unreadable(pair.caption)
    if pair.caption == pair.description:
        return
    before, after = _normalize(pair.description), _normalize(pair.caption)
    yield from _added_marks(before, after)
    yield from _foreign_letters(before, after)
    yield from _capitals(before, after)
    yield from _lost_end(pair, before, after, english=english)
    yield from _repetitions(before, after)
    yield from _repeated_run(pair)
    if english:
        yield from _strange_words(before, after)
    yield from _added_words(pair, before, after)


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
    return plain.strip(" ")


def _quote(found: str) -> str:
    return f'"{found.strip()}"'


def _added_marks(before: str, after: str) -> Iterator[str]:
    """Yield marks, symbols and unusual spaces that the caption has more often."""
    found = [*_MARKUP.findall(after), *_BROKEN_MARKS.findall(after)]
    found = [_quote(mark) for mark in found if mark not in before]
    marks = (_marks(after) - _marks(before)).keys() - set("".join(found))
    yield from found
    yield from (
        _quote(mark) if mark.isprintable() else f"U+{ord(mark):04X}" for mark in sorted(marks)
    )
    for at, where in ((0, "begins"), (-1, "ends")):
        mark = after[at : at + 1 or None]
        known = marks.union(_ENDS if at else "", before[at:][:1], *found)
        if mark and not mark.isalnum() and mark not in known:
            yield f"{where} with {_quote(mark)}"


def _marks(plain: str) -> Counter[str]:
    return Counter(c for c in plain if not c.isalnum() and c != " " and c not in _FREE)


def _foreign_letters(before: str, after: str) -> Iterator[str]:
    """Yield words with a script that the description does not have, and digits that it lacks."""
    if _ASCII_ONLY.fullmatch(after) is None:
        known = _scripts(before) or {"LATIN"}
        for word in text.WORD.findall(after):
            if foreign := _scripts(word) - known:
                yield f"{', '.join(sorted(foreign)).lower()} letters in {_quote(word)}"
    digits = {c for c in after if c.isdigit()} - set(before)
    if digits:
        yield f"digits {_quote(''.join(sorted(digits)))}"


def _scripts(letters: str) -> set[str]:
    return {_script(letter) for letter in letters if letter.isalpha()}


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "unknown").split()[0]
    return _SCRIPT_OF.get(name, name)


def _capitals(before: str, after: str) -> Iterator[str]:
    """Yield capitals that the description does not have, and the lost one at its beginning."""
    if _share_of_capitals(after) > MAX_CAPITALS >= _share_of_capitals(before):
        yield "capitals"
        return
    words = set(text.WORD.findall(before))
    shouted = [
        word
        for word in text.WORD.findall(after)
        if len(word) > 1 and word.isupper() and not word[0].isdigit() and word not in words
    ]
    known = {word.casefold() for word in words} | NO_DETAILS
    yield from (
        f"capitals {_quote(word)}"
        for word in shouted
        if len(word) > 3 or word.casefold() in known  # noqa: PLR2004  (TV, USA)
    )
    yield from (
        f"capitals {_quote(word)}" for word in _MIXED_CASE.findall(after) if word not in words
    )
    if _starts(after) > max(0.5, 1.5 * _starts(before)):
        yield "a capital in each word"
    if after[:1].islower() and before[:1].isupper():
        yield "no capital at the beginning"


def _share_of_capitals(plain: str) -> float:
    letters = [letter for letter in plain if letter.isupper() or letter.islower()]
    return sum(map(str.isupper, letters)) / len(letters) if len(letters) > RUN else 0.0


def _starts(plain: str) -> float:
    """Return the share of words, after the first, with a capital; 0 if there are few words."""
    words = [word for word in text.WORD.findall(plain)[1:] if word[0].isalpha()]
    return sum(word[0].isupper() for word in words) / len(words) if len(words) >= RUN else 0.0


def _lost_end(pair: Pair, before: str, after: str, *, english: bool) -> Iterator[str]:
    """Yield signs that a caption ends before its description does."""
    if _FINAL.search(before) and not _FINAL.search(after):
        yield "no final mark"
    last, words = _last(after), text.words(before)
    if not english or not last or not words or last == words[-1]:
        return
    if last in _DANGLING or (last in _PARTICLES and not _ends_clause(last, before)):
        yield f'ends with "{last}"'
    elif _lacks_last_detail(pair, last):
        yield "the end is missing"


def _last(plain: str) -> str:
    return (text.words(plain) or [""])[-1]


def _ends_clause(word: str, before: str) -> bool:
    """Tell whether a word ends a clause in a text, or is not in it at all."""
    lower, links = before.casefold(), syntax.PHRASE_STARTS
    ends = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", lower))
    following = [(lower[end.end() :], syntax.next_word(lower[end.end() :])) for end in ends]
    phrases = links - syntax.DETERMINERS
    return not ends or any(
        not nxt or rest.lstrip()[:1] in ".,;:!?" or nxt in phrases for rest, nxt in following
    )


def _lacks_last_detail(pair: Pair, last: str) -> bool:
    """Tell whether the caption ends within the description, before the last thing it tells."""
    words = [word.key for word in truecase.words(mask(pair.description, pair.described))]
    told = [word for word in words if word not in NO_DETAILS and len(word) > 1]
    if not told or last in NO_DETAILS or last not in words:
        return False
    return not (details(told[-1]) & details(pair.caption))


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
    yield from (f"repeated {_quote(' '.join(run))}" for run in again[:1])


def _said_twice(before: str, after: str) -> Iterator[str]:
    said = Counter(" ".join(text.words(sentence)) for sentence in _SENTENCE.split(after))
    words, old = text.words(after), text.words(before)
    half = len(words) // 2
    whole = half > 1 and words == words[:half] * 2 and old != old[: len(old) // 2] * 2
    if whole or any(n > 1 and s and " ".join(old).count(s) < n for s, n in said.items()):
        yield "said twice"


def _runs(masked: str) -> Counter[tuple[str, ...]]:
    """Count the runs of words, if two of them or more tell something."""
    words = text.words(masked)
    runs = zip(*(words[shift:] for shift in range(RUN)), strict=False)
    return Counter(run for run in runs if sum(word not in NO_DETAILS for word in run) > 1)


def _strange_words(before: str, after: str) -> Iterator[str]:
    """Yield words of another speaker, about the text, or that deny what the description says."""
    words, old = text.words(after), set(text.words(before))
    strange = _ABOUT_TEXT | _SPEAKERS
    yield from (_quote(word) for word in words if word in strange and word not in old)
    negated = [word for word in words if _is_negation(word)]
    if negated and not any(map(_is_negation, old)):
        yield _quote(negated[0])


def _added_words(pair: Pair, before: str, after: str) -> Iterator[str]:
    """Yield sentences and words that the description lacks."""
    known = details(pair.description, pair.described) + details(pair.description)
    told = details(after)
    added = Counter({word: count for word, count in told.items() if word not in known})
    sentences = [s for s in _SENTENCE.split(after) if text.words(s)]
    if len(sentences) > 1 and len(sentences) > len(_SENTENCE.split(before)):
        for sentence in sentences:
            content = details(sentence)
            if content and not content & known:
                yield f"added {_quote(sentence)}"
    if added.total() >= FEWEST_ADDED and added.total() > MAX_ADDED * told.total():
        yield f"added {_quote(' '.join(added))}"


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")
