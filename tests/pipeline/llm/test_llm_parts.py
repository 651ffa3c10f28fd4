"""The parts of asking, each alone: outcomes, answers, cache, retries, what follows on what."""

import asyncio
import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentrank.errors import UsageError
from pipeline.captions.caption_requests import REWRITING
from pipeline.captions.caption_requests import CaptionRecipe as Recipe
from pipeline.captions.caption_requests import read_captions as read
from pipeline.llm import answers, outcomes
from pipeline.llm.answer_cache import Cache
from pipeline.llm.answers import Answer, unwrap
from pipeline.llm.asker import ASKS, Chunk, cut, next_chunks
from pipeline.llm.client import DEFAULT_URL, Client, Endpoint
from pipeline.llm.dispatcher import Policy
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, retry_after
from pipeline.llm.spending import FEWEST_BYTES, Prices, Spending, count_tokens

ASKED = {"a": "Omar sits.", "b": "Tessa sings."}
EVERY = [value for value in vars(outcomes).values() if isinstance(value, Outcome)]


def make_answer(*captions, finish="stop", refusal=None):
    entries = [{"id": id_, "caption": caption} for id_, caption in captions]
    return Answer(json.dumps({"captions": entries}), refusal, finish, 1, 1)


# --- outcomes


def test_every_outcome_has_its_own_name_and_a_hint():
    assert len({outcome.name for outcome in EVERY}) == len(EVERY)
    assert all(outcome.hint for outcome in EVERY)
    stopping = {outcome.name for outcome in EVERY if outcome.next is Next.STOP}
    expected = {"insufficient-quota", "unauthorized", "unsupported-parameter", "not-found"}
    assert stopping == expected


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (429, None, outcomes.RATE_LIMITED),
        (429, "rate_limit_exceeded", outcomes.RATE_LIMITED),
        (429, "insufficient_quota", outcomes.INSUFFICIENT_QUOTA),
        (402, None, outcomes.INSUFFICIENT_QUOTA),
        (400, "content_filter", outcomes.FILTERED),
        (400, "context_length_exceeded", outcomes.REJECTED),
        *((status, None, outcomes.REJECTED) for status in (413, 422)),
        *((status, None, outcomes.UNAUTHORIZED) for status in (401, 403)),
        (404, "model_not_found", outcomes.NOT_FOUND),
        *((status, None, outcomes.SERVER_ERROR) for status in (408, 409, 500, 529)),
    ],
)
def test_a_status_has_its_outcome(status, code, outcome):
    assert outcomes.from_status(status, code, None) is outcome
    assert outcomes.from_status(status, None, code) is outcome


@pytest.mark.parametrize("code", [429, 1.5, ["insufficient_quota"], {}])
def test_a_code_may_be_anything(code):
    assert outcomes.from_status(429, code, None) is outcomes.RATE_LIMITED
    assert outcomes.from_status(429, code, "insufficient_quota") is outcomes.INSUFFICIENT_QUOTA


# --- answers


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": "?"}, (3, 4)),
        ({"prompt_tokens": 3.0, "completion_tokens": "4"}, (3, 4)),
        ({"prompt_tokens": 3}, (None, None)),
        ({"prompt_tokens": 3, "completion_tokens": None}, (None, None)),
        ({"prompt_tokens": -1, "completion_tokens": 4}, (None, None)),
        ({"prompt_tokens": 3.5, "completion_tokens": float("inf")}, (None, None)),
        *((usage, (None, None)) for usage in ({}, None, [], 5)),
    ],
)
def test_an_answer_is_good_whatever_its_usage_says(usage, counted):
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    assert answers.parse(body) == Answer("x", None, "stop", *counted)


@pytest.mark.parametrize(
    ("message", "reason", "outcome"),
    [
        ({"content": "%"}, None, None),
        ({"content": "%", "reasoning_content": "Hm", "tool_calls": []}, "stop", None),
        ({"content": None, "refusal": "No."}, "stop", outcomes.REFUSED),
        ({"content": None, "reasoning_content": "Hm"}, "length", outcomes.ONLY_THOUGHTS),
        ({"content": "", "reasoning": "Hm"}, "stop", outcomes.ONLY_THOUGHTS),
        ({"content": "<think>Hm %"}, "length", outcomes.ONLY_THOUGHTS),
        ({"content": "<think>Hm</think>\n"}, "stop", outcomes.ONLY_THOUGHTS),
        ({"content": None, "tool_calls": [{}]}, "stop", outcomes.TOOL_CALLS),
        ({"content": "%"}, "tool_calls", outcomes.TOOL_CALLS),
        ({"content": "%"}, "content_filter", outcomes.FILTERED),
    ],
)
def test_what_a_message_has_beside_or_in_place_of_text(tmp_path, recipe, message, reason, outcome):
    good = json.dumps({"captions": [{"id": "a", "caption": "A man sits."}]})
    filled = json.loads(json.dumps(message).replace("%", json.dumps(good)[1:-1]))
    answer = answers.parse({"choices": [{"message": filled, "finish_reason": reason}]})
    expected = {} if outcome else {"Omar sits.": "A man sits."}
    assert read(answer, {"a": "Omar sits."}) == (expected, outcome)
    request = recipe.request(["Omar sits."])
    Cache(tmp_path, REWRITING).put(request, answer)
    assert Cache(tmp_path, REWRITING).get(request) == answer


