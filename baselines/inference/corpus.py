"""The encoded corpus: videos by length in blocks, kept in a file to bound memory."""

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from baselines.collection.release import Ints
from baselines.core.cli import progress
from baselines.features.inputs import Inputs
from baselines.models.conquer import CONQUER
from baselines.models.two_stream import TwoStream
from baselines.training.batches import pad_videos

ENCODED = 64
"""Videos encoded together."""


class Block(NamedTuple):
    """Videos of similar length: B videos of up to L rows."""

    videos: Ints
    """(B,): their numbers in the corpus."""
    mask: Tensor
    """(B, L)."""
    retrieval: tuple[Tensor, ...]
    """(B, L, D) for each stream."""
    spans: tuple[Tensor, ...]
    """(B, L, D) for each stream; the same tensors if a model has only one kind."""


class EncodedCorpus:
    """Blocks of encoded videos, written once and read in turn."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (it lives as long as the corpus)
        weakref.finalize(self, self._file.close)
        self._entries: list[tuple[Ints, Tensor, int]] = []
        """Videos, their lengths, and where the block begins in the file."""

    def append(
        self,
        videos: Ints,
        lengths: Tensor,
        retrieval: tuple[Tensor, ...],
        spans: tuple[Tensor, ...],
    ) -> None:
        """Add a block; `retrieval` and `spans` may be the same tensors."""
        stored = retrieval if spans is retrieval else (*retrieval, *spans)
        self._entries.append((videos, lengths, self._file.seek(0, 2)))
        self._streams, self._stored = len(spans), len(stored)
        for tensor in stored:
            np.save(self._file, tensor.detach().float().cpu().numpy())

    def __iter__(self) -> Iterator[Block]:
        """Read the blocks one after another."""
        for videos, lengths, offset in self._entries:
            self._file.seek(offset)
            rows = tuple(
                torch.from_numpy(np.load(self._file, allow_pickle=False))
                for _ in range(self._stored)
            )
            mask = torch.arange(rows[0].shape[1]) < lengths[:, None]
            yield Block(videos, mask, rows[: self._streams], rows[-self._streams :])


def encode_corpus(
    model: TwoStream | CONQUER, inputs: Inputs, device: torch.device, row_block: int
) -> EncodedCorpus:
    """Encode all videos, in blocks of about `row_block` rows.

    Of the padding, only rows that a convolution near a video's end may read are kept.
    """
    counts, limit = inputs.row_counts(), inputs.streams[0].limit
    order = np.argsort(counts, kind="stable")
    corpus = EncodedCorpus()
    with torch.inference_mode(), progress("encode", total=len(order), unit="videos") as bar:
        for group in _groups(order, counts, row_block):
            chunks = [group[first : first + ENCODED] for first in range(0, len(group), ENCODED)]
            rows = min(int(counts[group].max()) + model.reach, limit)
            contexts = []
            for chunk in chunks:
                streams, mask = pad_videos(inputs, chunk.tolist())
                moved = tuple(stream.to(device) for stream in streams)
                contexts.append(model.encode_context(moved, mask.to(device)))
                bar.update(len(chunk))
            retrieval = _join([context.retrieval for context in contexts], rows)
            same = all(context.retrieval is context.spans for context in contexts)
            spans = retrieval if same else _join([context.spans for context in contexts], rows)
            corpus.append(group, torch.from_numpy(counts[group]), retrieval, spans)
    return corpus


def find_cells(corpus: EncodedCorpus, videos: Tensor) -> Iterator[tuple[Block, list[Tensor]]]:
    """Yield each block, and where each of its videos is in the flattened lists, (Q, K)."""
    ordered, order = videos.flatten().sort(stable=True)
    for block in corpus:
        numbers = torch.from_numpy(block.videos)
        sides = (torch.searchsorted(ordered, numbers, side=s).tolist() for s in ("left", "right"))
        yield block, [order[begin:finish] for begin, finish in zip(*sides, strict=True)]


def _join(chunks: Sequence[tuple[Tensor, ...]], rows: int) -> tuple[Tensor, ...]:
    """Return each stream of successive videos as one tensor of `rows` rows, (B, rows, D)."""
    columns = zip(*chunks, strict=True)
    return tuple(torch.cat([states[:, :rows] for states in stream]) for stream in columns)


def _groups(order: Ints, counts: Ints, row_block: int) -> Iterator[Ints]:
    """Yield videos by length, in groups of about `row_block` padded rows."""
    first = 0
    while first < len(order):
        size = max(1, row_block // int(counts[order[first]]))
        size = max(1, row_block // int(counts[order[min(first + size, len(order)) - 1]]))
        yield order[first : first + size]
        first += size
