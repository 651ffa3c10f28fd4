"""A model asked by several processes: they get what one would, and spend no more."""

import os
import pickle
from collections import Counter

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from model_server import KEY
from support.fake_openai.process import read_stats
from support.killed_judging import count_ends, judge_and_kill

from momentrank.errors import UsageError
from pipeline.core.engine.shards import map_shards
from pipeline.core.sections import Engine, LanguageModel
from pipeline.judges import sharded_vision
from pipeline.judges.clip_pictures import Clip, Look
from pipeline.judges.level_requests import Question
from pipeline.judges.sharded_vision import ShardedVisionJudge, ask_shard, divide, share_limits
from pipeline.judges.vision import Options, Setup, Turn
from pipeline.llm import answer_cache as cache
from pipeline.llm.answer_cache import CacheError
from pipeline.llm.outcomes import LLMError


@pytest.fixture
def make_sharded(judge, prompt, guideline, tmp_path, monkeypatch):
    """Return a function that makes a judge whose shards run here, one after the other."""
    monkeypatch.setattr(sharded_vision, "count_at_once", lambda engine: engine.shards)

    def _sharded(server, shards=3, *, repeats=1, blind=True, cache="cache", **settings):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        alone = judge(server, cache=str(tmp_path / cache), **{"in_flight": 6} | settings)
        folder = str(tmp_path / "parts")
        engine = Engine(
            kind="local", workers=1, shards=shards, address=None, folder=folder, table_memory=4
        )
        options = Options(Look(6, 180), repeats, blind)
        return ShardedVisionJudge(Setup(alone._settings, prompt, guideline, options), engine)

    return _sharded


def is_bought_once(server):
    return set(server.stats.answered.values()) == {1}


def test_shards_get_and_spend_what_one_process_would(
    serve, judge, make_sharded, world, handed_shards
):
    kinds = ("refused", "broken-json", "truncated", "missing")
    server = serve(faults=0.4, kinds=kinds, seed=3, logprobs=True)
    alone = judge(server, blind=True, repeats=2)
    answers, figures = sorted(alone.judge(world.pairs()), key=repr), alone.metrics()
    assert len(figures["llm"]["outcomes"]) > 2
    bought = server.stats.answered.copy()
    for shards in (3, 6):
        server.stats.answered.clear()
        server.server._asked.clear()
        vision = make_sharded(server, shards, repeats=2, cache=f"cache-{shards}")
        assert sorted(vision.judge(world.pairs()), key=repr) == answers
        assert vision.metrics() == figures
        assert server.stats.answered == bought
    assert len(handed_shards) == 3 + 6
    later = make_sharded(server, repeats=2, cache="cache-6")
    assert sorted(later.judge(world.pairs()), key=repr) == answers
    assert later.metrics()["llm"]["requests"] == 0
    assert later.metrics()["llm"]["cache_hits"] == 2 * len(world.pairs())
    assert is_bought_once(server)
    assert len(handed_shards) == 9


def test_what_a_shard_gave_up_is_not_asked_again_and_has_its_reason(
    serve, make_sharded, world, handed_shards
):
    server = serve(poison='thing "0"', spoilt="rejected")
    vision = make_sharded(server)
    failed = {
        answer.query_id for answer in vision.judge(world.pairs()) if answer.reason == "failed"
    }
    assert failed == {"q0"}
    spent = vision.metrics()["llm"]
    assert spent["outcomes"] == {"ok": 16, "rejected": 8}
    assert server.stats.requests == spent["requests"] == len(world.pairs())
    assert len(handed_shards) == 3


def test_a_shard_of_broken_clips_alone_fails_no_other(
    serve, make_sharded, world, tmp_path, handed_shards
):
    pair, broken = world.pairs()[0], []
    for number in range(8):
        path = tmp_path / f"broken{number}.mp4"
        path.write_bytes(b"not a clip")
        broken.append(pair._replace(clip=path, moment_id=f"b{number}"))
    answers = make_sharded(serve(), 4, blind=False).judge([pair, *broken])
    assert Counter(answer.reason for answer in answers) == {None: 1, "broken-clip": 8}
    assert len(handed_shards) == 4


