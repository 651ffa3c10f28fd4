"""Rewriting against a real server with a bad day: every draft is right, nothing is bought twice."""

import errno
import json
import logging
from functools import partial
from pathlib import Path

import pytest
from model_server import KEY
from support.fake_openai.answers import caption_of
from support.fake_openai.script import FAULTS, error
from werkzeug import Response

from pipeline.captions.rewriter import OK, Moment, Rewrite
from pipeline.llm import dispatcher
from pipeline.llm.answer_cache import CacheError
from pipeline.llm.dispatcher import Policy
from pipeline.llm.outcomes import LLMError

IMPATIENT = Policy(tries=2, first=0.01, longest=0.01)


def expect_rewrites(items, failed=None):
    """Return what rewriting items must give; `failed` has outcomes by the ids of moments."""
    return [
        Rewrite(item.moment_id, None, failed[item.moment_id])
        if item.moment_id in (failed or {})
        else Rewrite(item.moment_id, caption_of(item.description))
        for item in items
    ]


def rewrite(rewriter, items, attempt=0):
    return list(rewriter.rewrite(items, attempt))


def test_every_item_gets_the_caption_of_its_own_description(serve, rewriter, items):
    server = serve()
    asked = items(50)
    llm = rewriter(server)
    assert rewrite(llm, asked) == expect_rewrites(asked)
    assert (llm.spent.requests, server.stats.requests) == (3, 3)
    assert llm.spent.outcomes == {OK: 3}
    assert (llm.source, llm.model) == ("llm", "stand-in")
    assert llm.prompt.startswith("rewrite-v1@")


def test_equal_descriptions_are_asked_for_once(serve, rewriter):
    server = serve()
    asked = [Moment(f"m{n}", f"Omar sits on chair {n % 3}.") for n in range(60)]
    assert rewrite(rewriter(server), asked) == expect_rewrites(asked)
    assert server.stats.requests == 1


def test_nothing_to_rewrite_asks_nothing(rewriter):
    assert rewrite(rewriter(None, key=None), []) == []


@pytest.mark.parametrize(("seed", "faults", "per_request"), [(2, 0.1, 20), (3, 0.4, 8)])
def test_2000_descriptions_all_end_right_on_a_bad_day(
    serve, rewriter, items, seed, faults, per_request
):
    server = serve(seed=seed, faults=faults, latency=0.02, hang=4.0)
    asked = items(2000)
    llm = rewriter(server, per_request=per_request, timeout=2.0)
    assert rewrite(llm, asked) == expect_rewrites(asked)
    assert len(set(FAULTS) & set(server.stats.faults)) >= 5
    # On a busy machine an answer may come too late, though no fault had it so.
    late = llm.spent.outcomes["timeout"] - server.stats.faults["timeout"]
    assert server.stats.max_in_flight <= 8 + late
    assert server.stats.answered.total() - len(server.stats.answered) <= late
    assert llm.spent.outcomes[OK] < llm.spent.requests == server.stats.requests


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_alone_is_overcome(serve, rewriter, items, fault):
    server = serve(seed=4, faults=0.5, kinds=(fault,), hang=0.8)
    asked = items(60)
    llm = rewriter(server, per_request=5, timeout=0.4)
    assert rewrite(llm, asked) == expect_rewrites(asked)
    name = {"429": "rate-limited", "500": "server-error", "cut": "connection"}.get(fault, fault)
    name = "wrong-ids" if fault in {"missing", "extra", "twice"} else name
    assert (name in llm.spent.outcomes) == (fault != "reordered")


