"""The `none` backend: captions are the descriptions, for a corpus without names."""

from collections.abc import Iterator, Sequence

import pandas as pd

from pipeline.captions.rewriter import Draft, Item


class Unchanged:
    """Rewrites nothing."""

    source = "none"
    model: str | None = None
    prompt: str | None = None

    def rewrite(self, items: Sequence[Item], attempt: int) -> Iterator[Draft]:  # noqa: ARG002  (the port's)
        """Yield every description as it is."""
        for item in items:
            yield Draft(item.moment_id, item.description)


def unchecked(captions: Sequence[str], descriptions: Sequence[str]) -> pd.DataFrame:  # noqa: ARG001  (the port's)
    """Return checks that were not made: no score, nothing failed."""
    blank = pd.Series([None] * len(captions), dtype=object)
    names = ("name_score", "names_ok", "similarity", "similarity_ok", "detail", "detail_ok")
    return pd.DataFrame(dict.fromkeys(names, blank))
