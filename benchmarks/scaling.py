"""Time and memory of the stages by corpus size: the figures of docs/scaling.md.

    python -m benchmarks.scaling [--moments 10000 100000] [--pseudo 100000] [--train N]
        [--dimensions 384] [--shards 1] [--kind local|ray|slurm] [--workers 0] [--table-memory 4.0]

Each stage runs in its own process, as under DVC, on a synthetic corpus in TVR's format with
distinct descriptions, which serve as captions. Vectors are random: encoding and rewriting take a
constant time per text. `--pseudo` is the largest corpus for which training sets are made: they need
a search for each text, or for N of them (split.train). The last four options are those of `engine`
in params.yaml. CPU seconds are those of the stage and of the processes that it started (those on
Ray's side are not included); the peak is the lead's, pages of mapped files included. The last two
columns are what `pipeline.doctor` computes for one core, divided by what was measured.
"""

import json
import os
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
import pandas as pd

from benchmarks.candidates import random_units
from benchmarks.script import Option, assert_size, parse_arguments, run
from pipeline import pseudo
from pipeline.core import files, tables
from pipeline.core.params import load
from pipeline.machine.demand import GB, HOUR, calc_demands
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import Vectors
from tools import settings

REPOSITORY = Path(__file__).parent.parent
PER_VIDEO, DIMENSIONS, BLOCK = 5, 384, 65_536
ENGINE: dict[str, Option] = {"shards": 1, "kind": "local", "workers": 0, "table_memory": 4.0}
QUERIES = {"val": 500, "test": 2781}
LEAST = 10_000
"""With fewer moments, a third of them are judged queries."""
STAGES = ("ingest", "split", "candidates", "pseudo")
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


def change_params(values: Mapping[str, object]) -> None:
    """Change params.yaml in the current folder."""
    path = Path("params.yaml")
    texts = {key: "null" if value is None else str(value) for key, value in values.items()}
    path.write_text(settings.apply(path.read_text(encoding="utf-8"), texts), encoding="utf-8")


def prepare(number: int, train: int | None, engine: Mapping[str, object]) -> None:
    """Write the corpus, and what stages read of a working copy, into the current folder.

    `train` is the number of training queries; None: one per caption. `engine` has the values for
    that section of params.yaml.
    """
    shutil.copy(REPOSITORY / "params.yaml", "params.yaml")
    share = min(1.0, number / LEAST)
    values: dict[str, object] = {"ingest.source": "corpus.jsonl", "ingest.videos": None}
    values |= {f"split.{split}": int(share * most) for split, most in QUERIES.items()}
    values |= {"split.train": train} | {f"engine.{name}": value for name, value in engine.items()}
    change_params(values)
    shutil.copytree(REPOSITORY / "datasets/campaign", "datasets/campaign")
    Path("dvc.yaml").symlink_to(REPOSITORY / "dvc.yaml")
    with Path("corpus.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in corpus(number))


def write_captions() -> None:
    """Write each moment's description as its caption, in place of `rewrite`'s output."""
    tables.CAPTIONS.write_batches(map(_caption, tables.MOMENTS.read_batches()))


def _caption(moments: pd.DataFrame) -> pd.DataFrame:
    same = moments[["moment_id"]].assign(caption=moments["description"], source="none")
    same = same.assign(model=None, prompt=None, rounds=0, similarity=None, name_score=None)
    return same.assign(status="passed")


def write_vectors(dimensions: int = DIMENSIONS) -> None:
    """Write a random vector for each caption, in place of `embed`'s output."""
    batches = tables.CAPTIONS.read_batches()
    ids = np.concatenate([embeddings.text_ids(batch["caption"]) for batch in batches])
    ids.sort()

    def chunks() -> Iterator[tuple[embeddings.Ids, Vectors]]:
        for seed, first in enumerate(range(0, len(ids), BLOCK)):
            some = ids[first : first + BLOCK]
            yield some, random_units(len(some), dimensions, seed)

    embeddings.Store(embeddings.FOLDER, "random").finish(ids, chunks())


def run_stage(stage: str, number: int, train: int | None) -> Cost:
    """Run a stage in the current folder, on a corpus of `number` moments."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    began = time.perf_counter()
    # The child reports its own peak: what the system reports of a child includes the parent's.
    command = [sys.executable, "-c", STAGE, f"pipeline.{stage}"]
    child = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{stage} ended with {child.returncode}")
    wall = time.perf_counter() - began
    peak = float(Path("peak").read_text(encoding="utf-8"))
    _assert_stage_size(stage, number, train)
    return Cost(wall, used.ru_utime + used.ru_stime, peak)


def _assert_stage_size(stage: str, number: int, train: int | None) -> None:
    """Refuse a stage's figures unless it has made what a corpus of `number` moments has."""
    judged = sum(int(min(1.0, number / LEAST) * most) for most in QUERIES.values())
    training = min(number - judged, number if train is None else train)
    if stage == "ingest":
        assert_size("moments", tables.MOMENTS.count_rows(), number)
    elif stage == "split":
        assert_size("queries", tables.QUERIES.count_rows(), judged + training)
    elif stage == "candidates":
        assert_size("candidates", tables.CANDIDATES.count_rows(), 40 * judged)
    elif stage == "embed":
        assert_size("vectors", len(embeddings.Embeddings.open().ids), number)
    else:
        sets = files.read_json(pseudo.MANIFEST)["files"]
        assert_size("training queries", sets["train_top20.parquet"]["rows"], training)


def expect(number: int) -> dict[str, Cost]:
    """Return what the doctor computes for each stage: on one core, the clock shows CPU seconds."""
    params = load()
    one = params.engine.model_copy(update={"workers": 1})
    needs = calc_demands(number, params.model_copy(update={"engine": one}))
    return {
        need.stage: Cost(need.hours * HOUR, need.hours * HOUR, need.memory * GB / 2**20)
        for need in needs
    }


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
        dimensions=DIMENSIONS,
        **ENGINE,
    )
    engine = {name: getattr(options, name) for name in ENGINE}
    measured = f"{'wall s':>8} {'cpu s':>8} {'peak MB':>8} {'MB out':>8}"
    print(f"{'moments':>10}  {'stage':10} {measured} {'doctor cpu':>11} {'peak':>5}")
    for number in options.moments:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            prepare(number, options.train, engine)
            expected = expect(number)
            for stage in STAGES if number <= options.pseudo else STAGES[:-1]:
                before = _output_mb()
                cost = run_stage(stage, number, options.train)
                print(
                    f"{number:>10,}  {stage:10} {cost.wall:>8.1f} {cost.cpu:>8.1f}"
                    f" {cost.peak:>8.0f} {_output_mb() - before:>8.0f}"
                    f" {expected[stage].cpu / cost.cpu:>11.2f}"
                    f" {expected[stage].peak / cost.peak:>5.2f}",
                    flush=True,
                )
                if stage == "ingest":
                    write_captions()
                elif stage == "split":
                    write_vectors(options.dimensions)


if __name__ == "__main__":
    run(main)
