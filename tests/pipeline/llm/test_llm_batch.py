"""The Batch API against a real server: nothing is submitted twice, nothing is lost."""

import json

import pytest
from asking import IMPATIENT, expect_rewrites, rewrite

from pipeline.captions.caption_requests import REWRITING
from pipeline.captions.rewriter import Rewrite
from pipeline.llm import answers
from pipeline.llm.answers import Answer
from pipeline.llm.batch import request_line
from pipeline.llm.cache import CacheError
from pipeline.llm.jobs import Job, Jobs
from pipeline.llm.outcomes import LLMError


def batches(server):
    return server.server.batches.batches


def jobs(tmp_path):
    return Jobs(tmp_path / "cache" / "batches", REWRITING)


@pytest.fixture
def by_batch(rewriter):
    """Return a function that makes a rewriter in batch mode."""
    return lambda server, **settings: rewriter(server, **{"mode": "batch", **settings})


def test_a_batch_brings_every_caption_at_half_the_price(serve, by_batch, items):
    server = serve()
    llm = by_batch(server)
    assert rewrite(llm, items(100)) == expect_rewrites(items(100))
    assert (len(batches(server)), server.stats.requests) == (1, 0)
    spent = llm.spent
    assert (spent.requests, spent.cache_hits, spent.outcomes) == (5, 0, {"ok": 5})
    assert spent.cost == pytest.approx((spent.tokens_in + 10 * spent.tokens_out) / 2e6)
    for mode in ("online", "batch"):
        again = by_batch(server, mode=mode)
        assert rewrite(again, items(100)) == expect_rewrites(items(100))
        assert (again.spent.cost, again.spent.cache_hits) == (0, 5)
    assert (len(batches(server)), server.stats.requests) == (1, 0)


@pytest.mark.parametrize(
    "ends",
    [
        ("partial",),
        ("no-output",),
        ("expired",),
        ("nothing",),
        ("nothing", "no-output", "partial", "nothing", "expired"),
    ],
)
def test_what_a_batch_leaves_open_is_submitted_again_and_only_that(serve, by_batch, items, ends):
    server = serve(batches=ends)
    assert rewrite(by_batch(server), items(200)) == expect_rewrites(items(200))
    assert set(server.stats.batched.values()) == {1}
    assert (len(batches(server)), server.stats.requests) == (len(ends) + 1, 0)


def test_batches_without_any_answer_are_given_up(serve, by_batch, items):
    server = serve(batches=("nothing",) * 4)
    with pytest.raises(LLMError, match="3 batches in a row brought no answer"):
        rewrite(by_batch(server), items(40))
    # Nor is it given up for ever.
    assert rewrite(by_batch(server), items(40)) == expect_rewrites(items(40))
    assert len(batches(server)) == 5


@pytest.mark.parametrize("batch_tokens", [1_000_000, 1])
def test_what_batches_never_bring_fails_alone_and_in_every_rerun(
    serve, by_batch, items, batch_tokens
):
    server = serve(poison="Nora27 ", spoilt="500")
    expected = expect_rewrites(items(60), {"m27": "server-error"})
    for _ in range(2):
        llm = by_batch(server, batch_tokens=batch_tokens, policy=IMPATIENT)
        assert rewrite(llm, items(60)) == expected
    assert rewrite(llm, items(1, start=27), 1) == [expected[27]]
    assert set(server.stats.batched.values()) == {1}


@pytest.mark.parametrize(
    ("end", "message", "answer_count"),
    [("failed", ": token_limit.*batch_tokens", 0), ("cancelled", "; .*answers are kept", 5)],
)
def test_a_batch_that_ends_badly_stops_the_run_with_one_line_and_its_answers_are_kept(
    serve, by_batch, items, end, message, answer_count
):
    server = serve(batches=(end,))
    with pytest.raises(LLMError, match=rf"^batch batch_0 {end}{message}") as caught:
        rewrite(by_batch(server), items(200))
    assert "\n" not in str(caught.value)
    assert server.stats.batched.total() == answer_count
    assert rewrite(by_batch(server), items(200)) == expect_rewrites(items(200))
    assert set(server.stats.batched.values()) == {1}


