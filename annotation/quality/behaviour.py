"""How people answer, honest or not: the chance of each level, given the true one.

An honest annotator has their own bias and noise, within limits (`honest`); others answer without
regard to the clip, in reverse, or far off in one direction. Each behaviour is a table of chances,
shape (5, 5): a row for each true level, a column for each level answered.
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
"""The range of honest annotators: the mean deviation in levels; the noise from pair to pair
(standard deviation); and how wide their use of the scale is compared with others'."""
SLIP = 0.05
"""The share of an honest annotator's answers that may mean nothing, such as a wrong key or a
misunderstanding: so a few wild answers prove nothing."""
RARE = 0.02
"""The share of other answers from a person who always gives the same one."""
FAR_OFF = (-2.5, -1.75, 1.75, 2.5)
CARELESS_NOISE = 2.0


class Behaviour(NamedTuple):
    """A way to answer that is not honest, in words for the lead, and its chances."""

    words: str
    chances: Floats


def chances(bias: float, noise: float, slope: float = 1.0) -> Floats:
    """Return the chances of `level_chances` for a person who slips now and then.

    With a slope of -1 the scale is reversed: 0 is taken for 4.
    """
    return (1 - SLIP) * level_chances(bias, noise, slope) + SLIP / LEVELS


def _constant(level: int) -> Floats:
    return np.tile((1 - RARE) * np.eye(LEVELS)[level] + RARE / LEVELS, (LEVELS, 1))


@cache
def honest() -> Floats:
    """Return the chances of every honest annotator, shape (180, 5, 5)."""
    return np.stack([chances(*parameters) for parameters in product(BIASES, NOISES, SLOPES)])


@cache
def others() -> list[Behaviour]:
    """Return the ways to answer that are not honest."""
    return [
        Behaviour("at random", np.full((LEVELS, LEVELS), 1 / LEVELS)),
        *(Behaviour(f"{level} whatever is shown", _constant(level)) for level in range(LEVELS)),
        Behaviour("with the scale turned round", chances(0.0, 1.0, slope=-1.0)),
        *(Behaviour(f"about {bias:+g} levels off", chances(bias, 0.9)) for bias in FAR_OFF),
        Behaviour("almost at random", chances(0.0, CARELESS_NOISE)),
    ]