def test_an_empty_account_is_one_line_and_the_next_run_goes_on(serve, make_sharded, world):
    server = serve(money=20_000)
    with pytest.raises(LLMError, match=r"^insufficient-quota: .*top it up") as caught:
        list(make_sharded(server).judge(world.pairs()))
    assert "\n" not in str(caught.value)
    bought = server.stats.answered.total()
    assert 0 < bought < len(world.pairs())
    server.change(money=-1)
    vision = make_sharded(server, in_flight=2)
    assert all(answer.level is not None for answer in vision.judge(world.pairs()))
    assert is_bought_once(server)
    assert vision.metrics()["llm"]["cache_hits"] == bought


@pytest.fixture
def killed_run(serve, make_sharded, world, monkeypatch, tmp_path):
    """Return the server, and the caches of shards that a run has left which was killed."""
    server = serve()

    def die(*args):
        map_shards(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sharded_vision, "map_shards", die)
        with pytest.raises(KeyboardInterrupt):
            list(make_sharded(server).judge(world.pairs()))
    return server, sorted(tmp_path.glob("cache/shards/*/*.jsonl"))


def test_any_run_takes_in_what_killed_shards_have_bought(killed_run, judge, world, tmp_path):
    server, (first, *others) = killed_run
    assert len(others) == 2
    first.write_bytes(first.read_bytes()[:-9])  # the last line is cut
    assert judge(server, blind=True).estimate(world.pairs()).left == 0
    assert server.stats.requests == len(world.pairs()) + 1
    assert list(tmp_path.glob("cache/shards/*")) == []
    vision = judge(server, blind=True)
    assert all(answer.level is not None for answer in vision.judge(world.pairs()))
    assert server.stats.requests == len(world.pairs()) + 1


def test_a_shard_whose_machine_died_is_tried_again_and_all_it_bought_is_counted(
    serve, make_sharded, world, monkeypatch, tmp_path
):
    def ask_twice(stage, work, inputs, engine):
        for shard in inputs.values():
            work(shard, tmp_path / "lost.json")
        return map_shards(stage, work, inputs, engine)

    monkeypatch.setattr(sharded_vision, "map_shards", ask_twice)
    server = serve()
    vision = make_sharded(server)
    assert all(answer.level is not None for answer in vision.judge(world.pairs()))
    spent = vision.metrics()["llm"]
    assert server.stats.requests == spent["requests"] == len(world.pairs())
    assert spent["cost_usd"] == spent["result_cost_usd"] > 0


def test_nothing_is_asked_while_a_shard_of_a_killed_run_goes_on(
    killed_run, judge, world, monkeypatch
):
    server, (first, *_) = killed_run
    monkeypatch.setattr(cache, "PATIENCE", 0.1)
    with FileLock(first.with_name("lock")), pytest.raises(CacheError, match="another run is ask"):
        list(judge(server, blind=True).judge(world.pairs()))
    assert server.stats.requests == len(world.pairs())


def test_a_second_run_is_refused_while_shards_ask(serve, judge, make_sharded, world, monkeypatch):
    server, refused = serve(), []

    def begin_another(*args):
        with pytest.raises(CacheError, match="another run is asking for levels"):
            list(judge(server, blind=True).judge(world.pairs()))
        refused.append(server.stats.requests)
        return map_shards(*args)

    monkeypatch.setattr(sharded_vision, "map_shards", begin_another)
    assert all(answer.level is not None for answer in make_sharded(server).judge(world.pairs()))
    assert refused == [0]
    assert is_bought_once(server)


def test_few_questions_are_asked_by_this_process(serve, make_sharded, world, handed_shards):
    few = make_sharded(serve(), in_flight=24)
    assert all(answer.level is not None for answer in few.judge(world.pairs()))
    assert handed_shards == []


