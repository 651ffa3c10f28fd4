"""Chat completions, with the script's faults."""

import hashlib
import json
import math
import time

from support.fake_openai.judges import find_query, is_about_a_clip, judge, load_truth, logprobs
from support.fake_openai.script import Json, Reply, Script, error, of_json

BAD_LEVELS = ("missing", "extra", "twice", "empty")
"""Faults of captions; in an answer with a level, the level is invalid instead."""


GATEWAY = {
    "error-in-body": of_json({"error": "The gateway has lost its model"}),
    "rejected": error(400, "invalid_request_error", "This can't be asked"),
    "500": error(500, "server_error", "The server had an error"),
}
"""Replies that are no answers, by fault."""
WITHOUT_CONTENT: dict[str, Json] = {
    "refused": {"refusal": "I can't help with that."},
    "filtered": {"finish": "content_filter"},
    "thoughts": {"finish": "length", "reasoning_content": "Hm. They ask for"},
    "tools": {"finish": "tool_calls", "tool_calls": [{"id": "1"}]},
}
"""Completions without content, by fault."""


def caption_of(description: str) -> str:
    """Return this server's caption of a description."""
    return f"Someone does {hashlib.sha256(description.encode()).hexdigest()[:16]}."


def parse_descriptions(body: Json) -> list[Json]:
    """Return the descriptions in the last message, with their ids."""
    if is_about_a_clip(body):
        return []
    lines = body["messages"][-1]["content"].split("\n")
    return [json.loads(line) for line in lines if line.startswith("{")]


def prompt_tokens(body: Json, picture_tokens: int = 0) -> int:
    """Count the tokens of a request as this server does."""
    contents: list[str | list[Json]] = [message["content"] for message in body["messages"]]
    texts = [one for one in contents if isinstance(one, str)]
    parts = [part for one in contents if not isinstance(one, str) for part in one]
    texts += [part["text"] for part in parts if part["type"] == "text"]
    pictures = sum(1 for part in parts if part["type"] == "image_url")
    return sum(math.ceil(len(text) / 4) for text in texts) + picture_tokens * pictures


def answer(script: Script, body: Json, fault: str) -> Reply:
    """Return the answer to a request."""
    items = parse_descriptions(body)
    asked = [item["description"] for item in items] or [find_query(body)]
    if script.poison and any(script.poison in text for text in asked):
        fault = script.spoilt
    if script.only_completion_tokens and "max_tokens" in body:
        message = (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return error(400, "unsupported_parameter", message)
    if fault == "429":
        wait = ("Retry-After", str(script.retry_after))
        return error(429, "rate_limit_exceeded", "Somebody else was faster", wait)
    if fault in GATEWAY:
        return GATEWAY[fault]
    return of_json(_answer(script, body, items, fault))._replace(cut=fault == "cut")


def _answer(script: Script, body: Json, items: list[Json], fault: str) -> Json:
    used = prompt_tokens(body, script.picture_tokens)
    if fault in WITHOUT_CONTENT:
        return _completion(body, used, None, **WITHOUT_CONTENT[fault])
    if is_about_a_clip(body):
        return _level(script, body, used, fault)
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
    content = _wrap(json.dumps({"captions": captions}), script.wrapping)
    content = _spoil(content, fault)
    return _completion(body, used, content, _finish(fault))


def _level(script: Script, body: Json, used: int, fault: str) -> Json:
    """Return the level of a clip for a query."""
    level, reason = judge(load_truth(script.truth), body)
    told = {"level": 7 if fault in BAD_LEVELS else level, "reason": reason}
    content = _spoil(json.dumps(told), fault)
    completion = _completion(body, used, content, _finish(fault))
    if script.logprobs and body.get("logprobs"):
        completion["choices"][0]["logprobs"] = logprobs(content, level)
    return completion


def _spoil(content: str, fault: str) -> str:
    return content[: len(content) // 2] if fault in {"broken-json", "truncated"} else content


def _finish(fault: str) -> str:
    return {"truncated": "length", "stopped": "Recitation!"}.get(fault, "stop")


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
    body: Json, read: int, content: str | None, finish: str = "stop", **message: object
) -> Json:
    """Return a chat completion; `read` is how many tokens were sent, `message` more fields."""
    tokens = len(content or "") // 4 + 1
    used = {"prompt_tokens": read, "completion_tokens": tokens}
    message = {"role": "assistant", "content": content, "refusal": None} | message
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": used | {"total_tokens": sum(used.values())},
    }
