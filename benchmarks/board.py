"""A board at the size of a large benchmark: CPU seconds, peak memory, and the values of `evaluate`.

    python -m benchmarks.board [--runs 200] [--queries 3000] [--results 20]

It makes runs that find the moment of more and more queries, and calls `momentrank board` on them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.script import parse_arguments, run

MEASURES = ("nDCG(iou=0.5)@10", "AxIoU@10")
SECONDS, MEGABYTES = 60, 2000
ABOUT = "authors: A. Author\nlink: https://example.org\ndate: 2026-11-27\nreads: [video]\n"


def write_runs(folder: Path, runs: int, queries: int, results: int) -> Path:
    """Write runs with their YAML below a folder, and return the qrels."""
    rng = np.random.default_rng(2024)
    start = rng.uniform(0, 80, queries)
    qrels = folder / "test.qrels"
    qrels.write_text("".join(
        f"q{n} Q0 v{n % 500} {at:.2f} {at + 9:.2f} {1 + n % 4}\n" for n, at in enumerate(start)
    ))  # fmt: skip
    (folder / "runs").mkdir()
    for number in range(runs):
        found = rng.random(queries) < 0.3 + 0.4 * number / runs
        place = rng.integers(1, results, queries)
        shifts = rng.uniform(0, 5, (queries, results))
        lines = []
        for query in range(queries):
            for rank in range(1, results + 1):
                hit = found[query] and rank == place[query]
                video, begin = (
                    (query % 500, start[query]) if hit else (query * rank % 500, 20.0 * rank)
                )
                at = begin + shifts[query, rank - 1]
                lines.append(
                    f"q{query} Q0 v{video} {at:.2f} {at + 9:.2f} {rank} {-rank} r{number}\n"
                )
        (folder / "runs" / f"r{number}.run").write_text("".join(lines))
        (folder / "runs" / f"r{number}.yaml").write_text(f"name: run {number}\n{ABOUT}")
    return qrels


def main(runs: int, queries: int, results: int) -> None:
    """Print what a board costs, and compare three runs' values with those of `evaluate`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        qrels = write_runs(folder, runs, queries, results)
        command = [
            sys.executable,
            "-m",
            "momentrank",
            "board",
            str(folder / "runs"),
            *MEASURES,
        ]
        process = subprocess.Popen([*command, "--qrels", str(qrels), "--out", str(folder / "site")])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds, megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        if process.returncode:
            raise SystemExit("the command failed")
        print(f"{runs} runs x {queries} queries x {results} results: {seconds:.1f} CPU s,"
              f" {megabytes:.0f} MB")  # fmt: skip
        board = json.loads((folder / "site" / "board.json").read_text())
        values = {row["run"]: row["values"] for row in board["runs"]}
        paths = [str(folder / "runs" / f"r{number}.run") for number in (0, runs // 2, runs - 1)]
        evaluate = [sys.executable, "-m", "momentrank", "evaluate", str(qrels), *paths, *MEASURES]
        told = json.loads(subprocess.check_output([*evaluate, "--json"]))
        same = all(values[Path(path).name] == told[path] for path in paths)
        print(f"values equal to those of evaluate: {same}")
        if not same or seconds > SECONDS or megabytes > MEGABYTES:
            raise SystemExit(f"claimed: equal values, {SECONDS} CPU s, {MEGABYTES} MB")


if __name__ == "__main__":
    options = parse_arguments(__doc__, runs=200, queries=3000, results=20)
    work: Callable[[], None] = partial(main, options.runs, options.queries, options.results)
    run(work)
