"""Time and memory of the stages whose tables don't fit into memory.

    python -m benchmarks.large_tables [--moments 1000000] [--memory 6.0] [--table-memory 4.0]
        [--dimensions 384] [--shards 1]

Each stage runs in its own process, as under DVC, on a made-up corpus in TVR's format with distinct
descriptions, which are their own captions: `ingest`, `split` and `candidates` (3,281 queries). The
vectors are random. A peak above `memory`, in GB, of a stage or of a process that it started, is a
failure; pages of mapped files count.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.candidates import random_units
from benchmarks.scaling import CHANGES, PER_VIDEO, REPOSITORY, WORDS, run_stage
from benchmarks.script import Option, parse_arguments
from pipeline.core import tables
from pipeline.retrieval import embeddings

BLOCK, LENGTH = 100_000, 10
STAGES = ("ingest", "split", "candidates")


def write_params(engine: Mapping[str, Option]) -> None:
    """Write params.yaml, and what the stages read beside it, into the current folder."""
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    above, heading, section = text.partition("\nengine:")
    for pattern, new in CHANGES.items():
        above = re.sub(pattern, new, above, count=1)
    for name, value in engine.items():
        section = re.sub(rf"\n  {name}: \S+", f"\n  {name}: {value}", section, count=1)
    Path("params.yaml").write_text(above + heading + section, encoding="utf-8")
    shutil.copytree(REPOSITORY / "datasets/campaign", "datasets/campaign")
    Path("dvc.yaml").symlink_to(REPOSITORY / "dvc.yaml")


def describe(number: int) -> Iterator[list[str]]:
    """Yield so many distinct descriptions of `LENGTH` words and a number, `BLOCK` at a time."""
    random, words = np.random.default_rng(0), np.array(WORDS)
    for first in range(0, number, BLOCK):
        drawn = words[random.integers(0, len(words), (min(BLOCK, number - first), LENGTH))]
        yield [f"{' '.join(said)} {moment}." for moment, said in enumerate(drawn.tolist(), first)]


def write_corpus(path: Path, number: int) -> None:
    """Write `number` moments of videos of one minute."""
    with path.open("w", encoding="utf-8") as stream:
        for place, texts in enumerate(describe(number)):
            for moment, text in enumerate(texts, place * BLOCK):
                start = 10.0 * (moment % PER_VIDEO)
                stream.write(
                    f'{{"vid_name": "show_{moment // PER_VIDEO:07}", "duration": 60.0,'
                    f' "ts": [{start}, {start + 8.0}], "desc": "{text}",'
                    f' "type": "v", "desc_id": {moment}}}\n'
                )


def write_captions() -> None:
    """Write a caption for each moment: its description."""
    tables.CAPTIONS.write_batches(map(_caption, tables.MOMENTS.read_batches()))


def _caption(moments: pd.DataFrame) -> pd.DataFrame:
    same = moments[["moment_id"]].assign(caption=moments["description"], source="none")
    same = same.assign(model=None, prompt=None, rounds=0, similarity=None, name_score=None)
    return same.assign(status="passed")


def write_vectors(dimensions: int) -> None:
    """Write a random vector for each caption, in place of the output of `embed`."""
    batches = tables.CAPTIONS.read_batches()
    ids = np.concatenate([embeddings.text_ids(batch["caption"]) for batch in batches])
    ids.sort()

    def chunks() -> Iterator[tuple[embeddings.Ids, embeddings.Vectors]]:
        for seed, first in enumerate(range(0, len(ids), BLOCK)):
            some = ids[first : first + BLOCK]
            yield some, random_units(len(some), dimensions, seed)

    embeddings.Store(embeddings.FOLDER, "random").finish(ids, chunks())


def main() -> None:
    """Print a line per stage."""
    engine: dict[str, Option] = {"table_memory": 4.0, "shards": 1}
    options = parse_arguments(__doc__, moments=1_000_000, memory=6.0, dimensions=384, **engine)
    peaks = []
    print(f"{'stage':16} {'wall s':>8} {'cpu s':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        write_params({name: getattr(options, name) for name in engine})
        write_corpus(Path("corpus.jsonl"), options.moments)
        for stage in STAGES:
            cost = run_stage(f"pipeline.{stage}")
            print(f"{stage:16} {cost.wall:>8.1f} {cost.cpu:>8.1f} {cost.peak:>8.0f}", flush=True)
            peaks.append(cost.peak)
            if stage == "ingest":
                write_captions()
            elif stage == "split":
                write_vectors(options.dimensions)
    if max(peaks) > options.memory * 1000:
        raise SystemExit(f"more than {options.memory} GB")


if __name__ == "__main__":
    main()
