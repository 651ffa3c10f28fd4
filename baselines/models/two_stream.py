"""What XML and ReLoCLNet share: two encoders that meet only in products, and their losses.

Query and video are encoded separately, so a corpus is encoded once.

1. Two streams of a video (TVR: frames and subtitles) are projected, placed and encoded, attend to
   each other, and are encoded again.
2. A query is encoded; a softmax over its tokens makes a vector for each stream.
3. A video's score is the best cosine of query and row, averaged over both streams.
4. A moment's start and end are convolutions over the products of query and rows.
5. Losses: the spans' cross-entropy, and hinges against other videos and queries.

As adapted by TVR-Ranking (Liang et al., 2024), whose pairs have a similarity that weights the
losses. The released code differs from the paper; `mode` chooses:

* `as_paper`: every loss is weighted; pairs of a query and another of its moments' videos in the
  same batch are not negatives; no score depends on padding.
* `as_published`: the ranking losses are not weighted; all but the diagonal are negatives; a row
  near a video's end sees rows of padding.

Shapes: N pairs, V videos, L rows, T tokens, D hidden units.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, cast

import torch
from torch import Tensor, nn

from baselines.core import sections
from baselines.core.sections import Mode
from baselines.features.inputs import Widths
from baselines.models import losses
from baselines.models.batch import Batch, Context
from baselines.models.blocks import (
    Attention,
    Encoder,
    Logits,
    Pooling,
    Positions,
    Projection,
    SpanDetector,
    fill_rows,
    initialize,
    mean,
    select_pairs,
)

Layer = tuple[Tensor, ...]
"""The states of each stream of videos after an encoder, (V, L, D)."""


class Stream(nn.Module):
    """The layers of one stream of a video.

    Args:
        width: the width of its features.
        settings: the model's settings.
        later: encoders after the attention to the other stream.
    """

    def __init__(self, width: int, settings: sections.TwoStreams, later: int) -> None:
        super().__init__()
        sizes = (settings.hidden, settings.heads, settings.dropout)
        self.projection = Projection(width, settings.hidden, settings.input_dropout)
        self.encoder = Encoder(*sizes)
        self.cross = Attention(*sizes)
        self.cross_norm = nn.LayerNorm(settings.hidden)
        self.later = nn.ModuleList(Encoder(*sizes) for _ in range(later))
        self.query = nn.Linear(settings.hidden, settings.hidden)

    def attend(self, states: Tensor, others: Tensor, mask: Tensor) -> Iterator[Tensor]:
        """Attend from this stream (N, L, D) to the other one; yield each later encoder's states."""
        mixed = self.cross(states, others, mask[:, :, None] & mask[:, None])
        states = self.cross_norm(mixed + states)
        for encoder in self.later:
            states = encoder(states, mask)
            yield states


