"""The sentence encoder in batches that are cut before they are handed out to shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.core.engine import text_chunks
from pipeline.core.sections import Embed, Engine
from pipeline.retrieval import encoder
from pipeline.retrieval.similarity import Vectors


@dataclass(frozen=True)
class ShardedEncoder:
    """An `Encoder` whose vectors are the same, to the last bit, for any number of shards."""

    model: Path
    params: Embed
    stage: str
    engine: Engine

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors on the grid, (n, d); texts of similar length share a batch."""
        order = np.argsort([-len(text) for text in texts])  # as sentence-transformers sorts
        if not texts:
            return encoder.load(self.model, self.params).encode(texts)
        in_order: Vectors = self._share([texts[row] for row in order])[np.argsort(order)]
        return in_order

    def _share(self, texts: Sequence[str]) -> Vectors:
        fingerprint = encoder.fingerprint(self.model, self.params)
        work = partial(encode_batches, self.model.absolute(), self.params, fingerprint)
        length = text_chunks.BATCHES * self.params.batch_size
        facts = f"encoder {fingerprint}"
        gpus = float(self.params.device not in {"cpu", "mps"})
        paths = text_chunks.map_texts(
            self.stage, work, texts, length, facts, engine=self.engine, gpus=gpus
        )
        return np.concatenate([np.load(path, allow_pickle=False) for path in paths])


def encode_batches(
    model: Path, params: Embed, fingerprint: str, texts: list[str], path: Path
) -> None:
    """Write the vectors of a chunk, (n, d), batch by batch."""
    loaded, batches = (
        encoder.load(model, params, fingerprint),
        text_chunks.cut(texts, params.batch_size),
    )
    with path.open("wb") as stream:
        np.save(stream, np.concatenate([loaded.encode(batch) for batch in batches]))
