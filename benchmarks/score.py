"""Scoring at the size of TVR-Ranking's test set, compared with the brute-force definition.

    python -m benchmarks.score [--queries 2781] [--peers | --board RUNS]

It makes qrels and a run: 20 or 40 judged moments per query, 100 results, K = 10, 20, 40 at IoU .3,
.5 and .7; about 30 MB of JSON. It prints the speed of `calc_aggregate` in memory relative to the
definition in tests/momentrank/oracle.py, which must give the same values, and from frames; and the
CPU seconds of the whole command, from files to numbers, compiled, as pip installs it.

`--peers` prints instead how many times faster pytrec_eval, ir_measures and ranx are at their own
job, nDCG@10 by exact ids, than ours at IoU .99, all from prepared input in memory; those that are
not installed are left out. The results are moments of the qrels or are in no relevant place.

`--board` prints instead what `momentrank board` takes with so many runs of 20 results.
"""

import importlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.script import assert_size, parse_arguments, run, run_module, time_call
from momentrank import conventions, segments
from momentrank.formats import load_run, read_qrels
from momentrank.functions import calc_aggregate
from momentrank.measures.parse import parse_measure
from momentrank.segments import Segments

RESULTS, VIDEOS, DEPTH = 100, 21_793, (20, 40)
SEED, ROUNDS = 2024, 9
BOARD_RESULTS, BOARD_MEASURES = 20, ("nDCG(iou=0.5)@10", "AxIoU@10")
ABOUT = "authors: A. Author\nlink: https://example.org\ndate: 2026-11-27\nreads: [video]\n"

Listed = dict[str, list[tuple[Any, ...]]]


