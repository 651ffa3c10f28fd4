"""What the stage `rewrite` took for names, for people to look at: the words, and the doubts.

`names_found.csv` lists every name with how often it was found and what replaces it, so that words
that are not names are easy to spot. Doubts are words in a caption that look like names, but without
evidence that they are: they stay, and `rewrite_review.csv` lists them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import pandas as pd

from pipeline.captions.replacements import Replacement, extract
from pipeline.captions.review import DOUBTS
from pipeline.names.base import Span
from pipeline.names.finder import Doubt

COLUMNS = ["word", "count", "replaced_by", "example"]
WEAK = "weak-name"
"""The check that lists captions in use with a word that may be a name."""
LEFT, GONE = "(left)", "(removed)"
"""What is listed for a name that is still in its caption, or that was removed without a word."""


def table(moments: Iterable[tuple[str, str, Sequence[Span]]]) -> pd.DataFrame:
    """Return `word, count, replaced_by, example`, the most frequent name first.

    `count` counts moments; `replaced_by` has the words used instead, the most frequent first.

    Args:
        moments: each moment's description, its caption, and the names found in the description.
    """
    instead: dict[str, Counter[str]] = defaultdict(Counter)
    examples: dict[str, str] = {}
    for description, caption, names in moments:
        replacements = extract(description, caption) if names else []
        for name in {span.text for span in names}:
            instead[name][_stands_for(name, caption, replacements)] += 1
            examples.setdefault(name, description)
    rows = [
        (word, words.total(), "; ".join(_most_frequent(words)), examples[word])
        for word, words in instead.items()
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.sort_values(["count", "word"], ascending=[False, True], ignore_index=True)


def _most_frequent(words: Counter[str]) -> list[str]:
    return sorted(words, key=lambda word: (-words[word], word))


def _stands_for(name: str, caption: str, replacements: Sequence[Replacement]) -> str:
    if name in caption:
        return LEFT
    words = set(name.split())
    return next((r.word for r in replacements if words & set(r.name.split())), GONE)


def list_doubts(moment_ids: Sequence[str], doubts: Iterable[Sequence[Doubt]]) -> pd.DataFrame:
    """Return the moments whose captions have doubtful names, one row each: `DOUBTS`.

    `score` is the tagger's highest; `names` gives each word and why it is not taken for a name.
    """
    rows = [
        (
            moment_id,
            WEAK,
            max(doubt.span.score for doubt in doubtful),
            "; ".join(f"{doubt.span.text} ({doubt.reason})" for doubt in doubtful),
        )
        for moment_id, doubtful in zip(moment_ids, doubts, strict=True)
        if doubtful
    ]
    return pd.DataFrame(rows, columns=DOUBTS)
