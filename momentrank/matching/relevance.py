"""What a relevance model makes of lists, and all that a measure sees of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from momentrank.segments import Bools, Floats, Ints

Params = Mapping[str, Any]
"""What a measure sets: `rel`, `match`, and what the relevance model takes."""


class Relevance(NamedTuple):
    """The items of all lists, a query's together and by rank; an item is a result, or a bin.

    `query`, `rank` (from 1), `gain`, `relevant` and `judged` have shape (n,); `total`
    (n_queries,) is how many relevant things each query has.
    """

    query: Ints
    rank: Ints
    gain: Floats
    relevant: Bools
    judged: Bools
    total: Ints
