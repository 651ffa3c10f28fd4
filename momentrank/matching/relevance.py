"""The output of relevance models and the input of measures."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from momentrank.segments import Bools, Floats, Ints

Params = Mapping[str, Any]
"""A measure's parameters: `rel`, `match`, and those of the relevance model."""


class Relevance(NamedTuple):
    """The items (results or bins) of all lists, grouped by query and by rank.

    `query`, `rank` (from 1), `gain`, `relevant` and `judged` have shape (n,); `total`
    (queries,) is the number of relevant segments or bins of each query.
    """

    query: Ints
    rank: Ints
    gain: Floats
    relevant: Bools
    judged: Bools
    total: Ints
