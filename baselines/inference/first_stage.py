"""A trained model as a first stage: each query's best videos, for a model that re-ranks them."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor

from baselines.collection.release import Ints, Query
from baselines.core.cli import progress
from baselines.core.sections import Params, Predict
from baselines.features.inputs import Inputs
from baselines.inference.corpus import ENCODED, EncodedCorpus, encode_corpus
from baselines.inference.search import CHUNK, encode_queries
from baselines.inference.trained import load_model
from baselines.inference.videos import best_videos
from baselines.models.registry import TwoTower
from baselines.models.spr import SPR
from baselines.training.batches import pad_queries, pad_videos


class VideoLists(NamedTuple):
    """The best videos of each query, best first."""

    scores: Tensor
    """(Q, K)."""
    videos: Tensor
    """(Q, K): their numbers in the corpus."""


class FirstStage:
    """Ranks the videos of a release with a trained model."""

    def __init__(self, model: TwoTower | SPR, inputs: Inputs, own: Predict) -> None:
        self._model, self._inputs, self._size = model, inputs, own.query_block
        self._device = next(model.parameters()).device
        if isinstance(model, SPR):
            self._corpus = encode_segments(model, inputs, self._device)
        else:
            self._corpus = encode_corpus(model, inputs, self._device, own.row_block)

    @property
    def identity(self) -> str:
        """Return what determines the lists: a digest of the model's weights."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self._model.state_dict().items()):
            digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def rank(self, queries: Sequence[Query], count: int) -> VideoLists:
        """Return the best `count` videos of each query; all, if there are fewer."""
        parts = []
        with torch.inference_mode(), progress("rank", total=len(queries), unit="queries") as bar:
            for first in range(0, len(queries), self._size):
                block = queries[first : first + self._size]
                parts.append(best_videos(self._corpus, self._vectors(block), count))
                bar.update(len(block))
        return VideoLists(*(torch.cat(columns) for columns in zip(*parts, strict=True)))

    def _vectors(self, queries: Sequence[Query]) -> tuple[Tensor, ...]:
        model = self._model
        if not isinstance(model, SPR):
            vectors = encode_queries(model, self._inputs, queries, self._device)
            return tuple(one.cpu() for one in vectors)
        parts = []
        for place in range(0, len(queries), CHUNK):
            tokens, mask = pad_queries(self._inputs, queries[place : place + CHUNK])
            parts.append(model.embed_query(tokens.to(self._device), mask.to(self._device)).cpu())
        return (torch.cat(parts),)


def encode_segments(model: SPR, inputs: Inputs, device: torch.device) -> EncodedCorpus:
    """Encode the segments of all videos: SPR's score of a video is its best segment's."""
    corpus, counts = EncodedCorpus(), inputs.row_counts()
    videos: Ints = counts.argsort(kind="stable")
    with torch.inference_mode():
        for place in range(0, len(videos), ENCODED):
            part = videos[place : place + ENCODED]
            streams, mask = pad_videos(inputs, part.tolist())
            units, inside = model.embed_segments(streams[0].to(device), mask.to(device))
            lengths = inside.sum(dim=1).cpu()
            kept = (units[:, : int(lengths.max())],)
            corpus.append(part, lengths, kept, kept)
    return corpus


def open_first_stage(
    params: Params, name: str, inputs: Inputs, top: int, seed: int
) -> FirstStage | None:
    """Return the first stage of a model that needs one, trained with the same N and seed.

    Raises:
        FileError: the first stage is not trained.
    """
    if name != "conquer":
        return None
    model = load_model(params, params.conquer.first_stage, inputs, top, seed)
    return FirstStage(cast("TwoTower | SPR", model), inputs, params.predict)
