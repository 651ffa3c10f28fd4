"""In which order an annotator sees their tasks: shuffled, a query's pairs together."""

from collections.abc import Iterable

from annotation.label_studio.keys import Key
from pipeline.core import rng


def shuffled(keys: Iterable[Key], campaign: str) -> list[Key]:
    """Return keys in an order that differs from person to person and is the same in each run."""

    def place(key: Key) -> tuple[str, str, str, str]:
        query = rng.draw(campaign, key.annotator, key.query_id)
        pair = rng.draw(campaign, key.annotator, key.query_id, key.moment_id)
        return query, key.query_id, pair, key.moment_id

    return sorted(keys, key=place)