def test_no_key_is_told_before_a_process_starts(
    serve, make_sharded, world, monkeypatch, handed_shards
):
    vision = make_sharded(serve())
    monkeypatch.delenv("OPENAI_API_KEY")
    vision = ShardedVisionJudge(vision._setup, vision._engine)
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set: export"):
        list(vision.judge(world.pairs()))
    assert handed_shards == []


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_a_machine_with_another_environment_asks_nothing(
    serve, make_sharded, world, monkeypatch, handed_shards, tmp_path, name
):
    server = serve()
    list(make_sharded(server).judge(world.pairs()))
    asked = server.stats.requests
    monkeypatch.delenv(name)
    with pytest.raises(UsageError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL.*on every machine"):
        ask_shard(handed_shards[0], tmp_path / "part.json")
    assert server.stats.requests == asked


def test_what_is_sent_to_other_machines_holds_neither_key_nor_address(
    serve, make_sharded, world, handed_shards
):
    server = serve()
    list(make_sharded(server).judge(world.pairs()))
    for shard in handed_shards:
        sent = pickle.dumps(shard)
        assert KEY.encode() not in sent
        assert server.url.encode() not in sent
        assert len(sent) < 30_000


limits = st.integers(1, 200)


@given(in_flight=limits, requests=limits, tokens=limits, shards=limits, largest=st.integers(1, 50))
def test_all_shards_together_keep_within_the_account_s_limits(
    in_flight, requests, tokens, shards, largest
):
    settings = LanguageModel.model_construct(
        in_flight=in_flight, requests_per_minute=requests, tokens_per_minute=tokens
    )
    engine = Engine(
        kind="ray", workers=0, shards=shards, address=None, folder="parts", table_memory=4
    )
    number = sharded_vision.count_shards(engine, settings, largest)
    share = share_limits(settings, number)
    for name in ("in_flight", "requests_per_minute", "tokens_per_minute"):
        assert 1 <= getattr(share, name) * number <= getattr(settings, name)
    assert number == 1 or largest <= share.tokens_per_minute
    assert 1 <= number <= shards


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), unique=True), st.integers(1, 12))
def test_questions_are_dealt_out_once_evenly_and_by_the_clip(pairs, number):
    questions = [Question(str(query), Clip(None, str(clip), 1.0)) for clip, query in pairs]
    turns = [Turn(0, "first", questions), Turn(1, "second", questions[::2])]
    shares = divide(turns, number)
    for at, turn in enumerate(turns):
        dealt = [question for share in shares for question in share[at].questions]
        assert sorted(dealt, key=repr) == sorted(turn.questions, key=repr)
        assert {share[at].recipe for share in shares} == {turn.recipe}
    clips = [
        {question.clip.sha for turn in share for question in turn.questions} for share in shares
    ]
    assert sum(map(len, clips)) == len({clip for clip, _ in pairs})
    sizes = [sum(len(turn.questions) for turn in share) for share in shares]
    clip_counts = Counter(question.clip.sha for turn in turns for question in turn.questions)
    assert max(sizes) - min(sizes) <= max(clip_counts.values(), default=0)
    assert len(shares) == max(1, min(number, len(clip_counts)))


# Killed runs

KILLS, IN_FLIGHT, PAIRS = 2, 4, 24
FAULTS = ("refused", "broken-json", "truncated", "429", "500", "cut", "missing")


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 2])
def test_a_killed_run_buys_nothing_again(
    world, serve, settings, tmp_path, repository, monkeypatch, shards
):
    """The second kill is that of a shard, where there are several."""
    monkeypatch.setenv("PYTHONPATH", f"{repository}{os.pathsep}{repository / 'tests'}")
    server = serve(latency=0.2, faults=0.1, kinds=FAULTS, hang=5.0)
    own = settings.model_copy(update={"in_flight": IN_FLIGHT, "cache": str(tmp_path / "cache")})
    answers = judge_and_kill(world, own, shards, server.url, tmp_path, KILLS)
    ends, stats = count_ends(world, answers), read_stats(server.url)
    assert ends["right"] + ends["refused"] + ends["cut"] == len(answers) == PAIRS
    assert ends["wrong"] == 0
    assert stats["answers"] - stats["distinct"] <= KILLS * IN_FLIGHT, "those in flight at the kills"


def test_pictures_are_taken_beside_the_requests_in_flight(serve, judge, world):
    server = serve(latency=0.5)
    list(judge(server, in_flight=6).judge(world.pairs()))
    assert server.stats.max_in_flight == 6
