"""Embed captions and queries with the sentence encoder of embed.model.

reads   datasets/work/captions.parquet, queries.parquet
writes  datasets/work/embeddings/ (a memory-mapped array of unit vectors, and text ids)

A text is encoded once, however often it occurs, and not again while it is in use and the model is
the same. A killed run continues where it stopped. The number of shards, processes and threads does
not change a single bit (`pipeline.retrieval.chunks`).
"""

import time
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.core import cli, tables
from pipeline.core.captions import select_in_use
from pipeline.core.engine.shards import clear_parts
from pipeline.core.engine.text_chunks import BATCHES
from pipeline.core.params import load
from pipeline.core.sections import Engine
from pipeline.retrieval import embeddings
from pipeline.retrieval.chunks import STAGE, Encoding, encode


def embed(texts: list[str], encoding: Encoding, store: embeddings.Store, engine: Engine) -> int:
    """Bring the store to exactly `texts`; return how many had to be encoded.

    Texts are taken longest first, a chunk at a time: the texts of a batch have similar lengths,
    and a batch that is too large fails in the first minute, not in the last.

    Raises:
        EmbeddingsError: there are no texts.
    """
    if not texts:
        raise embeddings.EmbeddingsError("there is nothing to embed: no caption is in use")
    ids, unique = embeddings.distinct(texts)
    missing = np.flatnonzero(~np.isin(ids, store.list_encoded()))
    order = sorted(missing, key=lambda row: (-len(unique[row]), unique[row]))
    rows = np.array(order, dtype=np.int64)
    store.finish(ids, encode(ids[rows], [unique[row] for row in rows], encoding, engine))
    clear_parts(STAGE, engine)
    return len(rows)


def main() -> None:
    """Embed what is missing."""
    from pipeline.retrieval import encoder  # noqa: PLC0415  (torch takes seconds; --help should not)

    whole = load()
    params = whole.embed
    folder = encoder.locate(params.model, params.revision)
    fingerprint = encoder.fingerprint(folder, params)
    encoding = Encoding(
        load=partial(encoder.load, folder, params, fingerprint),
        facts=f"{fingerprint} {params.batch_size}",
        length=params.batch_size * BATCHES,
        gpus=float(params.device not in {"cpu", "mps"}),
    )
    texts = [*select_in_use(tables.CAPTIONS.read())["caption"], *tables.QUERIES.read()["query"]]
    store = embeddings.Store(Path(embeddings.FOLDER), fingerprint)
    began = time.perf_counter()
    encoded = embed(texts, encoding, store, whole.engine)
    rate = encoded / (time.perf_counter() - began)
    finished = embeddings.Embeddings.open()
    metrics = {
        "texts": len(finished.ids),
        "dimensions": int(finished.vectors.shape[1]),
        "cut_at_max_tokens": encoder.count_cut(folder, list(set(texts)), params.max_tokens),
    }
    cli.write_metrics("embed", metrics)
    cli.log(f"embed: {encoded} of {len(finished.ids)} texts encoded ({rate:.0f} a second)")


if __name__ == "__main__":
    cli.run_stage(main)
