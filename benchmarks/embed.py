"""Encoding as the stage does it against plain `SentenceTransformer.encode`, same texts.

    python -m benchmarks.embed TEXTS.txt [--rounds 3] [--bf16]     (one text a line)

Both read the packaged MiniLM in float32. With --bf16 that precision stands beside them, and
the share of top-40 neighbours that it keeps; a processor without AMX or bf16 units emulates
it, which is slow. The ways take turns, so that noise is shared.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from pipeline.core.params import Embed, load
from pipeline.embed import BATCHES_PER_CHUNK, embed
from pipeline.retrieval import encoder
from pipeline.retrieval.embeddings import Store
from pipeline.retrieval.similarity import Vectors

TOP = 40


def stage_seconds(model: encoder.SentenceEncoder, texts: list[str], chunk: int) -> float:
    """Return the seconds of the whole stage's work, from texts to the array on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        embed(texts, model, Store(Path(folder), "benchmark"), chunk)
        return time.perf_counter() - start


def peer_seconds(model: SentenceTransformer, texts: list[str], batch_size: int) -> float:
    """Return the seconds of the library's own call."""
    start = time.perf_counter()
    model.encode(texts, batch_size=batch_size)
    return time.perf_counter() - start


def kept_neighbours(exact: Vectors, rounded: Vectors) -> float:
    """Return the share of each text's top-40 that stays, on average."""
    tops = [np.argsort(-(vectors @ vectors.T), axis=1)[:, :TOP] for vectors in (exact, rounded)]
    return float(np.mean([len(np.intersect1d(a, b)) / TOP for a, b in zip(*tops, strict=True)]))


def main() -> None:
    """Print texts per second and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bf16", action="store_true")
    options = parser.parse_args()
    texts = sorted(set(options.texts.read_text(encoding="utf-8").splitlines()) - {""})
    params = load().embed
    chunk = params.batch_size * BATCHES_PER_CHUNK
    folder = encoder.locate(params.model, params.revision)
    ours = {
        precision: encoder.load(folder, Embed(**{**params.model_dump(), "precision": precision}))
        for precision in ("float32", "bf16")[: 1 + options.bf16]
    }
    peer = SentenceTransformer(str(folder), device="cpu")
    peer_seconds(peer, texts[:256], params.batch_size)
    rows = []
    for _ in range(options.rounds):
        peer_time = peer_seconds(peer, texts, params.batch_size)
        rows.append([peer_time, *(stage_seconds(model, texts, chunk) for model in ours.values())])
    median = np.median(rows, axis=0)
    for name, seconds in zip(["SentenceTransformer.encode", *ours], median, strict=True):
        rate, ratio = len(texts) / seconds, median[0] / seconds
        print(f"{name:28} {rate:7.0f} texts/s   {ratio:5.2f} x SentenceTransformer.encode")
    if options.bf16:
        sample = texts[:4096]
        kept = kept_neighbours(*(model.encode(sample) for model in ours.values()))
        print(f"bf16 keeps {kept:.1%} of the top-{TOP} neighbours of {len(sample)} texts")


if __name__ == "__main__":
    main()