@given(st.text(max_size=60))
def test_only_known_reasons_to_stop_leave_an_answer_usable(reason):
    reading = read(make_answer(("a", "x"), ("b", "y"), finish=reason), ASKED)
    assert (reading.outcome is None) == (reason == "stop")
    if reading.outcome not in {None, *EVERY}:
        assert re.fullmatch(r"stopped-by-[a-z0-9-]+", reading.outcome.name)


def test_the_same_caption_twice_is_harmless():
    answer = make_answer(("a", "x"), ("b", "y"), ("a", " x"), ("b", "y"))
    assert read(answer, ASKED) == ({"Omar sits.": "x", "Tessa sings.": "y"}, None)


@pytest.mark.parametrize(
    "captions",
    [
        [("a", "x")],
        [("a", "x"), ("b", "y"), ("b", "z")],
        [("a", "x"), ("c", "y")],
        [],
    ],
)
def test_an_answer_with_wrong_ids_is_not_used_at_all(captions):
    assert read(make_answer(*captions), ASKED) == ({}, outcomes.WRONG_IDS)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        '{"captions": [{"id": "a", "caption": "x"}',
        '{"captions": [{"id": "a", "caption": 5}, {"id": "b", "caption": "y"}]}',
        '{"captions": {"a": "x", "b": "y"}}',
        '["a"]',
        '{"captions": [{"id": "a", "id": "b", "caption": "x"}, {"id": "b", "caption": "y"}]}',
        "[" * 100_000,
    ],
)
def test_an_answer_of_another_form_is_broken_json(content):
    assert read(Answer(content, None, "stop", 1, 1), ASKED) == ({}, outcomes.BROKEN_JSON)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (make_answer(("a", "x"), ("b", "y"), finish="content_filter"), outcomes.FILTERED),
        (make_answer(("a", "x"), ("b", "y"), finish="length"), outcomes.TRUNCATED),
        (make_answer(("a", "x"), ("b", "y"), refusal="No."), outcomes.REFUSED),
        (Answer(None, "No.", "stop", 1, 1), outcomes.REFUSED),
    ],
)
def test_a_refused_filtered_or_truncated_answer_is_not_used(answer, outcome):
    assert read(answer, ASKED) == ({}, outcome)


@pytest.mark.parametrize(
    "caption",
    ["", "  ", "\n", "two\nlines", "tab\there", "a\x00b", "a\u2028b", "\ud800", "\x85b\x85c"],
)
def test_a_caption_that_is_no_line_is_missing_alone(caption):
    reading = read(make_answer(("a", caption), ("b", "A woman sings.")), ASKED)
    assert reading == ({"Tessa sings.": "A woman sings."}, outcomes.BAD_CAPTION)


@pytest.mark.parametrize("caption", ["Émile s'assoit.", "a\u202fb", "一个人坐着。", "👩‍⚕️ sits"])
def test_a_caption_may_be_in_any_script(caption):
    assert read(make_answer(("a", caption), ("b", "y")), ASKED).outcome is None


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


# --- what follows on what


@given(st.sampled_from(EVERY), st.integers(1, 40))
def test_asking_ends_and_loses_nobody(outcome, size):
    start = Chunk(tuple(str(number) for number in range(size)))
    failed, chunks, asked = [], [start], 0
    while chunks:
        chunk, asked = chunks.pop(), asked + 1
        following = next_chunks(chunk, outcome)
        chunks += following
        if not following:
            failed += chunk.texts
    assert sorted(failed) == sorted(start.texts)
    assert asked <= 2 * size * ASKS


def test_a_bad_answer_is_asked_for_again_before_it_is_halved():
    chunk = Chunk(("a", "b", "c"))
    assert next_chunks(chunk, outcomes.WRONG_IDS) == [Chunk(("a", "b", "c"), 1)]
    last = chunk._replace(ask=ASKS - 1)
    assert next_chunks(last, outcomes.WRONG_IDS) == [Chunk(("a",)), Chunk(("b", "c"))]
    assert next_chunks(chunk, outcomes.REFUSED) == [Chunk(("a",)), Chunk(("b", "c"))]
    assert next_chunks(chunk, outcomes.TIMEOUT) == [Chunk(("a",)), Chunk(("b", "c"))]
    assert next_chunks(chunk, outcomes.UNAUTHORIZED) == []
    assert next_chunks(Chunk(("a",)), outcomes.REFUSED) == []


