"""A real server on this machine, and a rewriter that asks it."""

import json

import pytest
from model_server import ASKING, KEY, QUICK, serving

from pipeline.captions.llm_rewriter import LlmRewriter
from pipeline.captions.rewrite_prompt import load
from pipeline.captions.rewriter import Moment
from pipeline.core.sections import OpenAI
from pipeline.llm.asker import Access
from pipeline.llm.client import Endpoint

SETTINGS = OpenAI(**ASKING, per_request=20, max_output_tokens=1000, timeout=5.0, cache=".cache/llm")


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
