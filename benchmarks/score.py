"""Scoring at the size of TVR-Ranking's test set, against the brute-force definition.

    python -m benchmarks.score [--queries 2781] [--times 100]

Makes qrels and a run: 20 or 40 judged moments a query, 100 results, K = 10, 20, 40 at IoU .3,
.5 and .7; about 30 MB of JSON. Prints how many times faster `calc_aggregate` is in memory than
the definition in tests/momentrank/oracle.py, on the same numbers; the seconds of the whole
command, from files to numbers; and, with `--times`, time and memory at so many times the queries.
"""

import argparse
import importlib.util
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from momentrank import segments
from momentrank.cli.evaluate import defaults
from momentrank.conventions import PAPER
from momentrank.functions import calc_aggregate
from momentrank.segments import Segments

T = TypeVar("T")
RESULTS, VIDEOS, DEPTH = 100, 21_793, (20, 40)
SEED = 2024
GB = 2**30

Listed = dict[str, list[tuple[Any, ...]]]


def collection(queries: int) -> tuple[Listed, Listed]:
    """Return qrels and a run, by query: judged moments are often found, a little shifted."""
    rng = random.Random(SEED)
    qrels, run = {}, {}
    for number in range(queries):
        judged = [(*_moment(rng), rng.choice((0, 0, 1, 2, 3, 4))) for _ in range(rng.choice(DEPTH))]
        found = [
            (video, round(start + rng.uniform(-2, 2), 2), round(end + rng.uniform(2, 4), 2))
            for video, start, end, _ in rng.sample(judged, len(judged) // 2)
        ]
        results = found + [_moment(rng) for _ in range(RESULTS - len(found))]
        rng.shuffle(results)
        qrels[str(number)] = judged
        run[str(number)] = results
    return qrels, run


def _moment(rng: random.Random) -> tuple[str, float, float]:
    start = round(rng.uniform(3, 80), 2)
    video = f"show_s{rng.randrange(10):02}e{rng.randrange(24):02}_seg{rng.randrange(90):02}_clip"
    return video, start, round(start + rng.uniform(1, 12), 2)


def columns(listed: Listed) -> list[list[Any]]:
    """Return the columns of a collection: query, video, start, end, and level where there is."""
    rows = [(query, *row) for query, rows in listed.items() for row in rows]
    return [list(column) for column in zip(*rows, strict=True)]


def write(folder: Path, qrels: Listed, run: Listed) -> tuple[Path, Path]:
    """Write both as TVR-Ranking's JSON."""
    caption = "A woman hands a cup of coffee to a man who sits on the sofa and reads."
    content = [
        {
            "query_id": int(query),
            "query": caption,
            "relevant_moment": [
                {"pair_id": pair, "video_name": video, "timestamp": [start, end],
                 "duration": 90.02, "caption": caption, "similarity": 0.734112, "relevance": level}
                for pair, (video, start, end, level) in enumerate(rows)
            ],
        }
        for query, rows in qrels.items()
    ]  # fmt: skip
    predictions = [
        {"query_id": int(query), "predictions": [[*row, 1 - n / 100] for n, row in enumerate(rows)]}
        for query, rows in run.items()
    ]
    paths = folder / "test.json", folder / "predictions.json"
    for path, value in zip(paths, (content, predictions), strict=True):
        path.write_text(json.dumps(value))
    return paths


def timed(function: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """Return the least of some times, and the result."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def by_definition(qrels: Listed, run: Listed) -> dict[str, float]:
    """Score by the oracle."""
    path = Path("tests/momentrank/oracle.py")
    spec = importlib.util.spec_from_file_location("oracle", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is missing: run this in the repository")
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    judged = {query: [oracle.Judged(*row) for row in rows] for query, rows in qrels.items()}
    results = {query: [oracle.Result(*row) for row in rows] for query, rows in run.items()}
    return {
        repr(measure): oracle.mean("nDCG", dict(measure.params), judged, results)
        for measure in defaults(PAPER)
    }


def many(qrels: Segments, run: Segments, times: int) -> tuple[Segments, Segments]:
    """Return a collection of so many times the queries, with the same moments."""
    return _repeated(qrels, times), _repeated(run, times)


def _repeated(one: Segments, times: int) -> Segments:
    queries = [f"{name}-{n}" for n in range(times) for name in one.queries]
    shift = np.repeat(np.arange(times) * len(one.queries), len(one.query))
    columns = (np.tile(column, times) for column in (one.start, one.end, one.value))
    return Segments(queries, np.tile(one.query, times) + shift, one.video * times, *columns)


def main() -> None:
    """Print the ratio in memory, the command's seconds, and what many times as much takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=2781)
    parser.add_argument("--times", type=int, default=100)
    options = parser.parse_args()
    qrels, run = collection(options.queries)
    ours = segments.build_qrels(*columns(qrels)), segments.build_run(*columns(run))
    measures = defaults(PAPER)
    fast, values = timed(lambda: calc_aggregate(measures, *ours), 5)
    slow, expected = timed(lambda: by_definition(qrels, run))
    wrong = max(abs(value - expected[repr(measure)]) for measure, value in values.items())
    print(
        f"in memory: {fast * 1000:.0f} ms, the definition {slow:.1f} s; at most {wrong:.0e} apart"
    )
    print(f"ratio {slow / fast:.0f} (goal 50)")
    with TemporaryDirectory() as folder:
        paths = write(Path(folder), qrels, run)
        size = sum(path.stat().st_size for path in paths) / 1e6
        command = [sys.executable, "-m", "momentrank.cli.main", "evaluate", *map(str, paths)]
        whole, _ = timed(lambda: subprocess.run(command, check=True, capture_output=True), 5)
    print(f"the command, from {size:.0f} MB of JSON to numbers: {whole:.2f} s (goal 1)")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    large = many(*ours, options.times)
    much, _ = timed(lambda: calc_aggregate(measures, *large))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    linear = much / fast / options.times
    print(f"{options.times} times the queries: {much:.1f} s, {linear:.2f} times linear,")
    print(f"at most {peak / GB:.1f} GB, of which {before / GB:.1f} GB before (goal 4)")


if __name__ == "__main__":
    main()
