"""What the stage `rewrite` took for names, for people to look at: the words, and the doubts.

`names_found.csv` lists every name with how often it was found and what stands for it: a word that
is no name leaps to the eye there. Doubts are words that look like names in a caption, but that no
evidence makes one: they stay, and `rewrite_review.csv` lists them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from pipeline.captions.replacements import Replacement, extract
from pipeline.captions.review import DOUBTS
from pipeline.names.base import Span
from pipeline.names.finder import Doubt

COLUMNS = ["word", "count", "replaced_by", "example"]
WEAK = "weak-name"
"""The check that lists a caption in use with a word that may be a name."""
LEFT, GONE = "(left)", "(removed)"
"""What stands for a name that is still in its caption, or that went without any word for it."""


class DescribedMoment(NamedTuple):
    """A described moment, its caption, and the names found in the description."""

    description: str
    caption: str
    names: Sequence[Span]


def table(moments: Iterable[DescribedMoment]) -> pd.DataFrame:
    """Return `word, count, replaced_by, example`, the most frequent name first.

    `count` is of moments; `replaced_by` the words that stand for it, the most frequent first.
    """
    counts: Counter[str] = Counter()
    instead: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[str, str] = {}
    for moment in moments:
        for word, stands in _match_names(moment).items():
            counts[word] += 1
            instead[word][stands] += 1
            examples.setdefault(word, moment.description)
    rows = [
        (word, count, "; ".join(_most_frequent(instead[word])), examples[word])
        for word, count in sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _most_frequent(words: Counter[str]) -> list[str]:
    return sorted(words, key=lambda word: (-words[word], word))


def _match_names(moment: DescribedMoment) -> dict[str, str]:
    """Return each name of a description with what stands for it in the caption."""
    if not moment.names:
        return {}
    replacements = extract(moment.description, moment.caption)
    return {
        span.text: _stands_for(span.text, moment.caption, replacements) for span in moment.names
    }


def _stands_for(name: str, caption: str, replacements: Sequence[Replacement]) -> str:
    if name in caption:
        return LEFT
    words = set(name.split())
    return next((one.word for one in replacements if words & set(one.name.split())), GONE)


def list_doubts(moment_ids: Sequence[str], doubts: Iterable[Sequence[Doubt]]) -> pd.DataFrame:
    """Return the moments whose captions hold doubtful names, a row each: `DOUBTS`.

    `score` is the tagger's, of the surest; `names` gives each word and why it is no name.
    """
    rows = [
        (
            moment_id,
            WEAK,
            max(doubt.span.score for doubt in own),
            "; ".join(f"{doubt.span.text} ({doubt.reason})" for doubt in own),
        )
        for moment_id, own in zip(moment_ids, doubts, strict=True)
        if own
    ]
    return pd.DataFrame(rows, columns=DOUBTS)
