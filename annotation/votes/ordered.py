"""How people say ordered levels: the true one, moved by their bias and by noise, then rounded."""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats


def level_chances(bias: npt.ArrayLike, noise: npt.ArrayLike, slope: float = 1.0) -> Floats:
    """Return how likely somebody says each level where another one is true, shape (..., 5, 5).

    They see `slope` x the true level (about the middle of the scale) + bias + normal noise, all in
    levels, and say the nearest level there is. `bias` and `noise` have the shape before the rows
    (true) and columns (said); each row adds up to 1.
    """
    levels, middle = np.arange(LEVELS), (LEVELS - 1) / 2
    seen = middle + slope * (levels - middle) + np.asarray(bias)[..., None]
    edges = levels[1:] - 0.5
    below = ndtr((edges - seen[..., None]) / np.asarray(noise)[..., None, None])
    chances: Floats = np.diff(below, axis=-1, prepend=0.0, append=1.0)
    return chances
