"""Search with SPR: the best segments of the corpus, proposals, and a moment in each."""

from collections.abc import Sequence
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
from baselines.inference.search import CHUNK, SPARE, Ranked, join
from baselines.inference.spans import best_spans
from baselines.inference.suppression import suppress
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

    def __init__(self, model: SPR, inputs: Inputs, own: Predict) -> None:
        self._model, self._inputs, self._own = model, inputs, own
        self._device = next(model.parameters()).device
        with torch.inference_mode():
            self._index = self._build_index()

    def search(self, queries: Sequence[Query]) -> Ranked:
        """Return the best moments of each query."""
        starts = range(0, len(queries), CHUNK)
        with torch.inference_mode():
            parts = [self._search(queries[first : first + CHUNK], first) for first in starts]
        ranked = join(parts)
        return suppress(ranked, self._own.nms, self._own.moments)

    def _build_index(self) -> Index:
        counts = -(-self._inputs.row_counts() // self._model.segment_rows)
        first = number_segments(counts, self._model.own.gap)
        units = []
        videos = range(len(counts))
        with progress("segments", total=len(videos), unit="videos") as bar:
            for place in range(0, len(videos), ENCODED):
                part = videos[place : place + ENCODED]
                streams, mask = pad_videos(self._inputs, part)
                rows, masks = streams[0].to(self._device), mask.to(self._device)
                vectors, inside = self._model.embed_segments(rows, masks)
                units.append(vectors[inside].cpu())
                bar.update(len(part))
        numbers = [np.arange(count) + one for count, one in zip(counts, first, strict=True)]
        return Index(torch.cat(units), np.concatenate(numbers), first)

    def _search(self, queries: Sequence[Query], place: int) -> Ranked:
        model = self._model
        tokens, mask = (one.to(self._device) for one in pad_queries(self._inputs, queries))
        scores = model.embed_query(tokens, mask).cpu() @ self._index.units.T
        best = scores.topk(min(model.own.segments, scores.shape[1]), dim=1).indices.numpy()
        proposals = merge(self._index.number[best], model.own.gap)
        vectors = model.refiner.encode_query(tokens, mask)
        parts = [
            self._refine(
                Proposals(*(column[part : part + ENCODED] for column in proposals)), vectors
            )
            for part in range(0, len(proposals.query), ENCODED)
        ]
        every = join(parts)
        order = np.lexsort((every.end, every.start, every.video, -every.score, every.query))
        query, video, score = every.query[order], every.video[order], every.score[order]
        row = self._inputs.row_seconds()[video]
        return Ranked(query + place, video, every.start[order] * row, every.end[order] * row, score)

    def _refine(self, proposals: Proposals, vectors: tuple[Tensor, ...]) -> Ranked:
        """Return the best moments of each proposal; their starts and ends are rows."""
        model, own = self._model, self._own
        size, context = model.segment_rows, model.context_rows
        video = np.searchsorted(self._index.first, proposals.first, side="right") - 1
        lengths = self._inputs.row_counts()[video]
        begin = (proposals.first - self._index.first[video]) * size - context
        begin = np.maximum(begin, 0)
        finish = (proposals.last - self._index.first[video] + 1) * size - 1 + context
        finish = np.minimum(np.minimum(finish, lengths - 1), begin + model.window_rows - 1)
        videos, places = np.unique(video, return_inverse=True)
        streams, _ = pad_videos(self._inputs, videos.tolist())
        place, first_row, last_row = (
            torch.from_numpy(one).to(self._device) for one in (places, begin, finish)
        )
        moved = tuple(one.to(self._device) for one in streams)
        windows, mask = cut(moved, place, first_row, last_row, model.window_rows)
        encoded = model.refiner.encode_context(windows, mask)
        query = torch.from_numpy(proposals.query).to(self._device)
        asked = tuple(vector[query] for vector in vectors)
        similarity = pair_similarity(model.refiner.span_queries(asked), encoded.spans)
        start, end = (one.softmax(dim=-1) for one in model.refiner.detect(similarity, mask))
        weight = (model.own.alpha * window_scores(asked, encoded.retrieval, mask)).exp()
        spans = best_spans(
            start[:, None],
            end[:, None],
            weight[:, None],
            (own.min_rows, own.max_rows),
            model.own.moments * (SPARE if own.nms else 1),
        )
        score, _, first, last = (one.cpu().numpy() for one in spans)
        places, _ = hits = np.nonzero(score > 0)
        at = begin[places]
        ranked = Ranked(places, video[places], at + first[hits], at + last[hits], score[hits])
        kept = suppress(ranked, own.nms, model.own.moments)
        return replace(kept, query=proposals.query[kept.query])


def window_scores(vectors: tuple[Tensor, ...], streams: tuple[Tensor, ...], mask: Tensor) -> Tensor:
    """Return the best cosine of query i (N, D) with the rows of window i (N, W, D), (N,)."""
    total = torch.zeros(len(mask), device=mask.device)
    for vector, rows in zip(vectors, streams, strict=True):
        unit, units = functional.normalize(vector, dim=-1), functional.normalize(rows, dim=-1)
        cosines = torch.einsum("nd,nwd->nw", unit, units)
        total = total + cosines.masked_fill(~mask, -1.0).amax(dim=-1)
    return total / len(vectors)
