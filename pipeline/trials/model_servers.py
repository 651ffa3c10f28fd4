"""OpenAI's own endpoint, vLLM and Ollama: three descriptions, rewritten as `rewrite` does."""

import os
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.core.sections import OpenAI
from pipeline.trials.base import Inputs, Met, NotMetError, Trial, host_of

DESCRIPTIONS = (
    "Hannah pours coffee for Simon and sits down on the couch.",
    "Marlow and Delaney walk into the room.",
    "Stone throws the ball against the wall of Stone's office.",
)
NAMES = ("Hannah", "Simon", "Marlow", "Delaney", "Stone")
MODEL = "OPENAI_MODEL"


def try_openai(inputs: Inputs) -> Met:
    """Rewrite with OpenAI's own endpoint; OPENAI_MODEL names another model than the settings.

    Raises:
        UsageError: there is no key.
        LLMError: the server can't be reached, or refuses.
        NotMetError: OPENAI_BASE_URL names another server, or an answer is wrong.
    """
    from pipeline.llm.client import DEFAULT_URL, Endpoint  # noqa: PLC0415  (--help needs none)

    endpoint = Endpoint.from_environment()
    if host_of(endpoint.url) != host_of(DEFAULT_URL):
        raise NotMetError(f"OPENAI_BASE_URL is {host_of(endpoint.url)}, which is not OpenAI's")
    model = os.environ.get(MODEL) or inputs.paper.rewrite.openai.model
    return rewrite(inputs, model, model, host_of(endpoint.url))


def try_own_server(inputs: Inputs, name: str, path: str, owner: str) -> Met:
    """Rewrite with a server at OPENAI_BASE_URL that says itself that it is `name`.

    `path` is where it tells its version, `owner` what it calls the owner of its models.

    Raises:
        UsageError: there is no key (any text will do).
        LLMError: it refuses.
        NotMetError: it can't be reached, is another server, or an answer is wrong.
    """
    from pipeline.llm.client import DEFAULT_URL, Endpoint  # noqa: PLC0415  (--help needs none)

    endpoint = Endpoint.from_environment()
    if endpoint.url == DEFAULT_URL:
        raise NotMetError(f"set OPENAI_BASE_URL to {name}'s address: http://host:port/v1")
    endpoint.require_key()
    headers = {"Authorization": f"Bearer {endpoint.key}"}
    version = _get(f"{endpoint.url.removesuffix('/v1')}{path}", headers, name).get("version")
    models = _get(f"{endpoint.url}/models", headers, name).get("data") or []
    if not version or not models or {model.get("owned_by") for model in models} != {owner}:
        raise NotMetError(f"{host_of(endpoint.url)} does not say that it is {name}")
    model = os.environ.get(MODEL) or str(models[0]["id"])
    return rewrite(inputs, model, f"{name} {version}, {model}", host_of(endpoint.url))


def _get(url: str, headers: dict[str, str], name: str) -> dict[str, Any]:
    import httpx  # noqa: PLC0415  (--help needs none)

    try:
        answer = httpx.get(url, headers=headers, timeout=30).raise_for_status().json()
    except (httpx.HTTPError, ValueError) as exc:
        raise NotMetError(f"{host_of(url)} does not answer as {name} does ({exc})") from exc
    return answer if isinstance(answer, dict) else {}


def rewrite(inputs: Inputs, model: str, version: str, where: str) -> Met:
    """Rewrite the descriptions in one request, and check that no name is left.

    Raises:
        UsageError, LLMError: as `LlmRewriter.rewrite`.
        NotMetError: a description was not rewritten, or a name is left.
    """
    from pipeline.captions import rewrite_prompt  # noqa: PLC0415  (--help needs none)
    from pipeline.captions.llm_rewriter import LlmRewriter  # noqa: PLC0415
    from pipeline.captions.rewriter import OK, Moment, Rewrite  # noqa: PLC0415
    from pipeline.llm.asker import Access  # noqa: PLC0415
    from pipeline.llm.dispatcher import Policy  # noqa: PLC0415

    prompt = rewrite_prompt.load(Path(inputs.paper.rewrite.prompt))
    moments = [Moment(str(number), text) for number, text in enumerate(DESCRIPTIONS)]
    with tempfile.TemporaryDirectory() as cache:
        settings = _settings(inputs, model, cache)
        llm = LlmRewriter(settings, prompt, Access(policy=Policy(tries=2)))
        drafts: Sequence[Rewrite] = list(llm.rewrite(moments, 0))
    if failed := [draft.outcome for draft in drafts if draft.outcome != OK]:
        raise NotMetError(f"{model}: {len(failed)} of {len(drafts)} got no caption: {failed[0]}")
    if left := [name for name in NAMES if any(name in str(draft.caption) for draft in drafts)]:
        raise NotMetError(f"{model}: left the name {left[0]} in a caption")
    tokens = llm.spent.tokens_in + llm.spent.tokens_out
    result = f"{len(drafts)} of {len(drafts)} descriptions without their names, {tokens} tokens"
    return Met(version, where, result)


def _settings(inputs: Inputs, model: str, cache: str) -> OpenAI:
    return inputs.paper.rewrite.openai.model_copy(update={"model": model, "cache": cache})


_COST = "one request of about 1,000 tokens to the server at OPENAI_BASE_URL"
TRIALS = (
    Trial(
        "openai", "OpenAI's endpoint", "one request of about 1,000 tokens: below a cent", try_openai
    ),
    Trial(
        "vllm", "vLLM", _COST,
        partial(try_own_server, name="vLLM", path="/version", owner="vllm"),
    ),
    Trial(
        "ollama", "Ollama", _COST,
        partial(try_own_server, name="Ollama", path="/api/version", owner="library"),
    ),
)  # fmt: skip
