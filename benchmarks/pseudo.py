"""The pseudo training sets at the paper's size: time, and memory above the tables.

    python -m benchmarks.pseudo [--texts 72842] [--sizes 1 20 40]

Random vectors stand for captions; files are written where a temporary folder lies. The
matrix product of the same size is the measure that time is held against.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks.candidates import peak_mb, product, random_units
from pipeline.distribution.training_sets import Training, write_training_sets
from pipeline.retrieval import embeddings, search


def described(texts: int) -> pd.DataFrame:
    """Return moments with captions of about the length that TVR's have."""
    numbers = [f"{i:06}" for i in range(texts)]
    return pd.DataFrame(
        {
            "moment_id": numbers,
            "caption": [f"A man number {i} walks through the door and sits down." for i in numbers],
            "video_id": [f"show_s01e01_clip_{i[:5]}" for i in numbers],
            "start": np.arange(texts) % 60 * 1.0,
            "end": np.arange(texts) % 60 + 7.25,
        }
    )


def main() -> None:
    """Print seconds, megabytes and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=72_842)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 20, 40])
    options = parser.parse_args()
    moments = described(options.texts)
    ids, _ = embeddings.distinct(moments["caption"].tolist())
    embedded = embeddings.Embeddings(ids, random_units(options.texts, 384))
    queries = moments.rename(columns={"moment_id": "query_id", "caption": "query"})
    durations = pd.Series(90.0, index=moments["video_id"].unique())

    start = time.perf_counter()
    product(embedded.vectors, np.arange(options.texts))
    bare = time.perf_counter() - start

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        before, start = peak_mb(), time.perf_counter()
        found = search.search(queries["query"], moments, embedded, max(options.sizes))
        training = Training.of(queries, moments, durations)
        with tqdm(total=len(queries), disable=None) as progress:
            write_training_sets(training, found, options.sizes, progress.update)
        seconds = time.perf_counter() - start
        sizes = {path.name: path.stat().st_size / 1e6 for path in Path(folder).rglob("train_*")}
    print(f"bare product {bare:.1f} s; search and files {seconds:.1f} s: {seconds / bare:.2f} x")
    print("files: " + ", ".join(f"{name} {size:.0f} MB" for name, size in sorted(sizes.items())))
    print(f"peak memory above the array and tables: {peak_mb() - before:.0f} MB")


if __name__ == "__main__":
    main()