class TwoStream(nn.Module):
    """The base of the models; `forward` returns the losses of a batch.

    A subclass sets how many encoders there are, and which of their states are for what.
    """

    search: Literal["spans"] = "spans"
    query_encoder_count: ClassVar[int]
    later_encoder_count: ClassVar[int]
    """After the attention of one stream to the other."""
    retrieval_layer: ClassVar[int]
    span_layer: ClassVar[int]
    """Of the encoders' states of videos, those that inference keeps."""

    def __init__(self, widths: Widths, settings: sections.TwoStreams, mode: Mode) -> None:
        super().__init__()
        self.settings, self.mode, self.max_rows = settings, mode, widths.max_rows
        hidden, dropout = settings.hidden, settings.input_dropout
        self.query_projection = Projection(widths.tokens, hidden, dropout)
        self.query_positions = Positions(widths.max_tokens, hidden, dropout)
        encoders = [
            Encoder(hidden, settings.heads, settings.dropout)
            for _ in range(self.query_encoder_count)
        ]
        if len(encoders) == 1:  # checkpoints give a single one no number
            [self.query_encoder] = encoders
        else:
            self.query_encoders = nn.ModuleList(encoders)
        self.pooling = Pooling(hidden, len(widths.streams))
        self.row_positions = Positions(widths.max_rows, hidden, dropout)
        self.streams = nn.ModuleList(
            Stream(width, settings, self.later_encoder_count) for width in widths.streams
        )
        self.spans = SpanDetector(settings.kernel, reads_padding=mode == "as_published")
        self.hard_pool: int | None = None  # the training loop sets it
        initialize(self)

    def contrast(
        self, batch: Batch, vectors: tuple[Tensor, ...], layers: Sequence[Layer]
    ) -> dict[str, Tensor]:
        """Return further losses, (N,) each; none by default."""
        del batch, vectors, layers  # a subclass uses them
        return {}

    @property
    def reach(self) -> int:
        """How many rows after a video's last one its span detector reads."""
        return self.spans.start.kernel_size[0] // 2

    @property
    def _streams(self) -> list[Stream]:
        return cast("list[Stream]", list(self.streams))

    def encode_query(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """Map token features (N, T, width) to a vector (N, D) for each stream."""
        states = self.query_positions(self.query_projection(tokens))
        single = self.query_encoder_count == 1
        for encoder in [self.query_encoder] if single else self.query_encoders:
            states = encoder(states, mask)
        vectors: tuple[Tensor, ...] = self.pooling(states, mask)
        return vectors

    def encode_layers(self, streams: tuple[Tensor, ...], mask: Tensor) -> list[Layer]:
        """Encode both streams of videos, (V, L, width) each, with their mask (V, L).

        The first layer's states know only their own stream.
        """
        length = mask.shape[1]
        if self.mode == "as_paper":
            streams, mask = fill_rows(streams, mask, self.max_rows)
        first, second = (
            stream.encoder(self.row_positions(stream.projection(rows)), mask)
            for stream, rows in zip(self._streams, streams, strict=True)
        )
        by_stream = [
            [states, *stream.attend(states, others, mask)]
            for stream, states, others in zip(
                self._streams, (first, second), (second, first), strict=True
            )
        ]
        layers = zip(*by_stream, strict=True)
        return [tuple(states[:, :length] for states in layer) for layer in layers]

    def encode_context(self, streams: tuple[Tensor, ...], mask: Tensor) -> Context:
        """Return what inference keeps of videos: streams (V, L, width) with their mask (V, L)."""
        layers = self.encode_layers(streams, mask)
        return Context(retrieval=layers[self.retrieval_layer], spans=layers[self.span_layer])

    def span_queries(self, vectors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the vectors whose products with rows are the similarity, (N, D) each."""
        pairs = zip(self._streams, vectors, strict=True)
        return tuple(stream.query(vector) for stream, vector in pairs)

    def detect(self, similarity: Tensor, mask: Tensor) -> Logits:
        """Map the similarity of queries and rows (..., L) to logits of start and end."""
        logits: Logits = self.spans(similarity, mask)
        return logits

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return each loss of the batch, weighted; their sum is minimized."""
        settings, mask, video = self.settings, batch.row_mask, batch.video
        layers = self.encode_layers(batch.streams, mask)
        vectors = self.encode_query(batch.tokens, batch.token_mask)
        contrast = self.contrast(batch, vectors, layers)
        scores = losses.video_scores(vectors, layers[self.retrieval_layer], mask)[:, video]
        positive = losses.select_positive(batch, self.mode)
        other_video, other_query = losses.ranking_losses(
            scores, positive, settings.margin, self.hard_pool
        )
        queries = zip(self.span_queries(vectors), layers[self.span_layer], strict=True)
        products = [torch.einsum("nd,vld->nvl", vector, rows) for vector, rows in queries]
        logits = self.detect(select_pairs(mean(products), video), batch.pair_mask)

        span_loss = settings.span_weight * losses.span_loss(logits, batch.span)
        ranking = {
            "other_video": settings.video_ranking_weight * other_video,
            "other_query": settings.query_ranking_weight * other_query,
        }
        ranking_weight = batch.weight if self.mode == "as_paper" else torch.ones_like(batch.weight)
        return {
            **_weigh({"spans": span_loss, **contrast}, batch.weight),
            **_weigh(ranking, ranking_weight),
        }


def _weigh(unweighted: Mapping[str, Tensor], weight: Tensor) -> dict[str, Tensor]:
    """Return the weighted mean of each loss, (N,), over the pairs."""
    return {name: (loss * weight).mean() for name, loss in unweighted.items()}
