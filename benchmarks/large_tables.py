"""Time and memory of stages whose tables don't fit into memory.

    python -m benchmarks.large_tables [--moments 1000000] [--memory 6.0] [--table-memory 4.0]
        [--dimensions 384] [--shards 1]

Each stage runs in its own process, as under DVC, on a synthetic corpus in TVR's format with
distinct descriptions, which serve as captions: `ingest`, `split` and `candidates` (3,281 queries).
The vectors are random. The benchmark fails if the peak of a stage, or of a process that it started,
exceeds `memory` GB; pages of mapped files count.
"""

import tempfile
from contextlib import chdir
from pathlib import Path

from benchmarks.large_corpus import write_captions, write_corpus, write_params, write_vectors
from benchmarks.scaling import run_stage
from benchmarks.script import Option, parse_arguments

STAGES = ("ingest", "split", "candidates")


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
