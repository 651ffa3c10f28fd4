"""CONQUER, simplified: contextual query-aware ranking (Hou et al., ACM MM 2021, arXiv 2109.10016).

A first stage ranks the videos. The best of them are read again for each query: query and video
become one representation, in which a moment is then sought.

1. Query-dependent fusion: the query decides how much each stream of a video counts, and the rows of
   a video are the weighted sum of its streams.
2. Query-aware feature learning: bidirectional attention between the fused rows and the tokens
   (`BidirectionalAttention`), then an encoder over the rows, which makes them contextual.
3. Moment localization head: each row's score as a moment's start and as its end.
4. Shared normalization: the softmax of starts, like that of ends, is over the rows of the pair's
   video and of sampled negative videos together, so scores of different videos are comparable.
   Negatives are drawn from the first stage's best videos of the query (`baselines.training`).
5. Ranking: a moment's score is the product of both probabilities, over all rows of the first
   stage's best videos, times `exp(alpha * score)` with the first stage's score of the video.

As adapted by TVR-Ranking (Liang et al., 2024): a query is trained with each of its most similar
moments, and the loss is weighted by their similarity; none of the query's videos is a negative.

The parts have the paper's names, but not its architecture: docs/baselines.md lists the differences.
They were written without its authors' code, which has no licence; no weights or figures were
compared. They follow:

* Streams and query are projected, placed and encoded as in XML (`baselines.models.blocks`), a layer
  each; the same layers serve the representation's context.
* Fusion weights: a softmax over tokens gives a query vector, and one over streams gives the
  weights.
* The attention's affinity and result are BiDAF's (Seo et al., ICLR 2017), but the rows that a token
  attends to are mapped back to rows by the attention of rows to tokens, as in QANet (Yu et al.,
  ICLR 2018), not by the maximum over tokens.
* The head is BiDAF's: starts are read from the result of attention and its context, ends from the
  result and a second encoder over that context.
* The normalization is Clark and Gardner's (ACL 2018), in its form for one answer.
* The first stage is one of the other models here, trained on the same pairs; it stays fixed.
* The paper's second head, which scores videos, and its other ways to combine scores are left out.

It has one mode, `as_paper`: no score depends on padding.

Shapes: N pairs, V videos, P pairs of a query and a video to be read, S streams, K negatives, L
rows, T tokens, D hidden units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from baselines.core import sections
from baselines.core.widths import Widths
from baselines.models import losses
from baselines.models.batch import Batch, Context
from baselines.models.blocks import (
    MASKED,
    Encoder,
    Logits,
    Pooling,
    Positions,
    Projection,
    fill_rows,
    initialize,
)


@dataclass(frozen=True)
class Asked:
    """Encoded queries."""

    states: Tensor
    """(N, T, D)."""
    mask: Tensor
    """(N, T)."""
    shares: Tensor
    """(N, S): how much each stream counts; they sum to 1."""

    def select(self, indices: Tensor) -> "Asked":
        """Return the queries at `places`, (P,)."""
        return Asked(self.states[indices], self.mask[indices], self.shares[indices])


class BidirectionalAttention(nn.Module):
    """Attention of rows to tokens and back, BiDAF's affinity of row f and token q.

    `affinity = u * f + v * q + w * (f . q)`, where u, v and w are trained vectors and `.` is the
    elementwise product.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.row = nn.Linear(hidden, 1, bias=False)
        self.token = nn.Linear(hidden, 1, bias=False)
        self.both = nn.Linear(hidden, 1, bias=False)

    def forward(self, rows: Tensor, row_mask: Tensor, asked: Asked) -> Tensor:
        """Map rows (P, L, D) of videos and their mask (P, L) to query-aware rows (P, L, 4 D).

        Each is the row f; a, what it attends to among the tokens; f times a; and f times the rows
        that these tokens attend to.
        """
        affinity = self.row(rows) + self.token(asked.states).transpose(1, 2)  # (P, L, T)
        affinity = affinity + (rows * self.both.weight) @ asked.states.transpose(1, 2)
        to_tokens = affinity.masked_fill(~asked.mask[:, None], MASKED).softmax(dim=2)
        to_rows = affinity.masked_fill(~row_mask[:, :, None], MASKED).softmax(dim=1)
        tokens = to_tokens @ asked.states
        attended = to_tokens @ (to_rows.transpose(1, 2) @ rows)
        return torch.cat([rows, tokens, rows * tokens, rows * attended], dim=2)