@pytest.mark.parametrize(
    ("spoilt", "outcome"),
    [
        *((name, name) for name in ("broken-json", "refused", "filtered", "truncated", "rejected")),
        *((name, "wrong-ids") for name in ("missing", "extra", "twice")),
        ("500", "server-error"),
        ("cut", "connection"),
        ("error-in-body", "broken-response"),
        ("thoughts", "only-thoughts"),
        ("tools", "tool-calls"),
        ("stopped", "stopped-by-recitation"),
    ],
)
def test_a_poisonous_description_fails_alone_and_by_name(serve, rewriter, items, spoilt, outcome):
    server = serve(poison="Nora7 ", spoilt=spoilt)
    assert rewrite(rewriter(server), items(40)) == expect_rewrites(items(40), {"m7": outcome})


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        ("error-in-body", "The gateway has lost its model"),
        ("thoughts", "the model thinks and says nothing: turn thinking off"),
    ],
)
def test_a_gateways_sentence_is_shown(serve, rewriter, items, caplog, spoilt, words):
    server = serve(poison="Nora", spoilt=spoilt)
    with pytest.raises(LLMError) as caught:
        rewrite(rewriter(server, policy=IMPATIENT), items(40))
    assert words in f"{caught.value} {caplog.text}"
    assert rewrite(rewriter(server, policy=IMPATIENT), [Moment("s", "Tessa sings.")])[0].caption


@pytest.mark.parametrize("number", [1, 3, 20])
def test_poison_alone_in_a_small_run_is_no_reason_to_stop(serve, rewriter, items, number, caplog):
    server = serve(poison="Nora0 ", spoilt="rejected")
    expected = expect_rewrites(items(number), {"m0": "rejected"})
    assert rewrite(rewriter(server), items(number)) == expected
    assert "no captions: rejected: Error code: 400 - This can't be asked" in caplog.text


@pytest.mark.parametrize("where", [0, 9, 10, 19])
def test_what_a_server_always_fails_on_is_no_outage(serve, rewriter, items, where):
    server = serve(poison=f"Nora{where} ", spoilt="500")
    expected = expect_rewrites(items(20), {f"m{where}": "server-error"})
    assert rewrite(rewriter(server, policy=IMPATIENT), items(20)) == expected


@pytest.mark.parametrize(("number", "most"), [(20, 2 * 5), (2000, 2 * 4 * 8)])
def test_an_outage_is_given_up_quickly(serve, rewriter, items, number, most):
    server = serve(faults=1.0, kinds=("500",))
    with pytest.raises(LLMError, match=r"^server-error: "):
        rewrite(rewriter(server, policy=IMPATIENT), items(number))
    assert server.stats.requests <= most


def test_a_server_that_takes_no_request_is_given_up(serve, rewriter, items):
    server = serve(poison="Nora", spoilt="rejected")
    with pytest.raises(LLMError, match=r"^rejected: Error code: 400 - This can't be asked \(the"):
        rewrite(rewriter(server), items(2000))
    assert server.stats.requests <= 50 + 8


def test_a_run_in_which_nothing_was_answered_ends_with_the_commonest_reason(
    serve, rewriter, items, monkeypatch
):
    server = serve(poison="Nora", spoilt="rejected")
    message = r"^rejected: Error code: 400 - This can't be asked \(the .*no request was answered$"
    with pytest.raises(LLMError, match=message):
        rewrite(rewriter(server), items(5))
    # Where something was answered, now or long ago, the rest fails alone.
    sung = [Moment("new", "Tessa sings."), Moment("new2", "Tessa sits.")]
    assert rewrite(rewriter(server), sung) == expect_rewrites(sung)
    for asked in (sung[:1], []):
        llm = rewriter(server)
        rewrite(llm, sung[:1])
        drafts = rewrite(llm, [*asked, *items(5)])
        assert {draft.outcome for draft in drafts[len(asked) :]} == {"rejected"}


def test_why_there_are_no_captions_is_told_once_per_reason(serve, rewriter, items, caplog):
    server = serve(poison="Omar3 ", spoilt="truncated")
    llm = rewriter(server)
    for attempt in (0, 1):
        drafts = rewrite(llm, items(40), attempt)
    assert [draft.outcome for draft in drafts].count("truncated") == 6
    [message] = [record.message for record in caplog.records if "truncated" in record.message]
    assert message.startswith("no captions: truncated (")
    assert "lower rewrite.openai.per_request" in message


