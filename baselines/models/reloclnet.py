"""ReLoCLNet: video corpus moment retrieval with contrastive learning (Zhang et al., SIGIR 2021).

Query and video are encoded separately, so a corpus is encoded once; they meet only in products.

1. Two streams of a video (TVR: frames and subtitles) are projected, placed and encoded, attend to
   each other, and are encoded twice more.
2. A query is encoded twice; a softmax over its tokens makes a vector for each stream.
3. A video's score is the best cosine of query and row, averaged over both streams.
4. A moment's start and end are convolutions over the products of query and rows.
5. Losses: the spans' cross-entropy; hinges against other videos and queries; after the middle
   encoder, noise contrast of videos and Jensen-Shannon contrast of rows.

As adapted by TVR-Ranking (Liang et al., 2024), whose pairs have a similarity that weights the
losses. The released code differs from the paper; `mode` chooses:

* `as_paper`: every loss is weighted; pairs of a query and another of its moments' videos in the
  same batch are not negatives; no score depends on padding.
* `as_published`: only the ranking losses are not weighted; all but the diagonal are negatives; a
  row near a video's end sees rows of padding.

Shapes: N pairs, V videos, L rows, T tokens, D hidden units.
"""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from baselines.core import sections
from baselines.core.sections import Mode
from baselines.core.widths import Widths
from baselines.models import losses
from baselines.models.batch import Batch, Context
from baselines.models.blocks import (
    Encoder,
    Logits,
    Pooling,
    Positions,
    Projection,
    SpanDetector,
    Stream,
    fill_rows,
    initialize,
    mean,
    own_rows,
)


@dataclass(frozen=True)
class Encoded:
    """Both streams after the middle and after the last encoder, (N, L, D) each."""

    middle: list[Tensor]
    last: list[Tensor]


class ReLoCLNet(nn.Module):
    """The model; `forward` returns the losses of a batch."""

    def __init__(self, widths: Widths, own: sections.ReLoCLNet, mode: Mode) -> None:
        super().__init__()
        self.own, self.mode, self.max_rows = own, mode, widths.max_rows
        sizes = (own.hidden, own.heads, own.dropout)
        self.query_projection = Projection(widths.tokens, own.hidden, own.input_dropout)
        self.query_positions = Positions(widths.max_tokens, own.hidden, own.input_dropout)
        self.query_encoders = nn.ModuleList([Encoder(*sizes), Encoder(*sizes)])
        self.pooling = Pooling(own.hidden, len(widths.streams))
        self.row_positions = Positions(widths.max_rows, own.hidden, own.input_dropout)
        self.streams = nn.ModuleList(Stream(width, own, later=2) for width in widths.streams)
        self.spans = SpanDetector(own.kernel, reads_padding=mode == "as_published")
        self.hard_pool: int | None = None  # the training loop sets it
        initialize(self)

    @property
    def _layers(self) -> list[Stream]:
        return cast("list[Stream]", list(self.streams))

    def encode_query(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Map token features (N, T, width) to a vector (N, D) for each stream."""
        states = self.query_positions(self.query_projection(tokens))
        for encoder in self.query_encoders:
            states = encoder(states, mask)
        vectors: tuple[Tensor, ...] = self.pooling(states, mask)
        return vectors

    def encode_streams(self, streams: tuple[Tensor, ...], mask: Tensor) -> Encoded:
        """Encode both streams of videos, (V, L, width) each, with their mask (V, L)."""
        given = mask.shape[1]
        if self.mode == "as_paper":
            streams, mask = fill_rows(streams, mask, self.max_rows)
        first, second = (
            layers.encoder(self.row_positions(layers.projection(rows)), mask)
            for layers, rows in zip(self._layers, streams, strict=True)
        )
        pairs = ((first, second), (second, first))
        middle, last = [], []
        for layers, (states, others) in zip(self._layers, pairs, strict=True):
            middle.append(layers.later[0](layers.attend(states, others, mask), mask))
            last.append(layers.later[1](middle[-1], mask))
        return Encoded([one[:, :given] for one in middle], [one[:, :given] for one in last])

    def encode_context(self, streams: tuple[Tensor, ...], mask: Tensor) -> Context:
        """Return what inference keeps of videos."""
        last = tuple(self.encode_streams(streams, mask).last)
        return Context(retrieval=last, spans=last)

    def span_queries(self, vectors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the vectors whose products with rows are the similarity, (N, D) each."""
        pairs = zip(self._layers, vectors, strict=True)
        return tuple(layers.query(vector) for layers, vector in pairs)

    def detect(self, similarity: Tensor, mask: Tensor) -> Logits:
        """Map the similarity of queries and rows (..., L) to logits of start and end."""
        logits: Logits = self.spans(similarity, mask)
        return logits

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return each loss of the batch, weighted; their sum is minimized."""
        own, mask, video = self.own, batch.row_mask, batch.video
        encoded = self.encode_streams(batch.streams, mask)
        vectors = self.encode_query(batch.tokens, batch.token_mask)
        positive = losses.select_positive(batch, self.mode)

        products, rows = [], []
        for vector, middle in zip(vectors, encoded.middle, strict=True):
            product = torch.einsum("nd,vld->nvl", vector, middle)
            products.append(losses.best_row(product, mask)[:, video])
            similarity = own_rows(product, video)
            rows.append(losses.frame_contrast(similarity, batch.inside, batch.pair_mask))
        scores = losses.video_scores(vectors, encoded.last, mask)[:, video]
        other_video, other_query = losses.ranking_losses(
            scores, positive, own.margin, self.hard_pool
        )
        asked = zip(self.span_queries(vectors), encoded.last, strict=True)
        spans = [torch.einsum("nd,vld->nvl", vector, last) for vector, last in asked]
        logits = self.detect(own_rows(mean(spans), video), batch.pair_mask)

        weighted = {
            "spans": own.span_weight * losses.span_loss(logits, batch.span),
            "frames": own.frame_weight * mean(rows),
            "videos": own.video_weight * losses.video_contrast(mean(products), positive),
        }
        ranking = {
            "other_video": own.video_ranking_weight * other_video,
            "other_query": own.query_ranking_weight * other_query,
        }
        ranking_weight = batch.weight if self.mode == "as_paper" else torch.ones_like(batch.weight)
        return {name: (loss * batch.weight).mean() for name, loss in weighted.items()} | {
            name: (loss * ranking_weight).mean() for name, loss in ranking.items()
        }
