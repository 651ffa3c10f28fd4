"""Search with SPR: the best segments of the corpus, proposals, and a moment in each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from baselines.collection.release import Ints, Query
from baselines.core.cli import progress
from baselines.core.sections import Predict
from baselines.features.inputs import Inputs
from baselines.inference.proposals import Proposals, merge, number_segments
from baselines.inference.ranked import SPARE, Ranked, join, suppress
from baselines.inference.search import CHUNK, best_spans, rank_rows
from baselines.models.blocks import pair_similarity
from baselines.models.spr import SPR, cut
from baselines.training.batches import pad_queries, pad_videos

ENCODED = 64
"""Videos, or proposals, processed together."""


class Index(NamedTuple):
    """The segments of a corpus: S segments."""

    units: Tensor
    """(S, D)."""
    number: Ints
    """(S,): numbers across the corpus, with some skipped between videos."""
    first: Ints
    """(V,): the number of each video's first segment."""


class SegmentSearcher:
    """Searches the videos of a release with SPR."""

    def __init__(self, model: SPR, inputs: Inputs, settings: Predict) -> None:
        self._model, self._inputs, self._settings = model, inputs, settings
        self._device = next(model.parameters()).device
        with torch.inference_mode():
            self._index = self._build_index()

    def search(self, queries: Sequence[Query]) -> Ranked:
        """Return the best moments of each query."""
        starts = range(0, len(queries), CHUNK)
        with torch.inference_mode():
            return join([self._search(queries[first : first + CHUNK], first) for first in starts])

    def _build_index(self) -> Index:
        counts = -(-self._inputs.row_counts() // self._model.segment_rows)
        first = number_segments(counts, self._model.settings.gap)
        chunks = embed_segments(self._model, self._inputs, np.arange(len(counts)), self._device)
        units = [vectors[inside].cpu() for _, vectors, inside in chunks]
        numbers = [np.arange(count) + number for count, number in zip(counts, first, strict=True)]
        return Index(torch.cat(units), np.concatenate(numbers), first)

    def _search(self, queries: Sequence[Query], first_query: int) -> Ranked:
        model = self._model
        tokens, mask = (tensor.to(self._device) for tensor in pad_queries(self._inputs, queries))
        scores = model.embed_query(tokens, mask).cpu() @ self._index.units.T
        best = scores.topk(min(model.settings.segments, scores.shape[1]), dim=1).indices.numpy()
        proposals = merge(self._index.number[best], model.settings.gap)
        vectors = model.refiner.encode_query(tokens, mask)
        blocks = [
            self._refine(
                Proposals(*(column[begin : begin + ENCODED] for column in proposals)), vectors
            )
            for begin in range(0, len(proposals.query), ENCODED)
        ]
        return rank_rows(join(blocks), self._inputs, self._settings, first_query)

    def _refine(self, proposals: Proposals, vectors: tuple[Tensor, ...]) -> Ranked:
        """Return the best moments of each proposal; their starts and ends are rows."""
        model, settings = self._model, self._settings
        size, context = model.segment_rows, model.context_rows
        video = np.searchsorted(self._index.first, proposals.first, side="right") - 1
        lengths = self._inputs.row_counts()[video]
        begin = (proposals.first - self._index.first[video]) * size - context
        begin = np.maximum(begin, 0)
        finish = (proposals.last - self._index.first[video] + 1) * size - 1 + context
        finish = np.minimum(np.minimum(finish, lengths - 1), begin + model.window_rows - 1)
        videos, positions = np.unique(video, return_inverse=True)
        streams, _ = pad_videos(self._inputs, videos.tolist())
        position, first_row, last_row = (
            torch.from_numpy(values).to(self._device) for values in (positions, begin, finish)
        )
        moved = tuple(stream.to(self._device) for stream in streams)
        windows, mask = cut(moved, position, first_row, last_row, model.window_rows)
        encoded = model.refiner.encode_context(windows, mask)
        query = torch.from_numpy(proposals.query).to(self._device)
        asked = tuple(vector[query] for vector in vectors)
        similarity = pair_similarity(model.refiner.span_queries(asked), encoded.spans)
        start, end = (values.softmax(dim=-1) for values in model.refiner.detect(similarity, mask))
        weight = (model.settings.alpha * window_scores(asked, encoded.retrieval, mask)).exp()
        spans = best_spans(
            start[:, None],
            end[:, None],
            weight[:, None],
            (settings.min_rows, settings.max_rows),
            model.settings.moments * (SPARE if settings.nms else 1),
        )
        score, _, first, last = (column.cpu().numpy() for column in spans)
        hit_proposals, _ = hits = np.nonzero(score > 0)
        at = begin[hit_proposals]
        ranked = Ranked(
            hit_proposals, video[hit_proposals], at + first[hits], at + last[hits], score[hits]
        )
        best_moments = suppress(ranked, settings.nms, model.settings.moments)
        return replace(best_moments, query=proposals.query[best_moments.query])


def embed_segments(
    model: SPR, inputs: Inputs, videos: Ints, device: torch.device
) -> Iterator[tuple[Ints, Tensor, Tensor]]:
    """Yield videos in chunks of N, with their segments (N, S, D) and the mask of these (N, S)."""
    with progress("segments", total=len(videos), unit="videos") as bar:
        for begin in range(0, len(videos), ENCODED):
            chunk = videos[begin : begin + ENCODED]
            streams, mask = pad_videos(inputs, chunk.tolist())
            yield chunk, *model.embed_segments(streams[0].to(device), mask.to(device))
            bar.update(len(chunk))


def window_scores(vectors: tuple[Tensor, ...], streams: tuple[Tensor, ...], mask: Tensor) -> Tensor:
    """Return the best cosine of query i (N, D) with the rows of window i (N, W, D), (N,)."""
    total = torch.zeros(len(mask), device=mask.device)
    for vector, rows in zip(vectors, streams, strict=True):
        unit, units = functional.normalize(vector, dim=-1), functional.normalize(rows, dim=-1)
        cosines = torch.einsum("nd,nwd->nw", unit, units)
        total = total + cosines.masked_fill(~mask, -1.0).amax(dim=-1)
    return total / len(vectors)
