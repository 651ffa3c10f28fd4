"""Exact top-40 search compared with the bare matrix product.

    python -m benchmarks.candidates [--texts 72842] [--queries 72842] [--dimensions 384]

Both alternate, one block of queries each, so that noise affects them alike.
"""

from functools import partial

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks.script import assert_size, parse_arguments, run, time_call
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


def main() -> None:
    """Print seconds and their ratio."""
    options = parse_arguments(__doc__, texts=72_842, queries=72_842, dimensions=384)

    vectors, pool = random_units(options.texts, options.dimensions), build_pool(options.texts)
    seconds = dict.fromkeys(("product", "ours"), 0.0)
    ours(vectors, np.arange(8), pool)
    for first in tqdm(range(0, options.queries, QUERY_BLOCK), desc="blocks", disable=None):
        block = np.arange(first, min(first + QUERY_BLOCK, options.queries))
        seconds["product"] += time_call(partial(product, vectors, block))[0]
        seconds["ours"] += time_call(partial(ours, vectors, block, pool))[0]

    for name, value in seconds.items():
        print(f"{name:16} {value:8.1f} s   {value / seconds['product']:5.2f} x the product")


if __name__ == "__main__":
    run(main)
