"""The annotator's page: Label Studio's configuration, task data, the meaning of answers.

Paper, section 3.3. Everything here is pure except for reading label_config.xml.
"""

import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args
from urllib.parse import unquote
from xml.sax.saxutils import quoteattr

from annotation.label_studio.guideline import Guideline
from annotation.label_studio.records import Purpose
from pipeline.campaign.guideline import CANT_JUDGE, Labels, LevelNumber, ReasonName
from pipeline.campaign.pairs import HASH_DIGITS

CONFIG = Path(__file__).parent.parent / "label_config.xml"
LEVEL, REASON = "level", "reason"
REMARKS: Mapping[Purpose, Sequence[str]] = {
    "feedback": ("truth", "before"),
    "adjudication": ("votes",),
}
"""What the tasks of a purpose show between query and clip: fields of their data."""

NO_KEY = "ctrl+alt+shift+f12"
"""A key that nobody presses: a choice without one gets the next digit from Label Studio."""
UNKNOWN_TEXT = ("bad-level", "bad-reason", "both")
"""Problems of an answer whose texts are not this version's."""
_PLACEHOLDER = re.compile(r"<!-- (\w+) -->|\{\{ (\w+) \}\}")
"""Where label_config.xml is filled in."""
ALOUD = ".sound.mp4"
"""The suffix of a clip with sound (`pipeline.video.cutter.ClipFormat`)."""
_SOURCE = re.compile(r' src="([^"]*)"')


class Answer(NamedTuple):
    """An annotator's answer to a pair: a level, a reason for having none, or a problem.

    `problem` is one of the reasons of `tables.REJECTED_JUDGMENTS`.
    """

    level: LevelNumber | None = None
    reason: ReasonName | None = None
    problem: str | None = None


def label_config(guide: Guideline, purpose: Purpose = "campaign") -> str:
    """Return the labelling configuration (XML) for Label Studio.

    A project's tasks have a field for each remark of its purpose (`REMARKS`).
    """
    parts = {
        "levels": "".join(
            _choice(level.name, str(number), level.meaning)
            for number, level in sorted(guide.levels.items())
        ),
        "reasons": "".join(_choice(reason.name, reason.key) for reason in guide.reasons.values()),
        "guideline": f'<HyperText name="guideline" inline="true" value={quoteattr(guide.html)}/>',
        "remarks": "".join(
            f'<Header value="${name}" size="5"/>' for name in REMARKS.get(purpose, ())
        ),
        "sha": f'<Choice value="{guide.sha}" selected="true" hotkey="{NO_KEY}"/>',
    }
    words = {name: quoteattr(text) for name, text in guide.page.model_dump().items()}
    text = CONFIG.read_text(encoding="utf-8").strip()  # as Label Studio keeps it
    return _PLACEHOLDER.sub(lambda match: parts[match[1]] if match[1] else words[match[2]], text)


def _choice(text: str, key: str, hint: str = "") -> str:
    """Return a choice without an alias: what is stored is the text that was shown."""
    values = {"value": text, "hotkey": key, "hint": hint}
    return f"<Choice {' '.join(f'{k}={quoteattr(v)}' for k, v in values.items() if v)}/>"


def clip_html(url: str) -> str:
    """Return the HTML of a clip: it plays immediately, in a loop, silently unless it has sound.

    `url` is an address, or a path on Label Studio's own server; anything but a GIF is a video. A
    browser may not play one with sound until the user has clicked or pressed a key on the page.
    """
    source, path = html.escape(url), _path(url).lower()
    if path.endswith(".gif"):
        return f'<img src="{source}" alt="">'
    muted = "" if path.endswith(ALOUD) else "muted "
    return f'<video src="{source}" autoplay loop {muted}playsinline controls></video>'