def draw_collection(queries: int) -> tuple[Listed, Listed]:
    """Return qrels and a run, by query; results include judged moments, slightly shifted."""
    rng = random.Random(SEED)
    qrels, run = {}, {}
    for number in range(queries):
        judged = [(*_moment(rng), rng.choice((0, 0, 1, 2, 3, 4))) for _ in range(rng.choice(DEPTH))]
        close = [
            (video, round(start + rng.uniform(-2, 2), 2), round(end + rng.uniform(2, 4), 2))
            for video, start, end, _ in rng.sample(judged, len(judged) // 2)
        ]
        results = close + [_moment(rng) for _ in range(RESULTS - len(close))]
        rng.shuffle(results)
        qrels[str(number)] = judged
        run[str(number)] = results
    return qrels, run


def _moment(rng: random.Random) -> tuple[str, float, float]:
    start = round(rng.uniform(3, 80), 2)
    video = f"show_s{rng.randrange(10):02}e{rng.randrange(24):02}_seg{rng.randrange(90):02}_clip"
    return video, start, round(start + rng.uniform(1, 12), 2)


def build_segments(qrels: Listed, run: Listed) -> tuple[Segments, Segments]:
    """Return both as the scorer holds them."""
    columns = [
        map(
            list,
            zip(*((query, *row) for query, rows in listed.items() for row in rows), strict=True),
        )
        for listed in (qrels, run)
    ]
    return segments.build_qrels(*columns[0]), segments.build_run(*columns[1])


def write(folder: Path, qrels: Listed, run: Listed) -> tuple[str, str]:
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
    (folder / "test.json").write_text(json.dumps(content))
    (folder / "predictions.json").write_text(json.dumps(predictions))
    return str(folder / "test.json"), str(folder / "predictions.json")


def score_by_definition(qrels: Listed, run: Listed) -> dict[str, float]:
    """Score with the oracle."""
    sys.path.insert(0, "tests/momentrank")
    oracle = importlib.import_module("oracle")
    judged = {query: [oracle.Judged(*row) for row in rows] for query, rows in qrels.items()}
    results = {query: [oracle.Result(*row) for row in rows] for query, rows in run.items()}
    return {
        repr(measure): oracle.mean("nDCG", dict(measure.params), judged, results)
        for measure in conventions.get(conventions.PAPER).defaults()
    }


def build_peers(qrels: Listed, run: Listed) -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield each peer that is installed with its nDCG@10 by exact ids, from prepared input."""
    judged: dict[str, dict[str, int]] = {}
    for query, rows in qrels.items():
        judged[query] = {f"{v} {start} {end}": level for v, start, end, level in rows}
    ranked = {
        query: {f"{v} {start} {end}": 1 - n / 100 for n, (v, start, end) in enumerate(rows)}
        for query, rows in run.items()
    }
    with suppress(ModuleNotFoundError):
        pytrec: Any = importlib.import_module("pytrec_eval")
        trec = pytrec.RelevanceEvaluator(judged, {"ndcg_cut.10"})
        yield "pytrec_eval", lambda: fmean(v["ndcg_cut_10"] for v in trec.evaluate(ranked).values())
    with suppress(ModuleNotFoundError):
        ir: Any = importlib.import_module("ir_measures")
        evaluator = ir.evaluator([ir.nDCG @ 10], judged)
        yield "ir_measures", lambda: float(evaluator.calc_aggregate(ranked)[ir.nDCG @ 10])
    with suppress(ModuleNotFoundError):
        ranx: Any = importlib.import_module("ranx")
        prepared = ranx.Qrels(judged), ranx.Run(ranked)
        yield "ranx", lambda: float(ranx.evaluate(*prepared, "ndcg@10"))


def compare_peers(qrels: Listed, run: Listed) -> None:
    """Print the CPU time of each, and how its value differs."""
    rng = random.Random(SEED)
    for query, rows in run.items():
        known = [row[:3] for row in qrels[query]]
        exact = dict.fromkeys([*rng.sample(known, len(known) // 2), *rows])
        run[query] = list(exact)[:RESULTS]
        rng.shuffle(run[query])
    ours, measure = build_segments(qrels, run), parse_measure("nDCG(iou=0.99,dcg='log2')@10")
    own, values = time_call(lambda: calc_aggregate([measure], *ours), ROUNDS, process_time)
    print(f"momentrank   {own * 1e3:6.0f} ms of CPU")
    for name, score in build_peers(qrels, run):
        score()  # ranx compiles
        peer, value = time_call(score, ROUNDS, process_time)
        apart = abs(value - values[measure])
        print(f"{name:12} {peer * 1e3:6.0f} ms, {own / peer:.1f} times faster, {apart:.0e} apart")


def measure_board(qrels: Listed, run: Listed, runs: int) -> None:
    """Print what a board of runs takes, and compare a run's values with those of the scorer."""
    rng = random.Random(SEED)
    with TemporaryDirectory() as name:
        folder, path = Path(name, "runs"), Path(name, "test.qrels")
        rows = ((query, *row) for query, rows in qrels.items() for row in rows)
        path.write_text("".join(f"{q} Q0 {v} {a} {b} {level}\n" for q, v, a, b, level in rows))
        folder.mkdir()
        for number in range(runs):
            lines = [
                f"{query} Q0 {v} {start} {end} {rank} {-rank} r{number}\n"
                for query, rows in run.items()
                for rank, (v, start, end) in enumerate(rng.sample(rows, BOARD_RESULTS), start=1)
            ]
            (folder / f"r{number}.run").write_text("".join(lines))
            (folder / f"r{number}.yaml").write_text(f"name: run {number}\n{ABOUT}")
        options = str(folder), *BOARD_MEASURES, "--qrels", str(path), "--out", f"{name}/site"
        cost = run_module("momentrank", "board", *options)
        print(f"{runs} runs, {len(run):,} queries: {cost.cpu:.1f} CPU s, {cost.peak:.0f} MB")
        told = json.loads(Path(name, "site/board.json").read_text())["runs"][0]
        qrels_, run_ = read_qrels(path), load_run(folder / told["run"])
        values = calc_aggregate(list(map(parse_measure, BOARD_MEASURES)), qrels_, run_)
        if any(told["values"][repr(measure)] != value for measure, value in values.items()):
            raise SystemExit("the board's values are not those of the scorer")


def time_command(folder: str, *arguments: str) -> float:
    """Return the median CPU seconds of the whole command, once it is compiled."""
    compiled = f"{folder}/compiled"
    evaluate = partial(run_module, "momentrank.cli.main", "evaluate", *arguments)
    call = partial(evaluate, PYTHONPYCACHEPREFIX=compiled, PYTHONDONTWRITEBYTECODE="")
    return median([call(stdout=subprocess.DEVNULL).cpu for _ in range(ROUNDS + 1)][1:])


def main() -> None:
    """Print the ratio in memory, and the command's time."""
    options = parse_arguments(__doc__, queries=2781, peers=False, board=int)
    qrels, run = draw_collection(options.queries)
    if options.peers or options.board:
        return (
            compare_peers(qrels, run) if options.peers else measure_board(qrels, run, options.board)
        )
    assert_size("results", sum(map(len, run.values())), RESULTS * options.queries)
    ours = build_segments(qrels, run)
    measures = conventions.get(conventions.PAPER).defaults()
    fast, values = time_call(lambda: calc_aggregate(measures, *ours), 5, process_time)
    slow, expected = time_call(lambda: score_by_definition(qrels, run), 1, process_time)
    wrong = max(abs(value - expected[repr(measure)]) for measure, value in values.items())
    print(f"in memory: {fast:.2f} s of CPU, the definition {slow:.1f}; at most {wrong:.0e} apart")
    print(f"ratio {slow / fast:.0f} (goal 50)")
    frames = segments.qrels_frame(ours[0]), segments.run_frame(ours[1])
    framed, _ = time_call(lambda: calc_aggregate(measures, *frames), 5, process_time)
    print(f"from frames: {framed / fast:.2f} times that (goal 1.25)")
    with TemporaryDirectory() as folder:
        paths = write(Path(folder), qrels, run)
        size = sum(Path(path).stat().st_size for path in paths) / 1e6
        whole = time_command(folder, *paths)
    print(f"the command, from {size:.0f} MB of JSON to numbers: {whole:.2f} s of CPU (goal 1)")
    return None


if __name__ == "__main__":
    run(main)
