"""Video scores: the best cosine of query and row, by blocked matrix products."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from baselines.collection.release import Ints
from baselines.inference.corpus import Block

MERGED = 4096
"""Videos whose scores are kept before the best are chosen."""


def unit_rows(rows: Tensor, mask: Tensor) -> Tensor:
    """Return rows (B, L, D) of length 1; padding repeats a video's first row.

    A maximum over all rows is then over the video's own, without a mask.
    """
    units = functional.normalize(rows, dim=-1)
    return torch.where(mask[..., None], units, units[:, :1])


class VideoScorer:
    """Scores of videos for a block of queries, (Q, D) for each stream."""

    def __init__(self, vectors: tuple[Tensor, ...]) -> None:
        self._units = [functional.normalize(vector, dim=-1) for vector in vectors]
        self._products = torch.empty(0)

    def score(self, block: Block) -> Tensor:
        """Return the score of each video of a block, (Q, B): the mean over streams."""
        videos, rows = block.mask.shape
        queries = len(self._units[0])
        if self._products.numel() < queries * videos * rows:  # allocate only once
            self._products = torch.empty(queries * videos * rows)
        products = self._products[: queries * videos * rows].view(videos * rows, queries)
        total = torch.zeros(videos, queries)  # queries come last: a maximum runs along them
        for unit, stream in zip(self._units, block.retrieval, strict=True):
            torch.mm(unit_rows(stream, block.mask).flatten(0, 1), unit.T, out=products)
            total += products.view(videos, rows, queries).amax(dim=1)
        return total.T / len(self._units)


def best_videos(
    blocks: Iterable[Block], vectors: tuple[Tensor, ...], count: int
) -> tuple[Tensor, Tensor]:
    """Return the best videos of each query and their scores, (Q, count) each, best first.

    Equal scores are ordered by the video's number.
    """
    scorer = VideoScorer(vectors)
    scores = torch.empty(len(vectors[0]), 0)
    videos = torch.empty(len(vectors[0]), 0, dtype=torch.int64)
    held: list[Tensor] = []
    numbers: list[Ints] = []

    def merge() -> tuple[Tensor, Tensor]:
        newest = torch.from_numpy(np.concatenate(numbers)).expand(len(scores), -1)
        every = torch.cat([scores, *held], dim=1)
        best = every.topk(min(count, every.shape[1]), dim=1)
        return best.values, torch.cat([videos, newest], dim=1).gather(1, best.indices)

    for block in blocks:
        held.append(scorer.score(block))
        numbers.append(block.videos)
        if sum(map(len, numbers)) >= MERGED:
            scores, videos = merge()
            held, numbers = [], []
    if held:
        scores, videos = merge()
    order = np.lexsort((videos.numpy(), -scores.numpy()), axis=1)
    indices = torch.from_numpy(order)
    return scores.gather(1, indices), videos.gather(1, indices)
