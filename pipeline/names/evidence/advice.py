"""Which `rewrite.backend` fits a corpus, by a cheap look at its texts: no tagger, no network."""

from collections.abc import Sequence

from pipeline.names.evidence.corpus import names_share
from pipeline.names.evidence.judging import NAMES_PEOPLE

ENOUGH = 5_000
"""Number of texts to look at, spread over the corpus."""
FEW = 0.02
"""Up to this share of texts that name a person, rewriting brings little but mistakes."""


def advise(texts: Sequence[str], backend: str) -> str | None:
    """Return one line about `rewrite.backend`, or None where it fits the texts."""
    sample = texts[:: -(-len(texts) // ENOUGH) or 1]
    share = names_share(sample)
    if not sample:
        return None
    if backend == "rules" and share <= FEW:
        return (
            f"{share:.1%} of the descriptions name a person by a common name:"
            " `rewrite.backend: none` fits, which leaves them unchanged"
        )
    if backend == "none" and share >= NAMES_PEOPLE:
        return (
            f"{share:.0%} of the descriptions name a person by a common name: with"
            " `rewrite.backend: none` these names stay; set `openai` or `rules`"
        )
    return None