def test_chunks_hold_everybody_in_order():
    assert cut("abcde", 2) == [Chunk(("a", "b")), Chunk(("c", "d")), Chunk(("e",))]
    assert cut([], 2) == []


# --- requests and cache


@pytest.fixture
def recipe(prompt):
    return Recipe("http://127.0.0.1/v1", "model", prompt, 500, 0)


def test_repairs_are_warmer_and_each_ask_has_its_own_seed(prompt):
    bodies = [
        Recipe("u", "m", prompt, 500, attempt).request(["a"], ask).body
        for attempt in (0, 1, 2)
        for ask in (0, 1)
    ]
    assert [body["temperature"] for body in bodies] == [0, 0, 0.2, 0.2, 0.2, 0.2]
    assert len({body["seed"] for body in bodies}) == 6
    assert bodies[0]["response_format"]["json_schema"]["strict"] is True


def test_the_key_is_that_of_the_whole_request_and_the_same_for_ever(prompt, recipe):
    request = recipe.request(["Omar sits."])
    assert request.key == recipe.request(["Omar sits."]).key
    assert len(request.key) == 64
    others = [
        recipe.request(["Omar sits."], 1),
        recipe.request(["Omar sits", "Tessa sings."]),
        Recipe("http://127.0.0.1:8000/v1", "model", prompt, 500, 0).request(["Omar sits."]),
        Recipe("http://127.0.0.1/v1", "model2", prompt, 500, 0).request(["Omar sits."]),
        Recipe("http://127.0.0.1/v1", "model", prompt, 501, 0).request(["Omar sits."]),
        Recipe("http://127.0.0.1/v1", "model", prompt, 500, 1).request(["Omar sits."]),
    ]
    assert len({request.key, *(other.key for other in others)}) == 7
    assert len({request.recipe, *(other.recipe for other in others)}) == 5


def test_the_cache_gives_back_what_it_got(tmp_path, recipe):
    cache, request = Cache(tmp_path, REWRITING), recipe.request(["Omar sits.", "Tessa sings."])
    assert cache.get(request) is None
    ids = list(request.asked)
    answer = make_answer((ids[0], "Il s'assoit à l'aise 👍"), (ids[1], "\ud800"))
    cache.put(request, answer)
    assert cache.get(request) == answer
    assert cache.list_results(recipe) == {"Omar sits.": ("Il s'assoit à l'aise 👍", request.key)}
    again = Cache(tmp_path, REWRITING)
    assert again.get(request) == answer
    assert again.list_results(recipe) == cache.list_results(recipe)


@given(data=st.data())
def test_a_spoilt_entry_counts_as_absent_and_spoils_no_other(tmp_path, recipe, data):
    path = tmp_path / f"{recipe.name}.jsonl"
    path.unlink(missing_ok=True)
    before, spoilt, after = (recipe.request([text]) for text in ("Omar sits.", "b", "c"))
    replies = {
        r.key: make_answer((next(iter(r.asked)), "A man sits.")) for r in (before, spoilt, after)
    }
    cache = Cache(tmp_path, REWRITING)
    cache.put(before, replies[before.key])
    start = path.stat().st_size
    cache.put(spoilt, replies[spoilt.key])
    raw = bytearray(path.read_bytes())
    place = data.draw(st.integers(start + 1, len(raw) - 1))
    if data.draw(st.booleans()):
        raw[place] ^= data.draw(st.integers(1, 255))
    else:
        del raw[place:]
    path.write_bytes(raw)
    Cache(tmp_path, REWRITING).put(after, replies[after.key])
    cache = Cache(tmp_path, REWRITING)
    assert cache.get(before) == replies[before.key]
    assert cache.get(after) == replies[after.key]
    assert cache.get(spoilt) in (None, replies[spoilt.key])  # a change that means the same may pass
    cache.put(spoilt, make_answer())
    assert Cache(tmp_path, REWRITING).get(spoilt) == make_answer()


# --- retries


def make_failing_call(*failures):
    """Return a call that fails so, then succeeds; and the times it was made."""
    remaining, times = list(failures), []

    async def call():
        times.append(asyncio.get_running_loop().time())
        if remaining:
            raise remaining.pop(0)
        return "done"

    return call, times


QUICK = Policy(tries=4, first=0.01, longest=0.02)


