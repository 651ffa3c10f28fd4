"""Chat completions, with faults as the script says."""

import hashlib
import json
import math
import time

from benchmarks.fake_openai.script import Json, Reply, Script, error, of_json


def caption_of(description: str) -> str:
    """Return this server's caption of a description."""
    return f"Someone does {hashlib.sha256(description.encode()).hexdigest()[:16]}."


def parse_descriptions(body: Json) -> list[Json]:
    """Return the descriptions in the last message, with their ids."""
    lines = body["messages"][-1]["content"].split("\n")
    return [json.loads(line) for line in lines if line.startswith("{")]


def prompt_tokens(body: Json) -> int:
    """Count the tokens of a request as this server does."""
    return sum(math.ceil(len(message["content"]) / 4) for message in body["messages"])


def answer(script: Script, body: Json, fault: str) -> Reply:
    """Return the answer to a request."""
    items = parse_descriptions(body)
    if script.poison and any(script.poison in item["description"] for item in items):
        fault = script.spoilt
    if script.only_completion_tokens and "max_tokens" in body:
        message = (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return error(400, "unsupported_parameter", message)
    if fault == "429":
        wait = ("Retry-After", str(script.retry_after))
        return error(429, "rate_limit_exceeded", "Somebody else was faster", wait)
    if fault == "500":
        return error(500, "server_error", "The server had an error")
    if fault == "rejected":
        return error(400, "invalid_request_error", "This can't be asked")
    return of_json(_answer(body, items, fault, script.wrapping))._replace(cut=fault == "cut")


def _answer(body: Json, items: list[Json], fault: str, wrapping: str) -> Json:
    if fault == "refused":
        return _completion(body, None, refusal="I can't help with that.")
    if fault == "filtered":
        return _completion(body, None, "content_filter")
    captions = [{"id": one["id"], "caption": caption_of(one["description"])} for one in items]
    if fault == "reordered":
        captions.reverse()
    if fault == "missing":
        captions.pop()
    if fault == "extra":
        captions.append({"id": "zzzz", "caption": "Nobody."})
    if fault == "twice":
        captions[-1] = captions[0] if len(captions) > 1 else {"id": "zzzz", "caption": "Nobody."}
    if fault == "empty":
        captions[0]["caption"] = " "
    content = _wrap(json.dumps({"captions": captions}), wrapping)
    if fault in {"broken-json", "truncated"}:
        content = content[: len(content) // 2]
    return _completion(body, content, "length" if fault == "truncated" else "stop")


def _wrap(content: str, wrapping: str) -> str:
    """Return an answer as models without a JSON schema may send it."""
    draft = json.dumps({"captions": [{"id": "first", "caption": "A draft."}]})
    return {
        "": content,
        "fenced": f"```json\n{content}\n```",
        "talks": f"Sure! Here are the {{captions}}:\n\n{content}\n\nTell me if you need more {{:",
        "thinks": f"<think>\nThe user asks for captions, say {draft}?\n</think>\n\n{content}",
        "drafts": f"First a draft: {draft}\nThen the answer: {content}",
        "prose": "I am afraid that I cannot put this in the form that you asked for.",
    }[wrapping]


def _completion(
    body: Json, content: str | None, finish: str = "stop", refusal: str | None = None
) -> Json:
    """Return a chat completion."""
    tokens = len(content or "") // 4 + 1
    used = {"prompt_tokens": prompt_tokens(body), "completion_tokens": tokens}
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": used | {"total_tokens": sum(used.values())},
    }
