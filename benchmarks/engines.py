"""Stages by engine: whether the bytes are the same, and the cost of Ray and of a dead machine.

    python -m benchmarks.engines [--moments 100000] [--train 5000] [--shards 16] [--embed]
                                 [--only Ray]

Each stage runs as `python -m`, on the corpus of `benchmarks.scaling`: in one shard, on this
machine's cores, on its own Ray, on a cluster of two machines, one of which is killed (kill -9)
when a third of the parts are finished, and on a stand-in for Slurm that kills three jobs. `twice`
counts finished parts that were made again. With `--embed` the stage `embed` runs as well; without
it the vectors are random. `--train 0` leaves `pseudo` out. `--only` leaves out the engines whose
names do not begin with it, except `processes`, with which the others are compared. CPU seconds are
those of all processes, including Ray's own, each up to shortly before its end.
"""

import hashlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, chdir, contextmanager, nullcontext, suppress
from pathlib import Path

import psutil

from benchmarks import scaling, stand_in_slurm
from benchmarks.script import parse_arguments
from pipeline.core import cli, files
from pipeline.core.engine.text_chunks import BATCHES

Prepared = tuple[dict[str, object], Callable[[], object]]
"""The section `engine` of params.yaml, and what to do when a third of the parts are finished."""
WORKERS = 2
STORE = 80 * 2**20


class Watch(threading.Thread):
    """Notes each part as it is finished, and does something once a third of them are.

    It also notes what all processes below this one have used.
    """

    def __init__(self, folder: Path, third: int, then: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.folder, self.third, self.then = folder, third, then
        self.finished: dict[str, set[int]] = {}
        self.ended = threading.Event()
        self.used: dict[psutil.Process, float] = {}

    def run(self) -> None:
        """Watch until stopped."""
        done = False
        while not self.ended.wait(0.05):
            self.measure()
            for path in self.folder.glob("*.sha256.json"):
                try:
                    self.finished.setdefault(path.name, set()).add(path.stat().st_mtime_ns)
                except FileNotFoundError:  # the stage has ended and is clearing them
                    continue
            if not done and len(self.finished) >= self.third:
                done = True
                self.then()

    def measure(self) -> None:
        """Note the CPU seconds of every process that lives."""
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                self.used[process] = sum(process.cpu_times()[:2])

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of all processes; ended ones as last seen."""
        return sum(self.used.values())

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


def plain(
    **values: object,
) -> Callable[[Path], AbstractContextManager[Prepared]]:
    """Return an engine that needs no preparation."""
    return lambda _: nullcontext((values, lambda: None))


ENGINES: dict[str, Callable[[Path], AbstractContextManager[Prepared]]] = {
    "one shard": plain(kind="local", shards=1),
    "processes": plain(kind="local"),
    "Ray of its own": plain(kind="ray"),
    "Ray, one of two killed": cluster,
    "Slurm, 3 jobs killed": slurm,
}


def set_engine(values: dict[str, object]) -> None:
    """Change the section `engine` of params.yaml."""
    path = Path("params.yaml")
    text, section = path.read_text(encoding="utf-8").split("\nengine:")
    for name, value in values.items():
        section, count = re.subn(
            rf"(?m)^  {name}: \S+", f"  {name}: {'null' if value is None else value}", section
        )
        if not count:
            raise SystemExit(f"params.yaml: engine has no {name}")
    path.write_text(f"{text}\nengine:{section}", encoding="utf-8")


def cut_small_chunks(texts: int) -> None:
    """Give `embed` at least one chunk per shard, so that a machine dies in the middle."""
    path = Path("params.yaml")
    size = max(1, min(64, texts // BATCHES))
    text, count = re.subn(r"  batch_size: \d+", f"  batch_size: {size}", path.read_text("utf-8"))
    if count != 1:
        raise SystemExit("params.yaml: embed has no batch_size")
    path.write_text(text, encoding="utf-8")


def hash_outputs() -> str:
    """Return one hash of all that the stages have written."""
    paths = sorted(path for path in Path("datasets").rglob("*") if path.is_file())
    hashes = "".join(f"{path} {files.file_sha256(path)}\n" for path in paths)
    return hashlib.sha256(hashes.encode()).hexdigest()


def main() -> None:
    """Print a line per engine and stage."""
    options = parse_arguments(__doc__, moments=100_000, train=5000, shards=16, embed=False, only="")
    stages = [
        *(["embed"] if options.embed else []),
        "candidates",
        *(["pseudo"] if options.train else []),
    ]
    print(
        f"{'engine':24} {'stage':10} {'wall s':>8} {'against local':>14} {'CPU s':>8}"
        f" {'against local':>14} {'twice':>6}  bytes"
    )
    expected, local = "", dict[str, tuple[float, float]]()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for stage, *_ in scaling.run(options.moments, options.train or None, {}, pseudo=False):
            if stage == "split":
                break
        scaling.embed()
        cut_small_chunks(options.moments // options.shards)
        for name, prepare in ENGINES.items():
            if name != "processes" and not name.startswith(options.only):
                continue
            for stage in stages:
                with prepare(Path(tempfile.mkdtemp(dir=folder))) as (values, kill):
                    set_engine(
                        {"workers": WORKERS, "shards": options.shards, "address": None} | values
                    )
                    if stage == "embed":
                        shutil.rmtree("datasets/work/embeddings")
                    watch = Watch(Path(".cache/parts") / stage, options.shards // 3, kill)
                    cli.log(f"{name}: {stage}")  # above its messages about a machine that died
                    watch.start()
                    wall = scaling.run_stage(f"pipeline.{stage}").wall
                    watch.ended.set()
                cost = wall, watch.cpu
                if name == "processes":
                    local[stage] = cost
                output = hash_outputs() if stage == stages[-1] else ""
                expected = expected or output
                same = ("the same" if output == expected else "OTHERS") if output else ""
                cells = "".join(
                    f" {value:>8.1f} {value - base:>+12.1f} s"
                    for value, base in zip(cost, local.get(stage, cost), strict=True)
                )
                print(f"{name:24} {stage:10}{cells} {watch.twice:>6}  {same}", flush=True)


if __name__ == "__main__":
    main()
