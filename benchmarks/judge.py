"""Judging by a vision-language model: how many pairs end correctly, what is bought, how fast.

    python -m benchmarks.judge [--pairs 2000] [--in-flight 32] [--latency 4] [--faults 0.1]
                               [--kills 3] [--frames 16] [--height 360]
                               [--shards 1] [--workers 0] [--engine local]

Real clips of 4 to 14 s (480p, 24 frames per second, H.264), each with two queries. The stand-in
server looks at the pictures it is sent and answers after `latency` seconds, a realistic time for a
large model and 16 pictures. The first run is with faults: every pair must end with the right level
or none, although the run is killed (-9) and restarted `kills` times, and nothing that arrived may
be bought twice. With several shards every other kill is that of a shard's process. The second run
is without faults: pairs per second compared with the ideal of `in-flight` / `latency`. Pictures are
read and examined on the same cores.
"""

import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import psutil

from benchmarks.numbered_clips import Plan, World, make_world
from benchmarks.script import parse_arguments
from pipeline.campaign.guideline import split_guideline
from pipeline.core import files
from pipeline.core.parallel import cores
from pipeline.core.sections import Engine, LanguageModel
from pipeline.judges.base import Answer, Pair
from pipeline.judges.clip_pictures import Look
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.judges.sharded_vision import ShardedVisionJudge
from pipeline.judges.vision import Options, Setup, VisionJudge
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint
from pipeline.llm.prompt import load_prompt
from pipeline.llm.retry import Policy

GOAL = 0.85
QUERIES = 2
DRAWN = 40
"""How many clips are cut; the others are copies under other names, read like any other."""
FAULTS = ("refused", "broken-json", "truncated", "429", "500", "cut", "missing")
GUIDELINE = Path("annotation/guideline/en.md")


@contextmanager
def serving(**script: object) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Run the stand-in server; yield its address and its process."""
    command = [sys.executable, "-m", "benchmarks.fake_openai", json.dumps(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else "", process
        finally:
            process.terminate()


def read_stats(url: str) -> dict[str, Any]:
    """Return what the server has seen."""
    connection = HTTPConnection(urlsplit(url).netloc)
    with closing(connection):
        connection.request("GET", "/v1/stats")
        stats: dict[str, Any] = json.load(connection.getresponse())
    return stats


def make_judge(
    url: str, cache: str, in_flight: int, look: Look, engine: dict[str, Any]
) -> VisionJudge:
    """Return a judge without effective limits, in shards if the engine has several."""
    settings = LanguageModel(
        model="stand-in",
        in_flight=in_flight,
        requests_per_minute=10**6,
        tokens_per_minute=10**10,
        max_output_tokens=500,
        output_limit="max_tokens",
        extra={},
        timeout=120.0,
        input_price=0.0,
        output_price=0.0,
        cache=cache,
    )
    prompt = load_prompt(JudgePrompt, Path("prompts/judge-v1.yaml"))
    guideline = split_guideline(GUIDELINE.read_text(encoding="utf-8"), GUIDELINE)
    setup = Setup(settings, prompt, guideline, Options(look))
    if engine["shards"] > 1:
        os.environ |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        return ShardedVisionJudge(setup, Engine(**engine))
    access = Access(Endpoint(url, "none"), Policy(tries=8, first=0.1, longest=2.0))
    return VisionJudge(setup, access)


def describe_engine(options: Namespace, folder: Path) -> dict[str, Any]:
    """Return what `Engine` has of a benchmark's options."""
    parts = {"folder": str(folder / "parts"), "address": None, "table_memory": 4.0}
    return {
        "kind": options.engine, "shards": options.shards, "workers": options.workers, **parts
    }  # fmt: skip


def run_judge(task: dict[str, Any]) -> None:
    """Judge in a separate process, which may be killed; print the answers as JSON."""
    files.write_json(Path(task["lead"]), os.getpid())
    judge = make_judge(
        task["url"], task["cache"], task["in_flight"], Look(*task["look"]), task["engine"]
    )
    pairs = [Pair(**pair | {"clip": Path(pair["clip"])}) for pair in task["pairs"]]
    json.dump(list(judge.judge(pairs)), sys.stdout)