def test_an_empty_caption_is_asked_for_again_without_its_neighbours(serve, rewriter, items):
    server = serve(poison="Nora0 ", spoilt="empty")
    assert rewrite(rewriter(server), items(20)) == expect_rewrites(items(20), {"m0": "bad-caption"})
    assert server.stats.requests == 3


def test_a_rerun_pays_for_nothing(serve, rewriter, items):
    server = serve(poison="Nora7 ", spoilt="broken-json")
    asked = items(100)
    first = rewrite(rewriter(server), asked)
    before = server.stats.requests
    again = rewriter(server, key=None)  # nor does it need the key
    assert rewrite(again, asked) == first
    assert server.stats.requests == before
    assert (again.spent.requests, again.spent.cost, again.spent.cache_hits) == (0, 0, 5)


def test_a_description_in_other_company_is_not_paid_for_again(serve, rewriter, items):
    server = serve()
    rewrite(rewriter(server), items(40))
    more = [Moment("new", "Tessa sings."), *items(40, start=3), items(1)[0]]
    llm = rewriter(server)
    assert rewrite(llm, more) == expect_rewrites(more)
    assert (llm.spent.requests, llm.spent.reused) == (1, 38)
    assert server.stats.requests == 3


@pytest.mark.parametrize("spoilt", ["refused", "filtered", "broken-json", "missing", "empty"])
def test_an_answer_without_a_caption_is_not_paid_for_again_in_other_company(
    serve, rewriter, items, spoilt
):
    server = serve(poison="Nora8 ", spoilt=spoilt)
    first = rewrite(rewriter(server, per_request=4), items(20))
    assert [draft.moment_id for draft in first if draft.caption is None] == ["m8"]
    asked = server.stats.answered.copy()
    more = [Moment("new", "Tessa sings."), *items(20)]
    llm = rewriter(server, per_request=4)
    assert llm.estimate(more).stored == 20
    assert rewrite(llm, more) == [*expect_rewrites(more[:1]), *first]
    assert (server.stats.answered - asked).total() == llm.spent.requests == 1


def test_another_question_or_server_is_asked_anew(serve, rewriter, items, prompt):
    server, other_server = serve(), serve()
    changed = rewriter(server)
    changed._prompt = prompt.model_copy(update={"system": "Rewrite."})
    settings = [{}, {"model": "other"}, {"max_output_tokens": 999}]
    for llm in [
        *(rewriter(server, **setting) for setting in settings),
        changed,
        rewriter(other_server),
    ]:
        rewrite(llm, items(20))
    assert (server.stats.requests, other_server.stats.requests) == (4, 1)


def test_an_empty_account_stops_at_once_and_keeps_what_was_bought(serve, rewriter, items):
    server = serve(money=40_000)
    asked = items(2000)
    llm = rewriter(server)
    with pytest.raises(LLMError, match=r"^insufficient-quota: .*top it up.*are kept") as caught:
        rewrite(llm, asked)
    assert "\n" not in str(caught.value)
    bought, asked_for = server.stats.answered.total(), server.stats.requests
    assert 0 < bought < asked_for <= bought + 8
    server.change(money=-1)
    assert rewrite(rewriter(server), asked) == expect_rewrites(asked)
    assert server.stats.answered.total() == 100
    assert server.stats.requests == asked_for + 100 - bought


def test_what_is_in_flight_when_the_run_stops_is_kept(serve, rewriter, items):
    server = serve(latency=0.3, kinds=("429",))
    empty = error(429, "insufficient_quota", "You exceeded your current quota")
    server.server._refuse = lambda body: empty if "Nora3 " in json.dumps(body) else None
    with pytest.raises(LLMError):
        rewrite(rewriter(server, per_request=1), items(8))
    stored = rewriter(server, per_request=1).estimate(items(8)).stored
    assert stored == server.stats.answered.total() == 7


