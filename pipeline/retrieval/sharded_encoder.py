"""The sentence encoder in batches that are cut before they are handed out to shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.core.engine.text_batches import Batch, map_batches
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
        """Return unit vectors on the grid, (n, d); texts of like length share a batch."""
        length = self.params.batch_size
        order = np.argsort([-len(text) for text in texts])  # as sentence-transformers sorts
        if not texts:
            return encoder.load(self.model, self.params).encode(texts)
        vectors = self._share([texts[row] for row in order], length)
        return vectors[np.argsort(order)]

    def _share(self, texts: Sequence[str], length: int) -> Vectors:
        work = partial(encode_batches, self.model.absolute(), self.params)
        facts = f"encoder {encoder.fingerprint(self.model, self.params)}"
        gpus = float(self.params.device not in {"cpu", "mps"})
        rows, vectors = [], []
        shards = map_batches(self.stage, work, texts, length, facts, engine=self.engine, gpus=gpus)
        for part in shards:
            vectors.append(np.load(part.path, allow_pickle=False))
            some = [np.arange(n * length, min((n + 1) * length, len(texts))) for n in part.numbers]
            rows.append(np.concatenate(some))
        in_order: Vectors = np.concatenate(vectors)[np.argsort(np.concatenate(rows))]
        return in_order


def encode_batches(model: Path, params: Embed, batches: Sequence[Batch], path: Path) -> None:
    """Write the vectors of all batches, (n, d)."""
    one = encoder.load(model, params)
    with path.open("wb") as stream:
        np.save(stream, np.concatenate([one.encode(batch) for batch in batches]))
