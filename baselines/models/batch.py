"""A model's input, and what inference keeps of a video: batches and contexts.

Shapes: N pairs, V videos, K negatives of a pair, L rows, T tokens, D hidden units. Masks are
boolean.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """N pairs of a query and a video with a relevant moment; each of the V videos appears once.

    The videos are those of the pairs and their sampled negatives, if the model uses any.
    """

    tokens: Tensor
    """(N, T, width)."""
    token_mask: Tensor
    """(N, T)."""
    streams: tuple[Tensor, ...]
    """(V, L, width) for each stream of the videos."""
    row_mask: Tensor
    """(V, L)."""
    video: Tensor
    """(N,): which of the V videos is the pair's."""
    span: Tensor
    """(N, 2): the rows in which the moment starts and ends."""
    weight: Tensor
    """(N,): the similarity of query and moment."""
    positive: Tensor
    """(N, N): whether query i and the video of pair j are a pair of the training set."""
    covered: Tensor
    """(N, V, L): whether a row of a video is in one of the moments of a query's pairs."""
    negative: Tensor
    """(N, K): which of the V videos are sampled negatives of a pair's query; -1: none left."""

    @property
    def pair_mask(self) -> Tensor:
        """The mask of each pair's video, (N, L)."""
        return self.row_mask[self.video]

    @property
    def inside(self) -> Tensor:
        """Whether a row is in the moment, (N, L)."""
        rows = torch.arange(self.row_mask.shape[1], device=self.span.device)
        return (rows >= self.span[:, :1]) & (rows <= self.span[:, 1:])

    def to(self, device: torch.device) -> "Batch":
        """Return the batch on a device."""
        moved = {name: value.to(device) for name, value in vars(self).items() if name != "streams"}
        return Batch(**moved, streams=tuple(stream.to(device) for stream in self.streams))


@dataclass(frozen=True)
class Context:
    """Videos as inference keeps them, (V, L, D) for each stream."""

    retrieval: tuple[Tensor, ...]
    """Rows whose best cosine with the query is the video's score."""
    spans: tuple[Tensor, ...]
    """Rows whose product with the query is the similarity."""
