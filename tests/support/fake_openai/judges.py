"""Levels for what the stand-in sees, from a given truth.

The truth is a JSON file:

    {"fps": 12, "tolerance": 0.0, "moments": [[moment_id, video, start, end], ...],
     "levels": {query: {moment_id: level}}, "similar": {query: {moment_id: level}},
     "captions": {caption: moment_id}}

`levels` are for pictures; `similar` for a description that is shown instead of pictures.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from support.fake_openai.eyes import Eyes, Moment, Shot, UnseenError, read_shots
from support.fake_openai.script import Json

_DECODER = json.JSONDecoder()


class Truth:
    """The truth that the stand-in knows."""

    def __init__(self, content: Json) -> None:
        self.levels: dict[str, dict[str, int]] = content["levels"]
        self.similar: dict[str, dict[str, int]] = content.get("similar", {})
        self.captions: dict[str, str] = content.get("captions", {})
        moments = [Moment(*one) for one in content["moments"]]
        self.eyes = Eyes(moments, content["fps"], content.get("tolerance", 0.0))

    def find_moment(self, parts: list[Json], query: str) -> tuple[str, bool]:
        """Return the moment that a message shows, and whether pictures show it.

        Of moments that show the same, it is the one for which the query has a level.
        """
        shots: list[Shot] = read_shots(parts)
        if shots:
            found = self.eyes.find_moments(shots)
            return next((one for one in found if one in self.levels[query]), found[0]), True
        caption = _find_value(parts, "description")
        if caption not in self.captions:
            raise UnseenError("neither pictures nor a description that is known")
        return self.captions[caption], False


@cache
def load_truth(path: str) -> Truth:
    """Read the truth, once."""
    return Truth(json.loads(Path(path).read_bytes()))


def is_about_a_clip(body: Json) -> bool:
    """Return whether a request asks for the level of a clip."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return "level" in schema.get("properties", {})


def find_query(body: Json) -> str:
    """Return the query of the pair in a request; empty for other requests."""
    return _find_value(body["messages"][-1]["content"], "query") if is_about_a_clip(body) else ""


def judge(truth: Truth, body: Json) -> tuple[int | None, str]:
    """Return the level of the pair in a request, and the reason; no level for other requests."""
    parts = body["messages"][-1]["content"]
    query = _find_value(parts, "query")
    if query not in truth.levels:
        return None, "This query is nobody's."
    try:
        moment, is_seen = truth.find_moment(parts, query)
    except UnseenError as unseen:
        return None, f"I can't judge {unseen}."
    levels = truth.levels if is_seen else truth.similar
    return levels[query].get(moment), f"I see {moment}."


def _find_value(parts: list[Json], key: str) -> str:
    """Return the value of a key in a line of JSON among the last texts of a message."""
    for part in reversed(parts):
        text = part.get("text", "")
        start = text.find(f'{{"{key}": ')
        if start >= 0:
            return str(_DECODER.raw_decode(text, start)[0][key])
    return ""


def logprobs(content: str, level: int | None) -> Json:
    """Return log-probabilities of an answer's tokens, one per character, highest at the level."""
    tokens: list[dict[str, Any]] = [{"token": one, "logprob": -0.01} for one in content]
    at = content.find('"level": ') + len('"level": ')
    if level is not None:
        shares = {other: 0.7 if other == level else 0.075 for other in range(5)}
        tokens[at]["logprob"] = math.log(shares[level])
        tokens[at]["top_logprobs"] = [
            {"token": str(other), "logprob": math.log(share)} for other, share in shares.items()
        ]
    return {"content": tokens}
