"""Time and memory of the stages by corpus size: the figures of docs/scaling.md.

    python -m benchmarks.scaling [--moments 10000 100000] [--pseudo 100000] [--train N]
        [--shards 1] [--kind local|ray|slurm] [--workers 0] [--table-memory 4.0]

Each stage runs in its own process, as under DVC, on a synthetic corpus in TVR's format with
distinct descriptions. Vectors are random: encoding and rewriting take a constant time per text and
have their own benchmarks. `--pseudo` is the largest corpus for which training sets are made: they
need a search for each text, or for N of them (split.train). The last four options are those of
`engine` in params.yaml. CPU seconds are those of the stage and of the processes that it started
(those on Ray's side are not included); the peak is the lead's.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.candidates import random_units
from benchmarks.script import Option, parse_arguments
from pipeline.core import tables
from pipeline.retrieval import embeddings

REPOSITORY = Path(__file__).parent.parent
PER_VIDEO, DIMENSIONS, BLOCK = 5, 384, 65_536
ENGINE: dict[str, Option] = {"shards": 1, "kind": "local", "workers": 0, "table_memory": 4.0}
QUERIES = {"val": 500, "test": 2781}
LEAST = 10_000
"""With fewer moments, a third of them are judged queries."""
CHANGES = {
    r"source: \S+": "source: corpus.jsonl",
    r"videos: \S+\.mp4": "videos: null",
    r"backend: rules": "backend: none",
}
TEXT = """
woman man doctor child waiter letter cup door table car phone coat book key window dog takes puts
opens closes carries drops reads holds finds hides red old small broken heavy on under behind near
before kitchen garden office street bar
"""
WORDS = TEXT.split()
STAGE = """
import atexit, runpy, sys
from benchmarks.script import peak_mb
module = sys.argv.pop(1)
atexit.register(lambda: open("peak", "w").write(str(peak_mb())))
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


class Cost(NamedTuple):
    """The cost of a process: wall and CPU seconds, and peak memory in MB."""

    wall: float
    cpu: float
    peak: float


def corpus(number: int) -> Iterator[str]:
    """Yield lines in TVR's format, with distinct descriptions."""
    random = np.random.default_rng(0)
    for moment in range(number):
        words = " ".join(WORDS[i] for i in random.integers(0, len(WORDS), 10))
        start = 10.0 * (moment % PER_VIDEO)
        yield json.dumps(
            {
                "vid_name": f"show_{moment // PER_VIDEO:07}",
                "duration": 60.0,
                "ts": [start, start + 8.0],
                "desc": f"{words} {moment}.",
                "type": "v",
                "desc_id": moment,
            }
        )


def run_stage(module: str) -> Cost:
    """Run a stage in the current folder."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    began = time.perf_counter()
    # The child reports its own peak: what the system reports of a child includes the parent's.
    child = subprocess.Popen([sys.executable, "-c", STAGE, module], env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{module} ended with {child.returncode}")
    wall = time.perf_counter() - began
    peak = float(Path("peak").read_text(encoding="utf-8"))
    return Cost(wall, used.ru_utime + used.ru_stime, peak)


def embed() -> None:
    """Write random vectors in place of `embed`'s output."""
    texts = [*tables.CAPTIONS.read()["caption"], *tables.QUERIES.read()["query"]]
    ids, _ = embeddings.distinct(texts)
    store = embeddings.Store(embeddings.FOLDER, "random")
    blocks = (ids[first : first + BLOCK] for first in range(0, len(ids), BLOCK))
    store.finish(ids, ((some, random_units(len(some), DIMENSIONS)) for some in blocks))


def run(
    number: int, train: int | None, engine: Mapping[str, object] = ENGINE, *, pseudo: bool
) -> Iterator[tuple[str, Cost, float]]:
    """Run the stages on `number` moments; yield each with its cost and the MB that it wrote.

    `train` is the number of training queries; None: one per caption. `engine` has the values for
    that section of params.yaml.
    """
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    share = min(1.0, number / LEAST)
    queries = {
        rf"  {split}: \d+": f"  {split}: {int(share * most)}" for split, most in QUERIES.items()
    }
    if train is not None:
        queries |= {r"  train: null": f"  train: {train}"}
    for pattern, new in {**CHANGES, **queries}.items():
        text, count = re.subn(pattern, new, text, count=1)
        if not count:
            raise SystemExit(f"params.yaml: nothing matches {pattern}")
    above, heading, section = text.partition("\nengine:")
    for name, value in engine.items():
        section = re.sub(rf"\n  {name}: \S+", f"\n  {name}: {value}", section, count=1)
    Path("params.yaml").write_text(above + heading + section, encoding="utf-8")
    shutil.copytree(REPOSITORY / "datasets/campaign", "datasets/campaign")
    for name in ("prompts", "dvc.yaml"):
        Path(name).symlink_to(REPOSITORY / name)
    with Path("corpus.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in corpus(number))
    for stage in ("ingest", "rewrite", "split", "embed", "candidates", "pseudo"):
        if stage == "embed":
            embed()
        elif stage != "pseudo" or pseudo:
            before = _output_mb()
            cost = run_stage(f"pipeline.{stage}")
            yield stage, cost, _output_mb() - before


def _output_mb() -> float:
    files = (path for path in Path("datasets").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    """Print a line per stage and size."""
    options = parse_arguments(
        __doc__,
        moments=[10_000, 100_000],
        pseudo=100_000,
        train=int,
        **ENGINE,
    )
    engine = {name: getattr(options, name) for name in ENGINE}
    print(f"{'moments':>10}  {'stage':10} {'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'MB out':>8}")
    for number in options.moments:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            pseudo = number <= options.pseudo
            for stage, cost, wrote in run(number, options.train, engine, pseudo=pseudo):
                print(
                    f"{number:>10,}  {stage:10} {cost.wall:>8.1f} {cost.cpu:>8.1f}"
                    f" {cost.peak:>8.0f} {wrote:>8.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
