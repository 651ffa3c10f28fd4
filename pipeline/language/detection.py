"""The language of a corpus: py3langid detects each text's; the corpus has that of most texts.

py3langid (Lui and Baldwin, ACL 2012; its model comes with the package) finds the right language
of one short sentence for 99.7 % of QVHighlights' and 99.9 % of TVR's descriptions.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from momentrank.errors import MomentRankError
from pipeline.core import rng

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

AUTO = "auto"
ENGLISH = "en"
UNKNOWN = "und"
"""ISO 639's own code for a text whose language can't be determined."""
SAMPLE = 5000
"""The most distinct texts that are tested: half a second, and shares to half a per cent."""
MIN_ALIKE = 2
"""Texts in one language that make it certain: mistakes about short texts differ from each other."""
MIN_CONFIDENCE = 0.5
"""Of one text; below it, the text does not count for any language."""
MIN_SHOWN = 0.01
"""A smaller share is as likely to be detector error as a language."""


class LanguageError(MomentRankError):
    """A language is unknown, or a setting in use does not support it."""


class Language(NamedTuple):
    """A corpus's main language, an ISO 639-1 code, and the share of texts in each language.

    `shares` are of the `texts` that were recognized, the largest first. `is_given`: the lead set
    it (`ingest.language`), not the detector.
    """

    code: str
    shares: dict[str, float]
    texts: int
    is_given: bool = False

    @property
    def name(self) -> str:
        """The English name of the main language."""
        return name_of(self.code)

    @property
    def name_for_prompt(self) -> str:
        """The name that a language model is given: English where nothing was recognized."""
        return name_of(ENGLISH if self.code == UNKNOWN else self.code)

    @property
    def is_english(self) -> bool:
        """Tell whether its main language is English, or was not recognized."""
        return self.code in {ENGLISH, UNKNOWN}

    @property
    def is_certain(self) -> bool:
        """Whether it is set, or found in enough texts to act on."""
        return self.is_given or self._count(self.code) >= MIN_ALIKE

    def share_outside(self, codes: Iterable[str]) -> float:
        """Return the share of texts in other languages than these."""
        return 1.0 - sum(self.shares.get(code, 0.0) for code in set(codes)) if self.shares else 0.0

    def is_outside(self, codes: Collection[str], most: float) -> bool:
        """Tell whether a larger share than `most` is in other languages, one of them certain."""
        other = self.main_outside(codes)
        if other is None or self.share_outside(codes) <= most:
            return False
        return self.is_given or self._count(other) >= MIN_ALIKE

    def main_outside(self, codes: Collection[str]) -> str | None:
        """Return the language of most texts apart from `codes`; None if there is no other."""
        return next((code for code in self.shares if code not in codes), None)

    def _count(self, code: str) -> int:
        return round(self.shares.get(code, 0.0) * self.texts)

    def __str__(self) -> str:
        """Name the languages with their shares: `German (de), 98.0 % of 1,204 texts`."""
        if self.is_given:
            return f"{self.name} ({self.code}), as set in ingest.language"
        shown = {code: share for code, share in self.shares.items() if share >= MIN_SHOWN}
        shares = [f"{name_of(code)} ({code}) {share:.1%}" for code, share in shown.items()]
        named = ", ".join(shares) or "an unknown language"
        weak = "" if self.is_certain else ": too few to be certain"
        return f"{named} of {self.texts:,} texts{weak}"


def determine_language(texts: Iterable[str], setting: str) -> Language:
    """Return the language of a corpus: as `setting` (`ingest.language`) says, or detected.

    Raises:
        LanguageError: `setting` is not a language code.
    """
    if setting == AUTO:
        return detect(texts)
    if not is_code(setting):
        raise LanguageError(f"ingest.language: {setting!r} is not a language code (ISO 639-1)")
    return Language(setting, {setting: 1.0}, 0, is_given=True)


def detect(texts: Iterable[str]) -> Language:
    """Return the language of most of the texts; if there are many, of a fixed sample."""
    identifier = _identifier()
    votes = [identifier.classify(text) for text in _sample(texts)]
    counts = Counter(code for code, confidence in votes if confidence >= MIN_CONFIDENCE)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    total = counts.total()
    code = ranked[0][0] if ranked else UNKNOWN
    return Language(code, {language: count / total for language, count in ranked}, total)


def name_of(code: str) -> str:
    """Return the English name of a language by its ISO 639 code."""
    from iso639 import Lang  # noqa: PLC0415  (its tables take a moment)

    return re.sub(r" \(.*\)", "", str(Lang(code).name))  # `Swahili (macrolanguage)`


def is_code(code: str) -> bool:
    """Tell whether `code` is a language's two letters (ISO 639-1)."""
    from iso639 import is_language  # noqa: PLC0415  (its tables take a moment)

    return bool(is_language(code, "pt1"))


def _sample(texts: Iterable[str]) -> list[str]:
    distinct = sorted(set(texts))
    if len(distinct) <= SAMPLE:
        return distinct
    return sorted(distinct, key=rng.draw)[:SAMPLE]


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import (  # noqa: PLC0415  (its model takes a second)
        MODEL_FILE,
        LanguageIdentifier,
    )

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([label for label in identifier.labels if is_code(label)])
    return identifier
