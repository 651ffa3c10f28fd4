"""One ranked list of moments for each query, over the whole corpus.

As in XML (Lei et al., ECCV 2020): in a query's best videos, a span's score is the
video's `exp(alpha * score)` times the probabilities of start and end; the best spans form one list.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from baselines.collection.release import Floats, Ints, Query
from baselines.core.sections import Predict
from baselines.features.inputs import Inputs
from baselines.inference.corpus import EncodedCorpus, encode_corpus
from baselines.inference.ranked import Ranked, join
from baselines.inference.spans import Spans, best_spans
from baselines.inference.suppression import SPARE, suppress
from baselines.inference.videos import best_videos
from baselines.models.blocks import mean
from baselines.models.spr import SPR
from baselines.models.two_stream import TwoStream
from baselines.training.batches import pad_queries

CHUNK = 32
"""Queries whose spans are chosen together."""


class Searcher:
    """Searches the videos of a release with a model."""

    def __init__(self, model: TwoStream, inputs: Inputs, settings: Predict) -> None:
        self._model, self._inputs, self._size = model, inputs, settings.query_block
        self._device = next(model.parameters()).device
        corpus = encode_corpus(model, inputs, self._device, settings.row_block)
        self._ranker = Ranker(model, corpus, inputs.row_counts(), inputs.row_seconds(), settings)

    def search(self, queries: Sequence[Query]) -> Ranked:
        """Return the best moments of each query."""
        blocks = []
        with torch.inference_mode():
            for first in range(0, len(queries), self._size):
                block = queries[first : first + self._size]
                vectors = encode_queries(self._model, self._inputs, block, self._device)
                blocks.append(self._ranker.rank(vectors, first))
        return join(blocks)


class Ranker:
    """Ranks the spans of an encoded corpus.

    Args:
        model: whose span detector is used.
        corpus: the videos.
        counts: the number of rows of each video, (V,).
        seconds: that a row of each video covers, (V,).
        settings: how lists are made.
    """

    def __init__(
        self,
        model: TwoStream,
        corpus: EncodedCorpus,
        counts: Ints,
        seconds: Floats,
        settings: Predict,
    ) -> None:
        self._model, self._corpus, self._seconds, self._settings = model, corpus, seconds, settings
        self._counts = torch.from_numpy(counts)

    def rank(self, vectors: tuple[Tensor, ...], first: int = 0) -> Ranked:
        """Return the best moments of queries, (Q, D) for each stream; `first` numbers them."""
        asked = tuple(query.cpu() for query in self._model.span_queries(vectors))
        units = tuple(vector.cpu() for vector in vectors)
        scores, videos = best_videos(self._corpus, units, self._settings.videos)
        limit = int(self._counts.max()) + self._model.reach
        similarity = span_similarity(self._corpus, asked, videos, limit)
        spans = self._spans(similarity, scores, videos)
        spans = spans._replace(video=videos.gather(1, spans.video))
        ranked = order_spans(spans, self._seconds, first)
        return suppress(ranked, self._settings.nms, self._settings.moments)

    def _spans(self, similarity: Tensor, scores: Tensor, videos: Tensor) -> Spans:
        settings, lengths = self._settings, self._counts[videos]
        count = settings.moments * SPARE if settings.nms else settings.moments
        device = next(self._model.parameters()).device
        chunks = []
        for begin in range(0, len(scores), CHUNK):
            chunk = slice(begin, begin + CHUNK)
            rows = int(lengths[chunk].max()) + self._model.reach
            mask = torch.arange(rows) < lengths[chunk][..., None]
            logits = self._model.detect(similarity[chunk, :, :rows].to(device), mask.to(device))
            start, end = (values.softmax(dim=-1).cpu() for values in logits)
            weight = (self._model.settings.alpha * scores[chunk]).exp()
            band = (settings.min_rows, settings.max_rows)
            chunks.append(best_spans(start, end, weight, band, count))
        return Spans(*(torch.cat(columns) for columns in zip(*chunks, strict=True)))


def encode_queries(
    model: TwoStream | SPR, inputs: Inputs, queries: Sequence[Query], device: torch.device
) -> tuple[Tensor, ...]:
    """Return a vector of each query for each stream, (Q, D) each."""
    chunks = []
    for begin in range(0, len(queries), CHUNK):
        tokens, mask = pad_queries(inputs, queries[begin : begin + CHUNK])
        chunks.append(model.encode_query(tokens.to(device), mask.to(device)))
    return tuple(torch.cat(streams) for streams in zip(*chunks, strict=True))


def span_similarity(
    corpus: EncodedCorpus, asked: tuple[Tensor, ...], videos: Tensor, limit: int
) -> Tensor:
    """Return the similarity of each query to the rows of its videos, (Q, K, limit).

    Each video is read once, however many queries it is a candidate for.
    """
    flat = videos.flatten()
    order = flat.argsort(stable=True)
    ordered = flat[order]
    similarity = torch.zeros(len(flat), limit)
    list_length = videos.shape[1]
    for block in corpus:
        numbers = torch.from_numpy(block.videos)
        bounds = torch.stack(
            [torch.searchsorted(ordered, numbers, right=right) for right in (False, True)]
        )
        for number, (begin, finish) in enumerate(bounds.T.tolist()):
            if begin == finish:
                continue
            cells = order[begin:finish]
            owners = torch.div(cells, list_length, rounding_mode="floor")
            products = [
                vectors[owners] @ rows[number].T
                for vectors, rows in zip(asked, block.spans, strict=True)
            ]
            similarity[cells, : block.mask.shape[1]] = mean(products)
    return similarity.view(*videos.shape, limit)


def order_spans(spans: Spans, seconds: Floats, first: int) -> Ranked:
    """Return all lists as rows, times in seconds: by score, then by video and time.

    Args:
        spans: with the videos' numbers in the corpus.
        seconds: that a row of each video covers.
        first: the number of the first query.
    """
    score, video, start, end = (column.numpy() for column in spans)
    query = np.broadcast_to(np.arange(len(score))[:, None], score.shape)
    order = np.lexsort(tuple(column.ravel() for column in (end, start, video, -score, query)))
    order = order[score.ravel()[order] > 0]  # drop what is not a span
    query, video, start, end, score = (
        column.ravel()[order] for column in (query, video, start, end, score)
    )
    row = seconds[video]
    return Ranked(query + first, video, start * row, end * row, score.astype(np.float64))