@pytest.mark.parametrize("outcome", [outcome for outcome in EVERY if outcome.next is Next.WAIT])
def test_what_waiting_helps_is_called_again_up_to_so_often(outcome):
    call, times = make_failing_call(*[CallFailed(outcome, "")] * 3)
    assert asyncio.run(QUICK.retrying(call)) == "done"
    assert len(times) == 4
    call, times = make_failing_call(*[CallFailed(outcome, "")] * 9)
    with pytest.raises(CallFailed):
        asyncio.run(QUICK.retrying(call))
    assert len(times) == 4


@pytest.mark.parametrize(
    "failure",
    [
        *(CallFailed(outcome, "") for outcome in EVERY if outcome.next is not Next.WAIT),
        CallFailed(outcomes.RATE_LIMITED, "", wait=120.1),
        LLMError("stopped"),
        ZeroDivisionError(),
    ],
)
def test_what_waiting_does_not_help_is_not_called_again(failure):
    call, times = make_failing_call(failure)
    with pytest.raises(type(failure)):
        asyncio.run(QUICK.retrying(call))
    assert len(times) == 1


def test_the_server_is_given_the_time_it_asks_for():
    call, times = make_failing_call(CallFailed(outcomes.RATE_LIMITED, "", wait=0.15))
    asyncio.run(QUICK.retrying(call))
    assert 0.15 <= times[1] - times[0] < 1


def test_waits_double_up_to_the_longest_and_outlast_a_minute(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    call, _ = make_failing_call(*[CallFailed(outcomes.SERVER_ERROR, "")] * 7)
    asyncio.run(Policy().retrying(call))
    assert len(waits) == 7
    for wait, most in zip(waits, [1, 2, 4, 8, 16, 30, 30], strict=True):
        assert most / 2 <= wait <= most
    assert sum(waits) > 45


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0),
        ({"retry-after": "inf"}, float("inf")),
    ],
)
def test_retry_after_is_read_in_every_form(headers, seconds):
    assert retry_after(headers, now=100) == seconds


# --- the endpoint


def test_the_endpoint_is_the_environments(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert Endpoint.from_environment() == Endpoint(DEFAULT_URL, None)
    monkeypatch.setenv("OPENAI_BASE_URL", " http://127.0.0.1:8000/v1/ ")
    monkeypatch.setenv("OPENAI_API_KEY", "secret\n")
    assert Endpoint.from_environment() == Endpoint("http://127.0.0.1:8000/v1", "secret")
    assert "secret" not in repr(Endpoint.from_environment())


BAD_ADDRESSES = """
127.0.0.1:8000 http://host:port/v1 http://host:99999/v1 http://[::1/v1 http://[::1]], http:///v1
http://"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("OPENAI_BASE_URL", url) for url in BAD_ADDRESSES.split()),
        *(("OPENAI_BASE_URL", f"http://ho{char}st/v1") for char in "\x01\t "),
        *(("OPENAI_API_KEY", key) for key in ("sec\nret", "é")),
    ],
)
def test_an_impossible_endpoint_is_one_line_without_the_key(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=f"^{name} ") as caught:
        Endpoint.from_environment()
    assert "ret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1",
        "https://me:pw@my_host.example-x.org/openai/v1?api-version=1",
        "http://[::1]:8000",
        DEFAULT_URL,
    ],
)
def test_an_address_may_have_any_form(monkeypatch, url):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert Client(Endpoint.from_environment(), 5.0).sdk.base_url.host


def test_the_sdk_is_told_not_to_retry(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    client = Client(Endpoint("http://127.0.0.1/v1", None), 5.0)
    assert client.sdk.max_retries == 0
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        asyncio.run(client.ask({}))


# --- tokens


def test_tokens_are_about_a_quarter_of_english_and_never_fewer_than_a_third_of_any_script():
    assert count_tokens("A man sits.") == 3
    assert count_tokens("一个人坐着", FEWEST_BYTES) == 5
    assert count_tokens("") == 0
    assert count_tokens("\ud800") == 1


def test_what_the_server_does_not_count_is_estimated():
    spent = Spending(Prices(1, 10))
    assert spent.pay(Answer("x" * 40, None, "stop", None, None), lambda: 100) == 110
    assert (spent.tokens_in, spent.tokens_out, spent.cost) == (100, 10, 200 / 1e6)


def test_a_result_counts_each_answer_once():
    spent, answer = Spending(Prices(1e6, 0)), Answer("x", None, "stop", 3, 4)
    for _ in range(2):
        spent.count_towards_result("key", answer, lambda: 0)
    assert spent.metrics()["result_cost_usd"] == 3
    assert spent.cost == 0
