"""What an answer is worth: a level, or none; no answer whatever becomes a level that it lacks."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.judges.level_requests import Judged, expect_level, read_level
from pipeline.llm import answers, outcomes
from pipeline.llm.answers import Answer
from pipeline.llm.outcomes import Outcome


def make_answer(content, finish="stop", refusal=None):
    return Answer(content, refusal, finish, 1, 1)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner)
)
contents = (
    st.none()
    | st.text()
    | values.map(json.dumps)
    | st.builds(
        lambda level, reason: json.dumps({"level": level, "reason": reason}), values, values
    )
    | st.builds(
        lambda level, cut: json.dumps({"level": level, "reason": "He sits."})[:cut],
        st.integers(-1, 6) | st.none(),
        st.integers(0, 40),
    )
)


def parse_plain_level(content):
    """Return the level that an answer states plainly; by another way than the code."""
    try:
        value = json.loads(content)
    except (TypeError, ValueError):
        return "nothing"
    level = value.get("level", "nothing") if isinstance(value, dict) else "nothing"
    return level if level is None or (type(level) is int and 0 <= level <= 4) else "nothing"


@given(
    contents,
    st.sampled_from(["stop", "length", "content_filter", None, "tool_calls"]),
    st.none() | st.text(max_size=3),
)
def test_no_answer_becomes_a_level_that_it_does_not_state(content, finish, refusal):
    result = read_level(make_answer(content, finish, refusal))
    if isinstance(result, Judged):
        if result.level != parse_plain_level(content):  # there is more than one object in it
            assert "{" in content[1:]
            assert ("null" if result.level is None else str(result.level)) in content
        assert not isinstance(result.level, bool)
        assert finish not in {"length", "content_filter"}
        assert not refusal
        assert result.expected is None
    else:
        assert isinstance(result, Outcome)


@pytest.mark.parametrize(
    ("content", "outcome"),
    [
        *((json.dumps({"level": level, "reason": "x"}), outcomes.BAD_LEVEL) for level in
          (-1, 5, "3", "", 2.5, 5.0, -1.0, True, False, [], {}, "null", 10**30)),
        *((content, outcomes.BROKEN_JSON) for content in
          (None, "", "0", "null", "[]", "{}", '{"reason": "0"}', '{"level": 0', "Level: 0",
           '{"level": 0, "level": 4, "reason": "x"}', '{"level": 0} or {"level": 1}', "[" * 99999)),
    ],
)  # fmt: skip
def test_what_is_no_level_has_its_outcome(content, outcome):
    assert read_level(make_answer(content)) == outcome


@pytest.mark.parametrize(
    ("content", "level"),
    [
        ('{"level": 0, "reason": "Nobody."}', 0),
        ('{"level": 2.0, "reason": "x"}', 2),
        ('{"level": 3e0, "reason": "x"}', 3),
        ('```json\n{"level": 4, "reason": "x"}\n```', 4),
        ('<think>A {"level": 1}?</think>{"level": 2, "reason": "x"}', 2),
        ('{"reason": "Says {\\"level\\": 4}.", "level": 1}', 1),
        ('{"level": null, "reason": "Black."}', None),
        ('{"level": 3}', 3),
    ],
)
def test_a_level_is_taken_out_of_what_is_around_it(content, level):
    result = read_level(make_answer(content))
    assert isinstance(result, Judged)
    assert result.level == level


def test_a_reason_is_one_line_that_any_table_can_hold():
    content = json.dumps({"level": 1, "reason": " a\n\tb\x00\ud800\u2028" + "c" * 999})
    remark = read_level(make_answer(content)).remark
    assert remark.startswith("a b")
    assert len(remark) == 500
    assert remark.encode().decode().isprintable()


# --- log-probabilities


def completion(content, tokens):
    """Return a chat completion: tokens are texts, or texts with their alternatives."""
    listed = [
        {"token": token, "logprob": -0.1, "top_logprobs": [
            {"token": text, "logprob": value} for text, value in alternatives.items()]}
        for token, alternatives in ((t, {}) if isinstance(t, str) else t for t in tokens)
    ]  # fmt: skip
    assert "".join(entry["token"] for entry in listed) == content
    choice = {"message": {"content": content}, "logprobs": {"content": listed}}
    return answers.parse({"choices": [choice]}, "level")


LOGS = {"3": math.log(0.6), "2": math.log(0.3), "4": math.log(0.05), "null": math.log(0.05)}


@pytest.mark.parametrize(
    "tokens",
    [
        ['{"', "level", '":', " ", ("3", LOGS), ",", ' "reason": "x 2"}'],
        ['{"level": ', ("3", LOGS), ', "reason": "x 2"}'],
        ['{"level":', (" 3", {f" {text}": value for text, value in LOGS.items()}),
         ', "reason": "x 2"}'],
    ],
)  # fmt: skip
def test_the_expected_level_is_the_mean_by_what_might_have_stood_there(tokens):
    answer = completion('{"level": 3, "reason": "x 2"}', tokens)
    # The token's own logprob counts as well, where it is higher.
    sure = math.exp(-0.1)
    mean = (3 * sure + 2 * 0.3 + 4 * 0.05) / (sure + 0.3 + 0.05)
    assert read_level(answer).expected == pytest.approx(mean)


@pytest.mark.parametrize(
    "tokens",
    [
        ['{"level": 3', ', "reason": "x"}'],
        ['{"level"', ": 3,", ' "reason": "x"}'],
        ['{"level": 3, "reason": "x"}'],
    ],
)
def test_where_the_level_is_no_token_of_its_own_nothing_is_expected(tokens):
    assert read_level(completion('{"level": 3, "reason": "x"}', tokens)).expected is None


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, [], "x", {"content": None}, {"content": [{"token": 3}]}, {"content": []},
     {"content": [{"token": "x", "logprob": "y"}]}],
)  # fmt: skip
def test_an_answer_is_good_whatever_its_log_probabilities_are(logprobs):
    choice = {"message": {"content": '{"level": 3}'}, "logprobs": logprobs}
    answer = answers.parse({"choices": [choice]}, "level")
    assert read_level(answer) == Judged(3, None, None)


@given(
    st.dictionaries(st.sampled_from([*"01234567", "null", "x"]), st.floats(-100, 0)),
    st.none() | st.integers(0, 4),
)
def test_an_expected_level_is_between_0_and_4_and_never_without_a_level(alternatives, level):
    expected = expect_level(alternatives, level)
    if level is None or str(level) not in alternatives:
        assert expected is None
    else:
        assert expected is None or 0 <= expected <= 4


def test_an_answer_without_alternatives_is_kept_as_it_was_before_there_were_any():
    assert set(make_answer("x").record()) == {*Answer._fields} - {"alternatives"}
    assert make_answer("x")._replace(alternatives={"3": -0.1}).record()["alternatives"] == {
        "3": -0.1
    }