class Head(nn.Module):
    """A linear map of a query-aware row and its context, concatenated, to a logit."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.aware = nn.Linear(4 * hidden, 1)
        self.context = nn.Linear(hidden, 1, bias=False)

    def forward(self, aware: Tensor, context: Tensor) -> Tensor:
        """Map (P, L, 4 D) and (P, L, D) to (P, L)."""
        logits: Tensor = (self.aware(aware) + self.context(context))[..., 0]
        return logits


class CONQUER(nn.Module):
    """The simplified model; `forward` returns the loss of a batch."""

    search: Literal["reranking"] = "reranking"
    """It needs a first stage, in training too."""
    reach = 0
    """No score depends on rows after a video's last one."""

    def __init__(self, widths: Widths, settings: sections.CONQUER) -> None:
        super().__init__()
        self.settings, self.max_rows, self.max_tokens = settings, widths.max_rows, widths.max_tokens
        hidden, sizes = settings.hidden, (settings.hidden, settings.heads, settings.dropout)
        self.query_projection = Projection(widths.tokens, hidden, settings.input_dropout)
        self.query_positions = Positions(widths.max_tokens, hidden, settings.input_dropout)
        self.query_encoder = Encoder(*sizes)
        self.pooling = Pooling(hidden, 1)
        self.shares = nn.Linear(hidden, len(widths.streams))
        self.projections = nn.ModuleList(
            Projection(width, hidden, settings.input_dropout) for width in widths.streams
        )
        self.row_positions = Positions(widths.max_rows, hidden, settings.input_dropout)
        self.row_encoders = nn.ModuleList(Encoder(*sizes) for _ in widths.streams)
        self.attention = BidirectionalAttention(hidden)
        self.merge = Projection(4 * hidden, hidden, settings.dropout)
        self.start_encoder, self.end_encoder = Encoder(*sizes), Encoder(*sizes)
        self.start, self.end = Head(hidden), Head(hidden)
        initialize(self)

    def _fill(
        self, sequences: Sequence[Tensor], mask: Tensor, longest: int
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """Pad sequences to the longest, so scores are equal to the last bit; not in training."""
        return (tuple(sequences), mask) if self.training else fill_rows(sequences, mask, longest)

    def encode_query(self, tokens: Tensor, mask: Tensor) -> Asked:
        """Encode token features (N, T, width), with their mask (N, T)."""
        [tokens], mask = self._fill([tokens], mask, self.max_tokens)
        states = self.query_positions(self.query_projection(tokens))
        states = self.query_encoder(states, mask)
        [vector] = self.pooling(states, mask)
        return Asked(states, mask, self.shares(vector).softmax(dim=-1))

    def encode_context(self, streams: tuple[Tensor, ...], mask: Tensor) -> Context:
        """Encode the streams of videos, (V, L, width) each, with their mask (V, L)."""
        length = mask.shape[1]
        streams, mask = self._fill(streams, mask, self.max_rows)
        projections = cast("list[Projection]", list(self.projections))
        encoders = cast("list[Encoder]", list(self.row_encoders))
        rows = tuple(
            encoder(self.row_positions(projection(stream)), mask)[:, :length]
            for encoder, projection, stream in zip(encoders, projections, streams, strict=True)
        )
        return Context(retrieval=rows, spans=rows)

    def locate(self, asked: Asked, rows: tuple[Tensor, ...], mask: Tensor) -> Logits:
        """Read video i for query i: its rows (P, L, D) for each stream, and their mask (P, L).

        Returns the logits of each row as a start and as an end, (P, L).
        """
        length = mask.shape[1]
        rows, mask = self._fill(rows, mask, self.max_rows)
        shares = asked.shares.T[:, :, None, None]  # (S, P, 1, 1)
        fused = (shares * torch.stack(rows)).sum(dim=0)
        aware = self.attention(fused, mask, asked)
        first = self.start_encoder(self.merge(aware), mask)
        second = self.end_encoder(first, mask)
        start, end = (
            head(aware, context).masked_fill(~mask, MASKED)[:, :length]
            for head, context in ((self.start, first), (self.end, second))
        )
        return Logits(start, end)

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of the batch, weighted by similarity; it is minimized."""
        logits = self.detect(batch)
        return {"spans": (losses.span_loss(logits, batch.span) * batch.weight).mean()}

    def detect(self, batch: Batch) -> Logits:
        """Return the logits of each pair's rows and then its negatives' rows, (N, (1 + K) L).

        L is the length of the batch's longest video.
        """
        count, longest = len(batch.video), int(batch.row_mask.sum(dim=1).max())
        row_mask = batch.row_mask[:, :longest]
        videos = torch.cat([batch.video[:, None], batch.negative], dim=1)
        read = videos.clamp(min=0).flatten()  # a missing negative (-1) is masked
        mask = row_mask[read] & (videos >= 0).flatten()[:, None]
        context = self.encode_context(
            tuple(stream[:, :longest] for stream in batch.streams), row_mask
        )
        asked = self.encode_query(batch.tokens, batch.token_mask)
        pairs = torch.arange(count, device=read.device).repeat_interleave(videos.shape[1])
        logits = self.locate(asked.select(pairs), tuple(rows[read] for rows in context.spans), mask)
        return Logits(*(values.view(count, -1) for values in logits))


def share(logits: Logits) -> Logits:
    """Return probabilities of starts and ends over all rows of a query's videos: (Q, K, L) each."""
    return Logits(
        *(functional.softmax(values.flatten(1), dim=1).view_as(values) for values in logits)
    )