def instruction(guide: Guideline, done: int, left: int) -> str:
    """Return what an annotator sees on opening the page: their progress, then the guideline."""
    progress = guide.page.progress.format(done=f"{done:,}", left=f"{left:,}")
    return f"<p><strong>{html.escape(progress)}</strong></p>\n{guide.html}"


def _path(url: str) -> str:
    """Return the part that names a file: Label Studio puts its own files in `?d=`."""
    parts = url.partition("#")[0]
    path, _, query = parts.partition("?")
    return query if path.endswith("/local-files/") else path


def clip_of(shown: str) -> str | None:
    """Return the name, without suffix, of the clip in `clip_html` output; None for other HTML."""
    source = _SOURCE.search(shown)
    url = html.unescape(source[1]) if source else ""
    if clip_html(url) != shown:
        return None
    name = unquote(_path(url).rpartition("/")[2])
    return name.rpartition(".")[0] or name


def digest(query: str, shown: str) -> str:
    """Return the hash of everything a task shows: the query, and the HTML around its clip."""
    text = json.dumps([query, shown])
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


def task_data(query: str, clip_url: str, key: str) -> dict[str, str]:
    """Return a task's data: what an annotator sees, and our key. The caption is not in it."""
    return {"query": query, "clip_html": clip_html(clip_url), "pair": key}


def read_answer(result: object, labels: Labels) -> Answer:
    """Return what an annotation's `result` says; never a level if anything is wrong with it.

    An answer is exactly one level, or "can't judge" and exactly one reason; `labels` are the texts
    of the page's choices.
    """
    if not isinstance(result, list):
        return Answer(problem="malformed")
    regions = [region for region in result if _guideline_sha(region) is None]
    if not regions:
        return Answer(problem="empty")
    chosen: dict[str, str] = {}
    for region in regions:
        match region:
            case {
                "from_name": "level" | "reason" as name,
                "to_name": "clip",
                "type": "choices",
                "value": {"choices": [str(choice)]},
            }:
                if name in chosen:
                    return Answer(problem="twice")
                chosen[name] = choice
            case {"from_name": "level" | "reason"}:
                return Answer(problem="malformed")
            case _:
                return Answer(problem="foreign")
    return _answer(chosen.get(LEVEL), chosen.get(REASON), labels)


def read_guideline_sha(result: object) -> str | None:
    """Return the hash of the guideline on the page that sent a result; None if it has none.

    A browser keeps the page that it opened, from task to task, for as long as it is not reloaded:
    neither the task nor the time tells which guideline an annotator saw.
    """
    said = map(_guideline_sha, result) if isinstance(result, list) else ()
    return next(filter(None, said), None)


def _guideline_sha(region: object) -> str | None:
    match region:
        case {"from_name": "guideline_sha", "type": "choices", "value": {"choices": [str(sha)]}}:
            return sha
    return None


def result_of(
    labels: Labels, level: int | None, reason: ReasonName | None = None
) -> list[dict[str, Any]]:
    """Return what the page submits for a level, or for a reason for having none."""
    chosen = {LEVEL: str(level)} if level is not None else {LEVEL: CANT_JUDGE, REASON: reason}
    return [
        {
            "from_name": name,
            "to_name": "clip",
            "type": "choices",
            "value": {"choices": [labels[str(choice)]]},
        }
        for name, choice in chosen.items()
    ]


def _answer(level: str | None, reason: str | None, labels: Labels) -> Answer:
    if level == labels[CANT_JUDGE]:
        if reason is None:
            return Answer(problem="no-reason")
        names = (name for name in get_args(ReasonName) if labels[name] == reason)
        name_or_none = next(names, None)
        return Answer(reason=name_or_none) if name_or_none else Answer(problem="bad-reason")
    if reason is not None:
        return Answer(problem="reason-alone" if level is None else "both")
    numbers = (number for number in get_args(LevelNumber) if labels[str(number)] == level)
    number = next(numbers, None)
    return Answer(problem="bad-level") if number is None else Answer(level=number)