@pytest.mark.parametrize(
    ("status", "code", "name"),
    [(429, "insufficient_quota", "insufficient-quota"), (401, None, "unauthorized")],
)
@pytest.mark.parametrize("answer_count", [0, 3])
def test_an_account_without_money_stops_the_run_until_it_is_topped_up(
    serve, by_batch, items, monkeypatch, answer_count, status, code, name
):
    server = serve()
    body = {"error": {"message": "You may not", "code": code}}
    run = server.server.batches._run

    def without_money(lines, end):
        output, _ = run(lines[:answer_count], end)
        response = {"status_code": status, "body": body}
        ids = [line["custom_id"] for line in lines[answer_count:]]
        refused = [{"custom_id": key, "response": response} for key in ids]
        return refused[:1] + output, refused[1:]  # some servers put errors among the answers

    with monkeypatch.context() as patch:
        patch.setattr(server.server.batches, "_run", without_money)
        with pytest.raises(LLMError, match=f"^{name}: You may not"):
            rewrite(by_batch(server), items(200))
    assert server.stats.batched.total() == answer_count
    assert rewrite(by_batch(server), items(200)) == expect_rewrites(items(200))
    assert set(server.stats.batched.values()) == {1}
    assert len(batches(server)) == 2


@pytest.mark.parametrize("gone", ["output_file_id", "error_file_id"])
def test_a_result_file_that_is_gone_is_made_anew(serve, by_batch, items, monkeypatch, gone):
    server = serve(batches=("partial",))
    ended = server.server.batches._end

    def lose(batch):
        ended(batch)
        if batch["id"] == "batch_0":
            batch[gone] = "file-gone"

    monkeypatch.setattr(server.server.batches, "_end", lose)
    assert rewrite(by_batch(server), items(200)) == expect_rewrites(items(200))
    assert len(batches(server)) == 2


def test_more_than_the_queue_holds_goes_in_several_batches(serve, by_batch, items):
    server = serve()
    assert rewrite(by_batch(server, batch_tokens=5000), items(200)) == expect_rewrites(items(200))
    assert len(batches(server)) == 5
    assert rewrite(by_batch(server, batch_tokens=1), items(40), 1) == expect_rewrites(items(40))
    assert len(batches(server)) == 7


@pytest.mark.parametrize("outcome", ["broken-json", "refused", "rejected"])
def test_what_no_batch_settles_is_settled_one_by_one(serve, by_batch, items, outcome):
    server = serve(poison="Nora7 ", spoilt=outcome)
    assert rewrite(by_batch(server), items(60)) == expect_rewrites(items(60), {"m7": outcome})
    assert len(batches(server)) == 1
    assert set(server.stats.batched.values()) == {1}


def create(server, file_id, metadata):
    fields = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
    server.server.batches._create({**fields, "input_file_id": file_id, "metadata": metadata})


def test_ours_is_found_among_many(serve, by_batch, items):
    server = serve(create_delay=1.0)
    for _ in range(5):
        create(server, "x", {"somebody": "else's"})
    # The server heard, but its answer came too late: the retry finds what is there.
    assert rewrite(by_batch(server, timeout=0.5), items(40)) == expect_rewrites(items(40))
    assert len(batches(server)) == 6


def test_a_batch_that_the_server_does_not_know_is_submitted_again(
    serve, by_batch, items, tmp_path, monkeypatch
):
    server = serve(batches=("nothing",) * 3)
    with pytest.raises(LLMError, match="no answer"):
        rewrite(by_batch(server), items(40))
    [path] = jobs(tmp_path).folder.glob("*.json")
    job = json.loads(path.read_text())
    path.write_text(json.dumps({**job, "is_open": True, "batch": "batch_of_another_account"}))
    assert rewrite(by_batch(server), items(40)) == expect_rewrites(items(40))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 5}'])
def test_a_spoilt_note_of_a_job_is_none(tmp_path, content):
    jobs(tmp_path).folder.mkdir(parents=True)
    (jobs(tmp_path).folder / "0.json").write_text(content)
    assert jobs(tmp_path).open_jobs() == []


