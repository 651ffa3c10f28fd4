"""A real server on this machine, and a rewriter that asks it."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest
from model_server import KEY, QUICK, serving

from pipeline.captions.llm_rewriter import LlmRewriter
from pipeline.captions.rewrite_prompt import load
from pipeline.captions.rewriter import Moment
from pipeline.core.sections import OpenAI
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint

SETTINGS = OpenAI(
    model="stand-in",
    per_request=20,
    in_flight=8,
    requests_per_minute=1_000_000,
    tokens_per_minute=1_000_000_000,
    max_output_tokens=1000,
    output_limit="max_tokens",
    extra={},
    timeout=5.0,
    input_price=1.0,
    output_price=10.0,
    cache=".cache/llm",
)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """What listens on this machine is asked without a proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def serve():
    """Return a function that starts a server with a script."""
    with serving() as serve:
        yield serve


@pytest.fixture
def prompt(repository):
    return load(repository / "prompts" / "rewrite-v1.yaml")


@pytest.fixture
def rewriter(prompt, tmp_path):
    """Return a function that makes a rewriter for a server, with changed settings."""

    def _rewriter(server, *, policy=QUICK, window=60.0, key=KEY, **settings):
        settings = {"cache": str(tmp_path / "cache"), **settings}
        return LlmRewriter(
            SETTINGS.model_copy(update=settings),
            prompt,
            Access(
                Endpoint(getattr(server, "url", server) or "http://127.0.0.1:9/v1", key),
                policy,
                window,
            ),
        )

    return _rewriter


@pytest.fixture
def replying(httpserver, rewriter):
    """Return a function that makes a rewriter for a server with one reply to everything."""

    def _replying(reply, status=200, **settings):
        content = reply if isinstance(reply, bytes) else json.dumps(reply)
        expected = httpserver.expect_request("/v1/chat/completions")
        expected.respond_with_data(content, status, content_type="application/json")
        return rewriter(httpserver.url_for("/v1"), **settings)

    return _replying


@pytest.fixture
def items():
    """Return a function that makes some items."""
    return lambda number, start=0: [
        Moment(f"m{n}", f"Nora{n} gives Omar{n % 7} the letter number {n}.")
        for n in range(start, start + number)
    ]


PROGRAM = """
import json, sys
from pathlib import Path
from pipeline.captions import rewrite_prompt as prompts
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint
from pipeline.llm.dispatcher import Policy
from pipeline.core.sections import OpenAI
from pipeline.captions.llm_rewriter import LlmRewriter
from pipeline.captions.rewriter import Moment

payload = json.loads(sys.argv[1])
rewriter = LlmRewriter(
    OpenAI(**payload["settings"]),
    prompts.load(Path(payload["prompt"])),
    Access(
        Endpoint(payload["url"], "sk-secret-0123456789"),
        Policy(tries=8, first=0.02, longest=0.2),
    ),
)
items = [Moment(*item) for item in payload["items"]]
print(json.dumps([list(rewriter.rewrite(items, 0)), rewriter.spent.metrics()]))
"""


@pytest.fixture
def start(repository, tmp_path):
    """Return a context that runs a rewriter in a process of its own."""

    @contextmanager
    def _start(server, items, **settings):
        payload = {
            "settings": {**SETTINGS.model_dump(), "cache": str(tmp_path / "cache"), **settings},
            "prompt": str(repository / "prompts" / "rewrite-v1.yaml"),
            "url": server.url,
            "items": items,
        }
        command = [sys.executable, "-c", PROGRAM, json.dumps(payload)]
        process = subprocess.Popen(
            command, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            process.communicate()

    return _start


@pytest.fixture
def until():
    """Return a function that waits for a condition."""

    def _until(condition, seconds=60.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never came about"
            time.sleep(0.005)

    return _until
