"""A trained model as a first stage: each query's best videos, for a model that re-ranks them."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor

from baselines.collection.release import Query
from baselines.core.cli import progress
from baselines.core.sections import Params, Predict
from baselines.features.inputs import Inputs
from baselines.inference.corpus import EncodedCorpus, encode_corpus
from baselines.inference.search import encode_queries
from baselines.inference.segments import embed_segments
from baselines.inference.videos import best_videos
from baselines.models.spr import SPR
from baselines.models.two_stream import TwoStream
from baselines.training.checkpoint import load_model


class VideoLists(NamedTuple):
    """The best videos of each query, best first."""

    weights: Tensor
    """(Q, K): `exp(alpha * score)`, with the `alpha` by which the model weighs its own moments."""
    videos: Tensor
    """(Q, K): their numbers in the corpus."""


class FirstStage:
    """Ranks the videos of a release with a trained model."""

    def __init__(self, model: TwoStream | SPR, inputs: Inputs, settings: Predict) -> None:
        self._model, self._inputs, self._size = model, inputs, settings.query_block
        self._device = next(model.parameters()).device
        if model.search == "segments":
            self._corpus = encode_segments(model, inputs, self._device)
        else:
            self._corpus = encode_corpus(model, inputs, self._device, settings.row_block)

    @property
    def identity(self) -> str:
        """Return what determines the lists: a digest of the model's weights and its alpha."""
        digest = hashlib.sha256(f"{self._model.settings.alpha}".encode())
        for name, tensor in sorted(self._model.state_dict().items()):
            digest.update(name.encode() + tensor.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()

    def rank(self, queries: Sequence[Query], count: int) -> VideoLists:
        """Return the best `count` videos of each query; all, if there are fewer."""
        blocks = []
        with torch.inference_mode(), progress("rank", total=len(queries), unit="queries") as bar:
            for first in range(0, len(queries), self._size):
                block = queries[first : first + self._size]
                encoded = encode_queries(self._model, self._inputs, block, self._device)
                vectors = tuple(stream.cpu() for stream in encoded)
                scores, videos = best_videos(self._corpus, vectors, count)
                blocks.append(((self._model.settings.alpha * scores).exp(), videos))
                bar.update(len(block))
        return VideoLists(*(torch.cat(columns) for columns in zip(*blocks, strict=True)))


def encode_segments(model: SPR, inputs: Inputs, device: torch.device) -> EncodedCorpus:
    """Encode the segments of all videos: SPR's score of a video is its best segment's."""
    corpus = EncodedCorpus()
    with torch.inference_mode():
        order = inputs.row_counts().argsort(kind="stable")
        for chunk, units, inside in embed_segments(model, inputs, order, device):
            lengths = inside.sum(dim=1).cpu()
            segments = (units[:, : int(lengths.max())],)
            corpus.append(chunk, lengths, segments, segments)
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
    return FirstStage(cast("TwoStream | SPR", model), inputs, params.predict)
