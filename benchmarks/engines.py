"""Stages by engine: whether the bytes are the same, though machines and jobs die.

    python -m benchmarks.engines [--moments 640] [--train 200] [--shards 5]

`embed`, `candidates` and `pseudo` run as `python -m`, on the corpus of `benchmarks.scaling`: in one
shard, on this machine's cores, on its own Ray, on a cluster of two machines, one of which is killed
(kill -9) when a third of the parts are finished, and on a stand-in for Slurm that kills three jobs.
`twice` counts finished parts that were made again.
"""

import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, chdir, contextmanager, nullcontext, suppress
from pathlib import Path

from support import stand_in_slurm

from benchmarks import scaling
from benchmarks.script import parse_arguments, run
from pipeline.core import cli, files
from pipeline.core.engine.text_chunks import BATCHES

Prepared = tuple[dict[str, object], Callable[[], object]]
"""The section `engine` of params.yaml, and what to do when a third of the parts are finished."""
WORKERS = 2
STORE = 80 * 2**20
STAGES = ("embed", "candidates", "pseudo")


class Watch(threading.Thread):
    """Notes each part as it is finished, and does something once a third of them are."""

    def __init__(self, folder: Path, third: int, then: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.folder, self.third, self.then = folder, third, then
        self.finished: dict[str, set[int]] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        """Watch until stopped."""
        done = False
        while not self.ended.wait(0.05):
            for path in self.folder.glob("*.sha256.json"):
                with suppress(FileNotFoundError):  # the stage has ended and is clearing them
                    self.finished.setdefault(path.name, set()).add(path.stat().st_mtime_ns)
            if not done and len(self.finished) >= self.third:
                done = True
                self.then()

    @property
    def twice(self) -> int:
        """Return how often a finished part was made again."""
        return sum(len(times) - 1 for times in self.finished.values())


@contextmanager
def cluster(_: Path) -> Iterator[Prepared]:
    """Start two machines; yield the `engine` settings for them, and a function that kills one."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415  (an extra)

    head = {"num_cpus": WORKERS - 1, "object_store_memory": STORE, "include_dashboard": False}
    machines = Cluster(initialize_head=True, head_node_args=head)
    node = machines.add_node(num_cpus=1, object_store_memory=STORE)
    try:
        yield (
            {"kind": "ray", "address": machines.address, "workers": 0},
            lambda: machines.remove_node(node, allow_graceful=False),
        )
    finally:
        machines.shutdown()


@contextmanager
def slurm(folder: Path) -> Iterator[Prepared]:
    """Put the stand-in for Slurm on the PATH."""
    before = dict(os.environ)
    os.environ.update(stand_in_slurm.install(folder / "slurm", kills=3))
    try:
        yield {"kind": "slurm"}, lambda: None
    finally:
        os.environ.clear()
        os.environ.update(before)


def plain(**values: object) -> Callable[[Path], AbstractContextManager[Prepared]]:
    """Return an engine that needs no preparation."""
    return lambda _: nullcontext((values, lambda: None))


ENGINES: dict[str, Callable[[Path], AbstractContextManager[Prepared]]] = {
    "one shard": plain(kind="local", shards=1),
    "processes": plain(kind="local"),
    "Ray of its own": plain(kind="ray"),
    "Ray, one of two killed": cluster,
    "Slurm, 3 jobs killed": slurm,
}


def hash_outputs() -> str:
    """Return one hash of all that the stages have written."""
    paths = sorted(path for path in Path("datasets").rglob("*") if path.is_file())
    hashes = "".join(f"{path} {files.file_sha256(path)}\n" for path in paths)
    return hashlib.sha256(hashes.encode()).hexdigest()


def main() -> None:
    """Print a line per engine and stage."""
    options = parse_arguments(__doc__, moments=640, train=200, shards=5)
    print(f"{'engine':24} {'stage':10} {'wall s':>8} {'twice':>6}  bytes")
    expected = ""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        size = options.moments, options.train
        scaling.prepare(*size, {})
        scaling.run_stage("ingest", *size)
        scaling.write_captions()
        scaling.run_stage("split", *size)
        # At least one chunk per shard, so that a machine dies in the middle.
        batch = max(1, min(64, options.moments // options.shards // BATCHES))
        scaling.change_params({"embed.batch_size": batch})
        usual = {"workers": WORKERS, "shards": options.shards, "address": None}
        for name, prepare in ENGINES.items():
            shutil.rmtree("datasets/work/embeddings", ignore_errors=True)
            for stage in STAGES:
                with prepare(Path(tempfile.mkdtemp(dir=folder))) as (values, kill):
                    engine = {f"engine.{key}": value for key, value in (usual | values).items()}
                    scaling.change_params(engine)
                    watch = Watch(Path(".cache/parts") / stage, options.shards // 3, kill)
                    cli.log(f"{name}: {stage}")  # above its messages about a machine that died
                    watch.start()
                    wall = scaling.run_stage(stage, *size).wall
                    watch.ended.set()
                output = hash_outputs() if stage == STAGES[-1] else ""
                expected = expected or output
                same = ("the same" if output == expected else "OTHERS") if output else ""
                print(f"{name:24} {stage:10} {wall:>8.1f} {watch.twice:>6}  {same}", flush=True)


if __name__ == "__main__":
    run(main)
