"""Exact top-40 search, the bare matrix product and sentence-transformers' semantic_search.

    python -m benchmarks.candidates [--texts 72842] [--queries 72842] [--dimensions 384]

The three alternate, one block of queries each, so that noise affects all alike. The last line is
the search's memory beyond the array, measured in a separate process.
"""

import multiprocessing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from sentence_transformers.util import semantic_search
from tqdm import tqdm

from benchmarks.script import assert_size, parse_arguments, peak_mb, run, time_call
from pipeline.retrieval.ranking import Pool
from pipeline.retrieval.search import QUERY_BLOCK, nearest
from pipeline.retrieval.similarity import Ints, Vectors, unit_on_grid

TOP = 40
PRODUCT_BLOCK = 1024


def random_units(texts: int, dimensions: int, seed: int = 0) -> Vectors:
    """Return random unit vectors."""
    random, units = np.random.default_rng(seed), np.empty((texts, dimensions), dtype=np.float32)
    for first in range(0, texts, PRODUCT_BLOCK):
        block = units[first : first + PRODUCT_BLOCK]
        block[:] = unit_on_grid(random.standard_normal(block.shape))
    return units


def build_pool(texts: int) -> Pool:
    """Return a pool of one moment per text."""
    numbers = np.arange(texts)
    moments = pd.DataFrame({"moment_id": numbers, "video_id": "v", "start": numbers, "end": 1})
    return Pool.build(moments, numbers, TOP)


def product(vectors: Vectors, queries: Ints) -> None:
    """Multiply and discard the result."""
    for first in range(0, len(queries), PRODUCT_BLOCK):
        vectors[queries[first : first + PRODUCT_BLOCK]] @ vectors.T


def ours(vectors: Vectors, queries: Ints, pool: Pool) -> None:
    """Search as the stages do."""
    answers = sum(len(answer.query) for answer in nearest(vectors, queries, pool))
    assert_size("answers", answers, len(queries) * min(TOP, len(vectors)))


def peer(vectors: Vectors, queries: Ints) -> None:
    """Search with sentence-transformers."""
    tensor = torch.from_numpy(vectors)
    semantic_search(tensor[queries], tensor, top_k=TOP)


def memory_above_array(path: Path, queries: int) -> float:
    """Return the peak memory of a search over a memory-mapped array, in MB above the array."""
    vectors = np.load(path, mmap_mode="r")
    before = peak_mb()
    ours(vectors, np.arange(queries), build_pool(len(vectors)))
    return peak_mb() - before - int(vectors.nbytes) / 2**20


def main() -> None:
    """Print seconds, ratios and memory."""
    options = parse_arguments(__doc__, texts=72_842, queries=72_842, dimensions=384)

    vectors, pool = random_units(options.texts, options.dimensions), build_pool(options.texts)
    seconds = dict.fromkeys(("product", "ours", "semantic_search"), 0.0)
    ours(vectors, np.arange(8), pool)
    for first in tqdm(range(0, options.queries, QUERY_BLOCK), desc="blocks", disable=None):
        block = np.arange(first, min(first + QUERY_BLOCK, options.queries))
        seconds["product"] += time_call(partial(product, vectors, block))[0]
        seconds["ours"] += time_call(partial(ours, vectors, block, pool))[0]
        seconds["semantic_search"] += time_call(partial(peer, vectors, block))[0]

    for name, value in seconds.items():
        print(f"{name:16} {value:8.1f} s   {value / seconds['product']:5.2f} x the product")
    print(f"semantic_search / ours: {seconds['semantic_search'] / seconds['ours']:.2f}")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.npy"
        np.save(path, vectors)
        with multiprocessing.get_context("spawn").Pool(1) as process:
            memory: float = process.apply(memory_above_array, (path, options.queries))
    print(f"memory above the array ({vectors.nbytes / 1e6:.0f} MB): {memory:.0f} MB")


if __name__ == "__main__":
    run(main)
