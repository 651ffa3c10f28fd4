"""CONQUER: contextual query-aware ranking (Hou et al., ACM MM 2021, arXiv 2109.10016).

A first stage ranks the videos. The best of them are read again for each query: query and video
become one representation, in which a moment is then sought.

1. Backbone: a transformer over the streams of a video as one sequence, another over the query.
2. Query-dependent fusion: NetVLAD over the query's tokens tells how much each stream counts; the
   rows of a video are the weighted sum of its streams.
3. Query-aware feature learning: attention of rows to tokens and of the query to rows, then a
   transformer over the rows, which makes them contextual.
4. Moment localization head: a transformer over attention and context is read for starts, another
   over context and starts for ends.
5. Training: the softmax of starts, like that of ends, is over the rows of the pair's video and of
   negatives, sampled from the first stage's best videos, together (shared normalization).
6. Ranking: the first stage's score of a video, times the probabilities of start and end in it.

As adapted by TVR-Ranking (Liang et al., 2024): a query is trained with each of its most similar
moments, and the loss is weighted by their similarity; none of the query's videos is a negative.

It is the authors' architecture with the similarity they call general; docs/baselines.md lists what
differs. It has one mode, `as_paper`: no score depends on padding.

Shapes: N pairs, V videos, P pairs of a query and a video to be read, S streams, K negatives, L
rows, T tokens, D hidden units, C clusters.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from baselines.core import sections
from baselines.features.inputs import Widths
from baselines.models import losses
from baselines.models.batch import Batch, Context
from baselines.models.blocks import (
    MASKED,
    Encoder,
    Logits,
    Positions,
    Projection,
    fill_rows,
    initialize,
)


class Asked(NamedTuple):
    """Encoded queries."""

    states: Tensor
    """(N, T, D)."""
    mask: Tensor
    """(N, T)."""
    shares: Tensor
    """(N, S): how much each stream counts; they sum to 1."""

    def select(self, indices: Tensor) -> "Asked":
        """Return the queries at `indices`, (P,)."""
        return Asked(*(tensor[indices] for tensor in self))


class Transformer(nn.Module):
    """One layer of BERT (Devlin et al., NAACL 2019): attention and a feed-forward part."""

    def __init__(self, hidden: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = Encoder(hidden, heads, dropout)
        self.wide = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(hidden)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Map (N, L, D) to (N, L, D); `mask` is (N, L)."""
        states = self.attention(states, mask)
        fed = self.narrow(functional.gelu(self.wide(states)))
        encoded: Tensor = self.norm(self.dropout(fed) + states)
        return encoded


class Contextualizer(nn.Module):
    """A projection to hidden units, then a transformer without positions."""

    def __init__(self, width: int, settings: sections.CONQUER) -> None:
        super().__init__()
        self.projection = Projection(width, settings.hidden, settings.input_dropout)
        self.transformer = Transformer(settings.hidden, settings.heads, settings.dropout)

    def forward(self, mask: Tensor, *features: Tensor) -> Tensor:
        """Map features (P, L, width), concatenated, to (P, L, D); `mask` is (P, L)."""
        projected = self.projection(torch.cat(features, dim=2))
        encoded: Tensor = self.transformer(projected, mask)
        return encoded


class NetVLAD(nn.Module):
    """Tokens' differences to clusters, summed (Arandjelovic et al., CVPR 2016)."""

    def __init__(self, hidden: int, clusters: int) -> None:
        super().__init__()
        self.assignment = nn.Parameter(torch.randn(hidden, clusters) / hidden**0.5)
        self.centres = nn.Parameter(torch.randn(clusters, hidden) / hidden**0.5)
        self.norm = nn.LayerNorm(clusters)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Map tokens (N, T, D) and their mask (N, T) to unit vectors (N, C * D)."""
        assigned = self.norm(states @ self.assignment).softmax(dim=2) * mask[..., None]
        sums = assigned.transpose(1, 2) @ states - assigned.sum(dim=1)[..., None] * self.centres
        return functional.normalize(functional.normalize(sums, dim=2).flatten(1), dim=1)


class BidirectionalAttention(nn.Module):
    """Attention of rows to tokens and of the query to rows, as in BiDAF (Seo et al., ICLR 2017).

    The affinity of row f and token q is `u * f + v * q + w * (f . q)`, where u, v and w are trained
    vectors and `.` is the elementwise product.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.row = nn.Linear(hidden, 1, bias=False)
        self.token = nn.Linear(hidden, 1, bias=False)
        self.both = nn.Linear(hidden, 1, bias=False)

    def forward(self, rows: Tensor, row_mask: Tensor, asked: Asked) -> Tensor:
        """Map rows (P, L, D) of videos and their mask (P, L) to query-aware rows (P, L, 4 D).

        Each is the row f; a, what it attends to among the tokens; f times a; and f times what the
        query attends to among the rows: each counts by its best token.
        """
        affinity = self.row(rows) + self.token(asked.states).transpose(1, 2)  # (P, L, T)
        affinity = affinity + (rows * self.both.weight) @ asked.states.transpose(1, 2)
        affinity = affinity.masked_fill(~asked.mask[:, None], MASKED)
        tokens = affinity.softmax(dim=2) @ asked.states
        weights = affinity.amax(dim=2).masked_fill(~row_mask, MASKED).softmax(dim=1)
        attended = weights[:, None] @ rows  # (P, 1, D)
        return torch.cat([rows, tokens, rows * tokens, rows * attended], dim=2)


