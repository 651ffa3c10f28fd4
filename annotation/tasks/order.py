"""In which order an annotator sees their tasks: shuffled, a query's pairs together."""

import hashlib
from collections.abc import Iterable

from annotation.label_studio.keys import Key


def shuffled(keys: Iterable[Key], campaign: str) -> list[Key]:
    """Return keys in an order that differs from person to person and is the same in each run."""

    def draw(*parts: object) -> bytes:
        return hashlib.sha256(" ".join(map(str, (campaign, *parts))).encode()).digest()

    def place(key: Key) -> tuple[bytes, str, bytes, str]:
        query = draw(key.annotator, key.query_id)
        return query, key.query_id, draw(key.annotator, key.query_id, key.moment_id), key.moment_id

    return sorted(keys, key=place)
