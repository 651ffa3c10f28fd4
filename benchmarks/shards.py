"""The work of single shards of `pseudo`, and how long a cluster would take for all of them.

    python -m benchmarks.shards [--moments 1000000] [--shards 8] [--parts 2] [--cores 100]

The lead's work is measured as it is: dividing the pool and hashing the vectors; merging and
writing, for one block of queries. Of the tasks some are run, each in a process with one thread; the
others' parts are made up. What a cluster takes is computed: the tasks in rounds of as many as it
has cores, then the lead's own seconds. Vectors are random. A process's peak counts the pages
of the vectors that it has read, which the system may take back at any time.
"""

import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks.candidates import random_units
from benchmarks.pseudo import make_moments
from benchmarks.script import parse_arguments, peak_mb
from pipeline.core.params import load
from pipeline.core.sections import Engine
from pipeline.distribution.training_sets import Training, write_training_sets
from pipeline.retrieval import embeddings, sharded_search
from pipeline.retrieval.ranking import Neighbours
from pipeline.retrieval.sharded_search import MOMENTS, QUERIES, ShardedSearch, ShardSearch
from pipeline.retrieval.similarity import MICRO

SIZES = [1, 20, 40]


class Cost(NamedTuple):
    """CPU seconds and peak memory in MB."""

    cpu: float
    peak: float


def measure(task: ShardSearch, path: Path) -> Cost:
    """Do a task and return its cost."""
    before = time.process_time()
    sharded_search.find_nearest(task, path)
    return Cost(time.process_time() - before, peak_mb())


def make_up(task: ShardSearch, path: Path) -> None:
    """Write a part of the right size whose answers are random."""
    random = np.random.default_rng(len(path.name))
    position, shape = np.load(task.moments)[0], (len(np.load(task.queries)), task.k)
    keys = random.integers(MICRO // 2, MICRO, shape) * MOMENTS + random.choice(position, shape)
    with path.open("wb") as stream:
        np.save(stream, np.sort(keys, axis=1))


@dataclass
class SomeTasks:
    """Stands in for `map_shards`: runs `number` tasks, makes up the rest of the first block."""

    number: int
    costs: list[Cost] = field(default_factory=list)

    def map(
        self, stage: str, _: object, given: Mapping[str, ShardSearch], engine: Engine, *_gpus: float
    ) -> dict[str, Path]:
        """Return the parts by key; those of later blocks are not made."""
        paths = {key: Path(engine.folder) / stage / key for key in given}
        for place, (key, task) in enumerate(list(given.items())[: engine.shards]):
            if place < self.number:
                with multiprocessing.get_context("spawn").Pool(1) as process:
                    self.costs.append(process.apply(measure, (task, paths[key])))
                print(f"a task: {self.costs[-1].cpu:.1f} CPU s, {self.costs[-1].peak:.0f} MB")
            else:
                make_up(task, paths[key])
        return paths


def first_block(neighbours: Iterable[Neighbours]) -> Iterator[Neighbours]:
    """Yield the answers to the first block of queries."""
    for some in neighbours:
        yield some
        if some.query[-1] + 1 >= QUERIES:
            return


def main() -> None:
    """Print the measured costs and what follows from them."""
    options = parse_arguments(__doc__, moments=1_000_000, shards=8, parts=2, cores=100)
    os.environ["OMP_NUM_THREADS"] = "1"
    engine = load().engine.model_copy(update={"shards": options.shards, "folder": "parts"})
    moments = make_moments(options.moments)
    queries = moments.rename(columns={"moment_id": "query_id", "caption": "query"})
    ids, _ = embeddings.distinct(moments["caption"].tolist())
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        np.save("vectors.npy", random_units(options.moments, 384))
        embedded = embeddings.Embeddings(ids, np.load("vectors.npy", mmap_mode="r"))
        some = SomeTasks(options.parts)
        with patch.object(sharded_search, "map_shards", some.map):
            before = time.process_time()
            found = ShardedSearch("pseudo", engine, "cpu").search(
                queries["query"], moments, embedded, max(SIZES)
            )
            durations = pd.Series(90.0, index=moments["video_id"].unique())
            training = Training.from_frames(queries, moments, durations)
            prepared = time.process_time() - before
        before = time.process_time()
        count = write_training_sets(training, first_block(found), SIZES)
        written = time.process_time() - before
        size = sum(path.stat().st_size for path in Path().rglob("train_*")) / 1e9
    blocks = options.moments / count
    tasks = options.shards * math.ceil(blocks)
    each = sum(cost.cpu for cost in some.costs) / len(some.costs)
    work, rounds = each * options.shards * blocks, math.ceil(tasks / options.cores) * each
    lead = prepared + written * blocks
    print(f"the lead: {prepared:.1f} CPU s, then {written:.1f} for each {count:,} queries")
    print(f"its peak: {peak_mb():.0f} MB; files: {size * blocks:.1f} GB")
    print(f"{tasks} tasks: {work / 3600:.1f} core hours")
    print(f"on {options.cores} cores: {rounds / 60:.0f} min, and {lead / 60:.0f} min of the lead")


if __name__ == "__main__":
    main()
