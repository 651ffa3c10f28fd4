"""Search with CONQUER: the first stage's best videos are read again for each query.

A corpus is encoded once; fusion, attention and heads run for each query and each video in its list.
Each video is fetched once, however many queries it is read for.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from baselines.collection.release import Query
from baselines.core.cli import progress
from baselines.core.sections import Predict
from baselines.features.inputs import Inputs
from baselines.inference.corpus import EncodedCorpus, encode_corpus, find_cells
from baselines.inference.first_stage import FirstStage, VideoLists
from baselines.inference.ranked import Ranked, join
from baselines.inference.search import choose_spans, encode_queries, rank_spans
from baselines.models.blocks import MASKED, Logits
from baselines.models.conquer import CONQUER, Asked

READ = 64
"""Pairs of a query and a video that are read together."""


class Reranker:
    """Searches the videos of a release with CONQUER."""

    def __init__(
        self, model: CONQUER, inputs: Inputs, settings: Predict, first_stage: FirstStage
    ) -> None:
        self._model, self._inputs, self._settings = model, inputs, settings
        self._first_stage = first_stage
        self._device = next(model.parameters()).device
        self._corpus = encode_corpus(model, inputs, self._device, settings.row_block)

    def search(self, queries: Sequence[Query]) -> Ranked:
        """Return the best moments of each query."""
        size = self._settings.query_block
        starts = range(0, len(queries), size)
        with torch.inference_mode():
            return join([self._search(queries[first : first + size], first) for first in starts])

    def _search(self, queries: Sequence[Query], first: int) -> Ranked:
        settings, bounds = self._settings, self._model.settings
        lists = self._first_stage.rank(queries, bounds.videos)
        asked = Asked(*encode_queries(self._model, self._inputs, queries, self._device))
        logits = self._read(asked, lists)

        def select(chunk: slice) -> Logits:
            return Logits(logits.start[chunk], logits.end[chunk])

        spans = choose_spans(select, lists.weights, bounds, settings)
        spans = spans._replace(end=spans.end + 1)  # the last row is inside
        return rank_spans(spans, lists.videos, self._inputs, settings, first)

    def _read(self, asked: Asked, lists: VideoLists) -> Logits:
        """Return the logits of all rows of each query's videos, (Q, K, L)."""
        limit = int(self._inputs.row_counts().max())
        list_length = lists.videos.shape[1]
        logits = Logits(*(torch.full((lists.videos.numel(), limit), MASKED) for _ in range(2)))
        with progress("read", total=lists.videos.numel(), unit="videos") as bar:
            for cells, rows, mask in find_rows(self._corpus, lists.videos):
                query = torch.div(cells, list_length, rounding_mode="floor").to(self._device)
                moved = tuple(stream.to(self._device) for stream in rows)
                located = self._model.locate(asked.select(query), moved, mask.to(self._device))
                for kind, values in zip(logits, located, strict=True):
                    kind[cells, : values.shape[1]] = values.float().cpu()
                bar.update(len(cells))
        return Logits(*(values.view(*lists.videos.shape, limit) for values in logits))


def find_rows(
    corpus: EncodedCorpus, videos: Tensor
) -> Iterator[tuple[Tensor, tuple[Tensor, ...], Tensor]]:
    """Yield the rows of the listed videos, (Q, K), in parts of P cells.

    Each part is the cells' indices in the flattened lists (P,), the rows (P, L, D) of each stream,
    and their mask (P, L).
    """
    for block, listed in find_cells(corpus, videos):
        cells, times = torch.cat(listed), torch.tensor([*map(len, listed)])
        in_block = torch.arange(len(listed)).repeat_interleave(times)
        for first in range(0, len(cells), READ):
            chunk = in_block[first : first + READ]
            rows = tuple(stream[chunk] for stream in block.spans)
            yield cells[first : first + READ], rows, block.mask[chunk]
