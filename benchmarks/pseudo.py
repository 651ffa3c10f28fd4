"""Pseudo training sets at the paper's size: time, and memory beyond the tables.

    python -m benchmarks.pseudo [--texts 72842] [--sizes 1 20 40]

Captions have random vectors; files go to a temporary folder. Time is compared with a matrix product
of the same size.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from benchmarks.candidates import product, random_units
from benchmarks.script import parse_arguments, peak_mb, time_call
from pipeline.distribution.training_sets import Training, write_training_sets
from pipeline.retrieval import embeddings, search


def make_moments(texts: int) -> pd.DataFrame:
    """Return moments with captions about as long as TVR's."""
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
    options = parse_arguments(__doc__, texts=72_842, sizes=[1, 20, 40])
    moments = make_moments(options.texts)
    ids, _ = embeddings.distinct(moments["caption"].tolist())
    embedded = embeddings.Embeddings(ids, random_units(options.texts, 384))
    queries = moments.rename(columns={"moment_id": "query_id", "caption": "query"})
    durations = pd.Series(90.0, index=moments["video_id"].unique())

    bare, _ = time_call(lambda: product(embedded.vectors, np.arange(options.texts)))

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        before, start = peak_mb(), time.perf_counter()
        neighbours = search.search(queries["query"], moments, embedded, max(options.sizes))
        training = Training.from_frames(queries, moments, durations)
        with tqdm(total=len(queries), disable=None) as progress:
            write_training_sets(training, neighbours, options.sizes, progress.update)
        seconds = time.perf_counter() - start
        sizes = {path.name: path.stat().st_size / 1e6 for path in Path(folder).rglob("train_*")}
    print(f"bare product {bare:.1f} s; search and files {seconds:.1f} s: {seconds / bare:.2f} x")
    print("files: " + ", ".join(f"{name} {size:.0f} MB" for name, size in sorted(sizes.items())))
    print(f"peak memory beyond the array and tables: {peak_mb() - before:.0f} MB")


if __name__ == "__main__":
    main()
