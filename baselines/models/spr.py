"""SPR: segment, proposal, ranking (Zhang et al., 2025, arXiv 2501.05072).

1. Videos are cut into segments of `segment_seconds`. A segment is the mean of its rows of the first
   stream, a query that of its tokens; two projectors map both to one space.
2. A query's best segments of the whole corpus are merged where they are neighbours, or nearly so:
   these are proposals (`baselines.inference.proposals`).
3. Each proposal, with some context, is a small video for a refiner (ReLoCLNet): it gives the
   proposal's score, and one moment in it.

Both parts are trained at once, on the same pairs: the projectors by a contrast of each query with
all segments of the batch and back, where a segment counts by the share of it that the moment
covers; the refiner on windows around moments, with random context. Its losses are ReLoCLNet's, of
the same `mode`.

Shapes: N pairs, V videos, L rows, S segments of a video, T tokens, D hidden units, W rows of a
window.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from baselines.core import sections
from baselines.core.sections import Mode
from baselines.core.widths import Widths
from baselines.models.batch import Batch
from baselines.models.blocks import MASKED, initialize
from baselines.models.reloclnet import ReLoCLNet

TEMPERATURE = 0.07
"""Of the contrast, before it is trained."""
MOST_SCALE = math.log(100)


class SPR(nn.Module):
    """The model; `forward` returns the losses of a batch."""

    def __init__(self, widths: Widths, own: sections.SPR, mode: Mode, clip_seconds: float) -> None:
        super().__init__()
        self.own, self.mode = own, mode
        self.segment_rows = max(1, round(own.segment_seconds / clip_seconds))
        self.context_rows = round(own.context_seconds / clip_seconds)
        self.window_rows = min(widths.max_rows, round(own.window_seconds / clip_seconds))
        self.query_projector = nn.Linear(widths.tokens, own.hidden)
        self.segment_projector = nn.Linear(widths.streams[0], own.hidden)
        initialize(self)
        self.scale = nn.Parameter(torch.tensor(-math.log(TEMPERATURE)))
        self.refiner = ReLoCLNet(replace(widths, max_rows=self.window_rows), own, mode)

    @property
    def hard_pool(self) -> int | None:
        """From how many of the hardest the refiner's negatives are drawn."""
        return self.refiner.hard_pool

    @hard_pool.setter
    def hard_pool(self, pool: int | None) -> None:
        self.refiner.hard_pool = pool

    def embed_query(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Map token features (N, T, width) to unit vectors (N, D)."""
        return functional.normalize(self.query_projector(mean_rows(tokens, mask)), dim=-1)

    def embed_segments(self, rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map rows of the first stream (N, L, width) to unit vectors (N, S, D), and their mask."""
        size = self.segment_rows
        more = -rows.shape[1] % size
        parts = functional.pad(rows, (0, 0, 0, more)).reshape(len(rows), -1, size, rows.shape[-1])
        masks = functional.pad(mask, (0, more)).reshape(len(rows), -1, size)
        means = mean_rows(functional.normalize(parts, dim=-1), masks)
        return functional.normalize(self.segment_projector(means), dim=-1), masks.any(dim=-1)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return each loss of the batch, weighted; their sum is minimized."""
        losses: dict[str, Tensor] = self.refiner(self.windows(batch))
        return {"segments": self.contrast(batch), **losses}

    def contrast(self, batch: Batch) -> Tensor:
        """Return the contrast of queries and segments, both ways, weighted by similarity."""
        queries = self.embed_query(batch.tokens, batch.token_mask)
        segments, mask = self.embed_segments(batch.streams[0], batch.row_mask)
        scale = self.scale.clamp(max=MOST_SCALE).exp()
        products = scale * torch.einsum("nd,vsd->nvs", queries, segments)
        logits, mask = products[:, batch.video], mask[batch.video]  # (N, N, S), (N, S)
        covered = self.covered(batch)  # (N, S)
        own = torch.eye(len(queries), dtype=torch.bool, device=mask.device)
        other = batch.positive & ~own  # nothing is known of these videos' other segments
        logits = logits.masked_fill(other[..., None] | ~mask, MASKED)
        target = covered / covered.sum(dim=1, keepdim=True)
        to_segments = functional.log_softmax(logits.flatten(1), dim=1).view_as(logits)
        to_queries = functional.log_softmax(logits, dim=0)
        pair = torch.arange(len(queries), device=mask.device)
        shares = to_segments[pair, pair] + to_queries[pair, pair]  # (N, S)
        loss = -(target * shares.where(covered > 0, 0.0)).sum(dim=1) / 2
        return (loss * batch.weight).mean()

    def covered(self, batch: Batch) -> Tensor:
        """Return the share of each segment of a video that its moment covers, (N, S)."""
        more = -batch.inside.shape[1] % self.segment_rows
        inside = functional.pad(batch.inside & batch.pair_mask, (0, more))
        return inside.reshape(len(inside), -1, self.segment_rows).float().mean(dim=-1)

    def windows(self, batch: Batch) -> Batch:
        """Return the batch cut to windows of W rows around the moments, with random context."""
        count, device = len(batch.span), batch.span.device
        drawn = torch.randint(0, self.context_rows + 1, (2, count)).to(device)
        lengths = batch.pair_mask.sum(dim=1)
        first = (batch.span[:, 0] - drawn[0]).clamp(min=0)
        last = torch.minimum(batch.span[:, 1] + drawn[1], lengths - 1)
        last = torch.minimum(last, first + self.window_rows - 1)
        streams, mask = cut(batch.streams, batch.video, first, last, self.window_rows)
        span = torch.minimum(batch.span - first[:, None], (last - first)[:, None])
        pairs = torch.arange(count, device=device)  # each has a window of its own
        return replace(batch, streams=streams, row_mask=mask, video=pairs, span=span)


def mean_rows(rows: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the second to last dimension of those in the mask; 0 of none."""
    weights = mask.to(rows.dtype)[..., None]
    return (rows * weights).sum(dim=-2) / weights.sum(dim=-2).clamp(min=1)


def cut(
    streams: tuple[Tensor, ...], video: Tensor, first: Tensor, last: Tensor, rows: int
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Return rows `first` to `last` of `video`, all (N,), as (N, rows, width), with their mask."""
    places = first[:, None] + torch.arange(rows, device=first.device)
    mask = places <= last[:, None]
    taken = places.clamp(max=streams[0].shape[1] - 1)
    return tuple(stream[video[:, None], taken] * mask[..., None] for stream in streams), mask
