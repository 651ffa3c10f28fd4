"""Time and memory of the stages whose tables DuckDB makes when they don't fit into memory.

    python -m benchmarks.large_tables [--moments 1000000] [--memory 6.0] [--table-memory 4.0]

Each stage runs in its own process, as under DVC, on a made-up corpus in TVR's format with distinct
descriptions, which are their own captions: `ingest`, `split`, and the join of `candidates`. A peak
above `memory`, in GB, is a failure.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.scaling import CHANGES, PER_VIDEO, REPOSITORY, WORDS, run_stage
from benchmarks.script import parse_arguments
from pipeline.core import tables

BLOCK, LENGTH = 100_000, 10
STAGES = ("pipeline.ingest", "pipeline.split", "benchmarks.pool")


def write_corpus(path: Path, number: int) -> None:
    """Write `number` moments of videos of one minute, with descriptions of `LENGTH` words."""
    random, words = np.random.default_rng(0), np.array(WORDS)
    with path.open("w", encoding="utf-8") as stream:
        for first in range(0, number, BLOCK):
            drawn = words[random.integers(0, len(words), (min(BLOCK, number - first), LENGTH))]
            for moment, said in enumerate(drawn.tolist(), first):
                start = 10.0 * (moment % PER_VIDEO)
                stream.write(
                    f'{{"vid_name": "show_{moment // PER_VIDEO:07}", "duration": 60.0,'
                    f' "ts": [{start}, {start + 8.0}], "desc": "{" ".join(said)} {moment}.",'
                    f' "type": "v", "desc_id": {moment}}}\n'
                )


def captions() -> Iterator[pd.DataFrame]:
    """Yield a caption for each moment: its description."""
    for moments in tables.MOMENTS.read_batches():
        same = moments[["moment_id"]].assign(caption=moments["description"], source="none")
        same = same.assign(model=None, prompt=None, rounds=0, similarity=None, name_score=None)
        yield same.assign(status="passed")


def main() -> None:
    """Print a line per stage."""
    options = parse_arguments(__doc__, moments=1_000_000, memory=6.0, table_memory=4.0)
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    memory = {r"table_memory: \S+": f"table_memory: {options.table_memory}"}
    for pattern, new in {**CHANGES, **memory}.items():
        text = re.sub(pattern, new, text, count=1)
    peaks = []
    print(f"{'stage':16} {'wall s':>8} {'cpu s':>8} {'peak MB':>8}")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("params.yaml").write_text(text, encoding="utf-8")
        shutil.copytree(REPOSITORY / "datasets/campaign", "datasets/campaign")
        write_corpus(Path("corpus.jsonl"), options.moments)
        for stage in STAGES:
            cost = run_stage(stage)
            print(f"{stage:16} {cost.wall:>8.1f} {cost.cpu:>8.1f} {cost.peak:>8.0f}", flush=True)
            peaks.append(cost.peak)
            if stage == "pipeline.ingest":
                tables.CAPTIONS.write_batches(captions())
    if max(peaks) > options.memory * 1000:
        raise SystemExit(f"more than {options.memory} GB")


if __name__ == "__main__":
    main()
