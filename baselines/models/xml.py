"""XML: cross-modal moment localization (Lei et al., ECCV 2020).

Query and video are encoded separately, so a corpus is encoded once; they meet only in products.

1. Two streams of a video (TVR: frames and subtitles) are projected, placed and encoded; these rows
   are for retrieval. Then they attend to each other and are encoded again; these are for spans.
2. A query is encoded; a softmax over its tokens makes a vector for each stream.
3. A video's score is the best cosine of query and row, averaged over both streams.
4. A moment's start and end are convolutions over the products of query and rows.
5. Losses: the spans' cross-entropy, and hinges against other videos and queries.

As adapted by TVR-Ranking (Liang et al., 2024); for its two modes see `baselines.models.reloclnet`.

Shapes: N pairs, L rows, T tokens, D hidden units.
"""

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


class XML(nn.Module):
    """The model; `forward` returns the losses of a batch."""

    def __init__(self, widths: Widths, own: sections.XML, mode: Mode) -> None:
        super().__init__()
        self.own, self.mode, self.max_rows = own, mode, widths.max_rows
        self.query_projection = Projection(widths.tokens, own.hidden, own.input_dropout)
        self.query_positions = Positions(widths.max_tokens, own.hidden, own.input_dropout)
        self.query_encoder = Encoder(own.hidden, own.heads, own.dropout)
        self.pooling = Pooling(own.hidden, len(widths.streams))
        self.row_positions = Positions(widths.max_rows, own.hidden, own.input_dropout)
        self.streams = nn.ModuleList(Stream(width, own, later=1) for width in widths.streams)
        self.spans = SpanDetector(own.kernel, reads_padding=mode == "as_published")
        self.hard_pool: int | None = None  # the training loop sets it
        initialize(self)

    @property
    def _layers(self) -> list[Stream]:
        return cast("list[Stream]", list(self.streams))

    def encode_query(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Map token features (N, T, width) to a vector (N, D) for each stream."""
        states = self.query_positions(self.query_projection(tokens))
        vectors: tuple[Tensor, ...] = self.pooling(self.query_encoder(states, mask), mask)
        return vectors

    def encode_context(self, streams: tuple[Tensor, ...], mask: Tensor) -> Context:
        """Encode both streams of videos, (V, L, width) each, with their mask (V, L)."""
        given = mask.shape[1]
        if self.mode == "as_paper":
            streams, mask = fill_rows(streams, mask, self.max_rows)
        first, second = (
            layers.encoder(self.row_positions(layers.projection(rows)), mask)
            for layers, rows in zip(self._layers, streams, strict=True)
        )
        pairs = ((first, second), (second, first))
        spans = tuple(
            layers.later[0](layers.attend(states, others, mask), mask)[:, :given]
            for layers, (states, others) in zip(self._layers, pairs, strict=True)
        )
        return Context(retrieval=(first[:, :given], second[:, :given]), spans=spans)

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
        context = self.encode_context(batch.streams, mask)
        vectors = self.encode_query(batch.tokens, batch.token_mask)
        positive = losses.select_positive(batch, self.mode)

        scores = losses.video_scores(vectors, context.retrieval, mask)[:, video]
        other_video, other_query = losses.ranking_losses(
            scores, positive, own.margin, self.hard_pool
        )
        asked = zip(self.span_queries(vectors), context.spans, strict=True)
        spans = [torch.einsum("nd,vld->nvl", vector, rows) for vector, rows in asked]
        logits = self.detect(own_rows(mean(spans), video), batch.pair_mask)

        weight = batch.weight if self.mode == "as_paper" else torch.ones_like(batch.weight)
        return {
            "spans": (own.span_weight * losses.span_loss(logits, batch.span) * batch.weight).mean(),
            "other_video": (own.video_ranking_weight * other_video * weight).mean(),
            "other_query": (own.query_ranking_weight * other_query * weight).mean(),
        }
