"""One ranked list of moments for each query, over the whole corpus.

As in XML (Lei et al., ECCV 2020): in a query's best videos, a span's score is the
video's `exp(alpha * score)` times the probabilities of start and end; the best spans form one list.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from baselines.collection.release import Query
from baselines.core.sections import Predict, SpanBounds
from baselines.features.inputs import Inputs
from baselines.inference.corpus import EncodedCorpus, encode_corpus, find_cells
from baselines.inference.ranked import SPARE, Ranked, join, suppress
from baselines.inference.videos import best_videos
from baselines.models.blocks import Logits, mean
from baselines.models.conquer import CONQUER
from baselines.models.spr import SPR
from baselines.models.two_stream import TwoStream
from baselines.training.batches import pad_queries

CHUNK = 32
"""Queries whose spans are chosen together."""


class Searcher:
    """Searches the videos of a release with a model."""

    def __init__(self, model: TwoStream, inputs: Inputs, settings: Predict) -> None:
        self._model, self._inputs, self._settings = model, inputs, settings
        self._device = next(model.parameters()).device
        self._counts = torch.from_numpy(inputs.row_counts())
        self._corpus = encode_corpus(model, inputs, self._device, settings.row_block)

    def search(self, queries: Sequence[Query]) -> Ranked:
        """Return the best moments of each query."""
        size = self._settings.query_block
        starts = range(0, len(queries), size)
        with torch.inference_mode():
            return join([self._search(queries[first : first + size], first) for first in starts])

    def _search(self, queries: Sequence[Query], first: int) -> Ranked:
        model, settings, device = self._model, self._settings, self._device
        vectors = encode_queries(model, self._inputs, queries, device)
        asked = tuple(query.cpu() for query in model.span_queries(vectors))
        units = tuple(vector.cpu() for vector in vectors)
        scores, videos = best_videos(self._corpus, units, settings.videos)
        limit = int(self._counts.max()) + model.reach
        similarity = span_similarity(self._corpus, asked, videos, limit)
        lengths = self._counts[videos]

        def detect(chunk: slice) -> Logits:
            rows = int(lengths[chunk].max()) + model.reach
            mask = torch.arange(rows) < lengths[chunk][..., None]
            return model.detect(similarity[chunk, :, :rows].to(device), mask.to(device))

        weights = (model.settings.alpha * scores).exp()
        spans = choose_spans(detect, weights, settings, settings)
        return rank_spans(spans, videos, self._inputs, settings, first)


def encode_queries(
    model: TwoStream | SPR | CONQUER,
    inputs: Inputs,
    queries: Sequence[Query],
    device: torch.device,
) -> tuple[Tensor, ...]:
    """Return a vector of each query for each stream, (Q, D) each; of CONQUER, `Asked`."""
    chunks: list[tuple[Tensor, ...]] = []
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
    similarity = torch.zeros(videos.numel(), limit)
    for block, listed in find_cells(corpus, videos):
        for number, cells in enumerate(listed):
            if len(cells):
                owners = torch.div(cells, videos.shape[1], rounding_mode="floor")
                pairs = zip(asked, block.spans, strict=True)
                products = [vectors[owners] @ rows[number].T for vectors, rows in pairs]
                similarity[cells, : block.mask.shape[1]] = mean(products)
    return similarity.view(*videos.shape, limit)


class Spans(NamedTuple):
    """The best spans of each query, (Q, n) each, best first; a score of 0 is not a span."""

    score: Tensor
    video: Tensor
    """The video's index in the query's list."""
    start: Tensor
    end: Tensor


def best_spans(
    start: Tensor, end: Tensor, weight: Tensor, band: tuple[int, int], count: int
) -> Spans:
    """Return the `count` best spans of each query over its videos.

    The published code computes all pairs of rows and masks most of them; this only the band.

    Args:
        start: probability of each row as a start, (Q, K, L).
        end: probability as an end, (Q, K, L).
        weight: the factor of a video's spans, (Q, K).
        band: the shortest length in rows, and the first that is too long.
        count: how many spans.
    """
    least, most = band
    width = most - least
    later = functional.pad(end[..., least:], (0, most - 1))  # row i is the end of length `least`
    windows = later.unfold(-1, width, 1)[..., : start.shape[-1], :]  # (Q, K, L, width)
    scores = (start * weight[..., None])[..., None] * windows
    best = scores.flatten(1).topk(min(count, scores[0].numel()), dim=1)
    rows = torch.div(best.indices, width, rounding_mode="floor")
    first = rows % start.shape[-1]
    return Spans(
        score=best.values,
        video=torch.div(rows, start.shape[-1], rounding_mode="floor"),
        start=first,
        end=first + least + best.indices % width,
    )


def choose_spans(
    detect: Callable[[slice], Logits], weights: Tensor, bounds: SpanBounds, settings: Predict
) -> Spans:
    """Return the best spans of each query in its videos, as many as suppression needs.

    `detect` returns the logits of all rows of some queries' videos; `weights`, (Q, K), are the
    videos'.
    """
    count = settings.moments * SPARE if settings.nms else settings.moments
    chunks = []
    for begin in range(0, len(weights), CHUNK):
        chunk = slice(begin, begin + CHUNK)
        start, end = (values.softmax(dim=-1).cpu() for values in detect(chunk))
        band = (bounds.min_rows, bounds.max_rows)
        chunks.append(best_spans(start, end, weights[chunk], band, count))
    return Spans(*(torch.cat(columns) for columns in zip(*chunks, strict=True)))


def rank_spans(
    spans: Spans, videos: Tensor, inputs: Inputs, settings: Predict, first: int
) -> Ranked:
    """Return spans as `rank_rows` does; `videos`, (Q, K), are the numbers of each query's."""
    listed = spans._replace(video=videos.gather(1, spans.video))
    score, video, start, end = (column.numpy().ravel() for column in listed)
    query = np.repeat(np.arange(len(videos)), spans.score.shape[1])
    return rank_rows(Ranked(query, video, start, end, score), inputs, settings, first)


def rank_rows(rows: Ranked, inputs: Inputs, settings: Predict, first: int) -> Ranked:
    """Return moments in seconds, after suppression: by query, score, video and time.

    The starts and ends of `rows` are rows, and a score of 0 is no moment. `first` is the number of
    the first query.
    """
    order = np.lexsort((rows.end, rows.start, rows.video, -rows.score, rows.query))
    order = order[rows.score[order] > 0]
    video = rows.video[order]
    seconds = inputs.row_seconds()[video]
    times = (rows.start[order] * seconds, rows.end[order] * seconds)
    ranked = Ranked(rows.query[order] + first, video, *times, rows.score[order].astype(np.float64))
    return suppress(ranked, settings.nms, settings.moments)
