"""Embed captions and queries with the sentence encoder of embed.model.

reads   datasets/work/captions.parquet, queries.parquet
writes  datasets/work/embeddings/ (a memory-mapped array of unit vectors, and text ids)

A text is encoded once, however often it occurs, and never again while it is wanted and
the model is the same. A killed run goes on where it was.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.core import cli, tables
from pipeline.core.captions import select_in_use
from pipeline.core.params import load
from pipeline.core.progress import progress
from pipeline.retrieval import embeddings

if TYPE_CHECKING:
    from pipeline.retrieval.encoder import Encoder

BATCHES_PER_CHUNK = 16


def embed(texts: list[str], model: "Encoder", store: embeddings.Store, chunk: int) -> int:
    """Bring the store to exactly `texts`; return how many had to be encoded.

    Texts are taken by length, longest first, `chunk` at a time: the texts of a
    batch are of like length, and too large a batch fails in the first minute, not in the last.

    Raises:
        EmbeddingsError: there is no text.
    """
    if not texts:
        raise embeddings.EmbeddingsError("there is nothing to embed: no caption is in use")
    ids, unique = embeddings.distinct(texts)
    missing = np.flatnonzero(~np.isin(ids, store.list_encoded()))
    order = sorted(missing, key=lambda row: (-len(unique[row]), unique[row]))
    with progress("embed", total=len(order), unit="texts") as bar:
        for first in range(0, len(order), chunk):
            rows = order[first : first + chunk]
            store.add_chunk(ids[rows], model.encode([unique[row] for row in rows]))
            bar.update(len(rows))
    store.finish(ids)
    return len(order)


def main() -> None:
    """Embed what is missing."""
    from pipeline.retrieval import encoder  # noqa: PLC0415  (torch takes seconds; --help should not)

    params = load().embed
    folder = encoder.locate(params.model, params.revision)
    store = embeddings.Store(Path(embeddings.FOLDER), encoder.fingerprint(folder, params))
    texts = [*select_in_use(tables.CAPTIONS.read())["caption"], *tables.QUERIES.read()["query"]]
    model = encoder.load(folder, params)
    encoded = embed(texts, model, store, params.batch_size * BATCHES_PER_CHUNK)
    finished = embeddings.Embeddings.open()
    figures = {
        "texts": len(finished.ids),
        "dimensions": int(finished.vectors.shape[1]),
        "cut_at_max_tokens": model.count_cut(list(set(texts))),
    }
    cli.write_metrics("embed", figures)
    cli.log(f"embed: {encoded} of {len(finished.ids)} texts encoded, the others are stored")


if __name__ == "__main__":
    cli.run_stage(main)
