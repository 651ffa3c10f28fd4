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
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.candidates import random_units
from benchmarks.script import (
    REPOSITORY,
    Option,
    assert_size,
    parse_arguments,
    print_rows,
    run,
    run_module,
)
from pipeline import pseudo
from pipeline.core import files, tables
from pipeline.core.params import load
from pipeline.machine.demand import GB, HOUR, calc_demands
from pipeline.retrieval import embeddings
from pipeline.retrieval.similarity import Vectors
from tools import settings

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


def draw_corpus(number: int) -> Iterator[str]:
    """Yield lines in TVR's format, with distinct descriptions."""
    random = np.random.default_rng(0)
    for moment in range(number):
        words = " ".join(WORDS[i] for i in random.integers(0, len(WORDS), 10))
        start = 10.0 * (moment % PER_VIDEO)
        record = {
            "vid_name": f"show_{moment // PER_VIDEO:07}",
            "duration": 60.0,
            "ts": [start, start + 8.0],
            "desc": f"{words} {moment}.",
            "type": "v",
            "desc_id": moment,
        }
        yield f"{json.dumps(record)}\n"


def prepare(number: int, train: int | None, engine: Mapping[str, object]) -> None:
    """Write the corpus, and what stages read of a working copy, into the current folder.

    `train` is the number of training queries; None: one per caption. `engine` has the values for
    that section of params.yaml.
    """
    values: dict[str, object] = {"ingest.source": "corpus.jsonl", "ingest.videos": None}
    values |= {f"split.{split}": size for split, size in _count_judged(number).items()}
    values |= {"split.train": train} | {f"engine.{name}": value for name, value in engine.items()}
    texts = {key: "null" if value is None else str(value) for key, value in values.items()}
    params = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    Path("params.yaml").write_text(settings.apply(params, texts), encoding="utf-8")
    shutil.copytree(REPOSITORY / "datasets/campaign", "datasets/campaign")
    Path("dvc.yaml").symlink_to(REPOSITORY / "dvc.yaml")
    with Path("corpus.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(draw_corpus(number))


def _count_judged(number: int) -> dict[str, int]:
    return {split: int(min(1.0, number / LEAST) * most) for split, most in QUERIES.items()}


def write_captions() -> None:
    """Write each moment's description as its caption, in place of `rewrite` and `vary`."""
    tables.VARIANTS.write(tables.VARIANTS.empty())
    tables.CAPTIONS.write_batches(map(_caption, tables.MOMENTS.read_batches()))


def _caption(moments: pd.DataFrame) -> pd.DataFrame:
    same = moments[["moment_id"]].assign(caption=moments["description"], source="none")
    same = same.assign(model=None, prompt=None, rounds=0, similarity=None, name_score=None)
    return same.assign(status="passed")


def write_vectors(dimensions: int) -> None:
    """Write a random vector for each caption, in place of `embed`'s output."""
    batches = tables.CAPTIONS.read_batches()
    ids = np.concatenate([embeddings.text_ids(batch["caption"]) for batch in batches])
    ids.sort()

    def chunks() -> Iterator[tuple[embeddings.Ids, Vectors]]:
        for seed, first in enumerate(range(0, len(ids), BLOCK)):
            some = ids[first : first + BLOCK]
            yield some, random_units(len(some), dimensions, seed)

    embeddings.Store(embeddings.FOLDER, "random").finish(ids, chunks())


def _assert_stage_size(stage: str, number: int, train: int | None) -> None:
    """Refuse a stage's figures unless it has made what a corpus of `number` moments has."""
    judged = sum(_count_judged(number).values())
    training = min(number - judged, number if train is None else train)
    if stage == "pseudo":
        rows = files.read_json(pseudo.MANIFEST)["files"]["train_top20.parquet"]["rows"]
        return assert_size("training queries", rows, training)
    table, claimed = {
        "ingest": (tables.MOMENTS, number),
        "split": (tables.QUERIES, judged + training),
        "candidates": (tables.CANDIDATES, 40 * judged),
    }[stage]
    return assert_size(f"rows of {stage}", table.count_rows(), claimed)


def _output_mb() -> float:
    files = (path for path in Path("datasets").rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files) / 1e6


def measure(
    number: int, stages: tuple[str, ...], train: int | None, dimensions: int
) -> Iterator[tuple[str, dict[str, object]]]:
    """Run the stages in the current folder; yield what each costs."""
    params = load()
    one = params.model_copy(update={"engine": params.engine.model_copy(update={"workers": 1})})
    needs = {need.stage: need for need in calc_demands(number, one)}
    for stage in stages:
        before, need = _output_mb(), needs[stage]
        cost = run_module(f"pipeline.{stage}")
        _assert_stage_size(stage, number, train)
        yield (
            f"{number:>10,}  {stage}",
            {
                "wall s": f"{cost.wall:.1f}",
                "cpu s": f"{cost.cpu:.1f}",
                "peak MB": f"{cost.peak:.0f}",
                "MB out": f"{_output_mb() - before:.0f}",
                "doctor cpu": need.hours * HOUR / cost.cpu,
                "peak": need.memory * GB / 2**20 / cost.peak,
            },
        )
        if stage == "ingest":
            write_captions()
        elif stage == "split":
            write_vectors(dimensions)


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
    for number in options.moments:
        stages = STAGES if number <= options.pseudo else STAGES[:-1]
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            prepare(number, options.train, engine)
            rows = measure(number, stages, options.train, options.dimensions)
            print_rows("   moments  stage", rows)


if __name__ == "__main__":
    run(main)
