"""Blocks that the models share: projection, positions, attention, pooling, span detector.

Shapes: N queries or videos of a batch, L positions of a sequence, D hidden units, H heads. A mask
is boolean, True where a sequence has a token or a row. The blocks are those of XML (Lei et al.,
ECCV 2020) and ReLoCLNet (Zhang et al., SIGIR 2021).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

MASKED = -1e10
"""The score of masked positions, instead of minus infinity, so that no gradient becomes NaN."""
UNATTENDED = -1e4
"""Added to the logit of a masked position: its weight is then exactly 0 in 32 bits, unless
its whole sequence is masked."""


class Projection(nn.Module):
    """Layer norm, dropout, a linear map and ReLU: features to hidden units."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(width, hidden)

    def forward(self, features: Tensor) -> Tensor:
        """Map (N, L, width) to (N, L, D)."""
        return functional.relu(self.linear(self.dropout(self.norm(features))))


class Positions(nn.Module):
    """Add a trained vector for each position, then layer norm and dropout."""

    def __init__(self, longest: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(longest, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        """Map (N, L, D) to (N, L, D)."""
        placed: Tensor = self.dropout(self.norm(states + self.embedding.weight[: states.shape[1]]))
        return placed


class Attention(nn.Module):
    """Multi-head attention without an output projection."""

    def __init__(self, hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)

    def forward(self, states: Tensor, others: Tensor, mask: Tensor) -> Tensor:
        """Attend from `states` (N, Lq, D) to `others` (N, L, D).

        `mask` is (N, 1, L) or (N, Lq, L). Returns (N, Lq, D).
        """
        query, key, value = (
            linear(inputs).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (N, H, L, D / H)
            for linear, inputs in ((self.query, states), (self.key, others), (self.value, others))
        )
        mixed = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=(~mask).to(states.dtype)[:, None] * UNATTENDED,
            dropout_p=self.dropout if self.training else 0.0,
        )
        return mixed.transpose(1, 2).flatten(-2)


class Encoder(nn.Module):
    """Self-attention, a linear map, dropout, residual and layer norm; no feed-forward part."""

    def __init__(self, hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(hidden, heads, dropout)
        self.linear = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(hidden)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Map (N, L, D) to (N, L, D); `mask` is (N, L)."""
        mixed = self.attention(states, states, mask[:, None])
        encoded: Tensor = self.norm(self.dropout(self.linear(mixed)) + states)
        return encoded


class Pooling(nn.Module):
    """One vector of a query for each stream: tokens weighted by a trained softmax."""

    def __init__(self, hidden: int, streams: int) -> None:
        super().__init__()
        self.linear = nn.Linear(hidden, streams, bias=False)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Map (N, L, D) with its mask (N, L) to (N, D) for each stream."""
        logits = self.linear(states).masked_fill(~mask[..., None], MASKED)
        weights = logits.softmax(dim=1)  # (N, L, streams)
        return tuple(torch.einsum("nls,nld->snd", weights, states))


class Logits(NamedTuple):
    """Unnormalized scores of each row as a moment's start and end, (..., L)."""

    start: Tensor
    end: Tensor


class SpanDetector(nn.Module):
    """Two convolutions over the similarity of query and rows: where a moment starts and ends.

    In the published code a convolution near a video's end reads the similarity to rows of padding.
    `reads_padding=False` puts zeros there, as before a video's first row.
    """

    def __init__(self, kernel: int, *, reads_padding: bool) -> None:
        super().__init__()
        self.reads_padding = reads_padding
        self.start = nn.Conv1d(1, 1, kernel, padding=kernel // 2, bias=False)
        self.end = nn.Conv1d(1, 1, kernel, padding=kernel // 2, bias=False)

    def forward(self, similarity: Tensor, mask: Tensor) -> Logits:
        """Map similarities (..., L) to logits; `mask` has their shape, or broadcasts to it."""
        if not self.reads_padding:
            similarity = similarity.masked_fill(~mask, 0.0)
        flat = similarity.reshape(-1, 1, similarity.shape[-1])
        start, end = (
            convolution(flat).reshape(similarity.shape).masked_fill(~mask, MASKED)
            for convolution in (self.start, self.end)
        )
        return Logits(start, end)


def initialize(model: nn.Module, deviation: float = 0.02) -> None:
    """Draw the weights of linear maps and positions from a normal distribution; biases are 0.

    Layer norms start as the identity, convolutions with PyTorch's defaults.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=deviation)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


def mean(tensors: Sequence[Tensor]) -> Tensor:
    """Return the mean of one tensor for each stream."""
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total / len(tensors)


def pair_similarity(queries: Sequence[Tensor], streams: Sequence[Tensor]) -> Tensor:
    """Return the product of query i (N, D) with the rows of video i (N, L, D), (N, L)."""
    pairs = zip(queries, streams, strict=True)
    return mean([torch.einsum("nd,nld->nl", query, rows) for query, rows in pairs])


def select_pairs(products: Tensor, video: Tensor) -> Tensor:
    """Return the rows of each pair's video: (N, V, L) and its index (N,) to (N, L)."""
    return products[torch.arange(len(video), device=video.device), video]


def fill_rows(
    streams: Sequence[Tensor], mask: Tensor, rows: int
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Pad streams (N, L, width) and their mask (N, L) to a number of rows.

    Sums over sequences of one length are identical to the last bit, whatever the padding.
    """
    more = rows - mask.shape[1]
    filled = tuple(functional.pad(stream, (0, 0, 0, more)) for stream in streams)
    return filled, functional.pad(mask, (0, more))
