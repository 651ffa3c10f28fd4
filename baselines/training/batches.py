"""Batches of training pairs: features, the rows of the moment, and which pairs are positive."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from baselines.collection.release import Ints, Pairs, Query
from baselines.features.inputs import Inputs
from baselines.models.batch import Batch
from baselines.training.negatives import Negatives


def pad(sequences: Sequence[npt.NDArray[np.float32]], rows: int) -> tuple[Tensor, Tensor]:
    """Return sequences (n_i, width) as (N, rows, width), and their mask (N, rows)."""
    padded = torch.zeros(len(sequences), rows, sequences[0].shape[1])
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    for number, sequence in enumerate(sequences):
        padded[number, : len(sequence)] = torch.from_numpy(sequence)
    return padded, torch.arange(rows) < lengths[:, None]


def pad_queries(inputs: Inputs, queries: Sequence[Query]) -> tuple[Tensor, Tensor]:
    """Return the token features of queries, (N, T, width), and their mask (N, T)."""
    tokens = [inputs.tokens.read(query.query_id) for query in queries]
    return pad(tokens, max(map(len, tokens)))


def pad_videos(inputs: Inputs, videos: Sequence[int]) -> tuple[tuple[Tensor, ...], Tensor]:
    """Return the streams of videos, (N, max_rows, width) each, and their mask (N, max_rows)."""
    read = [inputs.video(number) for number in videos]
    limit = inputs.streams[0].limit
    padded = [pad([video[stream] for video in read], limit) for stream in range(len(read[0]))]
    return tuple(rows for rows, _ in padded), padded[0][1]


class BatchMaker:
    """Makes batches of the pairs of a training set."""

    def __init__(self, inputs: Inputs, pairs: Pairs, negatives: Negatives | None = None) -> None:
        self._inputs, self._pairs, self._negatives = inputs, pairs, negatives
        self._spans = span_rows(pairs, inputs, inclusive=negatives is not None)
        self._known = np.unique(self._key(pairs.query, pairs.video))
        order = np.argsort(pairs.query, kind="stable")
        self._of_query = np.split(order, np.cumsum(np.bincount(pairs.query))[:-1])

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self._pairs.query)

    def _key(self, query: Ints, video: Ints) -> Ints:
        return query * len(self._inputs.names) + video

    def make(self, numbers: Ints) -> Batch:
        """Return the pairs at `places` as a batch."""
        pairs = self._pairs
        query, video = pairs.query[numbers], pairs.video[numbers]
        tokens, token_mask = pad_queries(self._inputs, [pairs.queries[number] for number in query])
        negative: Ints = np.empty((len(query), 0), dtype=np.int64)
        if self._negatives is not None:
            negative = self._negatives.draw(query)
        wanted, position = np.unique([*video, *negative[negative >= 0]], return_inverse=True)
        of_negative = np.full_like(negative, -1)
        of_negative[negative >= 0] = position[len(video) :]
        streams, row_mask = pad_videos(self._inputs, wanted.tolist())
        positive = np.isin(self._key(query[:, None], video[None]), self._known)
        return Batch(
            tokens=tokens,
            token_mask=token_mask,
            streams=streams,
            row_mask=row_mask,
            video=torch.from_numpy(position[: len(video)]),
            span=torch.from_numpy(self._spans[numbers]),
            weight=torch.from_numpy(pairs.similarity[numbers].astype(np.float32)),
            positive=torch.from_numpy(positive),
            covered=self._covered(query, wanted, row_mask.shape[1]),
            negative=torch.from_numpy(of_negative),
        )

    def _covered(self, query: Ints, videos: Ints, rows: int) -> Tensor:
        """Return which rows of `videos`, in ascending order, are in a moment of each query."""
        pairs = [self._of_query[number] for number in query]
        pair, owner = np.concatenate(pairs), np.repeat(np.arange(len(query)), [*map(len, pairs)])
        position = np.searchsorted(videos, self._pairs.video[pair]).clip(max=len(videos) - 1)
        here = videos[position] == self._pairs.video[pair]
        changes = np.zeros((len(query), len(videos), rows + 1), dtype=np.int16)
        for side, change in ((0, 1), (1, -1)):
            row = self._spans[pair[here], side] + side
            np.add.at(changes, (owner[here], position[here], row), change)
        return torch.from_numpy(changes.cumsum(axis=2)[..., :-1] > 0)

    def epoch(self, seed: int, epoch: int, size: int, done: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch in its own order, without the first `done` of them."""
        order = np.random.default_rng([seed, epoch]).permutation(len(self))
        for first in range(done * size, len(order), size):
            yield self.make(order[first : first + size])

    def steps(self, size: int) -> int:
        """Return the number of batches in an epoch."""
        return math.ceil(len(self) / size)


def span_rows(pairs: Pairs, inputs: Inputs, *, inclusive: bool = False) -> Ints:
    """Return the rows in which moments start and end, (P, 2).

    As in TVR: from the row in which the moment starts to the one after its last, or the
    video's last row. As in CONQUER, `inclusive`: to the moment's last row.
    """
    seconds, last = inputs.row_seconds()[pairs.video], inputs.row_counts()[pairs.video] - 1
    start = np.minimum(np.floor(pairs.start / seconds), last)
    end = np.minimum(np.ceil(pairs.end / seconds) - inclusive, last)
    return np.stack([start, np.maximum(end, start)], axis=1).astype(np.int64)
