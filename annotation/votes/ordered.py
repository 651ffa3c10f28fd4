"""How people give ordered levels: the true one, shifted by bias and noise, then rounded."""

import numpy as np
import numpy.typing as npt

from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats


def level_chances(bias: npt.ArrayLike, noise: npt.ArrayLike, slope: float = 1.0) -> Floats:
    """Return how likely a person gives each level, for each true level, shape (..., 5, 5).

    They see `slope` x the true level (about the middle of the scale) + bias + normal noise, all in
    levels, and give the nearest existing level. `bias` and `noise` have the leading shape, before
    the rows (true) and columns (given); each row adds up to 1.
    """
    from scipy.special import ndtr  # noqa: PLC0415  (--help needs none)

    levels, middle = np.arange(LEVELS), (LEVELS - 1) / 2
    seen = middle + slope * (levels - middle) + np.asarray(bias)[..., None]
    edges = levels[1:] - 0.5
    below = ndtr((edges - seen[..., None]) / np.asarray(noise)[..., None, None])
    chances: Floats = np.diff(below, axis=-1, prepend=0.0, append=1.0)
    return chances