def test_a_server_that_asks_for_too_much_patience_is_not_waited_for(serve, rewriter, items):
    server = serve(faults=1.0, kinds=("429",), retry_after=121)
    with pytest.raises(LLMError, match=r"^rate-limited: "):
        rewrite(rewriter(server, per_request=1), items(20))
    assert server.stats.requests <= 5 + 8
    server.change(faults=0.0, poison="Nora7 ", spoilt="429")
    drafts = rewrite(rewriter(server, per_request=1), items(20))
    assert [draft.outcome for draft in drafts].count("rate-limited") == 1


@pytest.mark.parametrize(
    ("status", "name"), [(401, "unauthorized"), (403, "unauthorized"), (404, "not-found")]
)
def test_a_wrong_key_or_model_stops_at_once(httpserver, replying, items, status, name, caplog):
    message = f"Incorrect API key provided: {KEY}"
    llm = replying({"error": {"message": message, "code": "x"}}, status)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(LLMError, match=f"^{name}: Error code: {status}") as caught:
        rewrite(llm, items(3))
    assert len(httpserver.log) == 1
    logged = "".join(str(record.__dict__) for record in caplog.records)
    for text in (
        str(caught.value),
        repr(caught.value.__cause__),
        repr(llm._asker.endpoint),
        logged,
    ):
        assert KEY not in text
    assert caught.value.__cause__.__context__ is None


def test_half_a_character_without_a_count_of_tokens_is_an_answer(replying):
    llm = replying({"choices": [{"message": {"content": "Sorry \ud800"}}]})
    assert rewrite(llm, [Moment("m0", "Omar sits.")]) == [Rewrite("m0", None, "broken-json")]
    assert llm.spent.tokens_out == 3 * 3


