"""Some tasks of `pseudo`, drawn at random, and how long a cluster would take for all.

    python -m benchmarks.shards [--moments 1000000] [--shards 8] [--parts 7] [--cores 100]
        [--dimensions 384] [--table-memory 4.0]

The real stage runs up to the first block of queries. The lead's work is measured: reading and
dividing the tables, hashing the vectors, then merging and writing that block. Some of the tasks
run, each in a process with one thread; the others' parts are made up. A cluster's time is computed:
the tasks in rounds of as many as it has cores, then the lead's own seconds. Vectors are random.
Seconds are CPU seconds, peaks are resident memory, mapped pages included.
"""

import math
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar
from unittest.mock import patch

import numpy as np

from benchmarks import large_corpus
from benchmarks.script import Option, parse_arguments, peak_mb
from pipeline import pseudo
from pipeline.core.sections import Engine
from pipeline.distribution.training_sets import Training, write_training_sets
from pipeline.retrieval import sharded_search
from pipeline.retrieval.ranking import Neighbours
from pipeline.retrieval.sharded_search import MOMENTS, QUERIES, ShardSearch
from pipeline.retrieval.similarity import MICRO

Result = TypeVar("Result")
SPAWN = multiprocessing.get_context("spawn")


class Cost(NamedTuple):
    """CPU seconds and peak memory in MB, and the pairs of query and moment."""

    cpu: float
    peak: float
    pairs: int


def count_pairs(task: ShardSearch) -> int:
    """Return a task's pairs of query and moment."""
    queries, moments = (np.load(path, mmap_mode="r") for path in (task.queries, task.moments))
    return int(len(queries) * moments.shape[1])


def measure(task: ShardSearch, path: Path) -> Cost:
    """Do a task and return its cost."""
    before = time.process_time()
    sharded_search.find_nearest(task, path)
    return Cost(time.process_time() - before, peak_mb(), count_pairs(task))


def make_up(tasks: Sequence[tuple[ShardSearch, Path]]) -> None:
    """Write parts of the right size with random answers."""
    random = np.random.default_rng(0)
    for task, path in tasks:
        position, shape = np.load(task.moments)[0], (len(np.load(task.queries)), task.k)
        keys = random.integers(MICRO // 2, MICRO, shape) * MOMENTS + random.choice(position, shape)
        with path.open("wb") as stream:
            np.save(stream, np.sort(keys, axis=1))


def prepare(moments: int, dimensions: int, engine: Mapping[str, Option]) -> None:
    """Write the tables and vectors that the stage reads."""
    large_corpus.write_params(engine)
    large_corpus.write_tables(moments)
    large_corpus.write_vectors(dimensions)


@dataclass
class SomeTasks:
    """Runs `number` tasks on a `pool`, at random; the first block's other parts are made up."""

    number: int
    pool: int
    costs: list[Cost] = field(default_factory=list)
    pairs: int = 0
    tasks: int = 0
    prepared: float = 0.0
    written: float = 0.0
    queries: int = 0

    def map(
        self,
        stage: str,
        _: object,
        searches: Mapping[str, ShardSearch],
        engine: Engine,
        *_gpus: float,
    ) -> dict[str, Path]:
        """Stand in for `map_shards`: later blocks' parts are not made."""
        self.prepared = time.process_time()
        self.tasks, self.pairs = len(searches), sum(map(count_pairs, searches.values()))
        paths = {key: Path(engine.folder) / stage / key for key in searches}
        order = np.random.default_rng(0).permutation(len(searches))
        chosen = [list(searches)[place] for place in order[: self.number]]
        print(f"the lead: {self.prepared:.1f} CPU s, {peak_mb():.0f} MB", flush=True)
        for key in chosen:
            self.costs.append(_apply(measure, searches[key], paths[key]))
            print(
                f"a task: {self.costs[-1].cpu:.1f} CPU s, {self.costs[-1].peak:.0f} MB", flush=True
            )
        rest = [key for key in list(searches)[: engine.shards] if key not in chosen]
        _apply(make_up, [(searches[key], paths[key]) for key in rest])
        return paths

    def write(
        self,
        training: Training,
        neighbours: Iterable[Neighbours],
        sizes: Sequence[int],
        tell: Callable[[int], object],
    ) -> int:
        """Stand in for `write_training_sets`: write the first block of queries."""
        before = time.process_time()
        self.queries = write_training_sets(training, _first_block(neighbours), sizes, tell)
        self.written = time.process_time() - before
        return self.queries

    def show(self) -> None:
        """Print what follows from the costs."""
        each = [cost.cpu for cost in self.costs]
        spread = statistics.stdev(each) if len(each) > 1 else math.nan
        measured = sum(cost.pairs for cost in self.costs)
        work = sum(each) * self.pairs / measured
        print(f"{len(each)} of {self.tasks} tasks, {measured / self.pairs:.1%} of the work:")
        print(f"  {statistics.mean(each):.1f} CPU s each, standard deviation {spread:.1f}")
        print(f"  all: {work / 3600:.2f} core hours")


def _apply(function: Callable[..., Result], *arguments: object) -> Result:
    """Call a function in a separate process."""
    with SPAWN.Pool(1) as process:
        return process.apply(function, arguments)


def _first_block(neighbours: Iterable[Neighbours]) -> Iterator[Neighbours]:
    for some in neighbours:
        yield some
        if some.query[-1] + 1 >= QUERIES:
            return


def run(some: SomeTasks, cores: int) -> None:
    """Run the stage in the current folder, as far as `some` goes, and print what follows."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with (
        patch.object(sharded_search, "map_shards", some.map),
        patch.object(pseudo, "write_training_sets", some.write),
    ):
        pseudo.main()
    size = sum(path.stat().st_size for path in Path().rglob("train_*")) / 1e9
    each = statistics.mean(cost.cpu for cost in some.costs)
    blocks = some.pairs / some.pool / some.queries
    lead = some.prepared + some.written * blocks
    some.show()
    print(f"the lead: {some.written:.1f} CPU s for each {some.queries:,} queries")
    print(f"  its peak: {peak_mb():.0f} MB; files: {size * blocks:.1f} GB")
    rounds = math.ceil(some.tasks / cores) * each
    print(f"on {cores} cores: {rounds / 60:.1f} min, and {lead / 60:.1f} min of the lead")


def main() -> None:
    """Make the corpus, and print the measured costs and what follows from them."""
    engine: dict[str, Option] = {"shards": 8, "table_memory": 4.0}
    options = parse_arguments(
        __doc__, moments=1_000_000, parts=7, cores=100, dimensions=384, **engine
    )
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        values = {name: getattr(options, name) for name in engine}
        _apply(prepare, options.moments, options.dimensions, values)
        run(SomeTasks(options.parts, options.moments), options.cores)


if __name__ == "__main__":
    main()