def judge_and_kill(world: World, options: Namespace, folder: Path, url: str) -> list[Answer]:
    """Judge in processes, all but the last of which are killed while running."""
    lead = folder / "lead.json"
    content = {
        "lead": str(lead),
        "url": url,
        "cache": str(folder / "faulty"),
        "in_flight": options.in_flight,
        "look": [options.frames, options.height],
        "engine": describe_engine(options, folder),
        "pairs": [pair._asdict() | {"clip": str(pair.clip)} for pair in world.pairs()],
    }
    task = folder / "task.json"
    task.write_text(json.dumps(content), encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.judge", "--task", str(task)]
    for kill in range(options.kills):
        share = (kill + 1) / (options.kills + 1)
        lead.unlink(missing_ok=True)  # the last one's, which was killed
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            while not lead.exists() or read_stats(url)["answers"] < share * options.pairs:
                if run.poll() is not None:
                    raise SystemExit("judging ended before the kill")
                time.sleep(0.05)
            number = files.read_json(lead)
            os.kill(_find_shard(number) if kill % 2 else number, signal.SIGKILL)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [Answer(*row) for row in json.loads(done.stdout)]


def _find_shard(lead: int) -> int:
    """Return a child process of the lead that asks, or else the lead itself."""
    children = psutil.Process(lead).children()
    return next(
        (process.pid for process in children if "spawn_main" in " ".join(process.cmdline())), lead
    )


def count_ends(world: World, answers: list[Answer]) -> Counter[str]:
    """Return how pairs ended: right, wrong, or the reason why there is no level."""
    true = {(pair.query_id, pair.moment_id): world.level(pair) for pair in world.pairs()}
    ends = (
        answer.reason
        or ("right" if answer.level == true[answer.query_id, answer.moment_id] else "wrong")
        for answer in answers
    )
    return Counter(ends)


def measure_faults(world: World, options: Namespace, folder: Path, truth: Path) -> Counter[str]:
    """Print how pairs end with faults and kills, and what is bought."""
    script = {"truth": str(truth), "latency": min(0.5, options.latency), "hang": 5.0}
    with serving(**script, faults=options.faults, kinds=FAULTS) as (url, _):
        answers = judge_and_kill(world, options, folder, url)
        stats = read_stats(url)
    ends = count_ends(world, answers)
    again = stats["answers"] - stats["distinct"]
    lost = options.kills * options.in_flight
    print(f"{len(answers)} pairs, {options.faults:.0%} faults, {options.kills} kills: {dict(ends)}")
    print(f"{stats['answers']} answers, of which {again} a second time: at most the {lost} that"
          f" were in flight when it was killed; unseen: {stats['unseen']}")  # fmt: skip
    if ends["wrong"] or again > lost or len(answers) != options.pairs:
        raise SystemExit("wrong levels, or answers bought twice")
    return ends


def measure_speed(world: World, options: Namespace, folder: Path, truth: Path) -> float:
    """Print and return the throughput as a share of the ideal."""
    look, engine = Look(options.frames, options.height), describe_engine(options, folder)
    settings = (str(folder / "quick"), options.in_flight, look, engine)
    with serving(truth=str(truth), latency=options.latency) as (url, _):
        judge = make_judge(url, *settings)
        before, start = os.times(), time.perf_counter()
        answers = list(judge.judge(world.pairs()))
        took, after = time.perf_counter() - start, os.times()
        again = time.perf_counter()
        list(make_judge(url, *settings).judge(world.pairs()))
        stats = read_stats(url)
        again = time.perf_counter() - again
    own = after.user + after.system - before.user - before.system
    children = after.children_user + after.children_system
    children -= before.children_user + before.children_system
    ideal = options.pairs * options.latency / options.in_flight
    pictures = sum(answer.frames for answer in answers)
    print(f"{len(answers)} pairs, {pictures} pictures of {len(world.clips)} clips in {took:.1f} s:"
          f" {len(answers) / took:.2f} pairs/s on {cores()} cores")  # fmt: skip
    print(f"ideal {ideal:.1f} s ({options.latency:g} s latency, {options.in_flight} in flight);"
          f" ratio {ideal / took:.3f} (goal {GOAL})")  # fmt: skip
    print(f"CPU seconds: judge {own:.1f}, ffmpeg and shards {children:.1f}")
    print(f"{stats['answers'] - stats['distinct']} answers bought twice; at most"
          f" {stats['max_in_flight']} in flight")  # fmt: skip
    print(f"rerun, all from the cache: {again:.1f} s")
    if count_ends(world, answers) != {"right": options.pairs}:
        raise SystemExit("wrong levels")
    return float(ideal / took)


def main() -> None:
    """Print how pairs end, and the throughput."""
    options = parse_arguments(
        __doc__, pairs=2000, in_flight=32, latency=4.0, faults=0.1, kills=3, frames=16,
        height=360, seconds=60.0, shards=1, workers=0, engine="local", task=Path,
    )  # fmt: skip
    if options.task:
        run_judge(json.loads(options.task.read_bytes()))
        return
    clips = max(1, options.pairs // QUERIES)
    distinct = min(DRAWN, clips)
    options.pairs = QUERIES * (clips - clips % distinct)
    plan = Plan(
        videos=3, seconds=options.seconds, clips=distinct, queries=QUERIES, size=(854, 480), fps=24,
        shortest=4, longest=14,
    )  # fmt: skip
    with TemporaryDirectory() as name:
        folder = Path(name)
        world = make_world(folder, plan, clips // distinct)
        truth = world.write_truth(folder / "truth.json")
        sizes = [path.stat().st_size for path in world.clips.values()]
        print(f"{len(sizes)} clips of {sum(sizes) / len(sizes) / 1e3:.0f} KB on average")
        measure_faults(world, options, folder, truth)
        measure_speed(world, options, folder, truth)


if __name__ == "__main__":
    main()