class Reader(nn.Module):
    """Two convolutions along a video, the second of one row: a logit for each row."""

    def __init__(self, settings: sections.CONQUER) -> None:
        super().__init__()
        hidden, channels, kernel = settings.hidden, settings.channels, settings.kernel
        self.wide = nn.Conv1d(hidden, channels, kernel, padding=kernel // 2, bias=False)
        self.narrow = nn.Conv1d(channels, 1, 1, bias=False)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Map (P, L, D) to (P, L); `mask` is (P, L)."""
        inside = states.masked_fill(~mask[..., None], 0.0).transpose(1, 2)
        logits: Tensor = self.narrow(functional.relu(self.wide(inside)))[:, 0]
        return logits.masked_fill(~mask, MASKED)


class CONQUER(nn.Module):
    """The model; `forward` returns the loss of a batch."""

    search: Literal["reranking"] = "reranking"
    """It needs a first stage, in training too."""
    reach = 0
    """No score depends on rows after a video's last one."""

    def __init__(self, widths: Widths, settings: sections.CONQUER) -> None:
        super().__init__()
        self.settings, self.max_rows, self.max_tokens = settings, widths.max_rows, widths.max_tokens
        hidden, dropout = settings.hidden, settings.input_dropout
        sizes, streams = (hidden, settings.heads, settings.dropout), len(widths.streams)
        self.query_projection = Projection(widths.tokens, hidden, dropout)
        self.query_positions = Positions(widths.max_tokens, hidden, dropout)
        self.query_transformer = Transformer(*sizes)
        self.projections = nn.ModuleList(Projection(w, hidden, dropout) for w in widths.streams)
        self.stream_types = nn.Embedding(streams, hidden)
        self.row_positions = Positions(widths.max_rows, hidden, dropout)
        self.row_transformer = Transformer(*sizes)
        self.pooling = NetVLAD(hidden, settings.clusters)
        self.pooling_dropout = nn.Dropout(settings.dropout)
        self.shares = nn.Linear(settings.clusters * hidden, streams, bias=False)
        self.attention = BidirectionalAttention(hidden)
        self.context = Contextualizer(4 * hidden, settings)
        self.start_context = Contextualizer(5 * hidden, settings)
        self.end_context = Contextualizer(2 * hidden, settings)
        self.start, self.end = Reader(settings), Reader(settings)
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
        states = self.query_transformer(states, mask)
        vector = self.pooling_dropout(self.pooling(states, mask))
        return Asked(states, mask, self.shares(vector).softmax(dim=-1))

    def encode_context(self, streams: tuple[Tensor, ...], mask: Tensor) -> Context:
        """Encode the streams of videos, (V, L, width) each, with their mask (V, L)."""
        length = mask.shape[1]
        streams, mask = self._fill(streams, mask, self.max_rows)
        parts = zip(self.projections, streams, self.stream_types.weight, strict=True)
        placed = [self.row_positions(projection(rows) + kind) for projection, rows, kind in parts]
        states = self.row_transformer(torch.cat(placed, dim=1), mask.repeat(1, len(streams)))
        rows = tuple(stream[:, :length] for stream in states.chunk(len(streams), dim=1))
        return Context(retrieval=rows, spans=rows)

    def locate(self, asked: Asked, rows: tuple[Tensor, ...], mask: Tensor) -> Logits:
        """Read video i for query i: its rows (P, L, D) for each stream, and their mask (P, L).

        Returns the logits of each row as a start and as an end, (P, L).
        """
        length = mask.shape[1]
        rows, mask = self._fill(rows, mask, self.max_rows)
        shares = asked.shares.T[:, :, None, None]  # (S, P, 1, 1)
        aware = self.attention((shares * torch.stack(rows)).sum(dim=0), mask, asked)
        context = self.context(mask, aware)
        starts = self.start_context(mask, aware, context)
        ends = self.end_context(mask, context, starts)
        return Logits(self.start(starts, mask)[:, :length], self.end(ends, mask)[:, :length])

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of the batch, weighted by similarity; it is minimized."""
        loss = (losses.span_loss(self.detect(batch), batch.span) * batch.weight).mean()
        return {"spans": self.settings.span_weight * loss}

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