def test_an_answer_is_kept_before_it_is_counted(serve, rewriter, items, monkeypatch):
    server = serve()
    llm = rewriter(server)
    monkeypatch.setattr(llm.spent, "pay", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rewrite(llm, items(20))
    assert rewrite(rewriter(server), items(20)) == expect_rewrites(items(20))
    assert server.stats.requests == 1


def test_a_key_that_stands_for_none_garbles_no_message(replying, items):
    llm = replying({"error": {"message": "No entrance"}}, 403, key="e")
    with pytest.raises(LLMError, match=r"^unauthorized: Error code: 403 - No entrance \("):
        rewrite(llm, items(1))


def test_the_key_goes_to_the_server_and_nowhere_else(serve, rewriter, items, tmp_path):
    server = serve(faults=0.3, kinds=("429", "500", "broken-json"))
    rewrite(rewriter(server, per_request=2), items(40))
    assert server.stats.keys == [f"bearer {KEY}"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {"", ".jsonl"}
    assert not any(KEY in path.read_text() for path in files)


@pytest.mark.parametrize(
    "body",
    [
        *(b"<html>Welcome</html>", b"[", b"[" * 100_000, b"null", b""),
        {"error": {"message": "upstream is down"}},
        {"choices": []},
        {"choices": [{"message": {"content": 5}}]},
    ],
)
def test_what_is_no_chat_completion_is_a_broken_response(replying, items, body):
    llm = replying(body, policy=IMPATIENT)
    assert rewrite(llm, items(1)) == [Rewrite("m0", None, "broken-response")]
    assert llm.spent.outcomes == {"broken-response": 2}


@pytest.mark.parametrize("usage", [True, False])
def test_what_the_result_cost_in_all_is_the_same_in_every_rerun(
    serve, rewriter, items, monkeypatch, usage
):
    server = serve(poison="Nora7 ", spoilt="broken-json")
    if not usage:
        server.server._answer = partial(_drop_usage, server.server._answer)
    first = rewriter(server)
    rewrite(first, items(60))
    rewrite(first, items(5), 1)
    paid = first.spent.metrics()
    assert paid["outcomes"]["broken-json"] > 3
    again = rewriter(server)
    rewrite(again, items(60))
    rewrite(again, items(5), 1)
    metrics = again.spent.metrics()
    assert (metrics["requests"], metrics["cost_usd"]) == (0, 0)
    for figure, tolerance in (("tokens_in", 0), ("tokens_out", 0), ("cost_usd", 2e-6)):
        assert metrics[f"result_{figure}"] == paid[f"result_{figure}"]
        assert metrics[f"result_{figure}"] == pytest.approx(paid[figure], abs=tolerance)
    # A caption from another company brings the whole answer that it came in.
    reused = rewriter(server)
    rewrite(reused, [Moment("new", "Tessa sings."), *items(1)])
    spent = reused.spent.metrics()
    assert spent["result_tokens_in"] > spent["tokens_in"] > 0


def _drop_usage(answer, body, fault):
    reply = answer(body, fault)
    payload = json.loads(reply.body)
    return reply._replace(body=json.dumps({**payload, "usage": None}).encode())


def test_an_estimate_costs_nothing_and_is_near_the_truth(serve, rewriter, items):
    server = serve()
    asked = items(2000)
    llm = rewriter(server)
    estimate = rewriter(server, key=None).estimate(asked)
    assert (estimate.descriptions, estimate.stored, estimate.requests) == (2000, 0, 100)
    assert server.stats.requests == 0
    rewrite(llm, asked)
    assert estimate.tokens_in == pytest.approx(llm.spent.tokens_in, rel=0.2)
    assert estimate.cost == pytest.approx(llm.spent.cost, rel=0.4)
    assert llm.estimate(items(2010)) == rewriter(server).estimate(items(2010))
    rest = llm.estimate(items(2010))
    assert (rest.descriptions, rest.stored, rest.requests) == (2010, 2000, 1)


@pytest.mark.parametrize(("number", "per_request", "repairs"), [(12, 20, 0), (7, 1, 1), (11, 4, 2)])
def test_the_worst_case_of_an_estimate_is_reached_and_never_passed(
    serve, rewriter, items, monkeypatch, number, per_request, repairs
):
    monkeypatch.setattr(dispatcher, "FIRST_ANSWERS", 10**9)
    server = serve(wrapping="prose")
    estimate = rewriter(server, per_request=per_request).estimate(items(number), repairs)
    llm = rewriter(server, per_request=per_request)
    for attempt in range(repairs + 1):
        assert {draft.caption for draft in rewrite(llm, items(number), attempt)} == {None}
    assert llm.spent.requests == estimate.most_requests
    assert estimate.cost < llm.spent.cost <= estimate.most_cost


@pytest.mark.parametrize("wrapping", ["fenced", "talks", "thinks"])
def test_the_object_is_taken_out_of_what_stands_around_it(serve, rewriter, items, wrapping):
    server = serve(wrapping=wrapping)
    assert rewrite(rewriter(server), items(50)) == expect_rewrites(items(50))
    assert server.stats.answered.total() == 3


@pytest.mark.parametrize("wrapping", ["prose", "drafts"])
def test_a_model_that_never_answers_in_the_asked_form_is_stopped(serve, rewriter, items, wrapping):
    server = serve(wrapping=wrapping)
    begins = {"prose": "I am afraid", "drafts": "First a draft"}[wrapping]
    message = rf"first \d+ answers are all unusable \(broken-json \d+\).*{begins}"
    with pytest.raises(LLMError, match=message):
        rewrite(rewriter(server), items(1000))
    assert server.stats.requests <= 20 + 8
    with pytest.raises(LLMError, match="all unusable"):  # forty descriptions, as in a first try
        rewrite(rewriter(serve(wrapping=wrapping), in_flight=1), items(40))


def test_a_model_that_has_answered_before_is_not_stopped_for_what_it_refuses(
    serve, rewriter, items
):
    server = serve(poison="Nora", spoilt="refused")
    llm = rewriter(server)
    sung = [Moment(f"s{n}", f"Tessa sings song {n}.") for n in range(20)]
    assert rewrite(llm, sung) == expect_rewrites(sung)
    refused = {Rewrite(item.moment_id, None, "refused") for item in items(30)}
    assert set(rewrite(llm, items(30), attempt=1)) == refused  # the repairs of the same run
    later = rewriter(server)  # a run of another day
    assert set(rewrite(later, [*items(30, start=30), *sung])) >= set(expect_rewrites(sung))


def test_a_model_that_wants_max_completion_tokens_says_so_once(serve, rewriter, items):
    server = serve(only_completion_tokens=True)
    with pytest.raises(LLMError, match=r"^unsupported-parameter: .*output_limit"):
        rewrite(rewriter(server, in_flight=1), items(200))
    assert server.stats.requests == 1
    llm = rewriter(server, output_limit="max_completion_tokens")
    assert rewrite(llm, items(50)) == expect_rewrites(items(50))


def test_a_parameter_refused_without_a_code_leads_to_the_settings_too(replying, items):
    message = "max_tokens: Extra inputs are not permitted"
    refusal = {"object": "error", "message": message, "type": "BadRequestError", "code": 400}
    llm = replying(refusal, 400)
    with pytest.raises(LLMError, match=r"max_tokens: .*rewrite\.openai\.output_limit and extra"):
        rewrite(llm, items(40))


def test_extra_parameters_are_sent_and_others_taken_out(httpserver, rewriter):
    bodies = []

    def answer(request):
        bodies.append(request.get_json())
        asked = json.loads(bodies[-1]["messages"][-1]["content"].strip().split("\n")[-1])
        content = {"captions": [{"id": asked["id"], "caption": f"Try {len(bodies)}."}]}
        reply = {"choices": [{"message": {"content": json.dumps(content)}}]}
        return Response(json.dumps(reply), content_type="application/json")

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(answer)
    extra = {"reasoning_effort": "low", "temperature": None, "seed": None, "response_format": None}
    llm = rewriter(httpserver.url_for("/v1"), extra=extra)
    captions = [rewrite(llm, [Moment("m", "Omar sits.")], turn)[0].caption for turn in (0, 1, 2)]
    assert captions == ["Try 1.", "Try 2.", "Try 3."]  # a repair is no answer of another turn
    assert bodies[0].keys() == {"model", "messages", "max_tokens", "reasoning_effort"}


def test_a_refused_connection_is_told_at_once_with_its_address(rewriter, items, capfd):
    patient = Policy(tries=3, first=0.01, longest=0.01)
    with pytest.raises(LLMError, match=r"^connection: .*OPENAI_BASE_URL"):
        rewrite(rewriter(None, policy=patient), items(3))
    [message] = [
        line for line in capfd.readouterr().err.splitlines() if "http://127.0.0.1:9" in line
    ]
    assert "refused" in message
    assert "3 times" in message


def test_two_runs_at_once_are_refused(serve, rewriter, items):
    server = serve()
    llm, rival = rewriter(server), rewriter(server)
    with rival._asker.cache.lock(), pytest.raises(CacheError, match="another run is asking"):
        rewrite(llm, items(3))
    assert rewrite(llm, items(3)) == expect_rewrites(items(3))


@pytest.mark.parametrize("inside", [".", "folder"])
def test_a_file_where_the_cache_should_be_is_one_clear_line(rewriter, items, tmp_path, inside):
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match=r"file.*: rewrite.openai.cache can't be used: ") as caught:
        rewrite(rewriter(None, cache=str(tmp_path / "file" / inside)), items(3))
    assert "\n" not in str(caught.value)


def test_a_file_system_without_locks_is_one_clear_line(rewriter, items, monkeypatch):
    def flock(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(CacheError, match="can't be used: No locks available"):
        rewrite(rewriter(None), items(3))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_clear_line(serve, rewriter, items, tmp_path):
    llm = rewriter(serve())
    recipe = llm._attempt(items(100), 0).missing()[0].recipe
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / f"{recipe}.jsonl").symlink_to("/dev/full")
    with pytest.raises(CacheError, match="can't be used: No space left on device"):
        rewrite(llm, items(100))
