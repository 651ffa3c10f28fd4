"""Exact top-40 against the bare matrix product and sentence-transformers' semantic_search.

    python -m benchmarks.candidates [--texts 72842] [--queries 72842] [--dimensions 384]

The three take turns, a block of queries each, so that a noisy machine is noisy for all.
The last line is the memory that the search takes above the array, in a process of its own.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import torch
from sentence_transformers.util import semantic_search
from tqdm import tqdm

from pipeline.retrieval.ranking import Pool
from pipeline.retrieval.search import QUERY_BLOCK, nearest
from pipeline.retrieval.similarity import Ints, Vectors, unit_on_grid

TOP = 40
PRODUCT_BLOCK = 1024


def random_units(texts: int, dimensions: int) -> Vectors:
    """Return random unit vectors."""
    random, units = np.random.default_rng(0), np.empty((texts, dimensions), dtype=np.float32)
    for first in range(0, texts, PRODUCT_BLOCK):
        block = units[first : first + PRODUCT_BLOCK]
        block[:] = unit_on_grid(random.standard_normal(block.shape))
    return units


def pool_of(texts: int) -> Pool:
    """Return a pool of one moment for each text."""
    numbers = np.arange(texts)
    moments = pd.DataFrame({"moment_id": numbers, "video_id": "v", "start": numbers, "end": 1})
    return Pool.build(moments, numbers, TOP)


def product(vectors: Vectors, queries: Ints) -> None:
    """Multiply, and keep nothing."""
    for first in range(0, len(queries), PRODUCT_BLOCK):
        vectors[queries[first : first + PRODUCT_BLOCK]] @ vectors.T


def ours(vectors: Vectors, queries: Ints, pool: Pool) -> None:
    """Search as the stages do."""
    for _ in nearest(vectors, queries, pool):
        pass


def peer(vectors: Vectors, queries: Ints) -> None:
    """Search with sentence-transformers."""
    tensor = torch.from_numpy(vectors)
    semantic_search(tensor[queries], tensor, top_k=TOP)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def memory_above_array(path: Path, queries: int) -> float:
    """Return the peak memory of a search over a memory-mapped array, in MB above the array."""
    vectors = np.load(path, mmap_mode="r")
    before = peak_mb()
    ours(vectors, np.arange(queries), pool_of(len(vectors)))
    return peak_mb() - before - int(vectors.nbytes) / 2**20


def peak_mb() -> float:
    """Return this process's peak memory; Linux, since getrusage counts a parent's in."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Print seconds, ratios and memory."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=72_842)
    parser.add_argument("--queries", type=int, default=72_842)
    parser.add_argument("--dimensions", type=int, default=384)
    options = parser.parse_args()

    vectors, pool = random_units(options.texts, options.dimensions), pool_of(options.texts)
    seconds = dict.fromkeys(("product", "ours", "semantic_search"), 0.0)
    ours(vectors, np.arange(8), pool)
    for first in tqdm(range(0, options.queries, QUERY_BLOCK), desc="blocks", disable=None):
        block = np.arange(first, min(first + QUERY_BLOCK, options.queries))
        seconds["product"] += timed(partial(product, vectors, block))
        seconds["ours"] += timed(partial(ours, vectors, block, pool))
        seconds["semantic_search"] += timed(partial(peer, vectors, block))

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
    main()
