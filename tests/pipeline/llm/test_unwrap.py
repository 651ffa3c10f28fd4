"""An object is taken out of its wrapping, or nothing is."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.answers import unwrap

GOOD = {"captions": [{"id": "ab", "caption": 'A "man" {sits} </think> down.'}]}
ANSWER = json.dumps(GOOD)


@pytest.mark.parametrize(
    "around",
    [
        "%",
        "\n  %\n",
        "```json\n%\n```",
        "```\n%```",
        "Here you are:\n%",
        "Here are {two} things: {} and\n%\nDone }.",
        '<think>Is it {"captions": []}?</think>%',
        'I think it is {"captions": []}</think>%',  # the opening tag stood in the prompt
        "%\n%",
    ],
)
def test_the_one_object_is_found(around):
    assert unwrap(around.replace("%", ANSWER), "captions") == GOOD


@pytest.mark.parametrize(
    "content",
    [
        "",
        "I can't do that.",
        ANSWER[:-1],
        f"```json\n{ANSWER[:-2]}\n```",
        f"{ANSWER}\n" + json.dumps({"captions": []}),
        '{"answer": 5}x',
        'So: {"captions": [], "captions": [1]}',
        f"<think>{ANSWER}</think> I can't do that.",
        f"<think>Perhaps {ANSWER}, or rather",
        f"<think>Well.</think><think>Perhaps {ANSWER}, or rather",
    ],
)
def test_nothing_is_guessed(content):
    with pytest.raises(ValueError, match=r"."):
        unwrap(content, "captions")


@given(st.text(alphabet='{}[]":,<think>/ab\\n', max_size=60), st.text(max_size=20))
def test_any_text_brings_the_object_or_an_error(before, after):
    try:
        result = unwrap(f"{before}{ANSWER}{after}", "captions")
    except ValueError:
        return
    assert result == GOOD or result in ([], {}, "")


def test_a_hostile_answer_takes_no_minutes():
    start = time.perf_counter()
    for content in ("{" * 1_000_000, '{"a":' * 100_000, "[" * 1_000_000):
        with pytest.raises((ValueError, RecursionError)):
            unwrap(content, "captions")
    assert time.perf_counter() - start < 20
