"""Judges: levels for what the stand-in sees, from a given truth distorted by a confusion.

The truth is a JSON file:

    {"fps": 12, "tolerance": 0.0, "paths": {video: its file},
     "moments": [[moment_id, video, start, end], ...],
     "levels": {query: {moment_id: level}}, "similar": {query: {moment_id: level}},
     "captions": {caption: moment_id}}

`levels` are true; `similar` are those of a judge that looks at no pictures, only at the similarity
of query and caption. A judge that is shown a description instead of pictures judges by it.
"""

import json
import math
import random
from functools import cache
from pathlib import Path
from typing import Any

from support.fake_openai.eyes import Eyes, Moment, Shot, UnseenError, read_shots
from support.fake_openai.script import Json

KINDS = ("exact", "good", "lenient", "similarity", "three")
_DECODER = json.JSONDecoder()
_STEPS = {"good": ((-1, 0.08), (0, 0.82), (1, 0.1)), "lenient": ((0, 0.25), (1, 0.6), (2, 0.15))}
"""How far off such a judge is, and how often."""


class Truth:
    """The truth that the stand-in knows."""

    def __init__(self, content: Json) -> None:
        self.levels: dict[str, dict[str, int]] = content["levels"]
        self.similar: dict[str, dict[str, int]] = content.get("similar", {})
        self.captions: dict[str, str] = content.get("captions", {})
        moments = [Moment(*one) for one in content["moments"]]
        tolerance, paths = content.get("tolerance", 0.0), content.get("paths", {})
        self.eyes = Eyes(moments, content["fps"], tolerance, paths)

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


def judge(truth: Truth, kind: str, seed: int, body: Json) -> tuple[int | None, str]:
    """Return the level of the pair in a request, and the reason; no level for other requests."""
    parts = body["messages"][-1]["content"]
    query = _find_value(parts, "query")
    if query not in truth.levels:
        return None, "This query is nobody's."
    try:
        moment, is_seen = truth.find_moment(parts, query)
    except UnseenError as unseen:
        return None, f"I can't judge {unseen}."
    kind = kind if is_seen or kind == "three" else "similarity"
    words = f"{seed} {kind} {query} {moment} {body.get('seed')}"
    level = _confuse(truth, kind, query, moment, random.Random(words))
    return level, f"I see {moment}."


def _confuse(truth: Truth, kind: str, query: str, moment: str, chance: random.Random) -> int | None:
    if kind == "three":
        return 3
    if kind == "similarity":
        return truth.similar[query].get(moment)
    level = truth.levels[query].get(moment)
    if level is None or kind == "exact":
        return level
    steps, weights = zip(*_STEPS[kind], strict=True)
    return min(4, max(0, level + int(chance.choices(steps, weights)[0])))


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
