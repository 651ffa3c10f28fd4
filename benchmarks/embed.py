"""The stage's encoding compared with `SentenceTransformer.encode`.

    python -m benchmarks.embed TEXTS.txt [--rounds 3] [--bf16]     (one text per line)

Both use the packaged MiniLM in float32. --bf16 adds that precision and the share of top-40
neighbours that it keeps; processors without AMX or bf16 units emulate it slowly. The variants
alternate, so that noise affects all alike.
"""

import tempfile
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from benchmarks.script import parse_arguments, time_call
from pipeline.core.engine.text_chunks import BATCHES
from pipeline.core.params import load
from pipeline.core.sections import Embed, Engine
from pipeline.embed import embed
from pipeline.retrieval import encoder
from pipeline.retrieval.chunks import Encoding
from pipeline.retrieval.embeddings import Store
from pipeline.retrieval.similarity import Vectors

TOP = 40


def stage_seconds(
    model: encoder.SentenceEncoder, texts: list[str], chunk: int, engine: Engine
) -> float:
    """Return the seconds of the whole stage, from texts to the array on disk."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder, "embeddings"), "benchmark")
        whole = engine.model_copy(update={"shards": 1, "folder": str(Path(folder, "parts"))})
        encoding = Encoding(lambda: model, "benchmark", chunk)
        return time_call(lambda: embed(texts, encoding, store, whole))[0]


def peer_seconds(model: SentenceTransformer, texts: list[str], batch_size: int) -> float:
    """Return the seconds of the library's own call."""
    return time_call(lambda: model.encode(texts, batch_size=batch_size))[0]


def share_kept(exact: Vectors, rounded: Vectors) -> float:
    """Return the share of each text's top-40 that is kept, on average."""
    tops = [np.argsort(-(vectors @ vectors.T), axis=1)[:, :TOP] for vectors in (exact, rounded)]
    return float(np.mean([len(np.intersect1d(a, b)) / TOP for a, b in zip(*tops, strict=True)]))


def main() -> None:
    """Print texts per second and ratios."""
    options = parse_arguments(__doc__, "texts", rounds=3, bf16=False)
    texts = sorted(set(options.texts.read_text(encoding="utf-8").splitlines()) - {""})
    params, engine = load().embed, load().engine
    chunk = params.batch_size * BATCHES
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
        rows.append(
            [peer_time, *(stage_seconds(model, texts, chunk, engine) for model in ours.values())]
        )
    median = np.median(rows, axis=0)
    for name, seconds in zip(["SentenceTransformer.encode", *ours], median, strict=True):
        rate, ratio = len(texts) / seconds, median[0] / seconds
        print(f"{name:28} {rate:7.0f} texts/s   {ratio:5.2f} x SentenceTransformer.encode")
    if options.bf16:
        sample = texts[:4096]
        share = share_kept(*(model.encode(sample) for model in ours.values()))
        print(f"bf16 keeps {share:.1%} of the top-{TOP} neighbours of {len(sample)} texts")


if __name__ == "__main__":
    main()