def test_a_job_that_cannot_be_noted_is_one_clear_line(tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(CacheError, match="cache can't be used"):
        jobs(tmp_path).save(Job.from_requests([]))


@pytest.mark.integration
def test_killed_before_the_batch_is_known_it_is_found_again(serve, start, items, until, tmp_path):
    server = serve(create_delay=30.0)
    with start(server, items(100), mode="batch") as process:
        until(lambda: len(batches(server)) == 1)
        process.kill()
    [job] = jobs(tmp_path).open_jobs()
    assert job.batch is None
    server.change(create_delay=0.0)
    # Even if more descriptions have come in meanwhile.
    with start(server, items(110), mode="batch", per_request=20) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert [Rewrite(*draft) for draft in json.loads(out)[0]] == expect_rewrites(items(110))
    assert len(batches(server)) == 2  # the second for the ten that are new
    assert (server.stats.batched.total(), server.stats.requests) == (6, 0)


@pytest.mark.integration
def test_killed_while_it_waits_it_waits_on(serve, start, items, until, tmp_path):
    server = serve(polls=10**9)
    with start(server, items(100), mode="batch") as process:
        until(lambda: server.server.batches._looks.get("batch_0", 0) > 2)
        process.kill()
    assert [job.batch for job in jobs(tmp_path).open_jobs()] == ["batch_0"]
    looks = server.server.batches._looks["batch_0"]
    server.change(polls=looks + 2)
    with start(server, items(100), mode="batch") as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert [Rewrite(*draft) for draft in json.loads(out)[0]] == expect_rewrites(items(100))
    assert (len(batches(server)), set(server.stats.batched.values())) == (1, {1})


def test_a_killed_run_that_submitted_nothing_submits(serve, by_batch, items, tmp_path):
    server = serve()
    llm = by_batch(server)
    job = Job.from_requests(llm._round(items(100), 0).missing())
    job.is_open = True
    jobs(tmp_path).save(job)
    assert rewrite(llm, items(100)) == expect_rewrites(items(100))
    assert len(batches(server)) == 1
    assert jobs(tmp_path).open_jobs() == []


def test_lost_notes_cost_nothing_while_the_same_is_asked(serve, by_batch, items, tmp_path):
    server = serve(polls=1)
    missing = by_batch(server)._round(items(100), 0).missing()
    content = b"".join(request_line(request, request.body) for request in missing)
    file = server.server.batches._file(content)
    create(server, file, {"momentrank": Job.from_requests(missing).key})
    assert rewrite(by_batch(server), items(100)) == expect_rewrites(items(100))
    assert len(batches(server)) == 1


def test_results_are_read_line_by_line():
    body = {
        "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
    }

    def make_reply(status, body):
        return {"response": {"status_code": status, "body": body}}

    lines = [
        {"custom_id": "a", **make_reply(200, body), "error": None},
        "not a result",
        {"custom_id": "b", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        {"custom_id": "c", **make_reply(400, {"error": {"code": None}})},
        {"custom_id": "d", **make_reply(200, {})},
        {"custom_id": "e", **make_reply(503, "busy")},
        {"custom_id": "f"},
        {"custom_id": "g", "error": {"code": 429, "message": {"text": "slow"}}},
        {"custom_id": "h", **make_reply(400, {"error": {"code": 400}})},
        {
            "custom_id": "i",
            **make_reply(429, {"error": {"code": None, "type": "insufficient_quota"}}),
        },
    ]
    content = "\n".join(json.dumps(line) for line in lines).encode() + b"\n{\n\n\xff\n"
    (first, answer), *others = answers.read_results(content)
    assert (first, answer) == ("a", Answer("x", None, "stop", 3, 4))
    failures = {
        "rejected": "ch", "broken-response": "d", "server-error": "befg", "insufficient-quota": "i"
    }  # fmt: skip
    assert {key: end.outcome.name for key, end in others} == {
        key: name for name, keys in failures.items() for key in keys
    }
