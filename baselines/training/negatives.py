"""CONQUER's negatives: videos that a first stage ranks high but not in the query's pairs."""

import numpy as np
import torch

from baselines.collection.release import Ints, Pairs


class Negatives:
    """Draws negatives for the queries of a training set.

    Args:
        ranked: the first stage's best videos of each query, (Q, M).
        pairs: the training set; the videos of a query's pairs are never drawn.
        count: how many negatives, K.
    """

    def __init__(self, ranked: Ints, pairs: Pairs, count: int) -> None:
        self._ranked, self._count = ranked, count
        size = max(int(ranked.max()), int(pairs.video.max())) + 1
        query = np.arange(len(ranked))[:, None]
        positive = pairs.query * size + pairs.video
        self._allowed = ~np.isin(query * size + ranked, positive)

    def draw(self, query: Ints) -> Ints:
        """Draw K different videos for each query, (N, K); -1 where there are fewer.

        Uses torch's random numbers, whose state is part of a checkpoint.
        """
        drawn = torch.rand(len(query), self._ranked.shape[1]).numpy()
        drawn[~self._allowed[query]] = 2.0  # behind all others
        order = np.argsort(drawn, axis=1, kind="stable")[:, : self._count]
        videos = np.take_along_axis(self._ranked[query], order, axis=1)
        allowed = np.take_along_axis(self._allowed[query], order, axis=1)
        return np.where(allowed, videos, -1)
