"""Rewriting by LLM against the ideal, which has every place in flight always taken.

    python -m benchmarks.rewrite [--requests 3600] [--in-flight 32] [--latency 0.2]

The stand-in server runs in a process of its own and takes `latency` seconds for each answer;
nothing fails and no limit is felt. The time is that of the whole call: planning, asking,
reading, keeping every answer on disk.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.fake_openai.answers import caption_of
from pipeline.captions.llm_rewriter import LlmRewriter
from pipeline.captions.rewriter import Moment
from pipeline.core.params import OpenAI
from pipeline.llm.client import Endpoint
from pipeline.llm.prompt import load

PER_REQUEST = 20
REQUESTS = 3600
"""About as many as the captions of a whole TVR take, 72,842 of them."""
GOAL = 0.85


@contextmanager
def serving(latency: float) -> Iterator[str]:
    """Run the stand-in server; give its address."""
    script = json.dumps({"latency": latency})
    command = [sys.executable, "-m", "benchmarks.fake_openai", "--script", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def rewriter(url: str, in_flight: int, cache: str) -> LlmRewriter:
    """Return a rewriter that no limit holds back."""
    settings = OpenAI(
        model="stand-in",
        mode="online",
        per_request=PER_REQUEST,
        in_flight=in_flight,
        requests_per_minute=10**6,
        tokens_per_minute=10**10,
        batch_tokens=10**6,
        output_limit="max_tokens",
        extra={},
        max_output_tokens=2048,
        timeout=60.0,
        input_price=0.0,
        output_price=0.0,
        cache=cache,
    )
    prompt = load(Path("prompts/rewrite-v1.yaml"))
    return LlmRewriter(settings, prompt, endpoint=Endpoint(url, "none"))


def timed(llm: LlmRewriter, items: list[Moment]) -> float:
    """Return the seconds that rewriting takes, if it is right."""
    start = time.perf_counter()
    drafts = list(llm.rewrite(items, 0))
    seconds = time.perf_counter() - start
    wrong = [draft for draft, item in zip(drafts, items, strict=True)
             if draft.caption != caption_of(item.description)]  # fmt: skip
    if wrong:
        raise SystemExit(f"{len(wrong)} wrong captions, the first: {wrong[0]}")
    return seconds


def main() -> None:
    """Print the throughput, the ideal, and their ratio; then a rerun from the cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.2)
    options = parser.parse_args()
    number = options.requests * PER_REQUEST
    items = [Moment(str(n), f"Nora hands Omar letter {n} and leaves.") for n in range(number)]
    ideal = options.in_flight / options.latency
    with serving(options.latency) as url, TemporaryDirectory() as cache:
        took = timed(rewriter(url, options.in_flight, cache), items)
        again = timed(rewriter(url, options.in_flight, cache), items)
    reached = options.requests / took
    print(f"{reached:.1f} requests/s, {reached * PER_REQUEST:.0f} captions/s in {took:.1f} s")
    print(f"ideal {ideal:.1f} requests/s; ratio {reached / ideal:.3f} (goal {GOAL})")
    print(f"again, all of it from the cache: {again:.1f} s")


if __name__ == "__main__":
    main()
