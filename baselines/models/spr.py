"""SPR, simplified: segment, proposal, ranking (Zhang et al., 2025, arXiv 2501.05072).

1. Videos are cut into segments of `segment_seconds`. A segment is the mean of its rows in the first
   stream, a query the mean of its tokens; two projectors map both to one space.
2. Of a query's best segments in the whole corpus, those that are neighbours, or nearly so, are
   merged into proposals (`baselines.inference.proposals`).
3. Each proposal, with some context, is a small video for a refiner (ReLoCLNet): it gives the
   proposal's score, and its best moments: one, as in the original, or `moments` of them.

Both parts are trained together, on the same pairs: the projectors by a contrast of each query with
all segments of the batch and back, where a segment is weighted by the share that the moment
covers; the refiner on windows around moments, cut as search cuts them. A segment or window that any
of the query's moments touches is not a negative; others of the same video are. The
refiner's losses are ReLoCLNet's, of the same `mode`. docs/baselines.md lists how this differs from
the authors' code.

Shapes: N pairs, V videos, L rows, S segments of a video, T tokens, D hidden units, W rows of a
window.
"""

import math
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from baselines.core import sections
from baselines.core.sections import Mode
from baselines.features.inputs import Widths
from baselines.models.batch import Batch
from baselines.models.blocks import MASKED, initialize, select_pairs
from baselines.models.reloclnet import ReLoCLNet

TEMPERATURE = 0.07
"""Of the contrast, before training."""
MOST_SCALE = math.log(100)


class SPR(nn.Module):
    """The model; `forward` returns the losses of a batch."""

    search: Literal["segments"] = "segments"

    def __init__(
        self, widths: Widths, settings: sections.SPR, mode: Mode, clip_seconds: float
    ) -> None:
        super().__init__()
        self.settings, self.mode = settings, mode
        self.segment_rows = max(1, round(settings.segment_seconds / clip_seconds))
        self.context_rows = round(settings.context_seconds / clip_seconds)
        self.window_rows = min(widths.max_rows, round(settings.window_seconds / clip_seconds))
        self.query_projector = nn.Linear(widths.tokens, settings.hidden)
        self.segment_projector = nn.Linear(widths.streams[0], settings.hidden)
        initialize(self)
        self.scale = nn.Parameter(torch.tensor(-math.log(TEMPERATURE)))
        self.refiner = ReLoCLNet(replace(widths, max_rows=self.window_rows), settings, mode)

    def embed_query(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Map token features (N, T, width) to unit vectors (N, D)."""
        return functional.normalize(self.query_projector(mean_rows(tokens, mask)), dim=-1)

    def encode_query(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Return the query vectors with which segments, and thus videos, are ranked."""
        return (self.embed_query(tokens, mask),)

    def embed_segments(self, rows: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Map rows of the first stream (N, L, width) to unit vectors (N, S, D), and their mask."""
        size = self.segment_rows
        more = -rows.shape[1] % size
        segments = functional.pad(rows, (0, 0, 0, more)).reshape(
            len(rows), -1, size, rows.shape[-1]
        )
        masks = functional.pad(mask, (0, more)).reshape(len(rows), -1, size)
        means = mean_rows(functional.normalize(segments, dim=-1), masks)
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
        logits = scale * torch.einsum("nd,vsd->nvs", queries, segments)
        share = self.by_segment(batch.inside & batch.pair_mask)  # (N, S)
        is_covered = self.by_segment(batch.covered) > 0  # (N, V, S): these are not negatives
        others = logits.masked_fill(is_covered | ~mask, MASKED)
        own_logits = select_pairs(logits, batch.video)  # (N, S)
        rows = others.flatten(1).logsumexp(dim=1, keepdim=True)
        own_covered = own_logits.masked_fill(share == 0, MASKED).logsumexp(dim=1, keepdim=True)
        to_segments = own_logits - torch.logaddexp(rows, own_covered)
        to_queries = own_logits - torch.logaddexp(others.logsumexp(dim=0)[batch.video], own_logits)
        target = share / share.sum(dim=1, keepdim=True)
        loss = -(target * (to_segments + to_queries)).sum(dim=1) / 2
        return (loss * batch.weight).mean()

    def by_segment(self, rows: Tensor) -> Tensor:
        """Return the share of each segment's rows that are chosen: (..., L) to (..., S)."""
        padded = functional.pad(rows, (0, -rows.shape[-1] % self.segment_rows))
        return padded.reshape(*rows.shape[:-1], -1, self.segment_rows).float().mean(dim=-1)

    def windows(self, batch: Batch) -> Batch:
        """Return the batch cut to windows of W rows, as search cuts them out.

        A window has the segments that the moment touches, none or one more on each side, and the
        context. Another pair's window is a query's negative if no moment of the query touches it.
        """
        count, device, size = len(batch.span), batch.span.device, self.segment_rows
        more = torch.randint(0, 2, (2, count)).to(device) * size + self.context_rows
        begin, finish = batch.span[:, 0], batch.span[:, 1]
        first = (begin // size * size - more[0]).clamp(min=0)
        first = torch.maximum(first, torch.minimum(begin, finish - self.window_rows + 1))
        last = -(-finish // size) * size - 1 + more[1]
        last = torch.minimum(last, batch.pair_mask.sum(dim=1) - 1)
        last = torch.minimum(torch.maximum(last, finish), first + self.window_rows - 1)
        streams, mask = cut(batch.streams, batch.video, first, last, self.window_rows)
        span = torch.minimum(batch.span - first[:, None], (last - first)[:, None])
        rows = torch.arange(batch.covered.shape[2], device=device)
        inside = (rows >= first[:, None]) & (rows <= last[:, None])  # (N, L)
        diagonal = torch.eye(count, dtype=torch.bool, device=device)
        return replace(
            batch,
            streams=streams,
            row_mask=mask,
            video=torch.arange(count, device=device),  # each pair has a window of its own
            span=span,
            positive=(batch.covered[:, batch.video] & inside).any(dim=2) | diagonal,
        )


def mean_rows(rows: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over the second to last dimension of those in the mask; 0 if none."""
    weights = mask.to(rows.dtype)[..., None]
    return (rows * weights).sum(dim=-2) / weights.sum(dim=-2).clamp(min=1)


def cut(
    streams: tuple[Tensor, ...], video: Tensor, first: Tensor, last: Tensor, rows: int
) -> tuple[tuple[Tensor, ...], Tensor]:
    """Return rows `first` to `last` of `video`, all (N,), as (N, rows, width), with their mask."""
    row = first[:, None] + torch.arange(rows, device=first.device)
    mask = row <= last[:, None]
    taken = row.clamp(max=streams[0].shape[1] - 1)
    return tuple(stream[video[:, None], taken] * mask[..., None] for stream in streams), mask
