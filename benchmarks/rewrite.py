"""Throughput of rewriting with an LLM, compared with the ideal of full concurrency throughout.

    python -m benchmarks.rewrite [--requests 3600] [--in-flight 32] [--latency 0.2]

The stand-in server runs in its own process and takes `latency` seconds per answer, without faults
or limits, and counts its answers. The time covers the whole call: planning, requests, parsing and
caching on disk.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from support.fake_openai.answers import caption_of
from support.fake_openai.process import read_stats, serving

from benchmarks.script import assert_size, parse_arguments, run, time_call
from pipeline.captions.llm_rewriter import LlmRewriter
from pipeline.captions.rewrite_prompt import load
from pipeline.captions.rewriter import Moment
from pipeline.core import params
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint

PER_REQUEST = 20
REQUESTS = 3600
"""About as many as TVR's 72,842 captions need."""
GOAL = 0.85


def rewriter(url: str, in_flight: int, cache: str) -> LlmRewriter:
    """Return a rewriter without effective limits."""
    free = {"requests_per_minute": 10**6, "tokens_per_minute": 10**10, "in_flight": in_flight}
    own = {"model": "stand-in", "per_request": PER_REQUEST, "cache": cache}
    settings = params.load().rewrite.openai.model_copy(update=free | own)
    prompt = load(Path("prompts/rewrite-v1.yaml"))
    return LlmRewriter(settings, prompt, Access(Endpoint(url, "none")))


def time_rewriting(llm: LlmRewriter, items: list[Moment]) -> float:
    """Return the seconds of rewriting, whose captions must be right."""
    seconds, drafts = time_call(lambda: list(llm.rewrite(items, 0)))
    wrong = [draft for draft, item in zip(drafts, items, strict=True)
             if draft.caption != caption_of(item.description)]  # fmt: skip
    if wrong:
        raise SystemExit(f"{len(wrong)} wrong captions, the first: {wrong[0]}")
    return seconds


def main() -> None:
    """Print the throughput, the ideal, and their ratio; then a rerun from the cache."""
    options = parse_arguments(__doc__, requests=REQUESTS, in_flight=32, latency=0.2)
    number = options.requests * PER_REQUEST
    items = [Moment(str(n), f"Nora hands Omar letter {n} and leaves.") for n in range(number)]
    ideal = options.in_flight / options.latency
    with serving(latency=options.latency) as url, TemporaryDirectory() as cache:
        took = time_rewriting(rewriter(url, options.in_flight, cache), items)
        again = time_rewriting(rewriter(url, options.in_flight, cache), items)
        assert_size("answers", read_stats(url)["answers"], options.requests)  # none for the rerun
    reached = options.requests / took
    print(f"{reached:.1f} requests/s, {reached * PER_REQUEST:.0f} captions/s in {took:.1f} s")
    print(f"ideal {ideal:.1f} requests/s; ratio {reached / ideal:.3f} (goal {GOAL})")
    print(f"rerun, all from the cache: {again:.1f} s")


if __name__ == "__main__":
    run(main)
