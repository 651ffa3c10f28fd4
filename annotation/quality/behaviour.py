"""How people answer: the chance of each level, given the true one, honest or not.

An honest annotator has a bias and noise of their own, within limits (`HONEST`); somebody who is
not answers without regard to the clip, in reverse, or far off in one direction. Each is a table
of chances, shape (5, 5): a row for each true level, a column for each level that is answered.
"""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from annotation.votes.ordered import level_chances
from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats

BIASES = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)
NOISES = (0.3, 0.5, 0.7, 0.9, 1.1)
SLOPES = (0.5, 0.75, 1.0, 1.25)
"""What an honest annotator may have: this much too high, in levels, on average; so much from pair
to pair (standard deviation); and a use of the scale that is so many times as wide as others'."""
SLIP = 0.05
"""The share of an honest annotator's answers that may mean nothing, as by a wrong key or another
understanding: so a few wild answers prove nothing."""
RARE = 0.02
"""The share of other answers by somebody who always gives the same."""
FAR_OFF = (-2.5, -1.75, 1.75, 2.5)
CARELESS_NOISE = 2.0


class Behaviour(NamedTuple):
    """A way to answer that is not an annotator's, in words for the lead, and its chances."""

    words: str
    chances: Floats


def chances(bias: float, noise: float, slope: float = 1.0) -> Floats:
    """Return the chances of somebody who slips now and then, as `level_chances` has them else.

    With a slope of -1 the scale is turned round: 0 is taken for 4.
    """
    return (1 - SLIP) * level_chances(bias, noise, slope) + SLIP / LEVELS


def _constant(level: int) -> Floats:
    return np.tile((1 - RARE) * np.eye(LEVELS)[level] + RARE / LEVELS, (LEVELS, 1))


@cache
def honest() -> Floats:
    """Return the chances of every honest annotator, shape (180, 5, 5)."""
    return np.stack([chances(*one) for one in product(BIASES, NOISES, SLOPES)])


@cache
def others() -> list[Behaviour]:
    """Return the ways to answer that are not an annotator's."""
    return [
        Behaviour("at random", np.full((LEVELS, LEVELS), 1 / LEVELS)),
        *(Behaviour(f"{level} whatever is shown", _constant(level)) for level in range(LEVELS)),
        Behaviour("with the scale turned round", chances(0.0, 1.0, slope=-1.0)),
        *(Behaviour(f"about {bias:+g} levels off", chances(bias, 0.9)) for bias in FAR_OFF),
        Behaviour("almost at random", chances(0.0, CARELESS_NOISE)),
    ]
